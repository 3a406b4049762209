//! Outputs beside what they are compared with, as figures and files show them.
//!
//! Where an output is known up to a period only (an angle up to whole turns), reference and simulations are moved by whole
//! periods to where they can be compared: every sample of the reference to what is nearest to the simulation that fits best,
//! other simulations as a whole to where they begin nearest to the reference.

use super::{Folder, axis_label, output_errors, printed};
use crate::plot;
use costate::cost::spectrum::LineValue;
use costate::cost::{LeastSquares, Reference};
use costate::parallel::{both, in_parallel};
use costate::{Quantity, Simulation, Trajectory};
use costate_data::rows::Rows;
use costate_data::series::Dependence;
use costate_identify::Identification;
use costate_identify::Result;
use costate_identify::bands::Band;
use costate_identify::problem::{Experiment, Problem};
use costate_identify::statistics::{OutputFit, ResidualTests};

/// Experiments that figures are drawn of.
pub(super) const MOST_EXPERIMENTS: usize = 6;

/// Values of all outputs of a run that are kept for figures, at most.
const MOST_VALUES: usize = 5_000_000;
/// The least part of residuals that a quantity must explain to be shown with them.
const LEAST_SHARE: f64 = 0.1;

/// Quantities that residuals are drawn over, at most.
const MOST_QUANTITIES: usize = 3;

/// The correlation of two lists.
fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let both = || a.iter().zip(b).filter(|(x, y)| x.is_finite() && y.is_finite());
    let count = both().count().max(1) as f64;
    let [x, y] = [both().map(|(x, _)| x).sum::<f64>() / count, both().map(|(_, y)| y).sum::<f64>() / count];
    let sum = |f: &dyn Fn(f64, f64) -> f64| both().map(|(a, b)| f(a - x, b - y)).sum::<f64>();
    sum(&|a, b| a * b) / (sum(&|a, _| a * a) * sum(&|_, b| b * b)).sqrt().max(f64::MIN_POSITIVE)
}

/// The samples of a reference where they are nearest to a simulation.
fn reference_beside(output: &Quantity, reference: &Reference, simulated: &[f64]) -> Vec<f64> {
    reference.values.iter().zip(simulated).map(|(value, y)| output.beside(*value, *y)).collect()
}

/// A simulation that begins where it is nearest to a reference.
fn begun_beside(output: &Quantity, mut simulated: Vec<f64>, reference: &[f64]) -> Vec<f64> {
    let first = simulated.iter().zip(reference).find(|(_, value)| !value.is_nan());
    let shift = first.map_or(0.0, |(y, value)| output.beside(*y, *value) - y);
    if shift != 0.0 {
        simulated.iter_mut().for_each(|y| *y += shift);
    }
    simulated
}

/// Values at the samples of a cost.
fn at_samples(cost: &LeastSquares, values: Vec<f64>) -> Vec<f64> {
    cost.places().all(values.len()).map(|i| values[i]).collect()
}

/// Of values at all samples those at the samples that a reference, by its place, has.
fn own(cost: &LeastSquares, reference: usize, values: &[f64]) -> Vec<f64> {
    cost.own_samples(reference).map(|i| values[i]).collect()
}

impl Folder {
    /// `output_NAME` of a simulation, as seen by sensors with these parameters, beside what it is compared with, which has this label.
    pub(super) fn measured_outputs(
        &self,
        simulation: &Simulation,
        trajectory: &Trajectory,
        (cost, sensors, compared): (&LeastSquares, &[f64], &str),
        name: &dyn Fn(&str) -> String,
    ) -> Result<()> {
        let times = at_samples(cost, trajectory.times().to_vec());
        for (k, reference) in cost.references().iter().enumerate() {
            let output = &simulation.signature().outputs[reference.output];
            let y = trajectory.output(reference.output);
            let shown = cost.sensors().shown(reference.output, trajectory.times(), y, sensors);
            let simulated = at_samples(cost, shown);
            let name = name(&output.name);
            if cost.spectrum(reference).is_some() {
                let series = [(compared, reference.values.as_slice()), ("simulated", &simulated)];
                self.spectrum((cost, k), output, &name, &series)?;
                continue;
            }
            let measured = own(cost, k, &reference_beside(output, reference, &simulated));
            let (times, simulated) = (own(cost, k, &times), own(cost, k, &simulated));
            let figure = plot::comparison(&name, &printed(&output.unit), &times, (compared, &measured), &simulated)?;
            self.draw(&format!("output_{name}"), &figure)?;
        }
        Ok(())
    }

