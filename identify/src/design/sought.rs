//! Information as the cost of signals that are to be found.

use super::assessment::Assessment;
use super::criterion::{Optimality, value_and_slope};
use crate::statistics::{Analysed, UNDETERMINED};
use crate::{Error, Result};
use costate::cost::LeastSquares;
use costate::dense::svd;
use costate::least_squares::{Linearised, Reduction};
use costate::sensitivity::{Change, Gradient, SlopeWeights};
use costate::{Interrupt, Signature, Simulation};
use nalgebra::DMatrix;

/// Information that a run is to give: the logarithm of a mean standard error of parameters, beside their sizes, as a cost. A difference of 0.1 is 10 % of
/// error.
#[derive(Debug, Clone)]
pub struct Sought {
    /// Outputs and times that are measured, with deviations; the references' values do not matter. Parameters of sensors stand behind those of the model.
    pub measured: LeastSquares,
    /// The parameters that are to be identified. Those of sensors keep their nominal values.
    pub parameters: Vec<Analysed>,
    /// Places among these of those that are to become known; all others are unknown, too, but do not count.
    pub of: Vec<usize>,
    /// Mean of their standard errors that counts.
    pub optimality: Optimality,
    /// Information of earlier experiments, by the parameters in their sizes.
    pub before: Option<Linearised>,
    /// The weight of this term beside others.
    pub weight: f64,
}

/// More parameters are not named one by one.
const NAMED: usize = 12;

impl Sought {
    /// The geometric mean of the standard errors of these parameters of a model, at their nominal values; nothing is known before.
    ///
    /// # Errors
    /// An unknown or unusable parameter, one that is named twice, or none.
    pub fn new(signature: &Signature, measured: LeastSquares, parameters: &[&str]) -> Result<Self> {
        let what = "the information that is sought";
        let mut analysed: Vec<Analysed> = Vec::new();
        for name in parameters {
            let index = signature.parameter_index(name)?;
            let parameter = &signature.parameters[index];
            if analysed.iter().any(|known| known.index == index) {
                return Err(Error::invalid(what, format!("`{name}` is named twice"), "name each parameter once"));
            }
            let size = parameter.size.unwrap_or(parameter.nominal.abs());
            if !(size.is_finite() && size > 0.0) {
                let problem = format!("a change of `{name}` that matters is not known: it is {}", parameter.nominal);
                return Err(Error::invalid(what, problem, "give its size"));
            }
            let (name, unit, value) = (parameter.name.clone(), parameter.unit.clone(), parameter.nominal);
            analysed.push(Analysed { index, name, unit, value, size, log: false });
        }
        if analysed.is_empty() {
            return Err(Error::invalid(what, "no parameter is to be identified", "name at least one that is unknown"));
        }
        let of = (0..analysed.len()).collect();
        Ok(Sought { measured, parameters: analysed, of, optimality: Optimality::D, before: None, weight: 1.0 })
    }

    /// The information by another mean of the standard errors.
    pub fn optimal(self, optimality: Optimality) -> Self {
        Sought { optimality, ..self }
    }

    /// The information with other sizes of the parameters, by which the standard errors are divided.
    ///
    /// # Errors
    /// Unless there is a positive one for each.
    pub fn sized(mut self, sizes: &[f64]) -> Result<Self> {
        if sizes.len() != self.parameters.len() || sizes.iter().any(|size| !(size.is_finite() && *size > 0.0)) {
            let problem = format!("{sizes:?} are no positive sizes of {} parameters", self.parameters.len());
            return Err(Error::invalid("the information that is sought", problem, "give a positive one for each"));
        }
        self.parameters.iter_mut().zip(sizes).for_each(|(parameter, size)| parameter.size = *size);
        Ok(self)
    }

    /// Description in words, for reports.
    pub fn in_words(&self) -> String {
        let names = self.of.iter().map(|&k| self.parameters[k].name.as_str()).collect::<Vec<_>>();
        let names = if names.len() > NAMED { format!("{} parameters", names.len()) } else { names.join(", ") };
        match self.optimality {
            _ if self.of.len() == 1 => format!("ln standard error of {names}"),
            Optimality::D => format!("ln mean standard error of {names} (D)"),
            Optimality::A => format!("ln root mean square of standard errors of {names} (A)"),
            Optimality::E => format!("ln longest axis of {names} (E)"),
        }
    }

