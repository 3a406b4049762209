//! The library without models: optimisers, statistics, figures, records, files.

mod arrows;
mod constrained;
mod data;
mod files;
mod least_squares;
mod likelihood;
mod linear_statistics;
mod mat;
mod mcap;
mod newton;
mod npz;
mod optimise;
mod pictures;
mod plain_pictures;
mod plot;
mod priors;
mod problem_file;
mod residual_tests;
mod robust;
mod searches;
mod signal;
mod spatial_pictures;
mod statistics;
mod svg;
mod units;
mod wrapped;
