//! The price of the gradient by number of parameters: cost with gradient beside cost alone, in one run.
//!
//! `cargo bench -p costate-benches --bench parameters`; with `-- none` behind it only the tables.

use costate::cost::{Cost, LeastSquares, Quadrature, Reference};
use costate::linearise::{CostFunction, Differentiated};
use costate::scheme::Hht;
use costate::sensitivity::{Gradient, Method};
use costate::{InitialState, Model, Number, Plain, Result, Signal, Simulation, State, TimeGrid};
use costate_benches::{Contestant, measuring, medians};
use costate_models::network::NeuralOscillator;
use costate_models::squeezer::{Squeezer, WholeSqueezer};
use std::sync::Arc;

/// The square of the first output.
struct Square;

impl CostFunction for Square {
    fn running<D: Number>(&self, _t: f64, _x: &State<'_, D>, y: &[D], _u: &[D]) -> D {
        (y[0] - 0.1) * (y[0] - 0.1)
    }
}

/// The same, and the size of all parameters at every sample.
struct Regularised;

impl CostFunction for Regularised {
    fn running<D: Number>(&self, t: f64, x: &State<'_, D>, y: &[D], u: &[D]) -> D {
        Square.running(t, x, y, u) + D::dot(u, u) * 1e-6
    }
}

/// The same, written as a loop.
struct Looped;

impl CostFunction for Looped {
    fn running<D: Number>(&self, t: f64, x: &State<'_, D>, y: &[D], u: &[D]) -> D {
        u.iter().fold(Square.running(t, x, y, u), |sum, u| sum + *u * *u * 1e-6)
    }
}

/// Name, simulation, and how many parameters are free.
struct Case {
    name: String,
    simulation: Simulation,
    free: usize,
}

impl Case {
    fn of(name: &str, model: impl Model + 'static, step: f64, count: usize) -> Result<Self> {
        let signature = model.signature();
        let grid = TimeGrid::steps(0.0, step, count)?;
        let signals = signature.inputs.iter().map(|_| Signal::function(|t: f64| (3.0 * t).sin())).collect();
        let simulation = Simulation::new(Arc::new(Plain::new(model)?), Hht::new(-0.05)?, grid, signals)?;
        // lengths are not what the start was found with
        let simulation = simulation.initial_state(InitialState::Projected);
        Ok(Case { name: name.into(), simulation, free: signature.parameters.len() })
    }

    fn fit_of(self, free: usize) -> Self {
        Case { free, ..self }
    }
}

fn cases() -> Result<Vec<Case>> {
    let squeezer = |name: &str| Case::of(name, WholeSqueezer, 3e-5, 1000);
    Ok(vec![
        Case::of("squeezer", Squeezer, 3e-5, 1000)?,
        Case::of("squeezer", Squeezer, 3e-5, 1000)?.fit_of(3),
        squeezer("whole squeezer")?,
        squeezer("whole squeezer")?.fit_of(3),
        Case::of("neural oscillator", NeuralOscillator::<4>, 1e-2, 1000)?,
        Case::of("neural oscillator", NeuralOscillator::<16>, 1e-2, 1000)?,
        Case::of("neural oscillator", NeuralOscillator::<32>, 1e-2, 1000)?,
        // more than one iteration a step
        Case::of("neural oscillator", NeuralOscillator::<16>, 1e-1, 1000)?,
        Case::of("neural oscillator", NeuralOscillator::<32>, 1e-1, 1000)?,
    ])
}

fn costs(simulation: &Simulation) -> Result<Vec<(&'static str, Box<dyn Cost>)>> {
    let times = simulation.grid().times();
    let reference = Reference { output: 0, values: vec![0.1; times.len()], deviation: 1.0 };
    let squares = LeastSquares::new(times, vec![reference], 1, Quadrature::Trapezoid)?;
    Ok(vec![
        ("squares", Box::new(squares)),
        ("function", Box::new(Differentiated::new(Square, Quadrature::Trapezoid))),
        ("function of u", Box::new(Differentiated::new(Regularised, Quadrature::Trapezoid))),
        ("loop over u", Box::new(Differentiated::new(Looped, Quadrature::Trapezoid))),
    ])
}

fn main() -> Result<()> {
    let mut criterion = costate_benches::criterion();
    let mut table = Vec::new();
    for Case { name, simulation, free } in cases()? {
        let u = simulation.signature().nominal();
        let all: Vec<usize> = (0..free).collect();
        for (cost_name, cost) in costs(&simulation)? {
            let gradient = || Ok::<_, costate::Error>(Gradient::new(&simulation, &*cost)?.with_respect_to(&all));
            let (mut alone, mut adjoint, mut slopes) = (gradient()?, gradient()?, vec![0.0; u.len()]);
            alone.cost(&u)?;
            let iterations = alone.counters().iterations as f64 / simulation.grid().count() as f64;
            let mut contestants: Vec<Contestant<'_>> = vec![
                ("cost", Box::new(|| drop(std::hint::black_box(alone.cost(&u))))),
                ("cost_and_gradient", Box::new(|| drop(adjoint.cost_and_gradient(&u, Method::Adjoint, &mut slopes)))),
            ];
            let mut group = criterion.benchmark_group(format!("{name}/{free} of {}/{cost_name}", u.len()));
            for (work_name, work) in &mut contestants {
                group.bench_function(*work_name, |b| b.iter(&mut *work));
            }
            group.finish();
            if measuring() {
                let times = medians(&mut contestants, 21);
                let [cost, with_gradient] =
                    [times[0], times[1]].map(|time| time / simulation.grid().count() as f64 * 1e6);
                let (p, ratio) = (u.len(), with_gradient / cost);
                table.push(format!(
                    "{name:18} {free:5} {p:5}   {cost_name:14} {cost:9.2} {with_gradient:15.2} {ratio:7.2} {iterations:12.2}"
                ));
            }
        }
    }
    criterion.final_summary();
    if measuring() {
        println!("\nus a step           free   all   cost of             cost   cost+gradient   ratio   iterations");
        table.iter().for_each(|row| println!("{row}"));
    }
    Ok(())
}
