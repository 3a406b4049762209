//! Mechanisms from parts, of the plane and of space.

extern crate costate_tests_common as common;

mod benchmarks;
mod cars;
mod double_pendulum;
mod every_scheme;
mod from_parts;
mod mechanisms;
mod planar;
mod robots;
mod sparse;
mod spatial;
mod spatial_hostile;
mod spatial_joints;
mod spatial_models;
mod spatial_parts;
mod spatial_slips;
mod states;
mod tendons;
