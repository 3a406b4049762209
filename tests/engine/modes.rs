//! Small motions about an equilibrium: frequencies and shapes against closed forms, derivatives against closed forms and differences.

use crate::common;
use costate::modes::{Character, Modes, Sensitivity};
use costate::scheme::Hht;
use costate::system::System;
use costate::{Error, Matrix, Model, Number, Parameter, Plain, Signal, Signature, Simulation, TimeGrid, unpack};
use costate_parts::planar::{Body, Mechanism};
use std::f64::consts::{PI, TAU};
use std::sync::Arc;

fn simulation(system: Arc<dyn System>) -> Simulation {
    let signals = vec![Signal::constant(0.0); system.signature().inputs.len()];
    Simulation::new(system, Hht::new(0.0).unwrap(), TimeGrid::steps(0.0, 1e-3, 1).unwrap(), signals).unwrap()
}

fn nominal(simulation: &Simulation) -> (Modes, Vec<Option<Sensitivity>>) {
    let modes = Modes::of(simulation, &simulation.signature().nominal()).unwrap();
    let slopes = modes.sensitivities(simulation, usize::MAX).unwrap();
    (modes, slopes)
}

#[track_caller]
fn close(what: &str, value: f64, expected: f64, limit: f64) {
    let error = (value - expected).abs() / expected.abs();
    assert!(error <= limit, "{what}: {value:.15e}, not {expected:.15e}: {error:.1e}");
}

/// Masses on a thread: `count` equal points, each on a rod without mass.
fn thread(count: usize) -> Simulation {
    let mut mechanism = Mechanism::new("thread");
    let mass = mechanism.parameter(Parameter::new("m", "kg", 0.3));
    let length = mechanism.parameter(Parameter::new("l", "m", 0.1));
    let gravity = mechanism.parameter(Parameter::new("g", "m/s^2", 9.81));
    mechanism.gravity([costate::value::Value::from(0.0), -gravity]);
    let mut last = mechanism.ground();
    for i in 1..=count {
        let next = mechanism.point(&format!("mass{i}"), mass, [costate::value::Value::from(0.0), length * -(i as f64)]);
        mechanism.rod(&format!("rod{i}"), last.at([0.0, 0.0]), next.at([0.0, 0.0]), length);
        last = next;
    }
    simulation(Arc::new(mechanism.build().unwrap()))
}

/// L_n and its derivative, by their recurrence.
fn laguerre(n: usize, x: f64) -> (f64, f64) {
    let (mut before, mut now) = (1.0, 1.0 - x);
    for k in 1..n {
        let k = k as f64;
        (before, now) = (now, ((2.0 * k + 1.0 - x) * now - k * before) / (k + 1.0));
    }
    (now, n as f64 * (now - before) / x)
}

/// Protects frequencies that come from tension alone, and their derivatives where parameters move the equilibrium: ω² l/g of a hanging
/// chain of n equal masses are the zeros of the n-th Laguerre polynomial (Daniel Bernoulli 1733).
#[test]
fn a_hanging_chain_has_the_zeros_of_laguerre() {
    let chain = thread(20);
    let (modes, slopes) = nominal(&chain);
    assert_eq!(modes.modes.len(), 20);
    for (k, (mode, slope)) in modes.modes.iter().zip(slopes).enumerate() {
        assert_eq!(mode.character(), Character::Oscillation);
        assert_eq!(mode.damping_ratio(), Some(0.0));
        let omega = mode.eigenvalue.im;
        let x = omega * omega * 0.1 / 9.81;
        let (value, derivative) = laguerre(20, x);
        assert!((value / derivative / x).abs() < 1e-8, "mode {k}: off by {:.1e}", value / derivative / x);
        let slope = slope.unwrap();
        assert_eq!(slope.multiplicity, 1);
        let f = omega / TAU;
        let [by_mass, by_length, by_gravity] = unpack(&slope.natural_frequency(mode));
        assert!((by_mass * 0.3).abs() < 1e-9 * f, "{by_mass:e}");
        close("by the length", by_length, -0.5 * f / 0.1, 1e-9);
        close("by gravity", by_gravity, 0.5 * f / 9.81, 1e-9);
        assert!(slope.damping_ratio(mode).iter().all(|x| x.abs() < 1e-12));
    }
}

