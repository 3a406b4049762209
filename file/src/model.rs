//! A plain model whose functions are programs.

use crate::formula::graph::Bank;
use crate::formula::program::{Program, banks};
use crate::picture::Picture;
use costate::{Drawing, Matrix, Model, Number, Signature, State};

/// A mechanism from a file: [`Model`] by formulas instead of functions in Rust.
#[derive(Debug)]
pub struct FileModel {
    pub(crate) signature: Signature,
    /// Positions, and velocities with states.
    pub(crate) start: [Program; 2],
    pub(crate) mass: Program,
    pub(crate) force: Program,
    pub(crate) rates: Program,
    pub(crate) constraint: Program,
    pub(crate) output: Program,
    pub(crate) picture: Option<Picture>,
}

impl Model for FileModel {
    fn signature(&self) -> Signature {
        self.signature.clone()
    }

    fn initial<D: Number>(&self, u: &[D], q: &mut [D], v: &mut [D]) {
        let banks = banks(&[(Bank::Parameter, u)]);
        self.start[0].run(&banks, q);
        self.start[1].run(&banks, v);
    }

    fn mass<D: Number>(&self, q: &[D], u: &[D], m: &mut Matrix<D>) {
        self.mass.run(&banks(&[(Bank::Position, q), (Bank::Parameter, u)]), m.as_mut_slice());
    }

    fn force<D: Number>(&self, t: D, q: &[D], v: &[D], w: &[D], u: &[D], force: &mut [D]) {
        self.force.run(&in_motion(&[t], [q, v, w, u]), force);
    }

    fn rates<D: Number>(&self, t: D, q: &[D], v: &[D], w: &[D], u: &[D], rates: &mut [D]) {
        self.rates.run(&in_motion(&[t], [q, v, w, u]), rates);
    }

    fn constraint<D: Number>(&self, t: D, q: &[D], u: &[D], c: &mut [D]) {
        self.constraint.run(&banks(&[(Bank::Time, &[t]), (Bank::Position, q), (Bank::Parameter, u)]), c);
    }

    fn output<D: Number>(&self, t: D, x: &State<'_, D>, u: &[D], y: &mut [D]) {
        let mut all = in_motion(std::slice::from_ref(&t), [x.q, x.v, x.w, u]);
        all[Bank::Acceleration as usize] = x.a;
        all[Bank::SchemeAcceleration as usize] = x.a_scheme;
        all[Bank::Multiplier as usize] = x.lambda;
        self.output.run(&all, y);
    }

    fn picture(&self, t: f64, q: &[f64], w: &[f64], u: &[f64], drawing: &mut Drawing) {
        if let Some(picture) = &self.picture {
            picture.draw(t, [q, w, u], drawing);
        }
    }
}

/// Banks of forces: time, positions, velocities, inputs and parameters.
pub(crate) fn in_motion<'a, D>(t: &'a [D], [q, v, w, u]: [&'a [D]; 4]) -> crate::formula::program::Banks<'a, D> {
    let all = [(Bank::Time, t), (Bank::Position, q), (Bank::Velocity, v), (Bank::Input, w), (Bank::Parameter, u)];
    banks(&all)
}
