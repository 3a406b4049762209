//! First-order states of plain models: against closed forms and a reference of its own, under every scheme; derivatives, starts, modes,
//! identification, and what is said of them.

mod messages;
mod tank;

use crate::common;

use common::{ALL, Case};
use costate::adapt::StepControl;
use costate::cost::Quadrature;
use costate::modes::{Character, Modes};
use costate::noise::{NoiseLevel, SyntheticNoise};
use costate::sensitivity::{Gradient, Method};
use costate::step_error::{StepError, StepErrors};
use costate::{
    FreeEndTime, InitialState, Matrix, Model, Number, Parameter, Plain, Signal, Signature, Simulation, State, TimeGrid,
    unpack,
};
use costate_identify::optimise::Flow;
use costate_identify::problem::Integrator;
use costate_identify::statistics::{Noise, Statistics};
use costate_identify::{Settings, identify};
use costate_models::bouc_wen::BoucWen;
use costate_models::dc_motor::DcMotor;
use costate_models::{bouc_wen, dc_motor};
use std::sync::Arc;

const SCHEMES: [&str; 7] = ["hht", "generalized-alpha", "newmark", "trapezoidal", "i2p", "bdf2", "ali3p"];

fn simulation<M: Model + 'static>(model: M, scheme: &str, grid: TimeGrid, signals: Vec<Signal>) -> Simulation {
    let settings = if scheme == "hht" { vec![("alpha".to_string(), -0.1)] } else { Vec::new() };
    let integrator = Integrator { scheme: scheme.into(), settings, ..Integrator::hht(0.0) };
    integrator.simulation(Arc::new(Plain::new(model).unwrap()), grid, signals).unwrap()
}

fn steps(h: f64, count: usize) -> TimeGrid {
    TimeGrid::steps(0.0, h, count).unwrap()
}

/// Speed and current of the motor under a constant voltage, by the eigenvalues of its matrix, which are real.
fn motor(t: f64, voltage: f64, u: &[f64]) -> [f64; 2] {
    let [inertia, d, k, inductance, resistance, current0, speed0] = unpack(u);
    let a = [[-d / inertia, k / inertia], [-k / inductance, -resistance / inductance]];
    let determinant = a[0][0] * a[1][1] - a[0][1] * a[1][0];
    let rest = [k * voltage / (inertia * inductance * determinant), d * voltage / (inertia * inductance * determinant)];
    let (mean, half) = (0.5 * (a[0][0] + a[1][1]), 0.5 * (a[0][0] - a[1][1]));
    let root = (half * half + a[0][1] * a[1][0]).sqrt();
    // e^(A t) = e^(mean t) (cosh(root t) + (A - mean) sinh(root t) / root)
    let (cosh, sinh) = ((root * t).cosh() * (mean * t).exp(), (root * t).sinh() / root * (mean * t).exp());
    let from = [speed0 - rest[0], current0 - rest[1]];
    std::array::from_fn(|i| {
        let turned: f64 = (0..2).map(|j| (a[i][j] - if i == j { mean } else { 0.0 }) * from[j]).sum();
        rest[i] + cosh * from[i] + sinh * turned
    })
}

/// Protects states under every scheme: speed and current of a motor with inductance converge to the closed form with second order, from the
/// start on, and so does the current's rate.
#[test]
fn a_motor_follows_its_closed_form_with_second_order() {
    let u = [0.01, 0.1, 0.1, 0.5, 1.0, 2.0, -3.0];
    for scheme in SCHEMES {
        let errors = |count: usize| -> [f64; 3] {
            let h = 1.0 / count as f64;
            let run = simulation(DcMotor, scheme, steps(h, count), vec![Signal::constant(12.0)]).run(&u).unwrap();
            let mut errors = [0.0f64; 3];
            for (i, t) in run.times().iter().enumerate() {
                let (x, [speed, current]) = (run.state(i), motor(*t, 12.0, &u));
                let rate = (12.0 - u[4] * current - u[2] * speed) / u[3];
                let gaps = [x.v[0] - speed, x.v[1] - current, x.a[1] - rate];
                errors.iter_mut().zip(gaps).for_each(|(error, gap)| *error = error.max(gap.abs()));
                assert_eq!(x.q[1], 0.0, "{scheme}: what nobody sees stays at zero");
            }
            errors
        };
        let (coarse, fine) = (errors(400), errors(800));
        for (what, (coarse, fine)) in ["speed", "current", "rate"].into_iter().zip(coarse.into_iter().zip(fine)) {
            let order = (coarse / fine).log2();
            assert!((order - 2.0).abs() < 0.1, "{scheme}, {what}: {order:.3} from {coarse:e}");
            assert!(coarse < 2e-2, "{scheme}, {what}: {coarse:e}");
        }
    }
}