/// A beam of stiff rods with springs between them, supported at both ends.
fn beam(count: usize) -> Simulation {
    let h = 1.0 / count as f64;
    let mut mechanism = Mechanism::new("beam");
    mechanism.gravity([0.0, 0.0]);
    let mass = mechanism.parameter(Parameter::new("m", "kg", 2.0 * h));
    let stiffness = mechanism.parameter(Parameter::new("c", "N m/rad", 50.0 / h));
    let mut last = mechanism.ground();
    let mut end = last.at([0.0, 0.0]);
    for i in 0..count {
        let rod = Body::new(mass, mass * (h * h / 12.0)).at([(i as f64 + 0.5) * h, 0.0], 0.0);
        let rod = mechanism.body(&format!("rod{i}"), rod);
        mechanism.revolute(&format!("pin{i}"), end, rod.at([-0.5 * h, 0.0]));
        if i > 0 {
            mechanism.torsion(&format!("spring{i}"), &last, &rod, stiffness, 0.0);
        }
        (end, last) = (rod.at([0.5 * h, 0.0]), rod);
    }
    let ground = mechanism.ground();
    mechanism.on_line("support", ground.at([0.0, 0.0]), end, 0.0);
    simulation(Arc::new(mechanism.build().unwrap()))
}

/// Protects mechanisms of hundreds of coordinates: the chain of rods has sines as modes, at ω² = 16 c s⁴ / (m h² (1 - 2/3 s²)) with
/// s = sin(k π / 2 N), which is the beam's (k π)⁴ EI / (ρ A L⁴) but for the discretisation.
#[test]
fn a_beam_of_rods_has_its_closed_form() {
    const COUNT: usize = 100;
    let beam = beam(COUNT);
    let (modes, slopes) = nominal(&beam);
    assert_eq!(modes.modes.len(), COUNT - 1);
    let h = 1.0 / COUNT as f64;
    let (m, c) = (2.0 * h, 50.0 / h);
    for (k, (mode, slope)) in (1..).zip(modes.modes.iter().zip(slopes)) {
        let s = (0.5 * k as f64 * PI * h).sin().powi(2);
        let omega = (16.0 * c * s * s / (m * h * h * (1.0 - 2.0 / 3.0 * s))).sqrt();
        // squares of frequencies span eight decades, of which the slowest has those digits that the fastest leaves
        close(&format!("mode {k}"), mode.eigenvalue.im, omega, 1e-8);
        let slope = slope.unwrap().natural_frequency(mode);
        close("by the mass", slope[0], -0.5 * omega / TAU / m, 1e-8);
        close("by the stiffness", slope[1], 0.5 * omega / TAU / c, 1e-8);
        if k == 1 {
            // the discretisation shows as h²
            close("the beam", omega, PI * PI * (50.0f64 / 2.0).sqrt(), 2.0 * h * h);
        }
    }
    // a sine: all rods of the first mode turn as its cosine
    let turn = |i: usize| modes.modes[0].shape[3 * i + 2].re;
    for i in 0..COUNT {
        let expected = ((i as f64 + 0.5) * PI * h).cos() / (0.5 * PI * h).cos();
        assert!((turn(i) / turn(0) - expected).abs() < 1e-7, "rod {i}");
    }
}

/// m x'' = F(x) - d x' with a pole of any kind.
struct Pole;

impl Model for Pole {
    fn signature(&self) -> Signature {
        Signature::new("pole").coordinates([("x", "m")]).parameters([
            Parameter::new("m", "kg", 2.0),
            Parameter::new("k", "N/m", 18.0),
            Parameter::new("d", "N s/m", 3.0),
        ])
    }

    fn initial<D: Number>(&self, _u: &[D], _q: &mut [D], _v: &mut [D]) {}

    fn mass<D: Number>(&self, _q: &[D], u: &[D], m: &mut Matrix<D>) {
        m[(0, 0)] = u[0];
    }

