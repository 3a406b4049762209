//! Products and factors against the blocks that they are made of.

use costate::{Matrix, Model, Number, Parameter, Plain, Signature, State};
use costate_check::{CheckOptions, check_products};
use costate_models::engine_mount::EngineMount;
use costate_models::registry;

/// Protects the engine: structure, shared directions, cached constant parts and both ways to the factors of K agree with
/// derivatives taken one direction at a time, on every model and with several seeds.
#[test]
fn structured_products_agree_with_dense_blocks() {
    for entry in registry().unwrap().entries() {
        for seed in 0..5 {
            let options = CheckOptions { seed, points: 40, tolerance: 1e-11, ..CheckOptions::default() };
            let report = check_products(&*entry.system, &options).unwrap();
            assert!(report.passed(), "{report}");
            assert!(report.not_supplied.is_empty(), "{report}");
        }
    }
}

/// Protects the engine where models are awkward: constraints that move with time and with a parameter that is nominally
/// zero, a mass that depends on position through a parameter only, a force with a branch.
#[test]
fn structured_products_agree_on_an_awkward_model() {
    struct Awkward;
    impl Model for Awkward {
        fn signature(&self) -> Signature {
            Signature::new("awkward")
                .coordinates([("x", "m"), ("y", "m"), ("z", "m")])
                .constraints([("driven", "m"), ("curved", "m^2")])
                .inputs([("F", "N")])
                .parameters([
                    Parameter::new("bend", "1/m", 0.0),
                    Parameter::new("m", "kg", 2.0).bounds(0.1, 10.0),
                    Parameter::new("k", "N/m", 50.0),
                ])
        }
        fn mass<D: Number>(&self, q: &[D], u: &[D], m: &mut Matrix<D>) {
            (0..3).for_each(|j| m[(j, j)] = u[1]);
            m[(0, 2)] = u[0] * q[1] * 0.1;
            m[(2, 0)] = m[(0, 2)];
        }
        fn force<D: Number>(&self, t: D, q: &[D], v: &[D], w: &[D], u: &[D], force: &mut [D]) {
            force[0] = w[0] * q[0] - u[2] * q[0];
            force[1] = if v[1].re() > 0.0 { -v[1] * v[1] * u[2] } else { v[1] * q[2] };
            force[2] = t.sin() * q[1] - v[2];
        }
        fn constraint<D: Number>(&self, t: D, q: &[D], u: &[D], c: &mut [D]) {
            c[0] = q[2] - u[0] * q[0] * q[0] - t.sin();
            c[1] = q[0] * (t * 2.0).cos() + q[1] * u[0] * u[1] + q[1];
        }
    }
    for seed in 0..5 {
        let options = CheckOptions { seed, points: 40, tolerance: 1e-11, ..CheckOptions::default() };
        let report = check_products(&Plain::new(Awkward).unwrap(), &options).unwrap();
        assert!(report.passed(), "{report}");
    }
}

/// Protects the self-check from agreeing with everything: a system whose products and factors contradict its blocks is
/// found, in each product and solve that is concerned.
#[test]
fn contradicting_products_are_found() {
    /// The engine mount with damping whose derivative is right along one direction, as the blocks are found, and wrong along several at once.
    struct Moody;
    impl Model for Moody {
        fn signature(&self) -> Signature {
            EngineMount.signature()
        }
        fn mass<D: Number>(&self, q: &[D], u: &[D], m: &mut Matrix<D>) {
            EngineMount.mass(q, u, m);
        }
        fn force<D: Number>(&self, t: D, q: &[D], v: &[D], w: &[D], u: &[D], force: &mut [D]) {
            EngineMount.force(t, q, v, w, u, force);
            if size_of::<D>() > 2 * size_of::<f64>() {
                force[3] -= (v[3] - v[3].re()) * 100.0;
            }
        }
        fn constraint<D: Number>(&self, t: D, q: &[D], u: &[D], c: &mut [D]) {
            EngineMount.constraint(t, q, u, c);
        }
        fn output<D: Number>(&self, t: D, x: &State<'_, D>, u: &[D], y: &mut [D]) {
            EngineMount.output(t, x, u, y);
        }
    }
    let report = check_products(&Plain::new(Moody).unwrap(), &CheckOptions::default()).unwrap();
    let found: Vec<_> = report.mismatches.iter().map(|m| m.block).collect();
    for wrong in ["∂(D, C)/∂v", "(∂(D, C)/∂v)ᵀ", "K z = b", "Kᵀ z = b"] {
        assert!(found.iter().any(|block| block.symbol == wrong), "{wrong} is not in\n{report}");
    }
    assert!(report.mismatches.iter().all(|m| m.row == "motion of `x4`"), "{report}");
}
