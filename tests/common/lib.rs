//! What the integration tests share: cases of all models, a cost that looks at everything, comparisons.

// tests know what a case's step is
#![allow(missing_docs)]

pub mod compare;
pub mod crank;
pub mod exact;
pub mod mechanisms;
pub mod spatial;
pub mod tangles;
pub mod textbook;

use costate::cost::{Cost, Quadrature};
use costate::linearise::{CostFunction, Differentiated};
use costate::scheme::{Form, Hht};
use costate::sensitivity::{Gradient, Method};
use costate::system::System;
use costate::{InitialState, Model, Number, Plain, Result, Signal, Simulation, State, TimeGrid};
use costate_identify::registry::Registry;
use costate_models::cart_pole::CartPole;
use costate_models::emps::Emps;
use costate_models::engine_mount::EngineMount;
use costate_models::oscillator::Oscillator;
use costate_models::pendulum::Pendulum;
use costate_models::silverbox::Silverbox;
use costate_models::slider_crank::SliderCrank;
use std::sync::{Arc, LazyLock};
use textbook::{AnyModel, Mechanics, Textbook};

/// A model with what it is simulated with.
#[derive(Clone)]
pub struct Case {
    /// The model in the numbers of the textbook.
    pub model: Arc<dyn AnyModel>,
    /// The model in the engine.
    pub system: Arc<dyn System>,
    pub u: Vec<f64>,
    /// Sizes of the parameters: entries of gradients are compared after multiplication with these.
    pub sizes: Vec<f64>,
    pub signals: Vec<fn(f64) -> f64>,
    pub alpha: f64,
    pub form: Form,
    pub grid: TimeGrid,
    pub project: bool,
}

impl Case {
    pub fn new(
        model: impl Model + Clone + 'static,
        u: &[f64],
        signals: Vec<fn(f64) -> f64>,
        h: f64,
        count: usize,
    ) -> Self {
        Case::around(Arc::new(model.clone()), Arc::new(Plain::new(model).unwrap()), u, signals, h, count)
    }

    /// A case of a ready model, compiled where it is.
    pub fn ready(
        model: impl AnyModel + 'static,
        name: &str,
        u: &[f64],
        signals: Vec<fn(f64) -> f64>,
        h: f64,
        count: usize,
    ) -> Self {
        Case::around(Arc::new(model), ready(name), u, signals, h, count)
    }

    fn around(
        model: Arc<dyn AnyModel>,
        system: Arc<dyn System>,
        u: &[f64],
        signals: Vec<fn(f64) -> f64>,
        h: f64,
        count: usize,
    ) -> Self {
        let sizes = u.iter().map(|&u| if u == 0.0 { 1.0 } else { u.abs() }).collect();
        let grid = TimeGrid::steps(0.0, h, count).unwrap();
        let (u, alpha, form, project) = (u.to_vec(), 0.0, Form::Consistent, false);
        Case { model, system, u, sizes, signals, alpha, form, grid, project }
    }

    /// The same with another model.
    pub fn with_model(self, model: impl Model + Clone + 'static) -> Self {
        let system = Arc::new(Plain::new(model.clone()).unwrap());
        Case { model: Arc::new(model), system, ..self }
    }

    /// True if the model has constraints.
    pub fn is_constrained(&self) -> bool {
        !self.system.signature().constraints.is_empty()
    }

    pub fn alpha(self, alpha: f64) -> Self {
        Case { alpha, ..self }
    }

    pub fn form(self, form: Form) -> Self {
        Case { form, ..self }
    }

    pub fn project(self) -> Self {
        Case { project: true, ..self }
    }

    pub fn step(self, h: f64, count: usize) -> Self {
        Case { grid: TimeGrid::steps(0.0, h, count).unwrap(), ..self }
    }

    /// A shorter run with the same step.
    pub fn first_steps(self, count: usize) -> Self {
        Case { grid: TimeGrid::steps(self.grid.times()[0], self.grid.step(1), count).unwrap(), ..self }
    }