    fn force<D: Number>(&self, _t: D, q: &[D], v: &[D], _w: &[D], u: &[D], force: &mut [D]) {
        force[0] = -(u[1] * q[0]) - u[2] * v[0];
    }
}

/// Protects what is reported of a damped oscillator: all numbers have closed forms, and so have their derivatives.
#[test]
fn a_damped_oscillator_has_its_closed_form() {
    let system = simulation(Arc::new(Plain::new(Pole).unwrap()));
    let (modes, slopes) = nominal(&system);
    let [mode] = &modes.modes[..] else { panic!("{}", modes.modes.len()) };
    let slope = slopes[0].as_ref().unwrap();
    let (omega, zeta) = (3.0f64, 3.0 / (2.0 * 2.0 * 3.0));
    close("natural", mode.natural_frequency(), omega / TAU, 1e-14);
    close("damped", mode.damped_frequency(), omega * (1.0f64 - zeta * zeta).sqrt() / TAU, 1e-14);
    close("ratio", mode.damping_ratio().unwrap(), zeta, 1e-14);
    close("time", mode.time_constant().unwrap(), 2.0 * 2.0 / 3.0, 1e-14);
    let f = omega / TAU;
    let frequency = slope.natural_frequency(mode);
    close("f by m", frequency[0], -0.5 * f / 2.0, 1e-13);
    close("f by k", frequency[1], 0.5 * f / 18.0, 1e-13);
    assert!(frequency[2].abs() < 1e-15);
    let ratio = slope.damping_ratio(mode);
    close("ratio by m", ratio[0], -0.5 * zeta / 2.0, 1e-13);
    close("ratio by k", ratio[1], -0.5 * zeta / 18.0, 1e-13);
    close("ratio by d", ratio[2], zeta / 3.0, 1e-13);
    let of = |u: [f64; 3]| Modes::of(&system, &u).unwrap().modes;
    let name = |u: [f64; 3]| of(u).iter().map(|mode| mode.character()).collect::<Vec<_>>();
    assert_eq!(name([2.0, 18.0, -0.1]), [Character::Flutter]);
    assert_eq!(name([2.0, 18.0, 30.0]), [Character::Decay, Character::Decay]);
    assert_eq!(name([2.0, -18.0, 0.0]), [Character::Decay, Character::Divergence]);
    // without a spring it rests wherever it is
    assert_eq!(name([2.0, 0.0, 0.0]), [Character::Free]);
    assert_eq!(name([2.0, 0.0, 3.0]), [Character::Free, Character::Decay]);
}

/// Protects free motions: two masses on a spring move on together, in one mode of frequency zero, damped or not.
#[test]
fn what_moves_freely_is_one_mode() {
    for damping in [0.0, 0.4] {
        let mut mechanism = Mechanism::new("pair");
        mechanism.gravity([0.0, 0.0]);
        let stiffness = mechanism.parameter(Parameter::new("k", "N/m", 30.0));
        let length = mechanism.parameter(Parameter::new("l", "m", 1.0));
        let a = mechanism.point("a", 2.0, [0.0, 0.0]);
        let b = mechanism.point("b", 3.0, [1.0, 0.0]);
        let ground = mechanism.ground();
        for (name, point) in [("line a", &a), ("line b", &b)] {
            mechanism.on_line(name, ground.at([0.0, 0.0]), point.at([0.0, 0.0]), 0.0);
        }
        mechanism.spring("spring", a.at([0.0, 0.0]), b.at([0.0, 0.0]), length, stiffness, damping);
        let (modes, slopes) = nominal(&simulation(Arc::new(mechanism.build().unwrap())));
        assert_eq!(modes.modes[0].character(), Character::Free);
        assert!(slopes[0].is_none());
        assert_eq!(modes.modes.len(), 2);
        let f = (30.0f64 * (1.0 / 2.0 + 1.0 / 3.0)).sqrt() / TAU;
        close("frequency", modes.modes[1].natural_frequency(), f, 1e-14);
        let slope = slopes[1].as_ref().unwrap().natural_frequency(&modes.modes[1]);
        close("by the stiffness", slope[0], 0.5 * f / 30.0, 1e-10);
        assert!(slope[1].abs() < 1e-10, "{:e}", slope[1]);
    }
}

