//! Influence of parameters on the residuals, beside others; and their sizes by that.

use crate::Result;
use crate::Settings;
use crate::ensemble::Ensemble;
use crate::optimise::Needs;
use crate::problem::Problem;
use crate::statistics::NO_INFLUENCE;
use costate::Scale;
use costate::cost::LeastSquares;

/// Influence of a parameter: the change of the residuals when it changes by all of its value. Values, unlike sizes that a model suggests, are those of the
/// problem in whatever units it has.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Influence {
    pub change: f64,
    /// The parameter is zero, or next to nothing, so that its size had to do.
    pub is_guess: bool,
}

impl Influence {
    /// Influence of a parameter with this value and this size, whose column of derivatives has this norm.
    pub fn of(value: f64, size: f64, norm: f64) -> Self {
        if value.abs() > NEXT_TO_NOTHING * size {
            Influence { change: norm * value.abs(), is_guess: false }
        } else {
            Influence { change: norm * size, is_guess: true }
        }
    }

    /// Influence that all are to be compared with: the largest of those that are no guesses, or of all, if they are guesses.
    pub fn largest(all: &[Influence]) -> f64 {
        let most =
            |guesses: bool| all.iter().filter(|own| guesses || !own.is_guess).map(|own| own.change).fold(0.0, f64::max);
        let known = most(false);
        if known > 0.0 { known } else { most(true) }
    }

    /// Derivatives that are round-off lead anywhere: a parameter without influence stays where it is.
    pub fn is_none_beside(&self, largest: f64) -> bool {
        self.is_below(NO_INFLUENCE, largest)
    }

    /// True if the influence is less than this part of the largest.
    pub fn is_below(&self, part: f64, largest: f64) -> bool {
        let part = if self.is_guess { GUESSED * part } else { part };
        self.change <= part * largest
    }
}

/// A value says nothing that is less than this part of the parameter's size.
const NEXT_TO_NOTHING: f64 = 1e-9;

/// A size that was guessed may be too small by this part.
const GUESSED: f64 = 1e-3;

/// A start says nothing of its parameter's size that changes the residuals by less than this part of what they are differences of.
const TELLS_NOTHING: f64 = 1e-8;

/// Most parameters that are asked for their influence: tangents of more take longer than a search wins by it.
const MOST_ASKED: usize = 100;

/// Sizes of the free parameters by which a search scales them. Methods that see residuals need no more than a guess. To others, a parameter of
/// which neither the start nor the nominal value tells how large it is (a start of zero, or one that is far smaller than the nominal value)
/// would look like one that hardly matters, or one that matters alone, and their tests of small gradients and small steps would end a search
/// of a small motion at once: so its size is its start, if that shows in the residuals, or else what changes these as much as if all that they
/// are differences of had gone. That takes a run with tangents by these parameters.
pub(super) fn sizes(problem: &Problem, (start, free): (&[f64], &[usize]), settings: &Settings) -> Result<Vec<f64>> {
    let mut sizes: Vec<f64> = free.iter().map(|&k| problem.parameters[k].size_from(start[k])).collect();
    let (method, _) = settings.method_for(problem);
    let is_guess = |place: &usize| {
        let (own, k) = (&problem.parameters[free[*place]], free[*place]);
        own.scale == Scale::Linear && own.size.is_none() && start[k].abs() < sizes[*place]
    };
    let asked: Vec<usize> = (0..free.len()).filter(is_guess).collect();
    let Some(costs) = problem.least_squares().filter(|_| {
        method.needs() != Needs::Residuals && problem.constraints.is_empty() && (1..=MOST_ASKED).contains(&asked.len())
    }) else {
        return Ok(sizes);
    };
    let data = costs.iter().map(|cost| LeastSquares::scale(cost)).sum::<f64>();
    let places: Vec<usize> = asked.iter().map(|&place| free[place]).collect();
    let mut engine = Ensemble::by_parameters(problem, &places)?.interrupted_by(&settings.options.interrupt);
    let columns = match engine.linearise(start, &costs) {
        Ok(linearised) => linearised.column_norms(),
        // the search itself says what is wrong with its start
        Err(error) if error.is_simulation_failure() => return Ok(sizes),
        Err(error) if error.is_interruption() => return Err(error),
        Err(_) => return Ok(sizes),
    };
    let whole = (2.0 * data).sqrt();
    for place in asked {
        let (k, own) = (free[place], start[free[place]].abs());
        let tells = own * columns[k] > TELLS_NOTHING * whole;
        let by_data = whole / columns[k];
        if tells {
            sizes[place] = own;
        } else if by_data > 0.0 && by_data.is_finite() {
            sizes[place] = by_data;
        }
    }
    Ok(sizes)
}
