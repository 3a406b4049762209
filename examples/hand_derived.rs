//! Which entry of a hand-derived Jacobian is wrong? The pendulum's damping matrix with a sign error, named by the checker.
//!
//! `cargo run --release --example hand_derived`

use costate::system::Point;
use costate::{Matrix, Plain};
use costate_check::{CheckOptions, HandDerived, Supplied, check_jacobians};

/// What somebody has derived on paper, in the model's order of coordinates (x, y) and parameters (m, L, d, g, ..).
struct OnPaper;

impl HandDerived for OnPaper {
    fn force_by_velocity(&self, _x: &Point<'_>, u: &[f64], jacobian: &mut Matrix<f64>) -> Supplied {
        jacobian[(0, 0)] = -u[2];
        jacobian[(1, 1)] = u[2]; // the slip: damping opposes the motion in y, too
        Supplied::Yes
    }

    fn constraint_by_position(&self, x: &Point<'_>, _u: &[f64], jacobian: &mut Matrix<f64>) -> Supplied {
        jacobian[(0, 0)] = x.q[0];
        jacobian[(0, 1)] = x.q[1];
        Supplied::Yes
    }
}

fn main() -> costate::Result<()> {
    let pendulum = Plain::new(costate_models::pendulum::Pendulum)?;
    let report = check_jacobians(&pendulum, &OnPaper, &CheckOptions::default())?;
    println!("{report}");
    println!("{}", if report.passed() { "everything agrees" } else { "at least one entry is wrong" });
    Ok(())
}
