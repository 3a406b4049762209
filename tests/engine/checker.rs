//! The checker finds errors in hand-derived Jacobians by name, and lets right ones pass.

mod products;
mod steps;

use crate::common;
use costate::system::{Point, System};
use costate::{Matrix, Model, Number, Parameter, Plain, Signature};
use costate_check::{
    CheckOptions, HandDerived, JacobianReport, Jacobians, StepJacobians, StepPoint, Supplied, check_jacobians,
    check_products, check_step,
};
use costate_models::cart_pole::CartPole;
use costate_models::engine_mount::EngineMount;
use costate_models::hand_derived::{CartPoleByHand, EngineMountByHand, PendulumByHand};
use costate_models::pendulum::Pendulum;
use costate_models::registry;

type Change = fn(&'static str, &Point<'_>, &[f64], &mut Matrix<f64>);

/// A set with its matrices changed after they were filled, and the inner set's silence kept.
struct Planted<H>(H, Change);

macro_rules! planted {
    ($($block:ident),*) => {
        impl<H: HandDerived> HandDerived for Planted<H> {
            $(fn $block(&self, x: &Point<'_>, u: &[f64], jacobian: &mut Matrix<f64>) -> Supplied {
                let supplied = self.0.$block(x, u, jacobian);
                if supplied == Supplied::Yes {
                    (self.1)(stringify!($block), x, u, jacobian);
                }
                supplied
            })*
        }
    };
}

planted!(
    mass,
    inertia_by_position,
    constraint_force_by_position,
    force_by_position,
    force_by_velocity,
    constraint_by_position,
    force_by_parameter,
    inertia_by_parameter,
    constraint_force_by_parameter,
    constraint_by_parameter
);

fn check<M: Model>(model: M, hand: &dyn HandDerived) -> JacobianReport {
    let system = Plain::new(model).expect("the model is sound");
    check_jacobians(&system, hand, &CheckOptions::default()).expect("the check runs")
}

/// (symbol, row, column) of each line.
fn lines(report: &JacobianReport) -> Vec<(&str, &str, &str)> {
    report.mismatches.iter().map(|m| (m.block.symbol, m.row.as_str(), m.column.as_str())).collect()
}

/// Protects the examples, and with them the checker from crying wolf: complete right sets pass with every block compared,
/// at many points and with several seeds.
#[test]
fn complete_sets_pass() {
    for seed in 0..5 {
        let options = CheckOptions { seed, points: 100, ..CheckOptions::default() };
        for (system, hand, agreeing) in [
            (&*common::ready("engine_mount") as &dyn System, &EngineMountByHand as &dyn HandDerived, 10),
            (&*common::ready("pendulum"), &PendulumByHand, 10),
            (&*common::ready("cart_pole"), &CartPoleByHand, 6),
        ] {
            let report = check_jacobians(system, hand, &options).unwrap();
            assert!(report.passed(), "{report}");
            assert_eq!(report.agreeing.len(), agreeing, "{report}");
            assert!(report.not_supplied.is_empty(), "{report}");
        }
    }
}

/// Protects the command line: the registry hands out the sets, and refuses a set for a model that it does not know.
#[test]
fn the_registry_has_the_sets() {
    let registry = registry().unwrap();
    for entry in registry.entries() {
        let has_set = ["engine_mount", "pendulum", "cart_pole"].contains(&entry.name());
        assert_eq!(entry.hand_derived.is_some(), has_set, "{}", entry.name());
        if let Some(hand) = &entry.hand_derived {
            assert!(check_jacobians(&*entry.system, &**hand, &CheckOptions::default()).unwrap().passed());
        }
    }
    let error = registry.with_hand_derived("pendulun", PendulumByHand).err().expect("no such model").to_string();
    assert!(error.contains("did you mean `pendulum`"), "{error}");
}

