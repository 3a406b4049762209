//! `pendulum`, from a mechanism file.

use costate::{Matrix, Model, Number, Parameter, Signature, State};

/// The model.
#[derive(Debug, Clone, Copy)]
pub struct Pendulum;

// names are those of the file
#[allow(non_snake_case)]
impl Model for Pendulum {
    fn signature(&self) -> Signature {
        Signature::new("pendulum")
            .coordinates([("x", "m"), ("y", "m")])
            .constraints([("rod", "m^2")])
            .angles(["angle"])
            .outputs([("a_x", "m/s^2")])
            .outputs([("a_y", "m/s^2")])
            .outputs([("rod_force", "N")])
            .parameters([
                Parameter::new("m", "kg", 0.5).bounds(1e-6, f64::INFINITY).fixed(),
                Parameter::new("L", "m", 0.8).bounds(0.001, f64::INFINITY),
                Parameter::new("d", "N s/m", 0.05).bounds(0.0, f64::INFINITY),
                Parameter::new("g", "m/s^2", 9.81).fixed(),
                Parameter::new("angle0", "rad", 1.2),
                Parameter::new("omega0", "rad/s", 0.3),
            ])
    }

    fn initial<D: Number>(&self, u: &[D], q_: &mut [D], v_: &mut [D]) {
        {
            let (L, angle0) = (u[1], u[4]);
            let (part_1, part_2) = angle0.sin_cos();
            q_[0] = L * part_1;
            q_[1] = -L * part_2;
        }
        {
            let (L, angle0, omega0) = (u[1], u[4], u[5]);
            let (part_1, part_2) = angle0.sin_cos();
            let part_3 = L * omega0;
            v_[0] = part_3 * part_2;
            v_[1] = part_3 * part_1;
        }
    }

    fn mass<D: Number>(&self, _q: &[D], u: &[D], mass: &mut Matrix<D>) {
        let m = u[0];
        mass[(0, 0)] = m;
        mass[(1, 1)] = m;
    }

    fn force<D: Number>(&self, _t: D, _q: &[D], v: &[D], _w: &[D], u: &[D], force: &mut [D]) {
        let (x_rate, y_rate, m, d, g) = (v[0], v[1], u[0], u[2], u[3]);
        let part_1 = -d;
        force[0] = part_1 * x_rate;
        force[1] = part_1 * y_rate - m * g;
    }

    fn constraint<D: Number>(&self, _t: D, q: &[D], u: &[D], rows: &mut [D]) {
        let (x, y, L) = (q[0], q[1], u[1]);
        rows[0] = (x * x + y * y - L * L) * 0.5;
    }

    fn output<D: Number>(&self, _t: D, state: &State<'_, D>, u: &[D], out: &mut [D]) {
        let (x, y, x_acceleration, y_acceleration, rod_multiplier, L) =
            (state.q[0], state.q[1], state.a[0], state.a[1], state.lambda[0], u[1]);
        out[1] = x_acceleration;
        out[2] = y_acceleration;
        out[0] = x.atan2(-y);
        out[3] = rod_multiplier * L;
    }
}