/// x, x', z of the Bouc-Wen oscillator by the classical Runge-Kutta method.
fn runge_kutta(u: &[f64], end: f64, count: usize) -> Vec<[f64; 3]> {
    let [m, c, k, stiffness, beta, gamma, z0] = unpack(u);
    let slope = |t: f64, [x, v, z]: [f64; 3]| {
        let force = bouc_wen::excitation(t) - k * x - c * v - z;
        [v, force / m, stiffness * v - beta * v.abs() * z - gamma * v * z.abs()]
    };
    let h = end / count as f64;
    let mut x = [0.0, 0.0, z0];
    let mut all = vec![x];
    for i in 0..count {
        let t = i as f64 * h;
        let along = |part: f64, slope: [f64; 3]| std::array::from_fn(|j| x[j] + part * slope[j]);
        let first = slope(t, x);
        let second = slope(t + 0.5 * h, along(0.5 * h, first));
        let third = slope(t + 0.5 * h, along(0.5 * h, second));
        let last = slope(t + h, along(h, third));
        x = std::array::from_fn(|j| x[j] + h / 6.0 * (first[j] + 2.0 * second[j] + 2.0 * third[j] + last[j]));
        all.push(x);
    }
    all
}

/// Protects hysteresis: displacement and force of a Bouc-Wen oscillator are those of another method, with errors that fall by the square of
/// the step in spite of the kinks where the motion turns.
#[test]
fn hysteresis_agrees_with_runge_kutta() {
    let mut u = BoucWen.signature().nominal();
    u[6] = 15.0;
    let exact = runge_kutta(&u, 0.2, 40_000);
    let size = exact.iter().fold(0.0f64, |size, x| size.max(x[2].abs()));
    assert!(size > 30.0, "{size} N do not show any hysteresis");
    for scheme in SCHEMES {
        let error = |count: usize| {
            let signals = vec![Signal::function(bouc_wen::excitation)];
            let run = simulation(BoucWen, scheme, steps(0.2 / count as f64, count), signals).run(&u).unwrap();
            let gap = |i: usize| (run.state(i).v[1] - exact[i * 40_000 / count][2]).abs();
            (0..=count).map(gap).fold(0.0, f64::max) / size
        };
        let (coarse, fine) = (error(1000), error(4000));
        // at 150 steps a period of 33 Hz; BDF2, which damps most, errs most
        assert!(coarse < 8e-3 && fine < coarse / 12.0, "{scheme}: {coarse:e}, {fine:e}");
    }
}

fn motor_case() -> Case {
    Case::new(DcMotor, &[0.02, 0.05, 0.3, 0.4, 1.2, 1.5, -2.0], vec![dc_motor::voltage], 0.01, 120)
}

fn bouc_wen_case() -> Case {
    let u = [2.0, 12.0, 4e4, 5e4, 700.0, -900.0, 8.0];
    Case::new(BoucWen, &u, vec![bouc_wen::excitation], 1e-3, 120)
}

