//! A plain model as a system.

use super::PlainEvaluator;
use super::functions::Functions;
use super::kernel::Sizes;
use super::structure::Structure;
use crate::error::{Error, Result};
use crate::model::Model;
use crate::signature::Signature;
use crate::system::{Evaluator, System};

/// A plain model behind the waist.
pub struct Plain<M> {
    pub(super) model: M,
    pub(super) signature: Signature,
    pub(super) sizes: Sizes,
    pub(super) structure: Structure,
}

impl<M: Model> Plain<M> {
    /// Checks the model's signature and finds its structure.
    ///
    /// # Errors
    /// [`crate::Error::Invalid`] if the signature contradicts itself, or if a function panics (an index out of range, a slip in
    /// [`crate::unpack`]).
    pub fn new(model: M) -> Result<Self> {
        let (signature, sizes, structure) = analyse(&model, model.signature())?;
        Ok(Plain { model, signature, sizes, structure })
    }
    /// The model itself.
    pub fn model(&self) -> &M {
        &self.model
    }
}

/// Sizes and structure of a model whose signature makes sense.
fn analyse(model: &dyn Functions, signature: Signature) -> Result<(Signature, Sizes, Structure)> {
    signature.validate()?;
    let sizes = Sizes {
        n: signature.coordinates.len(),
        m: signature.constraints.len(),
        p: signature.parameters.len(),
        inputs: signature.inputs.len(),
        outputs: signature.outputs.len(),
    };
    let found = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| Structure::find(model, &signature)));
    let structure = found.map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
        let problem = format!("one of its functions panics: {}", text.unwrap_or("without a message"));
        let remedy = "compare what it reads and writes with the numbers of coordinates, constraints, inputs, outputs and \
                      parameters in its signature";
        Error::invalid(signature.place(), problem, remedy)
    })?;
    Ok((signature, sizes, structure))
}

impl<M: Model> System for Plain<M> {
    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn remarks(&self) -> &[String] {
        &self.structure.remarks
    }

    fn evaluator(&self) -> Box<dyn Evaluator + '_> {
        Box::new(PlainEvaluator::new(&self.model, self.sizes, &self.structure))
    }
}
