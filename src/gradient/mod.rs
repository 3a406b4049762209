//! Derivatives of runs: in come a simulation and a cost, out go its gradient, Hessian and sensitivities.

pub mod cost;
pub mod sensitivity;
