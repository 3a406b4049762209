//! Cars over a road, in the plane: a quarter and a half.
//!
//! Heights are measured from where everything stands at rest on a level road: weight and the springs' static forces, which
//! cancel there, are left out of the motion, as is usual. What that neglects, the turning of the static forces with the
//! pitch, is of second order. An accelerometer at rest shows 9.81 m/s² all the same.
//!
//! Dampers resist rebound and bump at different rates ([`Suspension`]); wheels stand on the road by linear tyres that do not
//! lift off. Roads are inputs: the height under each wheel, m. From them and from motion alone, masses, stiffnesses and damper
//! rates are known up to a common factor; so the body's mass is fixed, as if weighed.

use crate::named;
use costate::value::Value;
use costate::{Number, Parameter, Result, Signal};
use costate_identify::registry::{Registry, Scenario};
use costate_parts::assembly::{Assembly, Input};
use costate_parts::law::{Law, Linear};
use costate_parts::planar::{Body, Mechanism, Member, Mounting, Place};
use std::sync::Arc;

/// A spring and a damper whose rate in rebound (elongation) differs from that in bump, smoothly through zero:
///
/// ```text
/// T = k e + (r + b)/2 v + (r - b)/2 (√(v² + s²) - s)
/// ```
///
/// Parameters: stiffness k (N/m), rates in bump b and rebound r (N s/m), transition velocity s (m/s), of which T' is half way
/// between the rates at v = 0 and within 2 % of one of them from 5 s on.
#[derive(Debug, Clone, Copy)]
pub struct Suspension;

impl Law for Suspension {
    fn tension<D: Number>(&self, elongation: D, rate: D, u: &[D]) -> D {
        let [stiffness, bump, rebound, transition] = [u[0], u[1], u[2], u[3]];
        let bend = (rate * rate + transition * transition).sqrt() - transition;
        stiffness * elongation + (rebound + bump) * 0.5 * rate + (rebound - bump) * 0.5 * bend
    }
}

/// Transition velocity of all dampers, m/s.
const TRANSITION: f64 = 0.05;
/// Distance of the axles before and behind the centre of mass of the half car, m.
const AXLES: [f64; 2] = [1.2, 1.5];
/// From the axle to the suspension's upper end, m.
const TRAVEL: f64 = 0.4;
/// Radius of a wheel, m.
const RADIUS: f64 = 0.3;
/// Speed of the half car in the built-in problem, m/s.
const SPEED: f64 = 15.0;

/// Upwards, rad.
const UP: f64 = std::f64::consts::FRAC_PI_2;

/// Names, units and nominal values of a suspension with its wheel: unsprung mass, stiffness, bump, rebound, tyre.
fn corner(mechanism: &mut Mechanism, suffix: &str, nominal: [f64; 5]) -> [Value; 5] {
    let quantities = [("m_wheel", "kg"), ("k", "N/m"), ("c_bump", "N s/m"), ("c_rebound", "N s/m"), ("k_tyre", "N/m")];
    let mut nominal = nominal.into_iter();
    quantities.map(|(name, unit)| {
        let parameter = Parameter::new(format!("{name}{suffix}"), unit, nominal.next().unwrap_or(0.0));
        mechanism.parameter(if unit == "kg" { parameter.bounds(1e-3, f64::INFINITY) } else { parameter.non_negative() })
    })
}

/// A wheel under `top`, which slides along a line of `guide` and stands on a road.
struct Wheel<'m> {
    suffix: &'m str,
    guide: Place,
    top: Place,
    x: f64,
    properties: [Value; 5],
    road: Input,
}

impl Wheel<'_> {
    fn add(self, mechanism: &mut Mechanism) -> Member {
        let Wheel { suffix, guide, top, x, properties: [mass, stiffness, bump, rebound, tyre], road } = self;
        let named = |name: &str| format!("{name}{suffix}");
        let wheel = mechanism.point(&named("wheel"), mass, [x, RADIUS]);
        let center = || wheel.at([0.0, 0.0]);
        mechanism.on_line(&named("guide"), guide, center(), UP);
        let law = [stiffness, bump, rebound, Value::from(TRANSITION)];
        mechanism.strut(&named("suspension"), center(), top, TRAVEL, Suspension, law);
        mechanism.support(&named("tyre"), center(), UP, [road], RADIUS, Linear, [tyre, Value::from(0.0)]);
        wheel
    }
}

const SUSPENDED: [f64; 2] = [0.0, 0.0];

/// Body and wheel of a quarter of a car, both moving vertically. Parameters: body's mass (fixed), wheel's mass, stiffness, rates in
/// bump and rebound, tyre's stiffness. Input: the road, m. Outputs: accelerometers on the body and on the wheel.
///
/// # Errors
/// None.
pub fn quarter_car() -> Result<Assembly> {
    let mut mechanism = Mechanism::new("quarter_car");
    mechanism.gravity(SUSPENDED);
    let road = mechanism.input("road", "m");
    let mass = mechanism.parameter(Parameter::new("m_body", "kg", 350.0).bounds(1e-3, f64::INFINITY).fixed());
    let properties = corner(&mut mechanism, "", [40.0, 20e3, 900.0, 2200.0, 180e3]);
    let ground = mechanism.ground();
    let body = mechanism.point("body", mass, [0.0, RADIUS + TRAVEL]);
    mechanism.on_line("body guide", ground.at([0.0, 0.0]), body.at([0.0, 0.0]), UP);
    let (guide, top) = (ground.at([0.0, 0.0]), body.at([0.0, 0.0]));
    let wheel = Wheel { suffix: "", guide, top, x: 0.0, properties, road }.add(&mut mechanism);
    mechanism.gravity([0.0, -9.81]);
    mechanism.accelerometer("on_body", body.at([0.0, 0.0]), Mounting::default());
    mechanism.accelerometer("on_wheel", wheel.at([0.0, 0.0]), Mounting::default());
    mechanism.build()
}

