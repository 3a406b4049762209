//! Derivatives of runs: in come a simulation and a cost, out go its gradient, Hessian and sensitivities; and modes about an
//! equilibrium, with theirs.

pub mod cost;
pub mod modes;
pub mod noise;
pub mod sensitivity;