    /// Assessment of a run of this simulation at these parameters of the model.
    ///
    /// # Errors
    /// If what is measured does not fit the simulation, or the run fails.
    pub fn assess(&self, simulation: &Simulation, u: &[f64]) -> Result<Assessment> {
        let mut informed = Informed::new(self, simulation, &[])?;
        informed.u[..u.len()].copy_from_slice(u);
        let sizes: Vec<f64> = self.parameters.iter().map(|parameter| parameter.size.recip()).collect();
        let all: Vec<usize> = (0..sizes.len()).collect();
        let information = informed.information()?.scaled(&all, &sizes);
        let alone = |(index, parameter): (usize, &Analysed)| Analysed { index, ..parameter.clone() };
        let parameters = self.parameters.iter().enumerate().map(alone).collect();
        Assessment::of(&information, parameters, &self.of)
    }

    /// Checks that the information fits a simulation whose parameters at `found` are found with the signals.
    pub(crate) fn check(&self, simulation: &Simulation, found: &[usize]) -> Result<()> {
        costate::cost::Cost::check(&self.measured, simulation.signature(), simulation.grid())?;
        match self.parameters.iter().find(|parameter| found.contains(&parameter.index)) {
            Some(parameter) => {
                let what = format!("parameter `{}`", parameter.name);
                let problem = "it is to be identified, and is chosen together with the signals";
                Err(Error::invalid(what, problem, "fix it, or leave it out of the information that is sought"))
            }
            None => Ok(()),
        }
    }
}

/// Evaluates a [`Sought`] with its derivatives by the model's parameters and the inputs at all times.
pub(crate) struct Informed<'p> {
    sought: &'p Sought,
    /// Gradient by the parameters that are to be identified.
    tangents: Gradient<'p>,
    /// Gradients by those and by what is found, one a thread.
    second: Vec<Gradient<'p>>,
    /// All parameters, with those of sensors.
    u: Vec<f64>,
    /// Derivatives by the parameters in sizes, over deviations: of each reference, one row after another.
    rows: Vec<Vec<f64>>,
}

impl<'p> Informed<'p> {
    /// `found`: places of the parameters by which the derivatives are wanted.
    pub fn new(sought: &'p Sought, simulation: &'p Simulation, found: &[usize]) -> Result<Self> {
        sought.check(simulation, found)?;
        let unknown: Vec<usize> = sought.parameters.iter().map(|parameter| parameter.index).collect();
        let both = [&unknown[..], found].concat();
        let tangents = Gradient::by_parameters(simulation, &sought.measured, &unknown)?;
        let one = |_| Ok(Gradient::with_inputs(simulation, &sought.measured)?.with_respect_to(&both));
        let second = (0..costate::parallel::threads()?).map(one).collect::<Result<_>>()?;
        let mut u = simulation.signature().nominal();
        u.extend(sought.measured.sensors().parameters().iter().map(|parameter| parameter.nominal));
        Ok(Informed { sought, tangents, second, u, rows: vec![Vec::new(); sought.measured.references().len()] })
    }

    pub fn interrupted_by(self, interrupt: &Interrupt) -> Self {
        let watched = |gradient: Gradient<'p>| gradient.interrupted_by(interrupt);
        Informed { tangents: watched(self.tangents), second: self.second.into_iter().map(watched).collect(), ..self }
    }

    /// Takes other parameters of the model, and inputs at all times.
    pub fn set(&mut self, u: &[f64], w: &[f64]) {
        self.u[..u.len()].copy_from_slice(u);
        self.tangents.inputs_mut().copy_from_slice(w);
        self.second.iter_mut().for_each(|second| second.inputs_mut().copy_from_slice(w));
    }

    /// The information, by the parameters that are to be identified, in sizes.
    fn information(&mut self) -> Result<Linearised> {
        let Sought { measured, parameters, before, .. } = self.sought;
        let mut reduction = Reduction::new(parameters.len());
        self.rows.iter_mut().for_each(Vec::clear);
        let rows = &mut self.rows;
        self.tangents.residual_rows(&self.u, measured, &mut |row| {
            let own = &mut rows[row.reference];
            let first = own.len();
            own.extend(parameters.iter().map(|parameter| row.derivatives[parameter.index] * parameter.size));
            reduction.add(&own[first..], 0.0);
        })?;
        for i in 0..before.as_ref().map_or(0, Linearised::dimension) {
            let row = before.iter().flat_map(|before| before.factor().row(i).iter().copied().collect::<Vec<_>>());
            reduction.add(&row.collect::<Vec<_>>(), 0.0);
        }
        Ok(reduction.finish())
    }

