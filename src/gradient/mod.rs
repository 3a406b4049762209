//! Derivatives of runs: in come a simulation and a cost, out go its gradient, Hessian and sensitivities; and modes about an
//! equilibrium, with theirs; where a linearisation has two sides, and where a motion goes through jumps.

pub mod cost;
pub mod jumps;
pub mod kinks;
pub mod modes;
pub mod noise;
pub mod sensitivity;
