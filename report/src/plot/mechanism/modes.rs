//! Shapes of modes: drawn at their largest, and animated.

use super::animation::Pace;
use super::shape::Moment;
use super::stage::Content;
use super::{COLUMN, PAGE, Picture, diagonal, farthest};
use crate::plot::Figure;
use costate::Simulation;
use costate::modes::Complex;
use costate_identify::{Error, Result};
use std::f64::consts::TAU;

/// Motion in a picture of a mode of what moves most, beside the mechanism's size.
const SWING: f64 = 0.1;
/// Largest angle in a picture of a mode, rad: beyond, joints are seen to come apart.
const TURN: f64 = 0.35;
/// Of the largest displacement, how much is tried.
const SMALL: f64 = 1e-6;
/// Panels of a figure at most.
const MOST: usize = 30;
/// Frames of one oscillation.
const FRAMES: usize = 32;

impl<'a> Picture<'a> {
    /// The mechanism at rest at positions `q`, for the shapes of its modes.
    ///
    /// # Errors
    /// A system without a picture, or wrong parameters.
    pub fn of_rest(simulation: &'a Simulation, u: &[f64], q: &[f64]) -> Result<Self> {
        simulation.check_parameters(u)?;
        Picture::new(simulation, u, None, q.to_vec())
    }

    /// A figure with one panel a mode (title and shape): at its largest, over where it rests.
    ///
    /// # Errors
    /// No mode, or too many; a picture that contradicts itself.
    pub fn shapes(&self, modes: &[(String, &[Complex<f64>])]) -> Result<Figure> {
        if modes.is_empty() || modes.len() > MOST {
            let problem = format!("{} are given, and a figure has room for 1 to {MOST}", modes.len());
            return Err(Error::invalid("the modes to be drawn", problem, "choose some of them"));
        }
        let rest = self.posed(&self.start)?;
        let swung = |(_, shape): &(String, &[Complex<f64>])| self.posed(&self.swung(shape, self.amplitude(shape), 0.0));
        let swung = modes.iter().map(swung).collect::<Result<Vec<Moment>>>()?;
        let contents = modes.iter().zip(&swung);
        let contents: Vec<Content<'_>> = contents
            .map(|((title, _), moment)| Content { title: title.clone(), moments: vec![&rest, moment] })
            .collect();
        let all: Vec<Moment> = swung.iter().chain([&rest]).cloned().collect();
        self.figure(&all, &contents, if modes.len() > 1 { PAGE } else { COLUMN })
    }

    /// One oscillation as the bytes of a GIF file that plays for ever, slowed down so that it can be seen. `progress` is called with the
    /// number of finished frames of [`Picture::FRAMES_OF_A_MODE`].
    ///
    /// # Errors
    /// As [`Picture::shapes`].
    pub fn swing(&self, title: &str, shape: &[Complex<f64>], progress: &mut dyn FnMut(usize)) -> Result<Vec<u8>> {
        let amplitude = self.amplitude(shape);
        let moment = |i: usize| self.posed(&self.swung(shape, amplitude, i as f64 / FRAMES as f64));
        let moments = (0..FRAMES).map(moment).collect::<Result<Vec<Moment>>>()?;
        let pace = Pace { frames_per_second: 20.0, last_stays: false };
        self.encode(&moments, &|_| title.to_string(), pace, progress)
    }

    /// Frames of [`Picture::swing`].
    pub const FRAMES_OF_A_MODE: usize = FRAMES;

    /// Positions at a part of the period.
    fn swung(&self, shape: &[Complex<f64>], amplitude: f64, part: f64) -> Vec<f64> {
        let turn = Complex::new(0.0, TAU * part).exp() * amplitude;
        self.start.iter().zip(shape).map(|(q, z)| q + (z * turn).re).collect()
    }

    /// The factor that makes a shape readable.
    fn amplitude(&self, shape: &[Complex<f64>]) -> f64 {
        let start = self.places(0, &self.start);
        let size = diagonal(&start);
        let small = SMALL * if size > 0.0 { size } else { 1.0 };
        // complex shapes are not at their largest everywhere at once
        let parts = [0.0, 0.125, 0.25, 0.375].map(|part| {
            let moved = farthest(&start, &self.places(0, &self.swung(shape, small, part)));
            moved / small
        });
        let moved = parts.into_iter().fold(0.0, f64::max);
        let coordinates = &self.simulation.signature().coordinates;
        // Euler parameters are sines of half the angle
        let turns = |unit: &str| match unit {
            "rad" => 1.0,
            "" | "1" => 2.0,
            _ => 0.0,
        };
        let turned = shape.iter().zip(coordinates).map(|(z, c)| turns(&c.unit) * z.norm()).fold(0.0, f64::max);
        // what turns about its own centre moves nothing else
        let amplitude = (SWING * size / moved).min(TURN / turned);
        if amplitude.is_finite() { amplitude } else { 1.0 }
    }

    fn posed(&self, q: &[f64]) -> Result<Moment> {
        let (t, w) = (self.simulation.grid().times()[0], self.simulation.inputs_at(0));
        let sketch = self.sketch_with(t, q, w, false)?;
        Ok(Moment::new(t, &sketch, q, &self.shape.u, (w, w.to_vec())))
    }
}
