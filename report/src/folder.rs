//! The folder of a run: results, histories, outputs and figures, written together.

use super::{Certainty, axis_label, compared, html, named, plot, printed, units};
use crate::plot::Figure;
use crate::plot::mechanism::{Picture, View};
use costate::cost::LeastSquares;
use costate::memory::FEWER_STEPS;
use costate::system::Point;
use costate::{Quantity, Signature, Simulation, Trajectory, memory};
use costate_data::Record;
use costate_data::file_set;
use costate_data::file_set::{FILES, FileSet};
use costate_data::files::write_atomically;
use costate_data::rows::Rows;
use costate_identify::Identification;
use costate_identify::optimise::{Curvature, Iteration};
use costate_identify::problem::Problem;
use costate_identify::statistics::{OutputFit, ResidualTests, Statistics};
use costate_identify::{Error, Result};
use serde_json::{Value, json};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

/// An output may be called `F/N`, and longer than a file may be: then its beginning, and a number that tells it from others.
pub(super) fn file_name(name: &str) -> String {
    /// Characters of names that are kept.
    const KEPT: usize = 50;
    let name = name.replace(['/', '\\'], "_");
    if name.chars().count() <= KEPT {
        return name;
    }
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    format!("{}_{:x}", name.chars().take(KEPT).collect::<String>(), hasher.finish())
}

/// 1 for a step from a point with negative curvature, 0 for others.
pub(super) fn negative_curvature(iteration: &Iteration) -> f64 {
    f64::from(u8::from(iteration.curvature == Some(Curvature::Negative)))
}

/// The columns of `states.csv`.
pub(super) fn state_names(signature: &Signature) -> Vec<String> {
    let mut names = vec!["time [s]".to_string()];
    for Quantity { name, unit, .. } in &signature.coordinates {
        names.extend([format!("{name} [{unit}]"), format!("{name}' [{unit}/s]"), format!("{name}'' [{unit}/s^2]")]);
    }
    for Quantity { name, unit, .. } in &signature.states {
        names.extend([format!("{name} [{unit}]"), format!("{name}' [{unit}/s]")]);
    }
    names.extend(signature.constraints.iter().map(|c| format!("lambda {}", c.name)));
    names
}

/// Adds the values of a state at a time to a row.
pub(super) fn state_row(signature: &Signature, x: &Point<'_>, row: &mut Vec<f64>) {
    let first = signature.state_places().start;
    row.push(x.t);
    x.q[..first].iter().zip(x.v).zip(x.a).for_each(|((q, v), a)| row.extend([*q, *v, *a]));
    x.v[first..].iter().zip(&x.a[first..]).for_each(|(z, rate)| row.extend([*z, *rate]));
    row.extend(x.lambda);
}

/// A folder that results go into; made (and tried) before the work begins.
///
/// The files of a run appear together, or not at all, and take the place of those of an earlier run of the same kind: `result.json` and
/// `simulation.json` say under `files` which are their own. Other files in the folder stay.
#[derive(Debug, Clone)]
pub struct Folder {
    path: PathBuf,
    png: bool,
    report: bool,
}

impl Folder {
    /// Makes the folder and makes sure that files can be written there.
    ///
    /// # Errors
    /// [`Error::Data`] if not.
    pub fn create(path: &Path, png: bool) -> Result<Self> {
        let refused = |action, reason: String| Error::folder(action, path, reason, "choose another folder");
        if let Some(file) = path.ancestors().find(|place| place.is_file()) {
            return Err(refused("create the folder", format!("{} is a file", file.display())));
        }
        std::fs::create_dir_all(path).map_err(|error| refused("create the folder", error.to_string()))?;
        let probe = path.join(".costate-probe");
        std::fs::write(&probe, b"").map_err(|error| refused("write into", error.to_string()))?;
        // it exists, as it has just been written; should it stay, it does no harm
        let _ = std::fs::remove_file(&probe);
        file_set::recover(path)?;
        Ok(Folder { path: path.to_path_buf(), png, report: false })
    }

    /// The folder, in which an identification writes `report.html`, too, if `report` is true.
    pub fn with_report(self, report: bool) -> Self {
        Folder { report, ..self }
    }

    /// True if an identification that writes no report removes one of an earlier result.
    pub fn removes_report(&self) -> bool {
        !self.report && html::is_ours(&self.path.join(html::REPORT))
    }

    /// True if an identification writes `report.html`, too.
    pub fn has_report(&self) -> bool {
        self.report
    }