    /// The cost alone; infinite where parameters are not determined.
    pub fn value(&mut self) -> Result<f64> {
        let information = self.information()?;
        Ok(self.sought.weight * self.value_of(information.factor()).map_or(f64::INFINITY, |(value, _)| value))
    }

    fn value_of(&self, factor: &DMatrix<f64>) -> Option<(f64, DMatrix<f64>)> {
        let norms: Vec<f64> = factor.column_iter().map(|column| column.norm()).collect();
        if norms.contains(&0.0) {
            return None;
        }
        let unit = DMatrix::from_fn(norms.len(), norms.len(), |i, j| factor[(i, j)] / norms[j]);
        let singular = svd(unit, false, false).singular_values;
        if singular.min() <= UNDETERMINED * singular.max() {
            return None;
        }
        value_and_slope(self.sought.optimality, factor, &self.sought.of)
    }

    /// The cost with its derivatives; those by parameters that are to be identified are zero.
    pub fn value_and_gradient(&mut self) -> Result<(f64, Change)> {
        let Sought { measured, parameters, weight, .. } = self.sought;
        let information = self.information()?;
        let model = self.u.len() - measured.sensors().parameters().len();
        let Some((value, by_information)) = self.value_of(information.factor()) else {
            return Ok((f64::INFINITY, Change { u: vec![0.0; model], w: vec![0.0; self.tangents.inputs_mut().len()] }));
        };
        let p = parameters.len();
        let samples: Vec<Vec<usize>> =
            measured.references().iter().map(|own| measured.samples(own).collect()).collect();
        let weighted = parameters.iter().enumerate().map(|(j, parameter)| {
            let of_reference = |((rows, samples), reference): ((&Vec<f64>, &Vec<usize>), &costate::cost::Reference)| {
                let mut weights = vec![0.0; measured.weights().len()];
                for (row, &i) in rows.chunks_exact(p).zip(samples) {
                    let along: f64 = row.iter().enumerate().map(|(k, s)| by_information[(j, k)] * s).sum();
                    weights[i] = 2.0 * weight * along * parameter.size / reference.deviation;
                }
                weights
            };
            let references = self.rows.iter().zip(&samples).zip(measured.references());
            SlopeWeights { parameter: parameter.index, weights: references.map(of_reference).collect() }
        });
        let weighted: Vec<SlopeWeights> = weighted.collect();
        let mut slope = slope_of_all(&mut self.second, &self.u, measured, &weighted)?;
        parameters.iter().for_each(|parameter| slope.u[parameter.index] = 0.0);
        slope.u.truncate(model);
        Ok((weight * value, slope))
    }
}

/// The derivatives of all weighted sensitivities, each thread a share of them.
fn slope_of_all<'p>(
    threads: &mut [Gradient<'p>],
    u: &[f64],
    measured: &'p LeastSquares,
    weighted: &[SlopeWeights],
) -> Result<Change> {
    let count = threads.len();
    let shares: Vec<costate::Result<Change>> = std::thread::scope(|scope| {
        let work = |(k, own): (usize, _)| {
            let own: &mut Gradient<'p> = own;
            scope.spawn(move || own.slope_of_sensitivities(u, measured, weighted, (k, count)))
        };
        let workers: Vec<_> = threads.iter_mut().enumerate().map(work).collect();
        let failed = || Err(costate::Error::invalid("the information of a run", "a thread failed", "report it"));
        workers.into_iter().map(|worker| worker.join().unwrap_or_else(|_| failed())).collect()
    });
    let mut sum = Change::default();
    for share in shares {
        let share = share?;
        for (sum, own) in [(&mut sum.u, share.u), (&mut sum.w, share.w)] {
            match sum.is_empty() {
                true => *sum = own,
                false => sum.iter_mut().zip(own).for_each(|(sum, own)| *sum += own),
            }
        }
    }
    Ok(sum)
}