    /// Figures of the spectrum that is compared of a reference, by its place, and its values. `series`: labels and what there is at all samples;
    /// the first is the reference.
    fn spectrum(
        &self,
        (cost, place): (&LeastSquares, usize),
        output: &Quantity,
        title: &str,
        series: &[(&str, &[f64])],
    ) -> Result<()> {
        let Some(spectrum) = cost.spectrum(&cost.references()[place]) else { return Ok(()) };
        let mut curves: Vec<plot::Curve<'_>> = Vec::new();
        for value in cost.lines(place) {
            let name = spectrum.curve(&value);
            let k = curves.iter().position(|curve| curve.name == name).unwrap_or_else(|| {
                let series = series.iter().map(|(label, _)| (*label, Vec::new())).collect();
                curves.push(plot::Curve { name, at: Vec::new(), series });
                curves.len() - 1
            });
            curves[k].at.push(spectrum.place(&value.line));
            let own = curves[k].series.iter_mut().zip(series);
            own.for_each(|((_, own), (_, all))| own.push(all[value.sample] / value.scale));
        }
        let (quantity, over) = (spectrum.quantity(output), axis_label(&spectrum.axis()));
        let figure = plot::spectrum(title, &printed(&quantity.unit), &over, &curves)?;
        self.draw(&format!("spectrum_{title}"), &figure)?;
        if let Some(hertz) = spectrum.speed_in_hertz() {
            let of = |series: usize| -> Vec<plot::Order> {
                let order = |(k, curve): (usize, &plot::Curve<'_>)| plot::Order {
                    order: spectrum.order(k),
                    speeds: curve.at.clone(),
                    amplitudes: curve.series[series].1.clone(),
                };
                curves.iter().enumerate().map(order).collect()
            };
            let orders = of(series.len() - 1);
            self.draw(
                &format!("campbell_{title}"),
                &plot::campbell((title, &printed(&quantity.unit)), (&over, hertz), &orders, &[])?,
            )?;
        }
        let values = cost.lines(place);
        let column = |of: &dyn Fn(&LineValue) -> f64| values.iter().map(of).collect::<Vec<f64>>();
        let mut columns = match values.first().and_then(|value| value.line.speed) {
            None => vec![("frequency [Hz]".to_string(), column(&|value| value.line.at))],
            Some(_) => vec![
                ("order".to_string(), column(&|value| value.line.at)),
                (spectrum.speed_label(), column(&|value| value.line.speed.unwrap_or_default())),
            ],
        };
        if values.iter().any(|value| value.is_imaginary) {
            columns.push(("imaginary".to_string(), column(&|value| f64::from(u8::from(value.is_imaginary)))));
        }
        for (label, all) in series {
            let name = format!("{} {label} [{}]", output.name, quantity.unit);
            columns.push((name, column(&|value| all[value.sample] / value.scale)));
        }
        self.csv(&format!("spectrum_{title}.csv"), columns)
    }

    /// `validation.json`, and of each experiment at the problem's start `output_NAME`, `residuals_NAME` and `residual_tests_NAME`; the bands, if
    /// there are any.
    ///
    /// # Errors
    /// [`costate_identify::Error::Data`], or a simulation that fails.
    pub fn validation(
        &self,
        problem: &Problem,
        (found, tests): (&[OutputFit], &[ResidualTests]),
        bands: &[Band],
        document: serde_json::Value,
    ) -> Result<()> {
        let all: Vec<usize> = (0..problem.experiments.len()).collect();
        self.together("validation.json", document, |aside| {
            aside.at_start(problem, &all)?;
            aside.bands(bands)?;
            aside.residual_figures(found, tests)
        })
    }

    /// `check.json`, and `output_NAME` and `input` of experiments at the problem's start: of the first ones of these places among all.
    ///
    /// # Errors
    /// [`costate_identify::Error::Data`], or a simulation that fails.
    pub fn check(&self, problem: &Problem, places: &[usize], document: serde_json::Value) -> Result<()> {
        self.together("check.json", document, |aside| {
            aside.input_figures(problem)?;
            aside.at_start(problem, places)
        })
    }

    /// `output_NAME` of the first of these experiments, one run each.
    fn at_start(&self, problem: &Problem, places: &[usize]) -> Result<()> {
        let chosen = places.iter().take(MOST_EXPERIMENTS).filter_map(|&k| problem.all().nth(k));
        for experiment in chosen {
            let Some(cost) = experiment.cost.as_least_squares() else { continue };
            let run = experiment.simulation.run(&experiment.own(&problem.start))?;
            let compared = if problem.optimum.is_some() { "reference" } else { "measured" };
            let name = |output: &str| problem.name_in(experiment, output);
            let sensors = experiment.of_sensors(&problem.start);
            self.measured_outputs(&experiment.simulation, &run, (cost, &sensors, compared), &name)?;
        }
        Ok(())
    }