    /// Path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Refuses a simulation whose results could not be written for want of memory. It is to be asked before the work, which would be lost.
    ///
    /// # Errors
    /// [`costate::Error::Memory`].
    pub fn check_memory(&self, simulation: &Simulation) -> Result<()> {
        let what = || simulation.kept("states, outputs and figures");
        Ok(memory::check(what, Self::bytes_of(simulation), FEWER_STEPS)?)
    }

    /// Bytes of a simulation with its figures.
    fn bytes_of(simulation: &Simulation) -> f64 {
        /// Bytes that a point of a line takes while it is drawn, as measured: the value, and x and y of the line.
        const DRAWN: f64 = 24.0;
        /// Lines of figures besides those of inputs and outputs: several iterations are compared.
        const LINES: usize = 2;
        let Signature { inputs, outputs, .. } = simulation.signature();
        let points = (simulation.grid().count() + 1) as f64 * (inputs.len() + outputs.len() + LINES) as f64;
        simulation.run_bytes() + DRAWN * points
    }

    /// True if a simulation fits into memory with its results: into what it may take, where that is limited, or else what there is.
    /// Where it does not, it is to be [streamed](super::stream).
    pub fn fits(simulation: &Simulation) -> bool {
        match simulation.memory_limit() {
            Some(limit) => Self::bytes_of(simulation) <= limit,
            None => memory::check(String::new, Self::bytes_of(simulation), "").is_ok(),
        }
    }

    /// The folder, whose files go aside to `path`.
    pub(super) fn aside(&self, path: &Path) -> Folder {
        Folder { path: path.to_path_buf(), ..self.clone() }
    }

    /// Writes JSON, readable.
    ///
    /// # Errors
    /// [`Error::Data`].
    pub fn json(&self, name: &str, value: &Value) -> Result<()> {
        Ok(write_atomically(&self.path.join(name), format!("{value:#}\n").as_bytes())?)
    }

    pub(super) fn csv(&self, name: &str, columns: Vec<(String, Vec<f64>)>) -> Result<()> {
        Ok(Record::from_columns(columns)?.write_csv(&self.path.join(name))?)
    }

    /// Writes a figure as SVG, and as PNG if bitmaps are wanted, or if there is one of an earlier run.
    ///
    /// # Errors
    /// [`Error::Data`], or a figure that cannot be drawn.
    pub fn figure(&self, name: &str, figure: &Figure) -> Result<()> {
        let set = FileSet::begin(&self.path)?;
        let head = format!("{}.svg", file_name(name));
        let png = self.png || self.path.join(&head).with_extension("png").is_file();
        let aside = Folder { path: set.path().to_path_buf(), png, report: false };
        aside.draw(name, figure).map_err(|error| self.at_home(error))?;
        Ok(set.commit(&head)?)
    }

    /// Writes files that belong together, and `document` as their head, with their names.
    pub(super) fn together(
        &self,
        head: &str,
        mut document: Value,
        write: impl FnOnce(&Folder) -> Result<()>,
    ) -> Result<()> {
        let set = FileSet::begin(&self.path)?;
        let aside = self.aside(set.path());
        let written = write(&aside);
        // a figure that cannot be drawn must not cost the result: what there is, is kept
        document[FILES] = json!([vec![head.to_string()], set.names()?].concat());
        let kept = aside.json(head, &document).and_then(|()| Ok(set.commit(head)?));
        written.and(kept).map_err(|error| self.at_home(error))
    }

    /// An error of the folder aside, as one of this folder.
    pub(super) fn at_home(&self, error: Error) -> Error {
        match error {
            Error::Data(mut error) => {
                if let costate_data::Error::Io { path, .. } | costate_data::Error::Folder { path, .. } = &mut error
                    && let Some(name) = path.file_name().filter(|_| !path.is_dir())
                {
                    *path = self.path.join(name);
                }
                Error::Data(error)
            }
            other => other,
        }
    }

    pub(super) fn draw(&self, name: &str, figure: &Figure) -> Result<()> {
        let name = file_name(name);
        figure.write_svg(self.path.join(format!("{name}.svg")))?;
        if self.png { figure.write_png(self.path.join(format!("{name}.png"))) } else { Ok(()) }
    }

