//! The command line: options, files, results, pictures.

mod constraints;
mod control;
mod experiments;
mod noise;
mod options;
mod pictures;
mod problem_files;
mod records;
mod reports;
mod results;
mod run;
mod second_order;