    /// `output_NAME` and `error_NAME` of an identification, and `outputs.csv`; of several experiments, `NAME@EXPERIMENT` and
    /// `outputs@EXPERIMENT.csv`, with figures of those that fit worst.
    /// `has_noise`: residuals are drawn over what they depend on, too.
    pub(super) fn compared_outputs(&self, problem: &Problem, found: &Identification, has_noise: bool) -> Result<()> {
        let last = found.history.len() - 1;
        let mut shown: Vec<usize> = [0, last / 4, last / 2, 3 * last / 4, last].into();
        shown.dedup();
        let values = found.values();
        let mut order: Vec<(usize, f64)> = Vec::new();
        let are_few = problem.all().count() <= MOST_EXPERIMENTS;
        for (k, experiment) in problem.all().enumerate() {
            if are_few {
                // all of them are drawn
                order.push((k, 0.0));
                continue;
            }
            let Some(cost) = experiment.cost.as_least_squares() else { continue };
            let run = experiment.simulation.run(&experiment.own(&values))?;
            let errors = output_errors((cost, &experiment.of_sensors(&values)), &experiment.simulation, &run);
            let deviations = cost.references().iter().map(|reference| reference.deviation);
            let worst =
                errors.iter().zip(deviations).fold(0.0, |worst: f64, (e, deviation)| worst.max(e.rmse / deviation));
            order.push((k, worst));
        }
        order.sort_by(|a, b| b.1.total_cmp(&a.1));
        for (rank, (k, _)) in order.into_iter().enumerate() {
            let Some(experiment) = problem.all().nth(k) else { continue };
            self.compared_experiment(problem, (experiment, rank < MOST_EXPERIMENTS, has_noise), found, &shown)?;
        }
        Ok(())
    }

    /// `dependence_NAME`: residuals at their samples over those quantities of the run, outputs (`all`) and inputs, that they depend on the most, if they do.
    fn dependence(
        &self,
        (simulation, cost, place): (&Simulation, &LeastSquares, usize),
        (title, unit): (&str, &str),
        residuals: &[f64],
        all: &[Vec<f64>],
    ) -> Result<()> {
        if all.is_empty() {
            return Ok(());
        }
        let signature = simulation.signature();
        let input = |k: usize| {
            let values = (0..simulation.grid().times().len()).map(|i| simulation.inputs_at(i)[k]).collect();
            at_samples(cost, values)
        };
        let inputs: Vec<Vec<f64>> = (0..signature.inputs.len()).map(input).collect();
        let named = signature.outputs.iter().zip(all).chain(signature.inputs.iter().zip(&inputs));
        let mut found: Vec<plot::DependsOn> = named
            .filter_map(|(quantity, values)| {
                let values = own(cost, place, values);
                let dependence = Dependence::of(residuals, &values).filter(|found| found.share >= LEAST_SHARE)?;
                Some(plot::DependsOn { label: axis_label(quantity), values, dependence })
            })
            .collect();
        found.sort_by(|a, b| b.dependence.share.total_cmp(&a.dependence.share));
        // what says the same once more is left out
        let mut kept: Vec<plot::DependsOn> = Vec::new();
        for one in found {
            let is_other = kept.iter().all(|other| correlation(&one.values, &other.values).abs() < 0.98);
            if is_other && kept.len() < MOST_QUANTITIES {
                kept.push(one);
            }
        }
        if kept.is_empty() {
            return Ok(());
        }
        self.figure_if_any(&format!("dependence_{title}"), plot::dependence(title, unit, residuals, &kept))
    }