/// Protects derivatives of all models that rest somewhere: they are those of differences, where constraints repeat others, where
/// damping is not proportional, and where parameters move the equilibrium.
#[test]
fn derivatives_of_all_models_are_those_of_differences() {
    let registry = costate_models::registry().unwrap();
    let mut tried = Vec::new();
    for entry in registry.entries() {
        let system = simulation(entry.system.clone());
        let u = system.signature().nominal();
        let Ok(modes) = Modes::of(&system, &u) else { continue };
        let Ok(slopes) = modes.sensitivities(&system, 6) else { continue };
        tried.push(entry.name());
        for (k, slope) in slopes.iter().enumerate() {
            let Some(slope) = slope.as_ref().filter(|slope| slope.multiplicity == 1) else { continue };
            let lambda = modes.modes[k].eigenvalue;
            for j in (0..u.len()).take(12) {
                // there, |z| has a slope on either side only
                if (entry.name(), &*system.signature().parameters[j].name) == ("bouc_wen", "z0") {
                    continue;
                }
                let step = 1e-4 * if u[j] == 0.0 { 1.0 } else { u[j].abs() };
                let at = |factor: f64| {
                    let mut u = u.clone();
                    u[j] += factor * step;
                    let modes = Modes::of(&system, &u).ok()?.modes;
                    // the same mode, whatever its number
                    let near = modes.iter().map(|mode| mode.eigenvalue);
                    near.min_by(|a, b| (a - lambda).norm().total_cmp(&(b - lambda).norm()))
                };
                let (Some(a), Some(b), Some(c), Some(d)) = (at(1.0), at(-1.0), at(2.0), at(-2.0)) else { continue };
                let expected = ((a - b) * 8.0 - (c - d)) / (12.0 * step);
                let error = (slope.eigenvalue[j] - expected).norm() * step;
                // round-off of differences: eigenvalues are known to some 1e-11 of the fastest
                let fastest = modes.modes.iter().map(|mode| mode.eigenvalue.norm()).fold(0.0, f64::max);
                let limit = 1e-6 * expected.norm() * step + 1e-10 * lambda.norm() + 1e-12 * fastest;
                let name = &system.signature().parameters[j].name;
                assert!(error <= limit, "{} mode {k} by {name}: {} not {expected}", entry.name(), slope.eigenvalue[j]);
            }
        }
    }
    for model in
        ["engine_mount", "pendulum", "double_pendulum", "triple_pendulum", "bricard", "oscillator", "pendulum_chain"]
    {
        assert!(tried.contains(&model), "{model}: {tried:?}");
    }
}

/// Protects parameters of the start where a mechanism moves freely: a crane's load hangs as low as the start says, and swings accordingly.
#[test]
fn what_moves_freely_rests_where_its_start_says() {
    let registry = costate_models::registry().unwrap();
    let entry = registry.get("overhead_crane").unwrap();
    let problem = entry.problem(&entry.scenario).unwrap();
    let (system, u) = (&problem.first().simulation, problem.first().simulation.signature().nominal());
    let length = system.signature().parameter_index("l0").unwrap();
    let at = |change: f64| {
        let mut u = u.clone();
        u[length] += change;
        Modes::of(system, &u).unwrap()
    };
    let modes = at(0.0);
    let k = modes.modes.iter().position(|mode| mode.character() == Character::Oscillation).unwrap();
    let slopes = modes.sensitivities(system, k + 1).unwrap();
    let slope = slopes[k].as_ref().unwrap().natural_frequency(&modes.modes[k])[length];
    let f = |change: f64| at(change).modes[k].natural_frequency();
    let expected = ((f(1e-3) - f(-1e-3)) * 8.0 - (f(2e-3) - f(-2e-3))) / 12e-3;
    assert!(expected < -0.05, "{expected}");
    close("by the length", slope, expected, 1e-8);
}