/// Protects what a user sees: a wrong sign is one line with the block, the names, both values and the size of the error.
#[test]
fn a_wrong_sign_is_named() {
    let report = check(
        EngineMount,
        &Planted(EngineMountByHand, |block, _, _, jacobian| {
            if block == "force_by_position" {
                jacobian[(0, 1)] *= -1.0;
            }
        }),
    );
    assert!(!report.passed());
    assert_eq!(lines(&report), [("J_Q", "motion of `x1`", "q `x2`")]);
    let line = &report.mismatches[0];
    assert_eq!((line.checked, line.exact, line.relative_error, line.points), (-375e3, 375e3, 2.0, 20));
    assert_eq!(report.agreeing.len(), 9);
    let text = report.to_string();
    for part in ["engine_mount", "J_Q force by position", "motion of `x1`", "q `x2`", "2.0e0", "20 of 20", "t = "] {
        assert!(text.contains(part), "`{part}` is missing in\n{text}");
    }
    // heading and line are aligned
    let rows: Vec<&str> = text.lines().filter(|line| line.contains("point")).skip(1).collect();
    assert_eq!(rows[0].find("worst at"), rows[1].find("point "), "{text}");
}

/// Protects badly scaled blocks: a wrong 0.08 N s/m hides neither behind 375e3 N/m nor behind the cubic term beside it.
#[test]
fn a_wrong_small_entry_is_found_beside_large_ones() {
    let report = check(
        EngineMount,
        &Planted(EngineMountByHand, |block, _, _, jacobian| {
            if block == "force_by_velocity" {
                jacobian[(3, 3)] += 0.08;
            }
        }),
    );
    assert_eq!(lines(&report), [("J_V", "motion of `x4`", "v `x4`")]);
    let report = check(
        EngineMount,
        &Planted(EngineMountByHand, |block, _, _, jacobian| {
            if block == "mass" {
                jacobian[(3, 3)] *= 1.0 + 1e-6;
            }
        }),
    );
    assert_eq!(lines(&report), [("M", "motion of `x4`", "a `x4`")]);
}

/// Protects from false alarms: where the exact entry is zero, round-off in the hand-derived one is none; an entry that
/// matters is a mismatch however small the block is elsewhere.
#[test]
fn round_off_beside_an_exact_zero_is_no_mismatch() {
    let report = check(
        EngineMount,
        &Planted(EngineMountByHand, |_, _, _, jacobian| {
            jacobian.as_mut_slice().iter_mut().filter(|x| **x == 0.0).for_each(|x| *x = 1e-30);
        }),
    );
    assert!(report.passed(), "{report}");
    let report = check(
        EngineMount,
        &Planted(EngineMountByHand, |block, _, _, jacobian| {
            if block == "force_by_velocity" {
                jacobian[(2, 3)] = 1e-6;
            }
        }),
    );
    assert_eq!(lines(&report), [("J_V", "motion of `x3`", "v `x4`")]);
}

/// Protects the usual slips on a state-dependent mass: a factor 2, a transposed block, a forgotten parameter.
#[test]
fn factor_transposition_and_forgotten_parameter_are_named() {
    let report = check(
        CartPole,
        &Planted(CartPoleByHand, |block, _, _, jacobian| {
            if block == "force_by_velocity" {
                jacobian[(0, 1)] *= 0.5;
            }
        }),
    );
    assert_eq!(lines(&report), [("J_V", "motion of `x`", "v `theta`")]);
    assert!((report.mismatches[0].relative_error - 0.5).abs() < 1e-12);

    let report = check(
        CartPole,
        &Planted(CartPoleByHand, |block, _, _, jacobian| {
            if block == "inertia_by_position" {
                (jacobian[(0, 1)], jacobian[(1, 0)]) = (jacobian[(1, 0)], jacobian[(0, 1)]);
            }
        }),
    );
    let mut found = lines(&report);
    found.sort();
    assert_eq!(found, [("J_M", "motion of `theta`", "q `x`"), ("J_M", "motion of `x`", "q `theta`")]);

    let report = check(
        CartPole,
        &Planted(CartPoleByHand, |block, _, _, jacobian| {
            if block == "inertia_by_parameter" {
                (0..2).for_each(|i| jacobian[(i, 2)] = 0.0);
            }
        }),
    );
    let mut found = lines(&report);
    found.sort();
    assert_eq!(found, [("d(M a)/du", "motion of `theta`", "u `l`"), ("d(M a)/du", "motion of `x`", "u `l`")]);

    let report = check(
        Pendulum,
        &Planted(PendulumByHand, |block, _, _, jacobian| {
            if block == "constraint_by_parameter" {
                jacobian.fill(0.0);
            }
        }),
    );
    assert_eq!(lines(&report), [("dC/du", "constraint `rod`", "u `L`")]);
}

