//! The slider-crank and the engine mount once more, from parts: the same equations as those written as plain functions.

use crate::engine_mount::{
    CHAMBER_STIFFNESS, DECOUPLER, DECOUPLER_ARM, DECOUPLER_DAMPING, DECOUPLER_STIFFNESS, GRAVITY, LOAD, TRACK,
    TRACK_ARM, TRACK_DAMPING,
};
use crate::slider_crank::SliderCrank;
use costate::value::Value;
use costate::{Matrix, Model, Number, Result, State};
use costate_parts::assembly::{Assembler, Assembly, Connection, Element};
use costate_parts::law::{Law, Linear};
use costate_parts::planar::{Body, Mechanism};

/// [`SliderCrank`] from planar parts, with the same coordinates and parameters in the same order, but for `angle0` and `omega0`.
/// It starts where that starts with nominal parameters; for other lengths, project the start. Outputs: position, velocity and
/// acceleration of the slider, the crank's angle with its derivatives, and the bearing's force on the crank.
///
/// # Errors
/// None.
pub fn slider_crank() -> Result<Assembly> {
    let plain = SliderCrank.signature();
    let (mut q, mut v) = ([0.0; 8], [0.0; 8]);
    SliderCrank.initial(&plain.nominal(), &mut q, &mut v);
    let mut mechanism = Mechanism::new("slider_crank_from_parts");
    let parameters: Vec<Value> = plain.parameters[..13].iter().map(|p| mechanism.parameter(p.clone())).collect();
    let [m_crank, m_rod, m_slider, i_crank, i_rod, l_crank, l_rod, s_crank, s_rod, k, x_free, d, g] =
        costate::unpack(&parameters.iter().collect::<Vec<_>>());
    let zero = Value::from(0.0);
    mechanism.gravity([zero, -g]);
    let mut body = |name: &str, mass: &Value, inertia: &Value, j: usize| {
        let body = Body::new(mass, inertia).at([q[j], q[j + 1]], q[j + 2]);
        mechanism.body(name, body.moving([v[j], v[j + 1]], v[j + 2]))
    };
    let (crank, rod) = (body("crank", m_crank, i_crank, 0), body("rod", m_rod, i_rod, 3));
    let slider = mechanism.point_moving("slider", m_slider, [q[6], q[7]], [v[6], v[7]]);
    let ground = mechanism.ground();
    let along = |distance: Value| [distance, zero];
    let origin = || ground.at([0.0, 0.0]);
    let bearing = mechanism.revolute("bearing", origin(), crank.at(along(-s_crank)));
    let (end, start) = (crank.at(along(*l_crank - s_crank)), rod.at(along(-s_rod)));
    mechanism.revolute("pin", end, start);
    mechanism.revolute("wrist", rod.at(along(*l_rod - s_rod)), slider.at([0.0, 0.0]));
    mechanism.on_line("guide", origin(), slider.at([0.0, 0.0]), 0.0);
    mechanism.spring("spring", origin(), slider.at([0.0, 0.0]), x_free, k, d);
    let torque = mechanism.input("torque", "N m");
    mechanism.torque("motor", &ground, &crank, torque);
    mechanism.position("position", slider.at([0.0, 0.0]));
    mechanism.velocity("velocity", slider.at([0.0, 0.0]), Default::default());
    mechanism.acceleration("acceleration", slider.at([0.0, 0.0]), Default::default());
    mechanism.angle("crank angle", &ground, &crank);
    mechanism.reaction("bearing force", &bearing, &crank);
    mechanism.build()
}

/// A mass on a coordinate. Parameters: mass, gravity.
struct Inertia;

impl Element for Inertia {
    fn mass<D: Number>(&self, _q: &[D], u: &[D], m: &mut Matrix<D>) {
        m[(0, 0)] = u[0];
    }

    fn force<D: Number>(&self, _t: D, _q: &[D], _v: &[D], _w: &[D], u: &[D], force: &mut [D]) {
        force[0] = u[0] * u[1];
    }
}

/// A spring or the like between two coordinates, or between the ground and the only one. Parameters: those of the law.
struct Between<L>(L);