/// Protects derivatives of a mechanism that moves freely while its inertia depends on where it does: along the free motion it is held.
#[test]
fn a_crank_train_is_held_where_it_rests() {
    let system = simulation(common::ready("torsional_damper"));
    let at = |k: f64, d: f64| {
        let mut u = system.signature().nominal();
        u[..4].copy_from_slice(&[k, d, 0.0, 0.0]);
        Modes::of(&system, &u).unwrap()
    };
    let (k, d) = (1.9e4, 3.0);
    let modes = at(k, d);
    assert_eq!(modes.modes.iter().filter(|mode| mode.character() == Character::Free).count(), 1);
    let slopes = modes.sensitivities(&system, usize::MAX).unwrap();
    let fastest = modes.modes.iter().map(|mode| mode.eigenvalue.norm()).fold(0.0, f64::max);
    for (number, slope) in slopes.iter().enumerate() {
        let Some(slope) = slope else { continue };
        let lambda = modes.modes[number].eigenvalue;
        for (j, step) in [1e-4 * k, 1e-4 * d].into_iter().enumerate() {
            let moved = |factor: f64| {
                let by = [0, 1].map(|other| if other == j { factor * step } else { 0.0 });
                let found = at(k + by[0], d + by[1]).modes;
                let near = found.iter().map(|mode| mode.eigenvalue);
                near.min_by(|a, b| (a - lambda).norm().total_cmp(&(b - lambda).norm())).unwrap()
            };
            let expected = ((moved(1.0) - moved(-1.0)) * 8.0 - (moved(2.0) - moved(-2.0))) / (12.0 * step);
            let error = (slope.eigenvalue[j] - expected).norm() * step;
            // round-off of differences: that of the fastest is in the eigenvalue of the slowest, by which the train creeps to rest
            let limit = 1e-6 * expected.norm() * step + 1e-10 * lambda.norm() + 1e-12 * fastest;
            assert!(error <= limit, "mode {number} by {j}: {} not {expected}", slope.eigenvalue[j]);
        }
    }
}

/// Protects two eigenvalues that are one: what swings alike in two directions has the derivative of their mean, which is that of both.
#[test]
fn modes_that_are_one_have_the_derivative_of_their_mean() {
    let system = simulation(Arc::new(Plain::new(Bowl).unwrap()));
    let (modes, slopes) = nominal(&system);
    for (mode, slope) in modes.modes.iter().zip(&slopes) {
        let slope = slope.as_ref().unwrap();
        assert_eq!(slope.multiplicity, 2);
        close("by k", slope.natural_frequency(mode)[0], 0.5 * mode.natural_frequency() / 4.0, 1e-12);
        close("ratio by d", slope.damping_ratio(mode)[1], mode.damping_ratio().unwrap() / 0.4, 1e-12);
    }
}

/// A mass in a round bowl.
struct Bowl;

impl Model for Bowl {
    fn signature(&self) -> Signature {
        Signature::new("bowl")
            .coordinates([("x", "m"), ("y", "m")])
            .parameters([Parameter::new("k", "N/m", 4.0), Parameter::new("d", "N s/m", 0.4)])
    }

    fn initial<D: Number>(&self, _u: &[D], _q: &mut [D], _v: &mut [D]) {}

    fn mass<D: Number>(&self, _q: &[D], _u: &[D], m: &mut Matrix<D>) {
        (m[(0, 0)], m[(1, 1)]) = (D::from(1.0), D::from(1.0));
    }

    fn force<D: Number>(&self, _t: D, q: &[D], v: &[D], _w: &[D], u: &[D], force: &mut [D]) {
        for j in 0..2 {
            force[j] = -(u[0] * q[j]) - u[1] * v[j];
        }
    }
}

/// Protects people from modes of a mechanism that rests nowhere.
#[test]
fn without_an_equilibrium_there_are_no_modes() {
    let mut mechanism = Mechanism::new("stone");
    mechanism.gravity([0.0, -9.81]);
    let stone = mechanism.point("stone", 1.0, [0.0, 0.0]);
    mechanism.free(&stone);
    let system = simulation(Arc::new(mechanism.build().unwrap()));
    let error = Modes::of(&system, &[]).unwrap_err();
    assert!(matches!(error, Error::Singular { .. } | Error::NoEquilibrium { .. }), "{error}");
}
