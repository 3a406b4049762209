//! A rigid body that is shaken at one point and measured at another: its inertia tensor is sought (Nachbagauer 2015, section 5.2).
//!
//! The body hangs by the point S at the origin, which is moved along x, then y, then z, one second each; the velocity of the
//! point P, 1.832 m below, is measured. The six numbers that the paper prints are the entries of the tensor about the centre of
//! mass: of a cuboid of 1.5 x 0.924 x 0.5 m and 1000 kg/m³ with a diagonal along z.

use costate::spline::Spline;
use costate::value::Value;
use costate::{Number, Parameter, Result, State};
use costate_identify::problem::Integrator;
use costate_identify::registry::{Registry, Scenario};
use costate_parts::assembly::{Assembly, Connection, Element};
use costate_parts::spatial::{Body, Inertia, Mechanism, Path, factors_of_entries};
use std::f64::consts::TAU;
use std::sync::Arc;

/// Mass, kg.
pub const MASS: f64 = 692.747;
/// The centre of mass below S, m.
pub const DEPTH: f64 = 0.916;
/// Entries I_11, I_22, I_33, I_12, I_13, I_23 of the inertia tensor, kg m².
pub const INERTIA: [f64; 6] = [132.285, 162.054, 92.809, 22.382, -42.342, 2.689];
/// Entries of the tensor at which the identification starts, kg m².
pub const START: [f64; 6] = [1.0, 1.0, 1.0, 0.0, 0.0, 0.0];
/// Names of the entries.
pub const ENTRIES: [&str; 6] = ["I11", "I22", "I33", "I12", "I13", "I23"];
/// Names of the factors.
pub const FACTORS: [&str; 6] = ["ln_L11", "ln_L22", "ln_L33", "L21", "L31", "L32"];

/// 0.05 m (1 - cos 2π t) along one axis after another. Displacement and velocity vanish where they change; the acceleration jumps.
struct Shaking;

impl Path for Shaking {
    fn at<D: Number>(&self, t: D, _u: &[D]) -> [D; 3] {
        let along = (t.re().floor().max(0.0) as usize).min(2);
        let mut place = [D::from(0.0); 3];
        place[along] = (-(t * TAU).cos() + 1.0) * 0.05;
        place
    }
}

/// More of the same, richer: all axes at once, at frequencies that have no common period.
struct RichShaking {
    /// The largest acceleration along each of them, m/s².
    peak: f64,
}

impl Path for RichShaking {
    fn at<D: Number>(&self, t: D, _u: &[D]) -> [D; 3] {
        [1.0, 1.7, 2.3].map(|frequency: f64| {
            let rate = TAU * frequency;
            (-(t * rate).cos() + 1.0) * (self.peak / (rate * rate))
        })
    }
}

/// Motion of the point S.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Excitation {
    /// One axis after another, as in the paper.
    OneAxisAfterAnother,
    /// All axes at once, each accelerated as in the paper.
    AllAxes,
    /// All axes at once, with no acceleration larger than in the paper: at the beginning all three point the same way.
    AllAxesGently,
    /// Motion along cubic splines of so many intervals, from rest to rest: the motions `Sx`, `Sy`, `Sz`.
    Free(usize),
}

/// Time for which the body is shaken, s.
pub const DURATION: f64 = 3.0;
/// The largest acceleration of S in the paper's drive, m/s².
pub const PEAK: f64 = 0.05 * TAU * TAU;

/// The square of the acceleration of S, which the body's own coordinates are the place of.
struct Squared;

impl Element for Squared {
    fn output<D: Number>(&self, _t: D, x: &State<'_, D>, _u: &[D], y: &mut [D]) {
        y[0] = x.a[0] * x.a[0] + x.a[1] * x.a[1] + x.a[2] * x.a[2];
    }
}

