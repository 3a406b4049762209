//! Figures of the papers, by the runs whose numbers are compared; named by paper and number.

use crate::{engine_mount, overhead_crane};
use costate::shown::rounded;
use costate_identify::control::Refined;
use costate_identify::problem::Problem;
use costate_identify::{Identification, Result};
use costate_report::plot::mechanism::Picture;
use costate_report::plot::{Axis, Color, Dash, Figure, Panel, Series};

/// A figure and the name of its file.
pub(super) type Named = (&'static str, Figure);

/// A curve with its label.
type Curve<'a> = (&'a str, &'a [f64]);

/// Curves over one axis.
fn lines(x: &[f64], mut panel: Panel, curves: &[Curve<'_>]) -> Panel {
    for ((label, values), color) in curves.iter().zip(Color::PALETTE) {
        let series = Series::line(x, values).color(color);
        panel = panel.series(if label.is_empty() { series } else { series.label(*label) });
    }
    panel
}

fn over_time(unit: &str) -> Panel {
    Panel::new(Axis::linear("time [s]"), Axis::linear(unit))
}

fn over_iterations(axis: Axis) -> Panel {
    Panel::new(Axis::linear("iteration").whole_numbers(), axis)
}

fn numbers(count: usize) -> Vec<f64> {
    (0..count).map(|k| k as f64).collect()
}

fn costs(history: &[f64], label: &str) -> Figure {
    Figure::column().panel(lines(&numbers(history.len()), over_iterations(Axis::log(label)), &[("", history)]))
}

/// Lauss 2018, Figs. 1 to 7.
pub(super) fn engine_mount(problem: &Problem, found: &Identification) -> Result<Vec<Named>> {
    let simulation = &problem.first().simulation;
    let times = simulation.grid().times();
    let place = simulation.signature().output_index("a1")?;
    let acceleration = |u: &[f64]| Ok::<_, costate::Error>(simulation.run(u)?.output(place));
    let history = &found.outcome.history;
    let (start, optimum) = (acceleration(&problem.start)?, acceleration(&simulation.signature().nominal())?);
    let force: Vec<f64> = times.iter().map(|t| engine_mount::sweep(*t)).collect();

    // of iterations along the way: errors over time
    let mut shown: Vec<usize> = Vec::new();
    for part in [1.0, 0.3, 0.01] {
        shown.extend(history.iter().position(|iteration| iteration.cost <= part * history[0].cost));
    }
    shown.dedup();
    let mut errors = over_time("error of a1 [m/s²]");
    for (k, color) in shown.iter().zip(Color::PALETTE) {
        let error: Vec<f64> =
            acceleration(&found.history[*k])?.iter().zip(&optimum).map(|(seen, wanted)| seen - wanted).collect();
        errors = errors.series(Series::line(times, &error).label(format!("iteration {k}")).color(color));
    }

    let count = numbers(history.len());
    let mut parameters = over_iterations(Axis::linear("value/optimum"));
    for ((k, parameter), color) in problem.parameters.iter().enumerate().zip(Color::PALETTE) {
        let values: Vec<f64> = found.history.iter().map(|u| u[k] / parameter.nominal).collect();
        parameters = parameters.series(Series::line(&count, &values).label(&parameter.name).color(color));
    }

    let drawing = Picture::of_start(simulation, &problem.start)?.panels(&[0.0])?;
    let compared = lines(times, over_time("acceleration a1 [m/s²]"), &[("start", &start), ("optimum", &optimum)]);
    let costs_found: Vec<f64> = history.iter().map(|iteration| iteration.cost).collect();
    Ok(vec![
        ("lauss2018_fig01_02", drawing),
        ("lauss2018_fig03", Figure::column().panel(lines(times, over_time("force F [N]"), &[("", &force)]))),
        ("lauss2018_fig04", costs(&costs_found, "cost J [m²/s³]")),
        ("lauss2018_fig05", Figure::column().panel(compared)),
        ("lauss2018_fig06", Figure::column().panel(errors)),
        ("lauss2018_fig07", Figure::column().panel(parameters)),
    ])
}

/// Nachbagauer 2015, Figs. 3 and 4.
pub(super) fn crane(found: &Refined) -> Result<Vec<Named>> {
    let Refined { control, solution, .. } = found;
    let times = control.simulation.grid().times();
    let signals = control.signals_of(&solution.outcome.u)?;
    let begun = overhead_crane::following().start;
    let mut figure = Figure::wide().columns(2);
    for (k, axis) in ["force F [N]", "torque M [N m]"].into_iter().enumerate() {
        let curve = |value: &dyn Fn(f64) -> f64| times.iter().map(|t| value(*t)).collect::<Vec<f64>>();
        let (seen, start) = (curve(&|t| signals[k].value(t)), curve(&|t| begun[k].value(t)));
        let exact = curve(&|t| overhead_crane::flat(t)[k]);
        figure = figure.panel(
            over_time(axis)
                .series(Series::line(times, &exact).label("exact").color(Color::PALETTE[1]).width(1.0))
                .series(Series::line(times, &seen).label("found").color(Color::PALETTE[0]))
                .series(Series::line(times, &start).label("start").color(Color::PALETTE[2]).dash(Dash::Dashed)),
        );
    }
    let history: Vec<f64> = solution.outcome.history.iter().map(|iteration| iteration.cost).collect();
    Ok(vec![("nachbagauer2015_fig03", figure), ("nachbagauer2015_fig04", costs(&history, "cost J [m² s]"))])
}

/// Nachbagauer 2015, Figs. 6 and 7.
pub(super) fn rigid_body(problem: &Problem, found: &Identification) -> Result<Vec<Named>> {
    let place = problem.first().simulation.signature().parameter_index("I11")?;
    let history = &found.outcome.history;
    let costs_found: Vec<f64> = history.iter().map(|iteration| iteration.cost).collect();
    let moments: Vec<f64> = found.history.iter().map(|u| u[place]).collect();
    let panel = lines(&numbers(history.len()), over_iterations(Axis::linear("I11 [kg m²]")), &[("", &moments)]);
    Ok(vec![
        ("nachbagauer2015_fig06", costs(&costs_found, "cost J [m²/s]")),
        (
            "nachbagauer2015_fig07",
            Figure::column().panel(panel.reference_line(problem.parameters[place].nominal, "put in")),
        ),
    ])
}

/// Nachbagauer 2015, Figs. 9 to 12.
pub(super) fn triple_pendulum(found: &Refined) -> Result<Vec<Named>> {
    let Refined { control, solution, stages, .. } = found;
    let (u, _) = control.expand(&solution.outcome.u);
    let swing = control.simulation_of(&solution.outcome.u, 1)?;
    let swung = swing.run(&u)?;
    let times = swing.grid().times();
    // six poses; of their times the paper's text has these five
    let poses = Picture::of_motion(&swing, &u, &swung)?.height(115.0)?.panels(&[0.0, 0.7, 1.4, 1.9, 2.3, 3.0])?;
    let signals = control.signals_of(&solution.outcome.u)?;
    let force: Vec<f64> = times.iter().map(|t| signals[0].value(*t)).collect();
    // every stage has its own steps
    let mut stages_found = over_iterations(Axis::log("cost of the end point"));
    for (stage, color) in stages.iter().zip(Color::PALETTE) {
        let records = &solution.outcome.history[stage.first_iteration..=stage.first_iteration + stage.iterations];
        let of: Vec<f64> = records.iter().map(|iteration| iteration.number as f64).collect();
        let label = stage.step.map_or_else(String::new, |step| format!("{} ms", rounded(1e3 * step, 3)));
        let costs: Vec<f64> = records.iter().map(|iteration| iteration.cost).collect();
        stages_found = stages_found.series(Series::line(&of, &costs).label(label).color(color));
    }
    let mut angles = over_time("angle from hanging [rad]");
    for (k, color) in (1..=3).zip(Color::PALETTE) {
        let place = swing.signature().output_index(&format!("phi{k}"))?;
        angles = angles.series(Series::line(times, &swung.output(place)).label(format!("φ{k}")).color(color));
    }
    Ok(vec![
        ("nachbagauer2015_fig09", poses),
        ("nachbagauer2015_fig10", Figure::column().panel(lines(times, over_time("force F [N]"), &[("", &force)]))),
        ("nachbagauer2015_fig11", Figure::column().panel(stages_found)),
        ("nachbagauer2015_fig12", Figure::column().panel(angles)),
    ])
}