impl<L: Law> Element for Between<L> {
    fn force<D: Number>(&self, _t: D, q: &[D], v: &[D], _w: &[D], u: &[D], force: &mut [D]) {
        match (q, v) {
            ([q], [v]) => force[0] = -self.0.tension(*q, *v, u),
            _ => {
                let tension = self.0.tension(q[1] - q[0], v[1] - v[0], u);
                (force[0], force[1]) = (tension, -tension);
            }
        }
    }
}

/// T = (c_1 + c_3 e²) e + (d_1 + d_3 v²) v. Parameters: c_1, c_3, d_1, d_3.
struct Cubic;

impl Law for Cubic {
    fn tension<D: Number>(&self, elongation: D, rate: D, u: &[D]) -> D {
        (u[0] + u[1] * elongation * elongation) * elongation + (u[2] + u[3] * rate * rate) * rate
    }
}

/// An input as a force on a coordinate.
struct Push;

impl Element for Push {
    fn force<D: Number>(&self, _t: D, _q: &[D], _v: &[D], w: &[D], _u: &[D], force: &mut [D]) {
        force[0] = w[0];
    }
}

/// Volume is conserved: areas times displacements add up to nothing. Parameters: areas.
struct Volume;

impl Element for Volume {
    fn constraint<D: Number>(&self, _t: D, q: &[D], u: &[D], c: &mut [D]) {
        c[0] = D::dot(q, u);
    }
}

/// The scheme's own acceleration, position and velocity of a coordinate.
struct Sensor;

impl Element for Sensor {
    fn output<D: Number>(&self, _t: D, x: &State<'_, D>, _u: &[D], y: &mut [D]) {
        (y[0], y[1], y[2]) = (x.a_scheme[0], x.q[0], x.v[0]);
    }
}

/// [`crate::engine_mount::EngineMount`] from elements on single coordinates, with the same coordinates, parameters and outputs in the same
/// order.
///
/// # Errors
/// None.
pub fn engine_mount() -> Result<Assembly> {
    let mut assembler = Assembler::new("engine_mount_from_parts");
    let plain = crate::engine_mount::EngineMount.signature();
    let parameters: Vec<Value> = plain.parameters.into_iter().map(|p| assembler.parameter(p)).collect();
    let [c_1, c_3, d_1, d_3] = costate::unpack(&parameters.iter().collect::<Vec<_>>());
    let zero = Value::from(0.0);
    let [load, piston, decoupler, track] =
        ["x1", "x2", "x3", "x4"].map(|name| assembler.coordinate(name, "m", 0.0, 0.0));
    let force = assembler.input("F", "N");
    for (name, x, mass, gravity) in
        [("load", load, LOAD, GRAVITY), ("decoupler", decoupler, DECOUPLER, 0.0), ("track", track, TRACK, 0.0)]
    {
        assembler.element(name, Inertia, Connection::to([x]).parameters([mass, gravity]));
    }
    assembler.element("excitation", Push, Connection::to([load]).inputs([force]));
    let law = [*c_1, *c_3, *d_1, zero];
    assembler.element("elastomer", Between(Cubic), Connection::to([load]).parameters(law));
    let chamber = Connection::to([piston, load]).parameters([CHAMBER_STIFFNESS, 0.0]);
    assembler.element("chamber", Between(Linear), chamber);
    let law = [DECOUPLER_STIFFNESS, DECOUPLER_DAMPING];
    assembler.element("membrane", Between(Linear), Connection::to([decoupler]).parameters(law));
    let law = [zero, zero, Value::from(TRACK_DAMPING), *d_3];
    assembler.element("track flow", Between(Cubic), Connection::to([track]).parameters(law));
    let volume = Connection::to([piston, decoupler, track]);
    let volume = volume.parameters([TRACK_ARM + DECOUPLER_ARM, -DECOUPLER_ARM, -TRACK_ARM]);
    assembler.element("fluid", Volume, volume.constraints([("volume", "m^2")]));
    let outputs = [("a1", "m/s^2"), ("x1", "m"), ("v1", "m/s")];
    assembler.element("load sensor", Sensor, Connection::to([load]).outputs(outputs));
    assembler.build()
}