    /// The same number of steps, longer and shorter by up to 40 %.
    pub fn uneven(self) -> Self {
        Case { grid: uneven(&self.grid), ..self }
    }

    pub fn try_simulation(&self) -> Result<Simulation> {
        let scheme = Hht::new(self.alpha)?.form(self.form);
        let state = if self.project { InitialState::Projected } else { InitialState::AsGiven };
        Ok(simulation(self.system.clone(), &self.signals, scheme, &self.grid)?.initial_state(state))
    }

    pub fn simulation(&self) -> Simulation {
        self.try_simulation().unwrap()
    }

    pub fn textbook(&self) -> Textbook<'_> {
        Textbook {
            mechanics: Mechanics::new(&*self.model, self.system.signature()),
            alpha: self.alpha,
            literal: self.form == Form::Literal,
            project: self.project,
            times: self.grid.times().to_vec(),
            steps: (1..=self.grid.count()).map(|i| self.grid.step(i)).collect(),
            signals: self.signals.clone(),
        }
    }

    /// The weights of `quadrature`, written down once more.
    pub fn weights(&self, quadrature: Quadrature) -> Vec<f64> {
        weights(&self.grid, quadrature)
    }

    /// Everything in the state and the outputs, each divided by its largest size along the run.
    pub fn cost_of(&self, parts: Parts) -> Everything {
        let (scales, sizes) = (scales(&self.simulation(), &self.u), self.sizes.clone());
        Everything { scales, sizes, parts }
    }

    /// Cost and gradient of the engine.
    pub fn engine(&self, cost: &Everything, quadrature: Quadrature, method: Method) -> (f64, Vec<f64>) {
        let simulation = self.simulation();
        let cost = cost.differentiated(quadrature);
        let mut gradient = vec![0.0; self.u.len()];
        let mut workspace = Gradient::new(&simulation, &*cost).unwrap();
        let value = workspace.cost_and_gradient(&self.u, method, &mut gradient).unwrap();
        (value, gradient)
    }

    /// The largest difference of two gradients in units of the largest entry, entries scaled by the parameters' sizes.
    pub fn distance(&self, a: &[f64], b: &[f64]) -> f64 {
        distance(&self.sizes, a, b)
    }
}

/// The system of a ready model, compiled where it is: a plain model is compiled anew wherever it is named.
///
/// # Panics
/// If there is none of that name.
pub fn ready(name: &str) -> Arc<dyn System> {
    static READY: LazyLock<Registry> = LazyLock::new(|| costate_models::registry().unwrap());
    READY.get(name).unwrap().system.clone()
}

fn uneven(grid: &TimeGrid) -> TimeGrid {
    let mut t = grid.times()[0];
    let mut times = vec![t];
    for i in 1..=grid.count() {
        t += grid.step(i) * (1.0 + 0.4 * (1.7 * i as f64).sin());
        times.push(t);
    }
    TimeGrid::through(&times, 1).unwrap()
}

fn simulation(system: Arc<dyn System>, signals: &[fn(f64) -> f64], scheme: Hht, grid: &TimeGrid) -> Result<Simulation> {
    let signals = signals.iter().map(|&w| Signal::function(w)).collect();
    Simulation::new(system, scheme, grid.clone(), signals)
}

fn weights(grid: &TimeGrid, quadrature: Quadrature) -> Vec<f64> {
    let last = grid.count();
    (0..=last)
        .map(|i| {
            let before = if i > 0 { grid.step(i) } else { 0.0 };
            let after = if i < last { grid.step(i + 1) } else { 0.0 };
            match quadrature {
                Quadrature::Rectangle => after,
                Quadrature::Trapezoid => (before + after) / 2.0,
                Quadrature::Unit => 1.0,
            }
        })
        .collect()
}

