//! Mechanisms from parts: in come bodies, joints, forces and sensors as small generic elements, out goes a [`crate::System`] with
//! sparse matrices.

pub mod assembly;
pub(crate) mod connectivity;
pub(crate) mod law;
pub mod planar;
pub(crate) mod sampled;
pub mod spatial;
pub(crate) mod totals;
