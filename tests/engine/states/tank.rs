//! A model of states alone.

use super::{simulation, steps};
use costate::modes::Modes;
use costate::{Matrix, Model, Number, Parameter, Signal, Signature, State};

/// A tank with an outlet, T h' = w - k √h: states alone.
#[derive(Debug, Clone, Copy)]
struct Tank;

impl Model for Tank {
    fn signature(&self) -> Signature {
        Signature::new("tank")
            .states([("level", "m")])
            .inputs([("inflow", "m^3/s")])
            .outputs([("level", "m")])
            .parameters([
                Parameter::new("A", "m^2", 0.5),
                Parameter::new("k", "m^2.5/s", 0.02),
                Parameter::new("h0", "m", 4.0),
            ])
    }
    fn initial<D: Number>(&self, u: &[D], _q: &mut [D], v: &mut [D]) {
        v[0] = u[2];
    }
    fn mass<D: Number>(&self, _q: &[D], _u: &[D], _m: &mut Matrix<D>) {}
    fn force<D: Number>(&self, _t: D, _q: &[D], _v: &[D], _w: &[D], _u: &[D], _force: &mut [D]) {}
    fn rates<D: Number>(&self, _t: D, _q: &[D], v: &[D], w: &[D], u: &[D], rates: &mut [D]) {
        rates[0] = (w[0] - u[1] * v[0].sqrt()) / u[0];
    }
    fn output<D: Number>(&self, _t: D, x: &State<'_, D>, _u: &[D], y: &mut [D]) {
        y[0] = x.v[0];
    }
}

/// Protects models of states alone, and closed forms of them: an outlet drains a tank as √h falls linearly; and modes have its time constant.
#[test]
fn a_tank_drains() {
    let u = Tank.signature().nominal();
    let run = simulation(Tank, "i2p", steps(0.05, 1600), vec![Signal::constant(0.0)]).run(&u).unwrap();
    for (i, t) in run.times().iter().enumerate() {
        let root = 4.0f64.sqrt() - 0.02 * t / (2.0 * 0.5);
        assert!((run.state(i).v[0] - root * root).abs() < 1e-8, "{t}: {}", run.state(i).v[0]);
    }
    let filled = simulation(Tank, "i2p", steps(0.05, 1), vec![Signal::constant(0.03)]);
    let modes = Modes::of(&filled, &u).unwrap();
    assert!((modes.q[0] - 2.25).abs() < 1e-13, "{:?}", modes.q);
    let [mode] = &modes.modes[..] else { panic!("{} modes", modes.modes.len()) };
    assert!((mode.eigenvalue.re + 0.02 / (2.0 * 1.5 * 0.5)).abs() < 1e-14, "{}", mode.eigenvalue);
}

/// Protects long runs: what integrates a state is nowhere, so that a million steps at a large constant value lose nothing, though the sum
/// of the steps would be as large as the time; iterations stay as few as they were.
#[test]
fn a_million_steps_lose_nothing() {
    let u = Tank.signature().nominal();
    // 4 m exactly balance this inflow
    let signals = vec![Signal::constant(0.02 * 2.0)];
    let tank = simulation(Tank, "generalized-alpha", steps(1.0, 1_000_000), signals);
    let (mut worst, mut last) = (0.0f64, 0.0);
    tank.watch::<costate::Error>(&u, &mut |_, x, _| {
        worst = worst.max((x.v[0] - 4.0).abs()).max(x.q[0].abs());
        last = x.t;
        Ok(())
    })
    .unwrap();
    assert_eq!((worst, last), (0.0, 1e6));
}