/// Adjoint against tangents and differences, and a product with the Hessian against differences of gradients.
fn derivatives(name: &str, case: &Case, simulation: &Simulation, scheme: &str) {
    let cost = case.cost_of(ALL).differentiated(Quadrature::Trapezoid);
    let mut engine = Gradient::new(simulation, &*cost).unwrap();
    let mut slope = |u: &[f64], method| {
        let mut slope = vec![0.0; u.len()];
        engine.cost_and_gradient(u, method, &mut slope).unwrap();
        slope
    };
    let adjoint = slope(&case.u, Method::Adjoint);
    let apart = case.distance(&adjoint, &slope(&case.u, Method::Tangent));
    assert!(apart < 1e-11, "{name}, {scheme}: adjoint and tangents are {apart:.1e} apart");
    let moved = |k: usize, part: f64| {
        let mut u = case.u.clone();
        u[k] += part * case.sizes[k];
        u
    };
    let part = 1e-6;
    let difference: Vec<f64> = (0..case.u.len())
        .map(|k| {
            let cost = |u: &[f64]| Gradient::new(simulation, &*cost).unwrap().cost(u).unwrap();
            (cost(&moved(k, part)) - cost(&moved(k, -part))) / (2.0 * part * case.sizes[k])
        })
        .collect();
    let apart = case.distance(&adjoint, &difference);
    // round-off of the cost over the step, and the square of the step
    assert!(apart < 1e-7, "{name}, {scheme}: adjoint and differences are {apart:.1e} apart");
    let direction: Vec<f64> =
        case.sizes.iter().enumerate().map(|(k, size)| size * (1.0 + 0.3 * k as f64).sin()).collect();
    let mut product = vec![0.0; case.u.len()];
    let mut engine = Gradient::new(simulation, &*cost).unwrap();
    engine.hessian_vector(&case.u, &direction, &mut vec![0.0; case.u.len()], &mut product).unwrap();
    let along = |part: f64| {
        let u: Vec<f64> = case.u.iter().zip(&direction).map(|(u, d)| u + part * d).collect();
        let mut slope = vec![0.0; u.len()];
        Gradient::new(simulation, &*cost).unwrap().cost_and_gradient(&u, Method::Adjoint, &mut slope).unwrap();
        slope
    };
    let difference: Vec<f64> = along(part).iter().zip(along(-part)).map(|(a, b)| (a - b) / (2.0 * part)).collect();
    let apart = case.distance(&product, &difference);
    assert!(apart < 1e-6, "{name}, {scheme}: the Hessian and differences are {apart:.1e} apart");
}

/// Protects derivatives by parameters of states, of their rates and of their start, of first and second order, under every scheme and at
/// uneven steps.
#[test]
fn derivatives_are_exact() {
    for scheme in SCHEMES {
        let case = motor_case();
        let with = |case: &Case| {
            let signals = vec![Signal::function(dc_motor::voltage)];
            simulation(DcMotor, scheme, case.grid.clone(), signals)
        };
        derivatives("motor", &case, &with(&case), scheme);
        let uneven = motor_case().uneven();
        derivatives("motor, uneven", &uneven, &with(&uneven), scheme);
        let case = bouc_wen_case();
        let signals = vec![Signal::function(bouc_wen::excitation)];
        derivatives("hysteresis", &case, &simulation(BoucWen, scheme, case.grid.clone(), signals), scheme);
    }
}

/// A motor that turns against a spring: J θ'' = k i - d θ' - c θ.
#[derive(Debug, Clone, Copy)]
struct Galvanometer;

impl Model for Galvanometer {
    fn signature(&self) -> Signature {
        let motor = DcMotor.signature();
        let spring = Parameter::new("c", "N m", 0.8);
        Signature { name: "galvanometer".into(), ..motor }.parameters([spring])
    }
    fn initial<D: Number>(&self, u: &[D], q: &mut [D], v: &mut [D]) {
        DcMotor.initial(&u[..7], q, v);
    }
    fn mass<D: Number>(&self, q: &[D], u: &[D], m: &mut Matrix<D>) {
        DcMotor.mass(q, u, m);
    }
    fn force<D: Number>(&self, t: D, q: &[D], v: &[D], w: &[D], u: &[D], force: &mut [D]) {
        DcMotor.force(t, q, v, w, &u[..7], force);
        force[0] -= u[7] * q[0];
    }
    fn rates<D: Number>(&self, t: D, q: &[D], v: &[D], w: &[D], u: &[D], rates: &mut [D]) {
        DcMotor.rates(t, q, v, w, &u[..7], rates);
    }
    fn output<D: Number>(&self, t: D, x: &State<'_, D>, u: &[D], y: &mut [D]) {
        DcMotor.output(t, x, &u[..7], y);
    }
}

