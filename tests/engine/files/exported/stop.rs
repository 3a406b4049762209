//! `stop`, from a mechanism file.

use costate::{Matrix, Model, Number, Parameter, Signature, State};

/// The model.
#[derive(Debug, Clone, Copy)]
pub struct Stop;

// names are those of the file
#[allow(non_snake_case)]
impl Model for Stop {
    fn signature(&self) -> Signature {
        Signature::new("stop")
            .coordinates([("x", "m")])
            .inputs([("F", "N")])
            .outputs([("x", "m")])
            .outputs([("a", "m/s^2")])
            .parameters([
                Parameter::new("m", "kg", 1.0).bounds(1e-6, f64::INFINITY).fixed(),
                Parameter::new("k", "N/m", 40.0).bounds(0.0, f64::INFINITY),
                Parameter::new("c", "N/m^1.5", 30000.0).bounds(0.0, f64::INFINITY),
                Parameter::new("d", "N s/m", 0.8).bounds(0.0, f64::INFINITY),
                Parameter::new("Fc", "N", 0.5).bounds(0.0, f64::INFINITY),
                Parameter::new("v_s", "m/s", 0.01).fixed(),
            ])
    }

    fn mass<D: Number>(&self, _q: &[D], u: &[D], mass: &mut Matrix<D>) {
        let m = u[0];
        mass[(0, 0)] = m;
    }

    fn force<D: Number>(&self, _t: D, q: &[D], v: &[D], w: &[D], u: &[D], force: &mut [D]) {
        let (x, x_rate, F, k, c, d, Fc, v_s) = (q[0], v[0], w[0], u[1], u[2], u[3], u[4], u[5]);
        force[0] = F - k * x - D::select(D::from(0.02).less(x), c * (x - 0.02).powf(1.5), D::from(0.0)) + table_1(x)
            - Fc * (x_rate / v_s).tanh()
            - d * x_rate;
    }

    fn output<D: Number>(&self, _t: D, state: &State<'_, D>, _u: &[D], out: &mut [D]) {
        let (x, x_acceleration) = (state.q[0], state.a[0]);
        out[0] = x;
        out[1] = x_acceleration;
    }
}

/// A table of the file: where each piece begins, and the coefficients of its cubic.
fn table_1<D: Number>(x: D) -> D {
    const PIECES: [(f64, [f64; 4]); 8] = [
        (-0.5, [0.0, -0.6666666666666667, 0.0, 0.0]),
        (-0.2, [-0.2, -2.9999999999999996, 0.0, 0.0]),
        (-0.1, [-0.5, -10.0, 0.0, 0.0]),
        (-0.05, [-1.0, 20.0, 0.0, 0.0]),
        (0.0, [0.0, 20.0, 0.0, 0.0]),
        (0.05, [1.0, -10.0, 0.0, 0.0]),
        (0.1, [0.5, -2.9999999999999996, 0.0, 0.0]),
        (0.2, [0.2, -0.6666666666666667, 0.0, 0.0]),
    ];
    x.of_pieces(|x| PIECES[PIECES.partition_point(|piece| piece.0 <= x).saturating_sub(1)])
}
