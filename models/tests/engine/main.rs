//! The engine over plain models: simulations, derivatives, identification, messages.

#[path = "../common/mod.rs"]
mod common;

mod allocations;
mod bootstrap;
mod checker;
mod constrained;
mod control;
mod convergence;
mod counters;
mod design;
mod emps;
mod equilibrium;
mod errors;
mod failures;
mod golden;
mod gradients;
mod hessian;
mod hostile;
mod inputs;
mod invariance;
mod jumps;
mod least_squares;
mod measured_modes;
mod memory;
mod missing_samples;
mod modes;
mod motions;
mod newton;
mod penalty;
mod profiles;
mod random;
mod reads;
mod reverse;
mod schemes;
mod sensors;
mod slider_crank;
mod spectra;
mod starts;
mod states;
mod step_control;
mod stiff_steps;
mod structure;
mod textbook_ali3p;
mod time_step;
mod work;
