//! Derivatives of runs: in come a simulation and a cost, out go its gradient, Hessian and sensitivities; and modes about an
//! equilibrium, with theirs, and where a linearisation has two sides.

pub mod cost;
pub mod kinks;
pub mod modes;
pub mod noise;
pub mod sensitivity;