    /// Of one experiment: data, and figures if it `is_drawn`.
    fn compared_experiment(
        &self,
        problem: &Problem,
        (experiment, is_drawn, has_noise): (&Experiment, bool, bool),
        found: &Identification,
        shown: &[usize],
    ) -> Result<()> {
        let Experiment { simulation, .. } = experiment;
        let Some(cost) = experiment.cost.as_least_squares() else { return Ok(()) };
        let compared = if problem.optimum.is_some() { "reference" } else { "measured" };
        // of each run what is shown is kept; of the best one all outputs
        let count = simulation.signature().outputs.len();
        let best = found.values();
        let is_kept = is_drawn && has_noise && count * simulation.grid().times().len() <= MOST_VALUES;
        let outputs = |u: &[f64]| -> Result<[Vec<Vec<f64>>; 2]> {
            let all = if is_kept && *u == best { 0..count } else { 0..0 };
            let wanted = cost.references().iter().map(|reference| reference.output).chain(all);
            let wanted: Vec<usize> = wanted.collect();
            let mut values = simulation.outputs(&experiment.own(u), &wanted)?.into_iter();
            let of_references = cost.references().iter().zip(values.by_ref());
            let shown =
                of_references.map(|(reference, y)| at_samples(cost, experiment.as_shown(reference.output, y, u)));
            Ok([shown.collect(), values.map(|y| at_samples(cost, y)).collect()])
        };
        // without a figure, only the beginning is asked for
        let shown = if is_drawn { shown } else { &shown[..1] };
        let (mut wanted, values) =
            (shown.iter().map(|&i| found.history[i].clone()).collect::<Vec<_>>(), found.values());
        // a search ends where it is best as a rule
        let place = wanted.iter().position(|u| *u == values).unwrap_or(wanted.len());
        if place == wanted.len() {
            wanted.push(values);
        }
        let runs = in_parallel(&mut wanted, problem.at_once()?, |_, u| outputs(u))?;
        let all = &runs[place][1];
        let runs: Vec<&Vec<Vec<f64>>> = runs.iter().map(|[shown, _]| shown).collect();
        let (best, runs) = (runs[place], &runs[..shown.len()]);
        let times = at_samples(cost, simulation.grid().times().to_vec());
        let beside = |(k, reference): (usize, &Reference)| {
            let output = &simulation.signature().outputs[reference.output];
            let values = reference_beside(output, reference, &best[k]);
            let before = begun_beside(output, runs[0][k].clone(), &values);
            [values, before]
        };
        // a spectrum has files of its own
        let series: Vec<Option<[Vec<f64>; 2]>> = (cost.references().iter().enumerate())
            .map(|own| cost.spectrum(own.1).is_none().then(|| beside(own)))
            .collect();
        let mut columns: Vec<(String, &[f64])> = vec![("time [s]".to_string(), &times)];
        for ((reference, series), after) in cost.references().iter().zip(&series).zip(best) {
            let Some([values, before]) = series else { continue };
            let Quantity { name, unit, .. } = &simulation.signature().outputs[reference.output];
            // a record cannot hold samples that are not there
            if values.iter().all(|value| value.is_finite()) {
                columns.push((format!("{name} reference [{unit}]"), values));
            }
            columns.push((format!("{name} before [{unit}]"), before));
            columns.push((format!("{name} after [{unit}]"), after));
        }
        let draw = |k: usize| {
            let output = &simulation.signature().outputs[cost.references()[k].output];
            let (title, unit) = (problem.name_in(experiment, &output.name), printed(&output.unit));
            let reference = &cost.references()[k];
            let Some([values, before]) = &series[k] else {
                let series = [(compared, reference.values.as_slice()), ("before", &runs[0][k]), ("after", &best[k])];
                return self.spectrum((cost, k), output, &title, &series);
            };
            let times = own(cost, k, &times);
            {
                // what is drawn goes before the next figure begins: of a long record each takes ten times what is read
                let [measured, before, last] = [values, before, &best[k]].map(|x| own(cost, k, x));
                let figure = plot::outputs(&title, &unit, &times, (compared, &measured), &before, &last)?;
                self.draw(&format!("output_{title}"), &figure)?;
            }
            // as the cost sees it
            let error = |run: &[Vec<f64>]| {
                let error = run[k].iter().zip(&reference.values).map(|(y, value)| output.difference(*y, *value));
                own(cost, k, &error.collect::<Vec<f64>>())
            };
            {
                let errors = shown.iter().zip(runs).map(|(i, run)| (format!("iteration {i}"), error(run)));
                let errors: Vec<(String, Vec<f64>)> = errors.collect();
                let labelled: Vec<_> = errors.iter().map(|(label, error)| (label.as_str(), error.as_slice())).collect();
                self.draw(&format!("error_{title}"), &plot::errors(&title, &unit, &times, &labelled)?)?;
            }
            self.dependence((simulation, cost, k), (&title, &unit), &error(best), all)
        };
        let file = self.path().join(format!("{}.csv", problem.name_in(experiment, "outputs")));
        let mut drawn: Vec<usize> = if is_drawn { (0..series.len()).collect() } else { Vec::new() };
        let at_once = problem.at_once()?;
        let (written, drawn) = both(
            || {
                let (names, columns): (Vec<String>, Vec<&[f64]>) = columns.into_iter().unzip();
                let row = |i: usize, row: &mut Vec<f64>| row.extend(columns.iter().map(|column| column[i]));
                Rows { names, count: times.len(), row: &row }.write_file(&file)
            },
            || in_parallel(&mut drawn, at_once, |_, k| draw(*k)),
        );
        drawn?;
        Ok(written?)
    }
}