/// The largest sizes of all that a run shows, of its state and outputs.
fn scales(simulation: &Simulation, u: &[f64]) -> Vec<f64> {
    let (run, signature) = (simulation.run(u).unwrap(), simulation.signature());
    let (n, m, outputs) = (signature.coordinates.len(), signature.constraints.len(), signature.outputs.len());
    let mut scales = vec![0.0f64; 4 * n + m + outputs];
    let y: Vec<Vec<f64>> = (0..outputs).map(|k| run.output(k)).collect();
    for i in 0..run.times().len() {
        let x = run.state(i);
        let outputs: Vec<f64> = y.iter().map(|y| y[i]).collect();
        let all = [x.q, x.v, x.a, &run.scheme_acceleration(i), x.lambda, &outputs].concat();
        scales.iter_mut().zip(all).for_each(|(scale, x)| *scale = scale.max(x.abs()));
    }
    // what stays at zero is round-off: it must not be made large
    let mut rest = scales.as_mut_slice();
    for count in [n, n, n, n, m, outputs] {
        let (part, others) = rest.split_at_mut(count);
        let largest = part.iter().fold(0.0f64, |s, x| s.max(*x));
        part.iter_mut().filter(|scale| **scale <= 1e-12 * largest).for_each(|scale| *scale = 1.0);
        rest = others;
    }
    scales
}

fn distance(sizes: &[f64], a: &[f64], b: &[f64]) -> f64 {
    let scaled = |x: &[f64]| x.iter().zip(sizes).map(|(x, s)| x * s).collect::<Vec<f64>>();
    let (a, b) = (scaled(a), scaled(b));
    let largest = b.iter().fold(0.0f64, |s, x| s.max(x.abs()));
    assert!(largest > 0.0 && largest.is_finite(), "a gradient of {largest} shows nothing");
    assert!(a.iter().all(|x| x.is_finite()), "{a:?}");
    a.iter().zip(&b).fold(0.0f64, |s, (a, b)| s.max((a - b).abs())) / largest
}

/// Which parts of a state and when a cost looks at them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parts {
    pub q: bool,
    pub v: bool,
    pub a: bool,
    pub a_scheme: bool,
    pub lambda: bool,
    pub y: bool,
    pub running: bool,
    pub terminal: bool,
}

pub const ALL: Parts =
    Parts { q: true, v: true, a: true, a_scheme: true, lambda: true, y: true, running: true, terminal: true };
pub const NONE: Parts =
    Parts { q: false, v: false, a: false, a_scheme: false, lambda: false, y: false, running: true, terminal: true };

/// A cost of squares, neighbours' products, and products with time and parameters, of the chosen parts.
#[derive(Debug, Clone)]
pub struct Everything {
    /// Of q, v, a, a_scheme, lambda, y.
    pub scales: Vec<f64>,
    /// Of the parameters.
    pub sizes: Vec<f64>,
    pub parts: Parts,
}

impl Everything {
    /// For the engine.
    pub fn differentiated(&self, quadrature: Quadrature) -> Box<dyn Cost> {
        Box::new(Differentiated::new(self.clone(), quadrature))
    }

    fn chosen<D: Number>(&self, x: &State<'_, D>, y: &[D]) -> Vec<D> {
        let parts = self.parts;
        let lists = [
            (parts.q, x.q),
            (parts.v, x.v),
            (parts.a, x.a),
            (parts.a_scheme, x.a_scheme),
            (parts.lambda, x.lambda),
            (parts.y, y),
        ];
        let all = lists.into_iter().flat_map(|(chosen, list)| list.iter().map(move |x| chosen.then_some(*x)));
        all.zip(&self.scales).filter_map(|(x, scale)| x.map(|x| x / *scale)).collect()
    }
}

impl CostFunction for Everything {
    fn running<D: Number>(&self, t: f64, x: &State<'_, D>, y: &[D], u: &[D]) -> D {
        if !self.parts.running {
            return D::from(0.0);
        }
        let z = self.chosen(x, y);
        (0..z.len()).fold(D::from(0.0), |sum, i| {
            let weight = 1.0 + 0.3 * (2.3 * i as f64).sin();
            let next = z[(i + 1) % z.len()];
            let parameter = u[i % u.len()] / self.sizes[i % u.len()];
            sum + z[i] * (z[i] * weight + next * 0.3 + (3.0 * t + i as f64).cos() * 0.4 + parameter * 0.2)
        })
    }

