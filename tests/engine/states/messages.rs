//! Messages on states.

use super::{simulation, steps};
use costate::system::System;
use costate::{Error, Matrix, Model, Number, Plain, Signature};

/// What is wrong with [`Wrong`].
#[derive(Debug, Clone, Copy, PartialEq)]
enum Fault {
    /// The rate of a massless coordinate.
    Coordinate,
    /// A root of what becomes negative.
    Rate,
    Count,
    NoRate,
    Start,
    Name,
}

#[derive(Debug, Clone, Copy)]
struct Wrong(Fault);

impl Model for Wrong {
    fn signature(&self) -> Signature {
        let signature = Signature::new("wrong").coordinates([("x", "m")]);
        match self.0 {
            Fault::Coordinate => signature.coordinates([("charge", "A s")]),
            Fault::Name => signature.states([("x", "A")]),
            _ => signature.states([("current", "A")]),
        }
    }
    fn initial<D: Number>(&self, _u: &[D], _q: &mut [D], v: &mut [D]) {
        v[1] = D::from(if self.0 == Fault::Start { f64::NAN } else { 1.0 });
    }
    fn mass<D: Number>(&self, _q: &[D], _u: &[D], m: &mut Matrix<D>) {
        m[(0, 0)] = D::from(1.0);
    }
    fn force<D: Number>(&self, _t: D, q: &[D], v: &[D], _w: &[D], _u: &[D], force: &mut [D]) {
        force[0] = -q[0];
        if self.0 == Fault::Coordinate {
            force[1] = -v[1];
        }
    }
    fn rates<D: Number>(&self, _t: D, _q: &[D], v: &[D], _w: &[D], _u: &[D], rates: &mut [D]) {
        match self.0 {
            Fault::Rate => rates[0] = -(v[1] - 0.5).sqrt(),
            Fault::Count => rates[1] = -v[1],
            Fault::NoRate => {}
            _ => rates[0] = -v[1],
        }
    }
}

/// Protects what is said of states: messages name them, the time and the remedy.
#[test]
fn messages_name_states() {
    let built = |fault| Plain::new(Wrong(fault)).map(|_| ()).unwrap_err().to_string();
    let failed = |fault| simulation(Wrong(fault), "hht", steps(0.01, 200), Vec::new()).run(&[]).unwrap_err();
    assert!(built(Fault::Count).contains("numbers of coordinates, states"), "{}", built(Fault::Count));
    assert!(built(Fault::Name).contains("two of its coordinates and states are called `x`"), "{}", built(Fault::Name));
    let error = failed(Fault::Coordinate).to_string();
    assert!(error.contains("`charge`") && error.contains("the model's `states`"), "{error}");
    let Error::NotFinite { quantity, time, .. } = failed(Fault::Rate) else { panic!("{}", failed(Fault::Rate)) };
    assert!(quantity.contains("rate of `current`") && time > 1.0, "{quantity} at {time}");
    let Error::NotFinite { quantity, .. } = failed(Fault::Start) else { panic!("{}", failed(Fault::Start)) };
    assert_eq!(quantity, "initial value of the state `current`");
    let still = Plain::new(Wrong(Fault::NoRate)).unwrap();
    assert_eq!(still.remarks(), ["the rate of state `current` is always zero"]);
}
