//! Bands around outputs: how far the model's outputs, and new samples of them, may be from the fit.
//!
//! | band | half its width at a time |
//! |---|---|
//! | of the model | t √(y_u C y_uᵀ), where y_u are the exact derivatives of the output by the parameters and C is their covariance (delta method) |
//! | of new samples | t √(y_u C y_uᵀ + σ²), of outputs whose noise has a deviation σ that is known or was estimated |
//! | of the model by the bootstrap | none: 2.5 and 97.5 % of the outputs of all replicates |
//!
//! t is the quantile of the parameters' 95 % intervals. Each holds at a single time, to first order in the noise but for the last. Outputs with
//! sensors are what these show, at their samples; other outputs are there at all times of the run, whether they are compared or not.

use crate::bootstrap::{Bootstrapped, FEWEST, quantile};
use crate::error::Locate;
use crate::problem::{Experiment, Problem, base_name};
use crate::statistics::{Determinacy, Noise, OutputFit, Statistics};
use crate::{Error, Means, Remedy, Result};
use costate::cost::LeastSquares;
use costate::memory::{FEWER_STEPS, bytes_of};
use costate::parallel::in_parallel;
use costate::sensitivity::{Gradient, Seen};
use costate::spread::root_mean_square;
use costate::{Interrupt, Quantity, Signature, memory};
use nalgebra::DMatrix;

/// Uncertainty of the parameters, and the noise of the outputs.
#[derive(Debug, Clone, PartialEq)]
pub struct Uncertainty {
    /// Names of the parameters that are uncertain.
    pub names: Vec<String>,
    /// Covariance of the parameters, in their units.
    pub covariance: DMatrix<f64>,
    /// Standard deviations to each side of an interval of 95 %.
    pub quantile: f64,
    /// Standard deviations of the noise, by the outputs' names.
    pub noise: Vec<(String, f64)>,
}

impl Uncertainty {
    /// Uncertainty by the statistics of a fit. The noise of an output has the deviation that was given or estimated for it; where deviations are right up to a
    /// factor only, it is √(Σ r²/N n/ν), the root mean square of its own N residuals, over the part of the degrees of freedom.
    ///
    /// # Errors
    /// Without noise, or where a parameter is not determined, so that outputs may be anywhere.
    pub fn of(statistics: &Statistics) -> Result<Self> {
        let what = "the bands of outputs";
        let open = |p: &&crate::statistics::ParameterStatistics| {
            matches!(p.determinacy, Determinacy::Undetermined | Determinacy::WithoutInfluence)
        };
        if let Some(open) = statistics.parameters.iter().find(open) {
            let problem = format!("`{}` is not determined by the data, so that outputs may be anywhere", open.name);
            return Err(Error::invalid(
                what,
                problem,
                Remedy::by("give it a prior, or fix it", Means::Fix(open.name.clone())),
            ));
        }
        if statistics.is_noise_free || (statistics.degrees_of_freedom == 0 && statistics.noise == Noise::Estimated) {
            let problem = "there is no noise by which they could be off: the data are reproduced to round-off";
            return Err(Error::invalid(what, problem, Remedy::by("give measured data, or noise", Means::Noise)));
        }
        let parameters = &statistics.identifiability.parameters;
        // the change of a logarithm is relative
        let size: Vec<f64> = parameters.iter().map(|p| if p.log { p.value } else { 1.0 }).collect();
        let covariance = &statistics.covariance;
        let scaled = |i: usize, j: usize| covariance[(i, j)] * size[i] * size[j];
        let inflation = (statistics.count as f64 / statistics.degrees_of_freedom as f64).sqrt();
        let noise = |output: &OutputFit| {
            let deviation = match statistics.noise {
                Noise::Estimated => inflation * output.rmse(),
                Noise::Given | Noise::PerSensor => output.deviation,
            };
            (output.name.clone(), deviation)
        };
        // what is compared of a spectrum are its lines, and nothing is known of single samples
        let in_time = statistics.outputs.iter().filter(|output| output.over.name == "time");
        Ok(Uncertainty {
            names: parameters.iter().map(|p| p.name.clone()).collect(),
            covariance: DMatrix::from_fn(size.len(), size.len(), scaled),
            quantile: statistics.quantile(),
            noise: in_time.map(noise).collect(),
        })
    }

    /// The deviation of the noise of an output of this name; of another experiment, the root of the mean of the squares of those of all.
    fn noise_of(&self, name: &str) -> Option<f64> {
        if let Some((_, deviation)) = self.noise.iter().find(|(own, _)| own == name) {
            return Some(*deviation);
        }
        let same = self.noise.iter().filter(|(own, _)| base_name(own) == base_name(name));
        Some(root_mean_square(same.map(|(_, deviation)| *deviation))).filter(|deviation| !deviation.is_nan())
    }
}