fn galvanometer(signal: Signal, count: usize) -> Simulation {
    simulation(Galvanometer, "i2p", steps(0.01, count), vec![signal]).initial_state(InitialState::Equilibrium)
}

/// Protects starts at equilibrium: rates of states are zero there, along with forces, and derivatives follow.
#[test]
fn an_equilibrium_holds_states_too() {
    let u = [0.02, 0.05, 0.3, 0.4, 1.25, 7.0, 5.0, 0.8];
    let run = galvanometer(Signal::constant(10.0), 200).run(&u).unwrap();
    for i in [0, 1, 200] {
        let x = run.state(i);
        assert!((x.v[1] / 8.0 - 1.0).abs() < 1e-14, "current {}", x.v[1]);
        assert!((x.q[0] / 3.0 - 1.0).abs() < 1e-14, "angle {}", x.q[0]);
        assert!(x.v[0].abs() < 1e-13 && x.q[1] == 0.0, "{:?} {:?}", x.v, x.q);
    }
    let case = Case::new(Galvanometer, &u, vec![|t| 10.0 + 4.0 * (3.0 * t).sin()], 0.01, 60);
    let simulation = galvanometer(Signal::function(|t| 10.0 + 4.0 * (3.0 * t).sin()), 60);
    derivatives("at equilibrium", &case, &simulation, "i2p");
}

/// Protects modes: a state adds one real pole, or takes part in a pair, and no free motion; eigenvalues are the zeros of the
/// characteristic polynomial, and their derivatives those of differences.
#[test]
fn a_state_is_one_pole() {
    let of = |model: &dyn Fn() -> Simulation, u: &[f64]| Modes::of(&model(), u).unwrap();
    // the motor alone: an angle that nothing holds, and the two poles of the literature
    let motor = || simulation(DcMotor, "i2p", steps(0.01, 1), vec![Signal::constant(0.0)]);
    let modes = of(&motor, &DcMotor.signature().nominal());
    let poles: Vec<f64> = modes.modes.iter().map(|mode| mode.eigenvalue.re).collect();
    assert_eq!(poles.len(), 3, "{poles:?}");
    let [mean, half] = [-6.0, (16.0f64 - 0.02).sqrt()];
    for (pole, expected) in poles.iter().zip([0.0, mean + half, mean - half]) {
        assert!((pole - expected).abs() < 1e-12 * (1.0 + expected.abs()), "{poles:?}");
    }
    assert_eq!(modes.modes[1].character(), Character::Decay);
    // against a spring: J s³ L + ...
    let u = [0.02, 0.05, 0.3, 0.4, 1.25, 0.0, 0.0, 0.8];
    let model = || galvanometer(Signal::constant(2.0), 1);
    let modes = of(&model, &u);
    let count: usize = modes.modes.iter().map(|mode| if mode.eigenvalue.im > 0.0 { 2 } else { 1 }).sum();
    assert_eq!(count, 3);
    let slopes = modes.sensitivities(&model(), usize::MAX).unwrap();
    for (place, (mode, slope)) in modes.modes.iter().zip(&slopes).enumerate() {
        let s = mode.eigenvalue;
        let polynomial = (s * s * u[0] + s * u[1] + u[7]) * (s * u[3] + u[4]) + s * (u[2] * u[2]);
        assert!(polynomial.norm() < 1e-13 * (u[7] * u[4] + s.norm().powi(3) * u[0] * u[3]), "{s}: {polynomial}");
        let slope = &slope.as_ref().unwrap().eigenvalue;
        for k in [0, 1, 2, 3, 4, 7] {
            let part = 1e-5;
            let moved = |sign: f64| {
                let mut u = u;
                u[k] *= 1.0 + sign * part;
                of(&model, &u).modes[place].eigenvalue
            };
            let difference = (moved(1.0) - moved(-1.0)) / (2.0 * part * u[k]);
            let gap = (slope[k] - difference).norm() * u[k] / s.norm();
            assert!(gap < 1e-8, "mode {place}, parameter {k}: {} {difference}", slope[k]);
        }
    }
}