/// Protects the constraint Jacobian: entries in the wrong columns are named, both where something is missing and where
/// something is too much.
#[test]
fn constraint_jacobian_in_the_wrong_columns_is_named() {
    let report = check(
        EngineMount,
        &Planted(EngineMountByHand, |block, _, _, jacobian| {
            if block == "constraint_by_position" {
                jacobian.as_mut_slice().rotate_left(1);
            }
        }),
    );
    let mut found = lines(&report);
    found.sort();
    let columns = ["q `x1`", "q `x2`", "q `x3`", "q `x4`"];
    assert_eq!(found, columns.map(|column| ("C_q", "constraint `volume`", column)), "{report}");
}

/// Protects the order: the worst comes first, an entry by hand that is not a number before everything else.
#[test]
fn the_worst_comes_first_and_nan_is_a_mismatch() {
    let report = check(
        Pendulum,
        &Planted(PendulumByHand, |block, x, _, jacobian| match block {
            "force_by_velocity" => jacobian[(0, 0)] *= 1.0 + 1e-6,
            "constraint_by_position" => jacobian[(0, 1)] *= -1.0,
            // only where the acceleration is positive
            "force_by_parameter" if x.a[0] > 0.0 => jacobian[(1, 3)] = f64::NAN,
            _ => {}
        }),
    );
    let symbols: Vec<&str> = report.mismatches.iter().map(|m| m.block.symbol).collect();
    assert_eq!(symbols, ["dQ/du", "C_q", "J_V"], "{report}");
    let first = &report.mismatches[0];
    assert!(first.checked.is_nan() && first.relative_error.is_infinite());
    assert!(first.points > 0 && first.points < 20);
    assert!(first.point >= 1 && first.point <= 20 && (0.0..=1.0).contains(&first.time));
    assert!((report.mismatches[2].relative_error - 1e-6).abs() < 1e-9);
}

/// Protects partial sets: what was not supplied is listed, and is no error.
#[test]
fn missing_blocks_are_listed() {
    struct Partial;
    impl HandDerived for Partial {
        fn constraint_by_position(&self, x: &Point<'_>, _: &[f64], jacobian: &mut Matrix<f64>) -> Supplied {
            jacobian.as_mut_slice().copy_from_slice(x.q);
            Supplied::Yes
        }
    }
    let report = check(Pendulum, &Partial);
    assert!(report.passed());
    assert_eq!(report.agreeing.iter().map(|b| b.symbol).collect::<Vec<_>>(), ["C_q"]);
    assert_eq!(report.not_supplied.len(), 9);
    assert!(report.to_string().contains("not supplied: M (mass matrix), J_M"), "{report}");
}

/// Protects reproducibility: the same seed gives the same report, another seed other points.
#[test]
fn the_seed_fixes_the_points() {
    let wrong = Planted(PendulumByHand, |block, _, _, jacobian: &mut Matrix<f64>| {
        if block == "constraint_force_by_position" {
            jacobian[(0, 0)] *= 2.0;
        }
    });
    let system = common::ready("pendulum");
    let run = |seed| check_jacobians(&*system, &wrong, &CheckOptions { seed, ..CheckOptions::default() }).unwrap();
    assert_eq!(run(7), run(7));
    assert_ne!(run(7).mismatches[0].exact, run(8).mismatches[0].exact);
}