/// The bands of one output of one experiment.
#[derive(Debug, Clone, PartialEq)]
pub struct Band {
    /// The output, called `NAME@EXPERIMENT` where there are several experiments.
    pub output: Quantity,
    /// The experiment's place among all of the problem, those for validation last.
    pub experiment: usize,
    /// True if the output was compared in an experiment that was fitted.
    pub is_fitted: bool,
    /// Place of the output in the signature.
    place: usize,
    /// Numbers of the times in the run.
    indices: Vec<usize>,
    /// Times, s.
    pub times: Vec<f64>,
    /// The output at the fit.
    pub values: Vec<f64>,
    /// √(y_u C y_uᵀ) at these times, in the output's unit.
    pub deviations: Vec<f64>,
    /// Standard deviation of the noise, where one is known.
    pub noise: Option<f64>,
    /// Standard deviations to each side of an interval of 95 %.
    pub quantile: f64,
    /// Measured samples minus the fit, with the place of each among the times.
    pub measured: Vec<(usize, f64)>,
    /// 2.5 and 97.5 % of the replicates of a bootstrap, at these times; empty without.
    pub bootstrap: Vec<(f64, f64)>,
}

impl Band {
    /// Half the width of the band of the model.
    pub fn half(&self, i: usize) -> f64 {
        self.quantile * self.deviations[i]
    }

    /// Half the width of the band of new samples, where the noise is known.
    pub fn half_of_samples(&self, i: usize) -> Option<f64> {
        Some(self.quantile * self.deviations[i].hypot(self.noise?))
    }

    /// Number of the measured samples within the band of new samples, and number of all.
    pub fn inside(&self) -> Option<(usize, usize)> {
        self.noise?;
        let is_inside = |(i, off): &&(usize, f64)| self.half_of_samples(*i).is_some_and(|half| off.abs() <= half);
        let inside = self.measured.iter().filter(is_inside).count();
        (!self.measured.is_empty()).then_some((inside, self.measured.len()))
    }

    /// The largest half width of the band of the model.
    pub fn widest(&self) -> f64 {
        (0..self.times.len()).map(|i| self.half(i)).fold(0.0, f64::max)
    }
}

/// The bands of all outputs of all experiments, those for validation last, at the parameters `u`. It takes one run with tangents for each.
///
/// # Errors
/// A simulation that fails, an interrupt, or [`costate::Error::Memory`].
pub fn bands(problem: &Problem, u: &[f64], uncertainty: &Uncertainty, interrupt: &Interrupt) -> Result<Vec<Band>> {
    let mut all: Vec<(usize, &Experiment)> = problem.all().enumerate().collect();
    let found = in_parallel(&mut all, problem.at_once()?, |_, (number, experiment)| {
        let around = Around { problem, uncertainty, experiment, number: *number };
        around.bands(u, interrupt).map_err(|error| error.in_experiment(&experiment.name))
    })?;
    Ok(found.into_iter().flatten().collect())
}

/// One experiment.
struct Around<'a> {
    problem: &'a Problem,
    uncertainty: &'a Uncertainty,
    experiment: &'a Experiment,
    number: usize,
}

