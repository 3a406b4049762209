//! The command line: options, files, results, pictures.

mod certainty;
mod check;
mod clocks;
mod constraints;
mod control;
mod convergence;
mod design;
mod experiments;
mod init;
mod interrupts;
mod manners;
mod memory;
mod noise;
mod options;
mod pictures;
mod problem_files;
mod records;
mod repeats;
mod reports;
mod results;
mod run;
mod schema;
mod second_order;
mod sensors;
mod step_errors;