/// The body with an inertia of these parameters. Outputs: velocity of P; energy; of a free motion the square of the acceleration of S.
fn shaken(
    name: &str,
    excitation: Excitation,
    inertia: impl FnOnce([Value; 6]) -> Inertia,
    parameters: [Parameter; 6],
) -> Result<Assembly> {
    let mut mechanism = Mechanism::new(name);
    let parameters = parameters.map(|parameter| mechanism.parameter(parameter));
    let body = mechanism.body("body", Body::new(MASS, inertia(parameters)).center([0.0, 0.0, -DEPTH]));
    let none: [f64; 0] = [];
    match excitation {
        Excitation::OneAxisAfterAnother => mechanism.drive_point("S", body.at([0.0; 3]), Shaking, none),
        Excitation::AllAxes => mechanism.drive_point("S", body.at([0.0; 3]), RichShaking { peak: PEAK }, none),
        Excitation::AllAxesGently => {
            let path = RichShaking { peak: PEAK / 3f64.sqrt() };
            mechanism.drive_point("S", body.at([0.0; 3]), path, none)
        }
        Excitation::Free(intervals) => {
            let path = || Spline::cubic([0.0, DURATION], intervals).begin([0.0; 3]).end([0.0; 3]);
            let values: Vec<Value> =
                ["Sx", "Sy", "Sz"].iter().flat_map(|name| mechanism.motion(name, "m", &path())).collect();
            mechanism.drive_point("S", body.at([0.0; 3]), [path(), path(), path()], values)
        }
    };
    mechanism.velocity("P", body.at([0.0, 0.0, -2.0 * DEPTH]), Default::default());
    mechanism.energy("energy");
    if let Excitation::Free(_) = excitation {
        let connection = Connection::to(body.coordinates()[..3].iter().copied());
        mechanism.assembler().element("acceleration", Squared, connection.outputs([("squared", "m^2/s^4")]));
    }
    mechanism.build()
}

/// The body with the entries of its inertia tensor as parameters.
///
/// # Errors
/// None.
pub fn rigid_body(excitation: Excitation) -> Result<Assembly> {
    let parameters = std::array::from_fn(|k| Parameter::new(ENTRIES[k], "kg m^2", INERTIA[k]).size(10.0));
    shaken("rigid_body", excitation, Inertia::entries, parameters)
}

/// The body with the log-Cholesky factors of its inertia as parameters: whatever values an optimiser tries, there is such a body.
///
/// # Errors
/// None.
pub fn rigid_body_factors(excitation: Excitation) -> Result<Assembly> {
    let values = factors_of_entries(INERTIA)?;
    let parameters = std::array::from_fn(|k| {
        let unit = if k < 3 { "1" } else { "kg^0.5 m" };
        Parameter::new(FACTORS[k], unit, values[k])
    });
    shaken("rigid_body_factors", excitation, Inertia::factors, parameters)
}

/// The model's problem, with these parameters at the start.
fn scenario<'n>(start: impl Iterator<Item = (&'n str, f64)>) -> Scenario {
    Scenario {
        end: DURATION,
        step: 1e-2,
        // the acceleration of the drive jumps: without damping the multipliers would ring
        integrator: Integrator::hht(-0.05),
        start: start.map(|(name, value)| (name.to_string(), value)).collect(),
        outputs: ["P.x", "P.y", "P.z"].map(String::from).to_vec(),
        ..Scenario::default()
    }
}

pub(crate) fn register(registry: Registry) -> costate_identify::Result<Registry> {
    let by_entries = Arc::new(rigid_body(Excitation::OneAxisAfterAnother)?);
    let by_factors = Arc::new(rigid_body_factors(Excitation::OneAxisAfterAnother)?);
    let (entries, factors) = (ENTRIES.into_iter().zip(START), FACTORS.into_iter().zip(factors_of_entries(START)?));
    let shaken = "rigid body shaken at one point; its inertia tensor from the velocity of another (Nachbagauer 2015, section 5.2)";
    registry.with_system(shaken, by_entries, scenario(entries))?.with_system(
        "the same by log-Cholesky factors, of which all values are those of a body",
        by_factors,
        scenario(factors),
    )
}