impl Around<'_> {
    fn bands(&self, u: &[f64], interrupt: &Interrupt) -> Result<Vec<Band>> {
        let Experiment { simulation, places, cost, .. } = self.experiment;
        let Some(squares) = cost.as_least_squares() else { return Ok(Vec::new()) };
        let mut bands = self.empty(squares)?;
        // own place and place in the covariance of each uncertain parameter
        let name = |place: usize| &self.problem.parameters[place].name;
        let in_covariance = |place: usize| self.uncertainty.names.iter().position(|own| own == name(place));
        let pairs: Vec<(usize, usize)> =
            places.iter().enumerate().filter_map(|(k, place)| Some((k, in_covariance(*place)?))).collect();
        let own: Vec<usize> = pairs.iter().map(|(k, _)| *k).collect();
        let covariance = &self.uncertainty.covariance;
        let deviation = |slopes: &[f64]| {
            let row = |(k, i): &(usize, usize)| {
                let along = pairs.iter().map(|(l, j)| covariance[(*i, *j)] * slopes[*l]).sum::<f64>();
                slopes[*k] * along
            };
            pairs.iter().map(row).sum::<f64>().max(0.0).sqrt()
        };
        let all: Vec<f64> = places.iter().map(|place| u[*place]).collect();
        let mut gradient = Gradient::by_parameters(simulation, squares, &own)?.interrupted_by(interrupt);
        let mut samples: Vec<_> =
            squares.references().iter().map(|reference| squares.samples(reference).enumerate()).collect();
        gradient.residuals_and_outputs(&all, squares, &|_| true, &mut |seen| match seen {
            Seen::Outputs(x) => {
                for band in bands.iter_mut().filter(|band| !is_shown(squares, band.place)) {
                    band.values[x.index] = x.y[band.place];
                    band.deviations[x.index] = deviation(x.slopes(band.place));
                }
            }
            Seen::Residual(row) => {
                let reference = &squares.references()[row.reference];
                let band = bands.iter_mut().find(|band| band.place == reference.output);
                // residuals come in the order of samples
                let (Some(band), Some((number, sample))) = (band, samples[row.reference].next()) else { return };
                if squares.spectrum(reference).is_some() {
                    return;
                }
                let mut i = squares.places().of(sample);
                if is_shown(squares, band.place) {
                    i = number;
                    band.deviations[i] = reference.deviation * deviation(row.derivatives);
                }
                band.measured.push((i, -row.residual * reference.deviation));
            }
        })?;
        self.show(squares, u, &mut bands)?;
        Ok(bands)
    }

    /// Bands without values, with room for them.
    fn empty(&self, cost: &LeastSquares) -> Result<Vec<Band>> {
        let simulation = &self.experiment.simulation;
        let Signature { outputs, .. } = simulation.signature();
        let times = simulation.grid().times();
        let numbers = 4 * outputs.len() * times.len();
        memory::check(|| simulation.kept("bands of outputs"), bytes_of(numbers), FEWER_STEPS)?;
        let one = |(place, output): (usize, &Quantity)| {
            let reference = cost.references().iter().find(|reference| reference.output == place);
            let reference = reference.filter(|reference| cost.spectrum(reference).is_none());
            let indices: Vec<usize> = match reference {
                Some(reference) if is_shown(cost, place) => {
                    cost.samples(reference).map(|sample| cost.places().of(sample)).collect()
                }
                _ => (0..times.len()).collect(),
            };
            let name = self.problem.name_in(self.experiment, &output.name);
            Band {
                noise: reference.and_then(|_| self.uncertainty.noise_of(&name)),
                output: Quantity { name, ..output.clone() },
                experiment: self.number,
                is_fitted: reference.is_some() && self.number < self.problem.experiments.len(),
                place,
                times: indices.iter().map(|i| times[*i]).collect(),
                values: vec![0.0; indices.len()],
                deviations: vec![0.0; indices.len()],
                indices,
                quantile: self.uncertainty.quantile,
                measured: Vec::new(),
                bootstrap: Vec::new(),
            }
        };
        Ok(outputs.iter().enumerate().map(one).collect())
    }

    /// Outputs with sensors as these show them.
    fn show(&self, cost: &LeastSquares, u: &[f64], bands: &mut [Band]) -> Result<()> {
        if !bands.iter().any(|band| is_shown(cost, band.place)) {
            return Ok(());
        }
        let run = self.experiment.simulation.run(&self.experiment.own(u))?;
        for band in bands.iter_mut().filter(|band| is_shown(cost, band.place)) {
            let shown = self.experiment.shown(&run, u, band.place);
            band.values = band.indices.iter().map(|i| shown[*i]).collect();
        }
        Ok(())
    }
}

/// True if an output is compared at samples as its sensor shows it.
fn is_shown(cost: &LeastSquares, output: usize) -> bool {
    let sensors = cost.sensors();
    sensors.of(output).is_some() && sensors.spectrum(output).is_none()
}

/// Adds what the replicates of a bootstrap say, by a run of every experiment for each of them; nothing, if they are fewer than [`FEWEST`].
///
/// # Errors
/// A simulation that fails, or [`costate::Error::Memory`].
pub fn add_bootstrap(problem: &Problem, found: &Bootstrapped, bands: &mut [Band]) -> Result<()> {
    let values: Vec<&[f64]> = found.replicates.iter().filter_map(|replicate| replicate.values()).collect();
    if values.len() < FEWEST {
        return Ok(());
    }
    for (number, experiment) in problem.all().enumerate() {
        let own: Vec<&mut Band> = bands.iter_mut().filter(|band| band.experiment == number).collect();
        let simulation = &experiment.simulation;
        let numbers = values.len() * own.iter().map(|band| band.times.len()).sum::<usize>();
        memory::check(|| simulation.kept("outputs of all replicates"), bytes_of(numbers), "take fewer replicates")?;
        let mut items: Vec<&[f64]> = values.clone();
        let runs = in_parallel(&mut items, problem.at_once()?, |_, u| {
            let run = simulation.run(&experiment.own(u)).map_err(|error| error.in_experiment(&experiment.name))?;
            let of_band = |band: &&mut Band| {
                let cost = experiment.cost.as_least_squares();
                let y = match cost.is_some_and(|cost| is_shown(cost, band.place)) {
                    true => experiment.shown(&run, u, band.place),
                    false => run.output(band.place),
                };
                let beside = |(i, value): (&usize, &f64)| band.output.beside(y[*i], *value);
                band.indices.iter().zip(&band.values).map(beside).collect::<Vec<f64>>()
            };
            Ok::<_, Error>(own.iter().map(of_band).collect::<Vec<Vec<f64>>>())
        })?;
        for (k, band) in own.into_iter().enumerate() {
            let at = |i: usize| {
                let mut values: Vec<f64> = runs.iter().map(|run| run[k][i]).collect();
                values.sort_by(f64::total_cmp);
                (quantile(&values, 0.025), quantile(&values, 0.975))
            };
            band.bootstrap = (0..band.times.len()).map(at).collect();
        }
    }
    Ok(())
}
