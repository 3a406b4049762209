//! `emps`, from a mechanism file.

use costate::{Matrix, Model, Number, Parameter, Signature, State};

/// The model.
#[derive(Debug, Clone, Copy)]
pub struct Emps;

// names are those of the file
#[allow(non_snake_case)]
impl Model for Emps {
    fn signature(&self) -> Signature {
        Signature::new("emps").coordinates([("q", "m")]).inputs([("vir", "V")]).outputs([("qm", "m")]).parameters([
            Parameter::new("M", "kg", 95.109).bounds(0.001, f64::INFINITY),
            Parameter::new("Fv", "N s/m", 203.5).bounds(0.0, f64::INFINITY),
            Parameter::new("dFv", "N s/m", 0.0).size(50.0).fixed(),
            Parameter::new("Fc", "N", 20.394).bounds(0.0, f64::INFINITY),
            Parameter::new("dFc", "N", 0.0).size(1.0).fixed(),
            Parameter::new("offset", "N", -3.165).size(1.0),
            Parameter::new("gtau", "N/V", 35.15065188).fixed(),
            Parameter::new("v_s", "m/s", 0.001).bounds(1e-9, f64::INFINITY).fixed(),
            Parameter::new("q0", "m", 0.0).size(0.001),
            Parameter::new("v0", "m/s", 0.0).size(0.01).fixed(),
        ])
    }

    fn initial<D: Number>(&self, u: &[D], q_: &mut [D], v_: &mut [D]) {
        {
            let q0 = u[8];
            q_[0] = q0;
        }
        {
            let v0 = u[9];
            v_[0] = v0;
        }
    }

    fn mass<D: Number>(&self, _q: &[D], u: &[D], mass: &mut Matrix<D>) {
        let M = u[0];
        mass[(0, 0)] = M;
    }

    fn force<D: Number>(&self, _t: D, _q: &[D], v: &[D], w: &[D], u: &[D], force: &mut [D]) {
        let (q_rate, vir, Fv, dFv, Fc, dFc, offset, gtau, v_s) = (v[0], w[0], u[1], u[2], u[3], u[4], u[5], u[6], u[7]);
        let part_1 = q_rate / (q_rate * q_rate + v_s * v_s).sqrt();
        force[0] = gtau * vir - (Fv + dFv * part_1) * q_rate - (Fc + dFc * part_1) * part_1 - offset;
    }

    fn output<D: Number>(&self, _t: D, state: &State<'_, D>, _u: &[D], out: &mut [D]) {
        let q = state.q[0];
        out[0] = q;
    }
}