/// Protects from panics and endless loops on options and models that cannot be checked.
#[test]
fn senseless_options_are_refused_in_words() {
    let system = common::ready("pendulum");
    let refuse = |options: CheckOptions| {
        check_jacobians(&*system, &PendulumByHand, &options).expect_err("senseless").to_string()
    };
    assert!(refuse(CheckOptions { points: 0, ..CheckOptions::default() }).contains("number of points"));
    assert!(refuse(CheckOptions { tolerance: f64::NAN, ..CheckOptions::default() }).contains("tolerance"));
    assert!(refuse(CheckOptions { offset: 0.0, ..CheckOptions::default() }).contains("offset"));
    assert!(refuse(CheckOptions { times: [1.0, 0.0], ..CheckOptions::default() }).contains("times"));

    /// Not a number anywhere.
    struct Undefined;
    impl Model for Undefined {
        fn signature(&self) -> Signature {
            Signature::new("undefined").coordinates([("x", "m")]).parameters([Parameter::new("m", "kg", 1.0)])
        }
        fn mass<D: Number>(&self, _q: &[D], u: &[D], m: &mut Matrix<D>) {
            m[(0, 0)] = u[0];
        }
        fn force<D: Number>(&self, _t: D, q: &[D], _v: &[D], _w: &[D], _u: &[D], force: &mut [D]) {
            force[0] = (-(q[0] * q[0]) - 1.0).sqrt();
        }
    }
    let error = check_products(&Plain::new(Undefined).unwrap(), &CheckOptions::default()).expect_err("undefined");
    assert!(error.to_string().contains("model `undefined`"), "{error}");

    let mut wrong_size =
        |_: &StepPoint<'_>| StepJacobians { own: Matrix::filled(3, 3, 0.0), next: Matrix::filled(7, 7, 0.0) };
    let plain = Plain::new(Pendulum).unwrap();
    let error = check_step(&plain, -0.1, 1e-2, &mut wrong_size, &CheckOptions::default()).expect_err("wrong size");
    assert!(error.to_string().contains("3 rows and 3 columns"), "{error}");
    assert!(check_step(&plain, 0.5, 1e-2, &mut wrong_size, &CheckOptions::default()).is_err());
    assert!(check_step(&plain, -0.1, 0.0, &mut wrong_size, &CheckOptions::default()).is_err());
}

/// Protects the Jacobians by name against those of the pendulum on paper (m q'' + (x, y) λ = -d q' + (0, -m g), C = (x² + y² - L²)/2), and what is asked
/// for in vain.
#[test]
fn jacobians_are_found_by_their_names() {
    let system = common::ready("pendulum");
    let u = system.signature().nominal();
    let (q, v, a, lambda) = ([0.6, -0.8], [0.4, 0.3], [-2.0, 1.5], [7.0]);
    let x = Point { t: 0.2, q: &q, v: &v, a: &a, lambda: &lambda, w: &[] };
    let found = Jacobians::at(&*system, &x, &u).unwrap();
    let matrix = |symbol: &str| &found.get(symbol).unwrap().matrix;
    let (m, l, d) = (u[0], u[1], u[2]);
    assert_eq!(matrix("M").as_slice(), [m, 0.0, 0.0, m]);
    assert_eq!(matrix("J_C").as_slice(), [7.0, 0.0, 0.0, 7.0]);
    assert_eq!(matrix("J_V").as_slice(), [-d, 0.0, 0.0, -d]);
    assert_eq!(matrix("C_q").shape(), (1, 2));
    assert_eq!(matrix("C_q").as_slice(), q);
    assert!(matrix("J_M").iter().chain(matrix("J_Q")).all(|entry| *entry == 0.0));
    assert_eq!(matrix("dC/du")[(0, 1)], -l);
    let by_parameters = matrix("d(M a)/du") + matrix("d(C_qᵀ λ)/du") - matrix("dQ/du");
    assert_eq!(*matrix("df/du"), by_parameters);
    assert_eq!(matrix("df/du").column(2).as_slice(), v);
    let damping = found.get("df/du").unwrap();
    assert_eq!((damping.rows[1].as_str(), damping.columns[2].as_str()), ("motion of `y`", "u `d`"));
    let message = found.get("J_X").unwrap_err().to_string();
    assert!(message.contains("there is no Jacobian `J_X`") && message.contains("J_M"), "{message}");
    let message = Jacobians::at(&*system, &Point { q: &q[..1], ..x }, &u).unwrap_err().to_string();
    assert!(message.contains("1 values are given, and `pendulum` has 2"), "{message}");
}
