//! Ready mechanisms, written against costate's public interface alone.

pub mod engine_mount;