    fn terminal<D: Number>(&self, t: f64, x: &State<'_, D>, y: &[D], u: &[D]) -> D {
        if !self.parts.terminal {
            return D::from(0.0);
        }
        let z = self.chosen(x, y);
        (0..z.len()).fold(D::from(0.0), |sum, i| {
            let parameter = u[i % u.len()] / self.sizes[i % u.len()];
            sum + z[i] * z[i] * (z[i] * 0.1 + parameter * (0.2 + 0.1 * t))
        })
    }
}

pub fn oscillator() -> Case {
    Case::ready(Oscillator, "oscillator", &[1.3, 30.0, 0.5, 0.12, -0.2], vec![|t| (3.0 * t).sin()], 0.02, 120)
}

/// The chirp of the paper's example is slow in the beginning: this pushes at 18 and 40 Hz at once.
pub fn engine_mount() -> Case {
    let force = |t: f64| 100.0 * (113.0 * t).sin() + 60.0 * (251.0 * t).cos();
    Case::ready(EngineMount, "engine_mount", &[73.8e3, 4e9, 0.5, 1.2], vec![force], 1e-3, 120)
}

pub fn silverbox() -> Case {
    let u = [6.0e-6, 3.0e-4, 1.1, 2.8, 0.01, 0.03, 5.0];
    Case::ready(Silverbox, "silverbox", &u, vec![|t| 5.0 * costate_models::silverbox::multisine(t)], 2e-4, 120)
}

pub fn pendulum() -> Case {
    Case::ready(Pendulum, "pendulum", &[0.6, 0.7, 0.06, 9.81, 1.1, 0.4], Vec::new(), 0.02, 100)
}

pub fn cart_pole() -> Case {
    let force = |t: f64| 3.0 * (2.5 * t).sin() + 2.0 * (5.3 * t).cos();
    Case::ready(CartPole, "cart_pole", &[1.0, 0.5, 0.45, 0.2, 0.02, 0.7], vec![force], 0.02, 100)
}

/// Masses and inertias of one size, and a turn and a half of the crank.
pub fn slider_crank() -> Case {
    let u = [0.9, 0.7, 0.5, 0.03, 0.02, 0.12, 0.35, 0.04, 0.2, 150.0, 0.33, 4.0, 9.81, 0.7, 9.0];
    let torque = |t: f64| 1.2 + 0.8 * (9.0 * t).sin();
    Case::ready(SliderCrank, "slider_crank", &u, vec![torque], 1e-2, 80)
}

/// Through the smoothed sign of the velocity several times, with different friction forwards and backwards.
pub fn emps() -> Case {
    let u = [80.0, 180.0, -30.0, 18.0, 1.5, -2.0, 35.0, 0.01, 0.02, 0.05];
    let voltage = |t: f64| 2.0 * (5.0 * t).sin() + 0.8 * (13.0 * t).cos();
    Case::ready(Emps, "emps", &u, vec![voltage], 0.02, 100)
}

/// Cases of the ready models, with their names.
pub fn models() -> impl Iterator<Item = (&'static str, Case)> {
    let all = [
        ("oscillator", oscillator as fn() -> Case),
        ("engine_mount", engine_mount),
        ("silverbox", silverbox),
        ("pendulum", pendulum),
        ("cart_pole", cart_pole),
        ("slider_crank", slider_crank),
        ("emps", emps),
    ];
    all.into_iter().map(|(name, case)| (name, case()))
}

pub fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0f64, |largest, v| largest.max(v.abs()))
}

pub const FORMS: [Form; 2] = [Form::Consistent, Form::Literal];

/// The order seen when errors fall from `coarse` to `fine` at half the step.
pub fn order(coarse: f64, fine: f64) -> f64 {
    (coarse / fine).log2()
}