/// Half a car in its plane: a body that heaves and pitches on two axles, whose wheels slide along lines of the body. Parameters:
/// the body's mass (fixed) and inertia; of both axles (`_front`, `_rear`) those of the quarter car. Inputs: the road under both
/// wheels, m. Outputs: accelerometers over both axles, and the pitch.
///
/// # Errors
/// None.
pub fn half_car() -> Result<Assembly> {
    let mut mechanism = Mechanism::new("half_car");
    mechanism.gravity(SUSPENDED);
    let roads = ["road_front", "road_rear"].map(|name| mechanism.input(name, "m"));
    let mass = mechanism.parameter(Parameter::new("m_body", "kg", 700.0).bounds(1e-3, f64::INFINITY).fixed());
    let inertia = mechanism.parameter(Parameter::new("I_body", "kg m^2", 1200.0).bounds(1e-3, f64::INFINITY));
    let front = corner(&mut mechanism, "_front", [40.0, 20e3, 900.0, 2200.0, 180e3]);
    let rear = corner(&mut mechanism, "_rear", [35.0, 18e3, 1000.0, 2000.0, 170e3]);
    let body = mechanism.body("body", Body::new(mass, inertia).at([0.0, RADIUS + TRAVEL], 0.0));
    mechanism.on_line("body guide", mechanism.ground().at([0.0, 0.0]), body.at([0.0, 0.0]), UP);
    let over = [AXLES[0], -AXLES[1]];
    for (((suffix, x), properties), road) in ["_front", "_rear"].into_iter().zip(over).zip([front, rear]).zip(roads) {
        let (guide, top) = (body.at([x, 0.0]), body.at([x, 0.0]));
        Wheel { suffix, guide, top, x, properties, road }.add(&mut mechanism);
    }
    mechanism.gravity([0.0, -9.81]);
    mechanism.accelerometer("over_front", body.at([over[0], 0.0]), Mounting::default());
    mechanism.accelerometer("over_rear", body.at([over[1], 0.0]), Mounting::default());
    mechanism.angle("pitch", &mechanism.ground(), &body);
    mechanism.build()
}

/// The built-in road, m at a place in m: waves of 20 m to 0.7 m length (0.75 Hz to 21 Hz at 15 m/s), the shorter the lower, that
/// begin softly at 0.
pub fn road(place: f64) -> f64 {
    let wave = |length: f64, phase: f64| 2e-3 * length.sqrt() * (std::f64::consts::TAU * place / length + phase).sin();
    let waves = [(20.0, 0.3), (11.3, 1.9), (6.1, 4.0), (3.7, 2.2), (2.1, 5.1), (1.3, 0.9), (0.7, 3.3)];
    let begin = place.max(0.0);
    let softly = begin * begin / (begin * begin + 4.0);
    softly * waves.into_iter().map(|(length, phase)| wave(length, phase)).sum::<f64>()
}

/// The road under the front wheel at a time in s, at the speed of the built-in problem.
pub fn under_front(t: f64) -> f64 {
    road(SPEED * t)
}

/// The road under the rear wheel, which meets it later by the wheelbase.
pub fn under_rear(t: f64) -> f64 {
    road(SPEED * t - AXLES[0] - AXLES[1])
}

pub(crate) fn register(registry: Registry) -> costate_identify::Result<Registry> {
    let quarter = Scenario {
        end: 2.0,
        step: 2e-3,
        signals: vec![Signal::function(under_front)],
        start: named([("m_wheel", 55.0), ("k", 15e3), ("c_bump", 1500.0), ("c_rebound", 1500.0), ("k_tyre", 220e3)]),
        outputs: vec!["on_body.y".into()],
        ..Scenario::default()
    };
    let half = Scenario {
        end: 2.0,
        step: 2e-3,
        signals: vec![Signal::function(under_front), Signal::function(under_rear)],
        start: named([
            ("I_body", 1000.0),
            ("m_wheel_front", 50.0),
            ("m_wheel_rear", 45.0),
            ("k_front", 16e3),
            ("k_rear", 23e3),
            ("c_bump_front", 1500.0),
            ("c_bump_rear", 1500.0),
            ("c_rebound_front", 1500.0),
            ("c_rebound_rear", 1500.0),
            ("k_tyre_front", 210e3),
            ("k_tyre_rear", 210e3),
        ]),
        outputs: vec!["over_front.y".into(), "over_rear.y".into()],
        ..Scenario::default()
    };
    registry
        .with_system(
            "quarter of a car with a damper that resists bump and rebound differently, over a road, from parts",
            Arc::new(quarter_car()?),
            quarter,
        )?
        .with_system("half a car, heaving and pitching over a road, from parts", Arc::new(half_car()?), half)
}