/// Protects identification through states: parameters, and the start of a state, are found again from noisy data within three standard
/// errors.
#[test]
fn parameters_are_found_from_noisy_data() {
    let registry = costate_models::registry().unwrap();
    for (name, start) in [("dc_motor", Some(("i0", 1.0))), ("bouc_wen", Some(("z0", 5.0)))] {
        let entry = registry.get(name).unwrap();
        let mut scenario = entry.scenario.clone();
        scenario.end *= 0.6;
        let mut problem = entry.problem(&scenario).unwrap();
        if let Some((parameter, value)) = start {
            let place = entry.system.signature().parameter_index(parameter).unwrap();
            problem.parameters[place].free = true;
            problem.start[place] = value;
        }
        let noise = SyntheticNoise { seed: 5, level: NoiseLevel::Relative(0.01) };
        let problem = problem.with_noise(&noise).unwrap();
        let found = identify(&problem, &Settings::default(), &mut |_| Flow::Continue).unwrap();
        assert!(found.outcome.converged, "{name}: {}", found.outcome.reason);
        let statistics = Statistics::of(&problem, &found, Noise::Estimated).unwrap();
        let optimum = problem.optimum.as_ref().unwrap();
        for k in problem.free() {
            let own = &statistics.parameters[k];
            let off = (own.value - optimum[k]).abs() / own.standard_error;
            assert!(off < 3.0, "{name}, {}: {} is {off:.1} standard errors off", problem.parameters[k].name, own.value);
        }
    }
}

/// Protects the promise of a tolerance where states are.
#[test]
fn steps_are_controlled_by_states_too() {
    let u = [0.01, 0.1, 0.1, 0.05, 1.0, 2.0, 0.0];
    let driven = simulation(DcMotor, "i2p", steps(0.01, 200), vec![Signal::constant(12.0)]);
    for tolerance in [1e-3, 1e-5] {
        let controlled = driven.controlled(&u, StepControl { tolerance, smallest: None }, &[]).unwrap();
        let current = controlled.errors.coordinates.iter().find(|error| error.quantity.name == "current").unwrap();
        assert!(StepErrors::worst(&controlled.errors.coordinates).map_or(0.0, StepError::relative) <= tolerance);
        let run = controlled.simulation.run(&u).unwrap();
        let gap = |i: usize| (run.state(i).v[1] - motor(run.times()[i], 12.0, &u)[1]).abs();
        let worst = (0..run.times().len()).map(gap).fold(0.0, f64::max);
        assert!(worst <= 1.1 * tolerance * current.size, "{tolerance}: {worst:e} of {}", current.size);
    }
}

/// Protects runs whose end is a parameter: rates are scaled once where accelerations are scaled twice.
#[test]
fn a_free_end_time_keeps_states() {
    let u = motor_case().u;
    let signals = || vec![Signal::constant(9.0)];
    let plain = simulation(DcMotor, "i2p", steps(0.01, 150), signals()).run(&u).unwrap();
    let free = FreeEndTime::new(DcMotor, 1.5, 0.1, 10.0);
    let scaled = simulation(free, "i2p", steps(1.0 / 150.0, 150), signals()).run(&[&u[..], &[1.5]].concat()).unwrap();
    for k in 0..3 {
        for (a, b) in plain.output(k).iter().zip(scaled.output(k)) {
            assert!((a - b).abs() < 1e-12 * (1.0 + a.abs()), "output {k}: {a} {b}");
        }
    }
}
