//! A plain model as a system.

use super::PlainEvaluator;
use super::functions::Functions;
use super::kernel::Sizes;
use super::structure::Structure;
use crate::drawing::Drawing;
use crate::mass;
use crate::number::Number;
use crate::signature::Signature;
use crate::sketch::Sketch;
use crate::slip;
use crate::system::{By, Evaluator, System};
use crate::{Error, Result};
use crate::{Matrix, Model, State};

/// A model whose states are handled as velocities of coordinates of unit mass. The positions of these are nobody's: the model does not
/// see them, and what is not seen is not differentiated by.
pub(super) struct WithStates<M> {
    model: M,
    states: usize,
}

impl<M> WithStates<M> {
    /// The model's own coordinates.
    #[inline(always)]
    fn own<'q, D>(&self, q: &'q [D]) -> &'q [D] {
        &q[..q.len() - self.states]
    }
}

impl<M: Model> Model for WithStates<M> {
    fn signature(&self) -> Signature {
        self.model.signature()
    }

    fn initial<D: Number>(&self, u: &[D], q: &mut [D], v: &mut [D]) {
        let own = q.len() - self.states;
        self.model.initial(u, &mut q[..own], v);
    }

    #[inline]
    fn mass<D: Number>(&self, q: &[D], u: &[D], m: &mut Matrix<D>) {
        let own = self.own(q);
        self.model.mass(own, u, m);
        (own.len()..q.len()).for_each(|j| m[(j, j)] = D::from(1.0));
    }

    #[inline]
    fn force<D: Number>(&self, t: D, q: &[D], v: &[D], w: &[D], u: &[D], force: &mut [D]) {
        let own = self.own(q);
        let (force, rates) = force.split_at_mut(own.len());
        self.model.force(t, own, v, w, u, force);
        if !rates.is_empty() {
            self.model.rates(t, own, v, w, u, rates);
        }
    }

    #[inline]
    fn constraint<D: Number>(&self, t: D, q: &[D], u: &[D], c: &mut [D]) {
        self.model.constraint(t, self.own(q), u, c);
    }

    #[inline]
    fn output<D: Number>(&self, t: D, x: &State<'_, D>, u: &[D], y: &mut [D]) {
        self.model.output(t, &State { q: self.own(x.q), ..*x }, u, y);
    }

    fn picture(&self, t: f64, q: &[f64], w: &[f64], u: &[f64], drawing: &mut Drawing) {
        self.model.picture(t, self.own(q), w, u, drawing);
    }
}

/// A plain model behind the waist.
pub struct Plain<M> {
    pub(super) model: WithStates<M>,
    pub(super) signature: Signature,
    pub(super) sizes: Sizes,
    pub(super) structure: Structure,
    /// Sketch at the nominal start.
    sketch: Option<Sketch>,
}

impl<M: Model> Plain<M> {
    /// Checks the model's signature, finds its structure, and checks its mass matrix.
    ///
    /// # Errors
    /// [`crate::Error::Invalid`] if the signature contradicts itself, if a function panics (an index out of range, a slip in
    /// [`crate::unpack`]), if the mass matrix is not symmetric (for nominal parameters at the start, and at some random ones near
    /// it), or if for nominal parameters at the start masses are negative, or a motion that the constraints leave free has negative
    /// kinetic energy. M may be singular.
    pub fn new(model: M) -> Result<Self> {
        let signature = model.signature();
        let model = WithStates { model, states: signature.states.len() };
        let (signature, sizes, structure) = analyse(&model, signature)?;
        let mut plain = Plain { model, signature, sizes, structure, sketch: None };
        mass::check_nominal(&plain)?;
        plain.sketch = plain.nominal_sketch()?;
        Ok(plain)
    }

    /// Sketch of the mechanism at its nominal start, if it draws anything.
    fn nominal_sketch(&self) -> Result<Option<Sketch>> {
        let (u, w) = (self.signature.nominal(), vec![0.0; self.sizes.inputs]);
        let (mut q, mut v) = (vec![0.0; self.sizes.n], vec![0.0; self.sizes.n]);
        self.model.initial(&u, &mut q, &mut v);
        let sketch = self.drawn(0.0, &q, &w, &u)?.sketch();
        Ok((!sketch.is_empty()).then_some(sketch))
    }

    fn drawn(&self, t: f64, q: &[f64], w: &[f64], u: &[f64]) -> Result<Drawing> {
        let mut drawing = Drawing::new();
        slip::caught(|| self.model.picture(t, q, w, u, &mut drawing))
            .map_err(|panic| panicked(&self.signature, &panic))?;
        Ok(drawing)
    }

    /// The model itself.
    pub fn model(&self) -> &M {
        &self.model.model
    }
}

/// Sizes and structure of a model whose signature makes sense.
fn analyse(model: &dyn Functions, signature: Signature) -> Result<(Signature, Sizes, Structure)> {
    signature.validate()?;
    let sizes = Sizes::of(&signature);
    let structure =
        slip::caught(|| Structure::find(model, &signature)).map_err(|panic| panicked(&signature, &panic))?;
    Ok((signature, sizes, structure))
}

fn panicked(signature: &Signature, panic: &str) -> Error {
    let problem = format!("one of its functions panics: {panic}");
    let remedy = "compare what it reads and writes with the numbers of coordinates, states, constraints, inputs, outputs \
                  and parameters in its signature";
    Error::invalid(signature.place(), problem, remedy)
}

impl<M: Model> System for Plain<M> {
    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn remarks(&self) -> &[String] {
        &self.structure.remarks
    }

    fn may_jump(&self) -> bool {
        self.structure.may_jump
    }

    fn sketch(&self) -> Option<&Sketch> {
        self.sketch.as_ref()
    }

    fn sketch_at(&self, t: f64, q: &[f64], w: &[f64], u: &[f64]) -> Result<Option<Sketch>> {
        match self.sketch {
            Some(_) => self.drawn(t, q, w, u)?.checked(&self.signature.place(), t).map(Some),
            None => Ok(None),
        }
    }

    fn evaluator(&self) -> Box<dyn Evaluator + '_> {
        self.evaluator_by(By::PARAMETERS)
    }

    fn evaluator_by(&self, by: By<'_>) -> Box<dyn Evaluator + '_> {
        Box::new(PlainEvaluator::new(&self.model, self.sizes, &self.structure, by))
    }
}
