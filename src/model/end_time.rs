//! A run whose end is a parameter: time is scaled, so that every run goes from 0 to 1.

use super::{Matrix, Model, State};
use crate::drawing::Drawing;
use crate::number::Number;
use crate::signature::{Parameter, Quantity, Signature};

/// A model in the time s = t/T, with the end time T as its last parameter (`end_time`, s) and its last output.
///
/// ```text
/// M q'' + C_qᵀ (T² λ) = T² Q(T s, q, q'/T, z, w, u),   z' = T g,   C(T s, q, u) = 0        ' = d/ds
/// ```
///
/// Outputs are those of the model in its own time: its velocities, accelerations and multipliers are given back to it. Simulate it from 0 to 1.
/// Sums over time are integrals over s: those over t are T times as large.
#[derive(Debug, Clone, Copy)]
pub struct FreeEndTime<M> {
    model: M,
    nominal: f64,
    lower: f64,
    upper: f64,
}

impl<M> FreeEndTime<M> {
    /// A model with this end time, s, within bounds.
    pub fn new(model: M, nominal: f64, lower: f64, upper: f64) -> Self {
        FreeEndTime { model, nominal, lower, upper }
    }
}

/// Numbers that are kept without asking for memory.
const ROOM: usize = 16;

/// Room for scaled numbers, without asking for memory where they are few.
struct Room<D> {
    few: [D; ROOM],
    many: Vec<D>,
}

impl<D: Number> Room<D> {
    fn new() -> Self {
        Room { few: [D::from(0.0); ROOM], many: Vec::new() }
    }

    /// The first `count` entries of `x` times a factor, what follows them times another.
    fn scaled(&mut self, x: &[D], count: usize, [own, rest]: [D; 2]) -> &[D] {
        if x.len() > ROOM {
            self.many.resize(x.len(), D::from(0.0));
        }
        let room = if x.len() > ROOM { &mut self.many[..] } else { &mut self.few[..x.len()] };
        for k in 0..x.len() {
            room[k] = x[k] * if k < count { own } else { rest };
        }
        room
    }
}

impl<M: Model> Model for FreeEndTime<M> {
    fn signature(&self) -> Signature {
        let mut signature = self.model.signature();
        let end = Parameter::new("end_time", "s", self.nominal).bounds(self.lower, self.upper);
        signature.parameters.push(end);
        signature.outputs.push(Quantity::new("end_time", "s"));
        // in another time they are parameters like others
        signature.motions.clear();
        signature
    }

    fn initial<D: Number>(&self, u: &[D], q: &mut [D], v: &mut [D]) {
        let Some((end, u)) = u.split_last() else { return };
        self.model.initial(u, q, v);
        v[..q.len()].iter_mut().for_each(|v| *v *= *end);
    }

    fn mass<D: Number>(&self, q: &[D], u: &[D], m: &mut Matrix<D>) {
        self.model.mass(q, &u[..u.len() - 1], m);
    }

    fn force<D: Number>(&self, t: D, q: &[D], v: &[D], w: &[D], u: &[D], force: &mut [D]) {
        let Some((&end, u)) = u.split_last() else { return };
        let factors = [end.recip(), D::from(1.0)];
        let mut room = Room::new();
        let v = room.scaled(v, q.len(), factors);
        self.model.force(t * end, q, v, w, u, force);
        force.iter_mut().for_each(|force| *force *= end * end);
    }

    fn rates<D: Number>(&self, t: D, q: &[D], v: &[D], w: &[D], u: &[D], rates: &mut [D]) {
        let Some((&end, u)) = u.split_last() else { return };
        let factors = [end.recip(), D::from(1.0)];
        let mut room = Room::new();
        let v = room.scaled(v, q.len(), factors);
        self.model.rates(t * end, q, v, w, u, rates);
        rates.iter_mut().for_each(|rate| *rate *= end);
    }

    fn constraint<D: Number>(&self, t: D, q: &[D], u: &[D], c: &mut [D]) {
        let Some((&end, u)) = u.split_last() else { return };
        self.model.constraint(t * end, q, u, c);
    }

    fn output<D: Number>(&self, t: D, x: &State<'_, D>, u: &[D], y: &mut [D]) {
        let (Some((&end, u)), Some((last, y))) = (u.split_last(), y.split_last_mut()) else { return };
        *last = end;
        let (once, twice) = (end.recip(), (end * end).recip());
        let n = x.q.len();
        let [mut of_v, mut of_a, mut of_scheme, mut of_lambda] = std::array::from_fn(|_| Room::new());
        let v = of_v.scaled(x.v, n, [once, D::from(1.0)]);
        let a = of_a.scaled(x.a, n, [twice, once]);
        let a_scheme = of_scheme.scaled(x.a_scheme, n, [twice, once]);
        let lambda = of_lambda.scaled(x.lambda, 0, [twice, twice]);
        self.model.output(t * end, &State { q: x.q, v, a, a_scheme, lambda, w: x.w }, u, y);
    }

    fn picture(&self, t: f64, q: &[f64], w: &[f64], u: &[f64], drawing: &mut Drawing) {
        let Some((end, u)) = u.split_last() else { return };
        self.model.picture(t * end, q, w, u, drawing);
    }
}