    /// `input`; of several experiments with inputs of their own, `input@EXPERIMENT`, of the first ones.
    pub(super) fn input_figures(&self, problem: &Problem) -> Result<()> {
        problem.experiments.iter().take(compared::MOST_EXPERIMENTS).try_for_each(|experiment| {
            self.input_figure_as(&problem.name_in(experiment, "input"), &experiment.simulation)
        })
    }

    pub(super) fn input_figure(&self, simulation: &Simulation) -> Result<()> {
        self.input_figure_as("input", simulation)
    }

    fn input_figure_as(&self, name: &str, simulation: &Simulation) -> Result<()> {
        let signature = simulation.signature();
        if signature.inputs.is_empty() {
            return Ok(());
        }
        let times = simulation.grid().times();
        let series = |k: usize| (0..times.len()).map(|i| simulation.inputs_at(i)[k]).collect::<Vec<f64>>();
        let values: Vec<Vec<f64>> = (0..signature.inputs.len()).map(series).collect();
        self.signals(name, plot::input, times, &named(&signature.inputs, &units(&signature.inputs), &values))
    }

    /// `NAME`, and `NAME_2` and so on of signals that do not fit on a page.
    pub(super) fn signals(
        &self,
        name: &str,
        figure: fn(&[f64], &[plot::Signal<'_>]) -> Result<Figure>,
        times: &[f64],
        signals: &[plot::Signal<'_>],
    ) -> Result<()> {
        signals.chunks(plot::MOST_SIGNALS).enumerate().try_for_each(|(page, signals)| {
            let name = if page == 0 { name.to_string() } else { format!("{name}_{}", page + 1) };
            self.draw(&name, &figure(times, signals)?)
        })
    }

    /// Everything that a simulation gives: `states.csv`, `outputs.csv`, `simulation.json` with `document` ([`simulation_json`]),
    /// figures; with what it was `measured` against, if it was.
    ///
    /// [`simulation_json`]: super::simulation_json
    ///
    /// # Errors
    /// [`Error::Data`].
    pub fn simulation(
        &self,
        (simulation, trajectory): (&Simulation, &Trajectory),
        measured: Option<&LeastSquares>,
        document: Value,
    ) -> Result<()> {
        self.together("simulation.json", document, |aside| {
            aside.states(simulation, trajectory)?;
            aside.outputs(simulation, trajectory)?;
            aside.simulation_figures(simulation, trajectory, measured)
        })
    }

    pub(super) fn states(&self, simulation: &Simulation, trajectory: &Trajectory) -> Result<()> {
        let names = state_names(simulation.signature());
        let row = |i: usize, row: &mut Vec<f64>| {
            state_row(simulation.signature(), &trajectory.state(i), row);
        };
        Ok(Rows { names, count: trajectory.times().len(), row: &row }.write_file(&self.path.join("states.csv"))?)
    }

    /// Inputs, too: the file is then a record that an identification can read.
    pub(super) fn outputs(&self, simulation: &Simulation, trajectory: &Trajectory) -> Result<()> {
        let Signature { outputs, inputs, .. } = simulation.signature();
        let names = outputs.iter().chain(inputs).map(ToString::to_string);
        let names = std::iter::once("time [s]".to_string()).chain(names).collect();
        let row = |i: usize, row: &mut Vec<f64>| {
            row.push(trajectory.times()[i]);
            row.extend(trajectory.outputs_at(i));
            row.extend(simulation.inputs_at(i));
        };
        Ok(Rows { names, count: trajectory.times().len(), row: &row }.write_file(&self.path.join("outputs.csv"))?)
    }

    pub(super) fn simulation_figures(
        &self,
        simulation: &Simulation,
        trajectory: &Trajectory,
        measured: Option<&LeastSquares>,
    ) -> Result<()> {
        self.input_figure(simulation)?;
        let (signature, times) = (simulation.signature(), trajectory.times());
        let outputs: Vec<Vec<f64>> = (0..signature.outputs.len()).map(|k| trajectory.output(k)).collect();
        if outputs.is_empty() {
            return Ok(());
        }
        let units = units(&signature.outputs);
        self.signals("outputs", plot::trajectory, times, &named(&signature.outputs, &units, &outputs))?;
        measured.map_or(Ok(()), |cost| {
            let sensors = cost.sensors().nominal();
            self.measured_outputs(simulation, trajectory, (cost, &sensors, "measured"), &str::to_string)
        })
    }

    /// Everything that an identification gives: `result.json`, `history.csv`, `outputs.csv` and figures; those of
    /// the statistics where there are any, and those of outputs unless the statistics were interrupted. A reference that lacks
    /// samples is in figures only. `document` is the result, see [`result_json`](super::result_json); [with a
    /// report](Folder::with_report), `report.html` is made of all of this. A report of an earlier result does not stay.
    ///
    /// # Errors
    /// [`Error::Data`].
    pub fn identification(
        &self,
        problem: &Problem,
        found: &Identification,
        statistics: &Result<Statistics>,
        document: Value,
    ) -> Result<()> {
        self.identification_with(problem, found, statistics, &Certainty::default(), document)
    }

    /// Writes an identification as [`Folder::identification`] does, with figures of searches from many starts (`starts`,
    /// `starts_parameters`) and of profiles (`profiles`, `profiles.csv`).
    ///
    /// # Errors
    /// [`Error::Data`].
    pub fn identification_with(
        &self,
        problem: &Problem,
        found: &Identification,
        statistics: &Result<Statistics>,
        certainty: &Certainty<'_>,
        document: Value,
    ) -> Result<()> {
        let for_page = document.clone();
        self.together("result.json", document, |aside| {
            aside.history(found)?;
            // whoever is in a hurry does not wait for further simulations
            if !matches!(statistics, Err(error) if error.is_interruption()) {
                // of round-off there is nothing to see
                let has_noise = statistics.as_ref().is_ok_and(|own| !own.is_noise_free);
                aside.compared_outputs(problem, found, has_noise)?;
            }
            aside.input_figures(problem)?;
            aside.history_figures(problem, found)?;
            aside.response_figures(problem, found)?;
            aside.sketch(problem, found)?;
            statistics.as_ref().map_or(Ok(()), |statistics| aside.statistics(statistics))?;
            aside.certainty(problem, certainty)?;
            if self.report { html::write(&for_page, &aside.path, &aside.path.join(html::REPORT)) } else { Ok(()) }
        })?;
        if self.report { Ok(()) } else { html::remove(&self.path) }
    }

    /// `sketch`: the mechanism at its start with the parameters that were found, if it has a picture.
    fn sketch(&self, problem: &Problem, found: &Identification) -> Result<()> {
        let simulation = &problem.first().simulation;
        if simulation.system().sketch().is_none() {
            return Ok(());
        }
        let own = problem.first().own(&found.values());
        let times = &simulation.grid().times()[..1];
        let figure = Picture::of_start(simulation, &own).and_then(|picture| {
            let view = View::of(simulation.system())?;
            picture.view(view)?.panels(times)
        });
        self.figure_if_any("sketch", figure)
    }

    pub(super) fn history(&self, found: &Identification) -> Result<()> {
        let history = &found.outcome.history;
        let mut columns = vec![
            ("iteration".to_string(), history.iter().map(|i| i.number as f64).collect::<Vec<f64>>()),
            ("evaluations".to_string(), history.iter().map(|i| i.evaluations as f64).collect()),
            ("cost".to_string(), history.iter().map(|i| i.cost).collect()),
            ("gradient_norm".to_string(), history.iter().map(|i| i.gradient_norm).collect()),
        ];
        if found.homotopy.is_some() {
            let share = history.iter().map(|i| i.homotopy.unwrap_or(0.0)).collect();
            columns.push(("pull".to_string(), share));
        }
        if !found.constraints.is_empty() {
            let outer = history.iter().map(|i| i.outer.map_or(0.0, |outer| outer.number as f64)).collect();
            let violation = history.iter().map(|i| i.outer.map_or(0.0, |outer| outer.violation)).collect();
            columns.extend([("outer_iteration".to_string(), outer), ("violation".to_string(), violation)]);
        }
        for (k, p) in found.parameters.iter().enumerate() {
            columns.push((format!("{} [{}]", p.name, p.unit), found.history.iter().map(|u| u[k]).collect()));
        }
        if found.outcome.hessians + found.outcome.hessian_products > 0 {
            columns.extend([
                ("hessians".to_string(), history.iter().map(|i| i.hessians as f64).collect::<Vec<f64>>()),
                ("hessian_products".to_string(), history.iter().map(|i| i.hessian_products as f64).collect()),
                ("negative_curvature".to_string(), history.iter().map(negative_curvature).collect()),
            ]);
        }
        self.csv("history.csv", columns)
    }

    pub(super) fn history_figures(&self, problem: &Problem, found: &Identification) -> Result<()> {
        let history = &found.outcome.history;
        let costs: Vec<f64> = history.iter().map(|i| i.cost).collect();
        let stages = found.homotopy.iter().flat_map(|homotopy| &homotopy.stages);
        let firsts: Vec<usize> = stages.filter_map(|stage| stage.first_iteration).collect();
        let firsts = if firsts.is_empty() { vec![0] } else { firsts };
        self.draw("cost", &plot::cost_history_in_stages(&costs, &firsts)?)?;
        let free = problem.free();
        let values: Vec<Vec<f64>> = free.iter().map(|&k| found.history.iter().map(|u| u[k]).collect()).collect();
        let named: Vec<_> = free
            .iter()
            .zip(&values)
            .map(|(&k, values)| (found.parameters[k].name.as_str(), values.as_slice()))
            .collect();
        let optimum: Option<Vec<f64>> =
            problem.optimum.as_ref().map(|optimum| free.iter().map(|&k| optimum[k]).collect());
        self.draw("parameters", &plot::parameters(&named, optimum.as_deref())?)
    }

    /// `correlation`, `ellipses`, `residuals_OUTPUT` and `residual_tests_OUTPUT`, where there is something to show, which round-off is not: a figure that
    /// cannot be drawn is left out, since statistics must not fail a result.
    pub(super) fn statistics(&self, statistics: &Statistics) -> Result<()> {
        let parameters = &statistics.identifiability.parameters;
        let names: Vec<&str> = parameters.iter().map(|p| p.name.as_str()).collect();
        if names.len() > 1 {
            let rows = statistics.correlation.row_iter();
            let values: Vec<Vec<f64>> = rows.map(|row| row.iter().copied().collect()).collect();
            self.figure_if_any("correlation", plot::correlation(&names, &values))?;
        }
        if statistics.is_noise_free {
            return Ok(());
        }
        let pairs = statistics.ellipse_pairs();
        let ellipses: Vec<plot::Ellipse<'_>> = pairs
            .iter()
            .map(|(i, j, x, y)| {
                let label = |k: usize| (names[k], printed(&parameters[k].unit));
                plot::Ellipse { x: label(*i), y: label(*j), outline: (x, y) }
            })
            .collect();
        // of round-off there is nothing to see
        if !ellipses.is_empty() {
            self.figure_if_any("ellipses", plot::ellipses(&ellipses))?;
        }
        self.residual_figures(&statistics.outputs, &statistics.residual_tests)
    }

    /// `residuals_OUTPUT` and `residual_tests_OUTPUT`.
    pub(super) fn residual_figures(&self, outputs: &[OutputFit], tests: &[ResidualTests]) -> Result<()> {
        for output in outputs {
            let over = (axis_label(&output.over), output.over.name == "time");
            let at = (over.0.as_str(), output.times.as_slice(), over.1);
            let figure = plot::residuals(&output.name, &printed(&output.unit), at, &output.residuals);
            self.figure_if_any(&format!("residuals_{}", output.name), figure)?;
        }
        self.residual_tests(tests)
    }

    /// `residual_tests_OUTPUT`: of many outputs, of those of which there is most to say.
    fn residual_tests(&self, tests: &[ResidualTests]) -> Result<()> {
        let mut order: Vec<&ResidualTests> = tests.iter().filter(|tests| tests.autocorrelation.is_some()).collect();
        order.sort_by(|a, b| a.finding.cmp(&b.finding).then(b.severity().total_cmp(&a.severity())));
        order.into_iter().take(compared::MOST_EXPERIMENTS).try_for_each(|tests| {
            let (axis, panels) = tests.panels();
            self.figure_if_any(&format!("residual_tests_{}", tests.output), plot::correlograms(axis, &panels))
        })
    }

    pub(super) fn figure_if_any(&self, name: &str, figure: Result<Figure>) -> Result<()> {
        match figure.and_then(|figure| self.draw(name, &figure)) {
            Err(error @ Error::Data(_)) => Err(error),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Protects files from names of outputs that are none of files, and longer than these may be: long ones stay apart.
    #[test]
    fn names_of_files_are_short_and_differ() {
        assert_eq!(file_name("output_F/N"), "output_F_N");
        let long = |end: &str| file_name(&format!("output_{}{end}", "längs".repeat(100)));
        let [one, other] = ["1", "2"].map(long);
        assert!(one != other && one == long("1"));
        assert!(one.starts_with("output_längslängs") && one.len() < 100, "{one}");
    }
}
