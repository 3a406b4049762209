//! Derivatives of a time step against the formulas on paper.

use super::lines;
use costate::system::{Blocks, System};
use costate::{Model, Plain};
use costate_check::{CheckOptions, Eq19, JacobianReport, StepPoint, check_step, paper_step_jacobians};
use costate_models::cart_pole::CartPole;
use costate_models::engine_mount::EngineMount;
use costate_models::pendulum::Pendulum;

/// Step Jacobians by the paper's formulas, from the blocks of the model.
fn check_paper<M: Model>(model: M, alpha: f64, h: f64, eq19: Eq19) -> JacobianReport {
    let plain = Plain::new(model).expect("the model is sound");
    let mut evaluator = plain.evaluator();
    let [mut now, mut next] = [(); 2].map(|()| Blocks::zeros(plain.signature()));
    let mut by_hand = |x: &StepPoint<'_>| {
        evaluator.set_parameters(x.u);
        evaluator.blocks(&x.now, &mut now);
        evaluator.blocks(&x.next, &mut next);
        paper_step_jacobians(&now, &next, x.alpha, x.h, eq19)
    };
    check_step(&plain, alpha, h, &mut by_hand, &CheckOptions::default()).expect("the check runs")
}

/// Protects the erratum: Lauss 2018, eq. (19) with C_q at t_i is right where C_q is constant and wrong where it moves; there
/// the report names rows of f4 in df_{i+1}/dx_i and nothing else. With C_q at t_{i+1} eqs. (16)-(19) are exact, also for a
/// mass matrix that depends on the position.
#[test]
fn equation_19_needs_the_constraint_jacobian_of_the_next_time() {
    for (alpha, h) in [(-0.1, 1e-3), (-0.3, 1e-2), (0.0, 5e-2)] {
        for report in [
            check_paper(EngineMount, alpha, h, Eq19::AsPrinted),
            check_paper(EngineMount, alpha, h, Eq19::Corrected),
            check_paper(Pendulum, alpha, h, Eq19::Corrected),
            check_paper(CartPole, alpha, h, Eq19::Corrected),
        ] {
            assert!(report.passed(), "alpha = {alpha}, h = {h}: {report}");
        }
        let report = check_paper(Pendulum, alpha, h, Eq19::AsPrinted);
        let mut found = lines(&report);
        found.sort();
        let columns = ["a `x`", "a `y`", "q `x`", "q `y`", "v `x`", "v `y`"];
        assert_eq!(found, columns.map(|column| ("df_{i+1}/dx_i", "f4 (constraint `rod`)", column)), "{report}");
    }
}

/// Protects the names of a step's rows and columns, and the finding of a slip in eq. (18).
#[test]
fn a_slip_in_a_step_is_named() {
    let plain = Plain::new(EngineMount).unwrap();
    let mut evaluator = plain.evaluator();
    let [mut now, mut next] = [(); 2].map(|()| Blocks::zeros(plain.signature()));
    let mut by_hand = |x: &StepPoint<'_>| {
        evaluator.set_parameters(x.u);
        evaluator.blocks(&x.now, &mut now);
        evaluator.blocks(&x.next, &mut next);
        let mut jacobians = paper_step_jacobians(&now, &next, x.alpha, x.h, Eq19::Corrected);
        jacobians.next[(8 + 3, 4 + 3)] += next.force_by_velocity[(3, 3)]; // J_V(t_{i+1}) forgotten
        jacobians.own[(8 + 1, 12)] *= -1.0;
        jacobians
    };
    let report = check_step(&plain, -0.1, 1e-3, &mut by_hand, &CheckOptions::default()).unwrap();
    assert_eq!(
        lines(&report),
        [("df_i/dx_i", "f3 (motion of `x2`)", "lambda `volume`"), ("df_{i+1}/dx_i", "f3 (motion of `x4`)", "v `x4`")],
        "{report}"
    );
}
