//! Pictures of mechanisms: figures at given times, and animations.
//!
//! A [`costate_parts::planar::Mechanism`] or [`costate_parts::spatial::Mechanism`] knows what its parts look like; a plain model says so itself
//! ([`costate::Model::picture`]). A body is the bar or plate through the points where parts
//! are attached, with a mark at its centre of mass; what is attached at one point only is a disc of its mass and inertia.
//! Joints are rings, springs zigzags, dampers dashpots, and what does not move is hatched. The paths of position sensors
//! are drawn as far as they have come. Lengths are equal along both axes, and in every panel. What moves in space is seen
//! without perspective, from where a [`View`] says; bodies that are attached at one point only are the cuboid or cylinder of
//! their mass and inertia.
//!
//! ```
//! use costate_parts::planar::{Body, Mechanism};
//! use costate_report::plot::mechanism::Picture;
//! use costate::{Simulation, TimeGrid};
//! use costate::scheme::Hht;
//! use std::sync::Arc;
//!
//! # fn main() -> costate_identify::Result<()> {
//! let mut mechanism = Mechanism::new("rod");
//! let rod = mechanism.body("rod", Body::new(1.0, 1.0 / 12.0).at([0.5, 0.0], 0.0));
//! mechanism.revolute("pin", mechanism.ground().at([0.0, 0.0]), rod.at([-0.5, 0.0]));
//! mechanism.position("tip", rod.at([0.5, 0.0]));
//! let system = Arc::new(mechanism.build()?);
//! let simulation = Simulation::new(system, Hht::new(-0.05)?, TimeGrid::uniform(0.0, 1.0, 1e-2)?, vec![])?;
//! let trajectory = simulation.run(&[])?;
//! let figure = Picture::of_motion(&simulation, &[], &trajectory)?.panels(&[0.0, 0.25, 0.5])?;
//! let svg = figure.to_svg()?;
//! # assert!(svg.contains("t = 0.25 s"));
//! # Ok(())
//! # }
//! ```

mod animation;
mod bodies;
mod corner;
mod depth;
mod draw;
mod extent;
mod guides;
mod modes;
mod shape;
mod solid;
mod stage;
mod symbols;
mod view;

pub use animation::Animation;
pub use view::View;

use super::{Drawn, Figure};
use animation::simple;
use costate::sketch::Sketch;
use costate::system::System;
use costate::{Simulation, TimeGrid, Trajectory};
use costate_identify::{Error, Result};
use shape::{Location, Moment, Shape};
use stage::{Content, Path, Stage};
use std::borrow::Cow;
use view::Projection;

/// Width of a figure of one panel and of several, and its height at most if nothing else is said, mm.
const COLUMN: f64 = 88.0;
const PAGE: f64 = 180.0;
const TALLEST: f64 = 220.0;

/// A mechanism that can be drawn: at its start, or along its motion.
pub struct Picture<'a> {
    simulation: &'a Simulation,
    /// The system's own parameters.
    u: Vec<f64>,
    trajectory: Option<&'a Trajectory>,
    /// Positions at the start.
    start: Vec<f64>,
    shape: Shape<'a>,
    view: View,
    /// Factor by which everything is drawn farther from the start.
    exaggeration: f64,
    /// Height of a figure at most, mm.
    tallest: f64,
}

/// Sketch of the system, by which it is drawn.
///
/// # Errors
/// If it has no looks: it is made of plain functions that say nothing of them, or of elements that are no parts.
pub fn sketch(system: &dyn System) -> Result<&Sketch> {
    system.sketch().ok_or_else(|| {
        Error::invalid(
            system.signature().place(),
            "it has no picture, as it is made of plain functions or elements that do not say what it looks like",
            "add `picture` to its `Model`, a few lines (see docs/pictures.md), or put it together with \
             `costate_parts::planar::Mechanism` or `costate_parts::spatial::Mechanism`",
        )
    })
}

/// Refuses times outside of a simulation.
///
/// # Errors
/// If there is none, or one of them is outside.
pub fn check_times(grid: &TimeGrid, times: &[f64]) -> Result<()> {
    let (first, last) = span(grid);
    let tolerance = 1e-9 * (last - first);
    if times.is_empty() {
        return Err(Error::invalid("the picture", "no time is given", "give the times to draw it at, in s"));
    }
    // written such that a NaN is outside
    match times.iter().find(|t| !(first - tolerance..=last + tolerance).contains(*t)) {
        Some(t) => {
            let problem = format!("the simulation goes from {first} s to {last} s");
            Err(Error::invalid(format!("the picture at t = {t} s"), problem, "choose a time within, or another end"))
        }
        None => Ok(()),
    }
}

/// Refuses views that a system cannot be seen in.
///
/// # Errors
/// If it has no looks, or moves in the plane only, whatever the view but [`View::TOP`].
pub fn check_view(system: &dyn System, view: View) -> Result<()> {
    if sketch(system)?.in_space || view == View::TOP {
        return Ok(());
    }
    let problem = "it moves in the plane, and is seen from above only";
    Err(Error::invalid(system.signature().place(), problem, "leave the view out"))
}

/// First and last time of a grid.
fn span(grid: &TimeGrid) -> (f64, f64) {
    (grid.times()[0], grid.times()[grid.count()])
}

impl<'a> Picture<'a> {
    fn new(simulation: &'a Simulation, u: &[f64], trajectory: Option<&'a Trajectory>, start: Vec<f64>) -> Result<Self> {
        let system = simulation.system();
        let view = View::of(system)?;
        let sketch = match system.sketch_at(span(simulation.grid()).0, &start, simulation.inputs_at(0), u)? {
            Some(sketch) => Cow::Owned(sketch),
            None => Cow::Borrowed(sketch(system)?),
        };
        let shape = Shape::new(sketch, &simulation.system().parameters_of_sketch(u));
        Ok(Picture { simulation, u: u.to_vec(), trajectory, start, shape, view, exaggeration: 1.0, tallest: TALLEST })
    }

    /// The sketch with all members where they are.
    fn sketch_at(&self, t: f64, q: &[f64], w: &[f64]) -> Result<Cow<'_, Sketch>> {
        // exaggerated, nothing keeps its length
        self.sketch_with(t, q, w, self.exaggeration == 1.0)
    }

    /// `exact`: where lengths of bodies must be those of the start.
    fn sketch_with(&self, t: f64, q: &[f64], w: &[f64], exact: bool) -> Result<Cow<'_, Sketch>> {
        let (system, first) = (self.simulation.system(), &*self.shape.sketch);
        let Some(sketch) = system.sketch_at(t, q, w, &self.u)? else { return Ok(Cow::Borrowed(first)) };
        match first.contradiction(&sketch, exact) {
            Some(problem) => Err(Error::invalid(
                format!("the picture of {} at t = {t} s", system.signature().place()),
                problem,
                "draw the same at all times in `Model::picture`, what moves as a point or body of its own, and what changes its \
                 length as a rod or rope",
            )),
            None => Ok(Cow::Owned(sketch)),
        }
    }

    /// Seen from elsewhere, in all figures and animations: a mechanism of space is seen [`View::ISOMETRIC`] otherwise.
    ///
    /// # Errors
    /// As [`check_view`].
    pub fn view(mut self, view: View) -> Result<Self> {
        check_view(self.simulation.system(), view)?;
        self.view = view;
        Ok(self)
    }

    /// Figures at most so high, mm, 220 unless said otherwise: lower ones have more panels side by side.
    ///
    /// # Errors
    /// Less than 40 mm.
    pub fn height(mut self, most: f64) -> Result<Self> {
        if !(most >= 40.0 && most.is_finite()) {
            let problem = format!("{most} mm leave no room");
            return Err(Error::invalid("the height of the figure", problem, "give 40 mm or more"));
        }
        self.tallest = most;
        Ok(self)
    }

    /// Draws motions `factor` times as large, in all figures and animations, whose titles say so: coordinates, and inputs that move
    /// supports, differ from their start that many times as much. For motions that are too small to be seen otherwise; where
    /// bodies turn by more than some 20 degrees, joints are seen to come apart.
    ///
    /// # Errors
    /// A factor that is not positive.
    pub fn exaggerate(mut self, factor: f64) -> Result<Self> {
        if !(factor > 0.0 && factor.is_finite()) {
            let problem = format!("{factor} is not positive");
            return Err(Error::invalid("the exaggeration of the motion", problem, "give a factor such as 10"));
        }
        self.exaggeration = factor;
        Ok(self)
    }

    /// The factor for [`Picture::exaggerate`] that makes the largest displacement about a tenth of the mechanism's size: 1, 2 or 5 times
    /// a power of ten, and at least 1.
    pub fn readable_exaggeration(&self) -> f64 {
        let Some(trajectory) = self.trajectory else { return 1.0 };
        let start = self.places(0, &self.start);
        let moved = (0..trajectory.times().len()).map(|i| farthest(&start, &self.places(i, trajectory.state(i).q)));
        let factor = 0.15 * diagonal(&start) / moved.fold(0.0, f64::max);
        if factor.is_finite() && factor > 1.0 { simple(factor) } else { 1.0 }
    }

    /// Positions of everything that is drawn, at coordinates `q` with the inputs of a time.
    fn places(&self, i: usize, q: &[f64]) -> Vec<Location> {
        let (t, w) = (self.simulation.grid().times()[i], self.simulation.inputs_at(i));
        // what cannot be drawn is reported when it is to be
        let sketch = self.sketch_at(t, q, w).unwrap_or(Cow::Borrowed(&self.shape.sketch));
        let moment = Moment::new(t, &sketch, q, &self.shape.u, (w, w.to_vec()));
        let spots = self.shape.sketch.parts.iter().flat_map(costate::sketch::Part::spots);
        let spots = spots.map(|spot| self.shape.world(spot, &moment));
        let centers = (1..self.shape.centers.len()).map(|member| self.shape.center(member, &moment));
        spots.chain(centers).collect()
    }

    /// Remark on an exaggeration for titles; empty without one.
    fn remark(&self) -> String {
        if self.exaggeration == 1.0 { String::new() } else { format!(", motion × {}", self.exaggeration) }
    }

    /// `value` as far from `start` as it is drawn.
    fn exaggerated(&self, value: f64, start: f64) -> f64 {
        if self.exaggeration == 1.0 { value } else { start + self.exaggeration * (value - start) }
    }

    /// The mechanism as it is put together for the parameters `u`, before anything is simulated or projected: this works
    /// where a simulation does not.
    ///
    /// # Errors
    /// A system without a picture, or wrong parameters.
    pub fn of_start(simulation: &'a Simulation, u: &[f64]) -> Result<Self> {
        simulation.check_parameters(u)?;
        let n = simulation.signature().unknown_count();
        let (mut q, mut v) = (vec![0.0; n], vec![0.0; n]);
        let mut evaluator = simulation.system().evaluator();
        evaluator.set_parameters(u);
        evaluator.initial(&mut q, &mut v);
        if let Some(j) = q.iter().position(|q| !q.is_finite()) {
            let what = format!("the initial position of `{}`", simulation.signature().unknown_name(j));
            return Err(Error::invalid(what, format!("it is {}", q[j]), "check the parameters that it depends on"));
        }
        Picture::new(simulation, u, None, q)
    }

    /// The mechanism along a trajectory of this simulation with the parameters `u`.
    ///
    /// # Errors
    /// A system without a picture, or wrong parameters.
    pub fn of_motion(simulation: &'a Simulation, u: &[f64], trajectory: &'a Trajectory) -> Result<Self> {
        simulation.check_parameters(u)?;
        Picture::new(simulation, u, Some(trajectory), trajectory.state(0).q.to_vec())
    }

    /// A figure with one panel a time (s), side by side.
    ///
    /// # Errors
    /// No time, or too many; times outside of the simulation (of the start, if there is no motion).
    pub fn panels(&self, times: &[f64]) -> Result<Figure> {
        const MOST: usize = 30;
        self.check(times, MOST, "panels")?;
        let moments = times.iter().map(|t| self.moment(*t)).collect::<Result<Vec<Moment>>>()?;
        let decimals = decimals(times);
        let title = |moment: &Moment| title(moment.t, decimals) + &self.remark();
        let contents = moments.iter().map(|moment| Content { title: title(moment), moments: vec![moment] });
        let contents: Vec<Content<'_>> = contents.collect();
        let width = if times.len() > 1 { PAGE } else { COLUMN };
        self.figure(&moments, &contents, width)
    }

    /// A figure with all times (s) in one panel: the last one in full, earlier ones the lighter the earlier.
    ///
    /// # Errors
    /// As [`Picture::panels`].
    pub fn overlay(&self, times: &[f64]) -> Result<Figure> {
        const MOST: usize = 200;
        const NAMED: usize = 5;
        self.check(times, MOST, "poses")?;
        let mut times = times.to_vec();
        times.sort_by(f64::total_cmp);
        let moments = times.iter().map(|t| self.moment(*t)).collect::<Result<Vec<Moment>>>()?;
        let decimals = decimals(&times);
        let number = |t: &f64| format!("{t:.decimals$}");
        let title = match times.as_slice() {
            [] | [_] => title(times[0], decimals), // there is one, as has been checked
            few if few.len() <= NAMED => format!("t = {} s", few.iter().map(number).collect::<Vec<_>>().join(", ")),
            many => format!("t = {} … {} s, {} poses", number(&many[0]), number(&many[many.len() - 1]), many.len()),
        };
        let contents = [Content { title: title + &self.remark(), moments: moments.iter().collect() }];
        self.figure(&moments, &contents, COLUMN)
    }

    fn figure(&self, moments: &[Moment], contents: &[Content<'_>], width: f64) -> Result<Figure> {
        let all: Vec<&Moment> = moments.iter().collect();
        let stage = self.stage(&all, contents.len(), (width, self.tallest))?;
        Ok(Figure { drawn: Some(Drawn::Scene(stage.scene(contents))), ..Figure::column() })
    }

    fn stage(&self, moments: &[&Moment], panels: usize, paper: (f64, f64)) -> Result<Stage<'_>> {
        Ok(Stage::new(&self.shape, Projection::of(self.view), moments, self.paths()?, panels, paper))
    }

    fn check(&self, times: &[f64], most: usize, what: &str) -> Result<()> {
        check_times(self.simulation.grid(), times)?;
        if times.len() > most {
            let problem = format!("{} {what} are more than the {most} that can be told apart", times.len());
            return Err(Error::invalid("the picture", problem, "give fewer times"));
        }
        let (first, last) = span(self.simulation.grid());
        match times.iter().find(|t| self.trajectory.is_none() && **t > first + 1e-9 * (last - first)) {
            Some(t) => {
                let problem = "only the start is known, and no motion";
                let remedy = "run the simulation, and take `Picture::of_motion`";
                Err(Error::invalid(format!("the picture at t = {t} s"), problem, remedy))
            }
            None => Ok(()),
        }
    }

    /// Poses of everything at a time: between time steps by cubic interpolation of positions and velocities.
    fn moment(&self, t: f64) -> Result<Moment> {
        let times = self.simulation.grid().times();
        let Some(trajectory) = self.trajectory else {
            let w = self.simulation.inputs_at(0);
            return Ok(Moment::new(t, &self.shape.sketch, &self.start, &self.shape.u, (w, w.to_vec())));
        };
        let next = times.partition_point(|x| *x <= t).clamp(1, times.len() - 1);
        let (a, b) = (trajectory.state(next - 1), trajectory.state(next));
        let h = times[next] - times[next - 1];
        let s = ((t - times[next - 1]) / h).clamp(0.0, 1.0);
        let (rest, turned) = (1.0 - s, s * s * (3.0 - 2.0 * s));
        let cubic = |j: usize| {
            let slopes = s * rest * rest * a.v[j] - s * s * rest * b.v[j];
            self.exaggerated((1.0 - turned) * a.q[j] + turned * b.q[j] + h * slopes, self.start[j])
        };
        let q: Vec<f64> = (0..a.q.len()).map(cubic).collect();
        let inputs = self.simulation.inputs_at(if s < 1.0 { next - 1 } else { next });
        let moved = inputs.iter().zip(self.simulation.inputs_at(0)).map(|(w, start)| self.exaggerated(*w, *start));
        let sketch = self.sketch_at(t, &q, inputs)?;
        Ok(Moment::new(t, &sketch, &q, &self.shape.u, (inputs, moved.collect())))
    }

    /// The ways of all position sensors and traces.
    fn paths(&self) -> Result<Vec<Path>> {
        let mut paths = vec![Path::new(); self.shape.sketch.traces.len()];
        let Some(trajectory) = self.trajectory.filter(|_| !paths.is_empty()) else { return Ok(paths) };
        for (i, t) in trajectory.times().iter().enumerate() {
            let q = trajectory.state(i).q.iter().zip(&self.start);
            let q: Vec<f64> = q.map(|(q, start)| self.exaggerated(*q, *start)).collect();
            let places = self.sketch_at(*t, &q, self.simulation.inputs_at(i))?.traced(&q, &self.shape.u);
            paths.iter_mut().zip(places).for_each(|(path, at)| path.push((*t, at)));
        }
        Ok(paths)
    }
}

/// The size of what is drawn: the diagonal around it.
fn diagonal(places: &[Location]) -> f64 {
    let extent = |axis: usize| {
        let along = || places.iter().map(|place| place.0[axis]);
        along().fold(f64::NEG_INFINITY, f64::max) - along().fold(f64::INFINITY, f64::min)
    };
    extent(0).hypot(extent(1)).hypot(extent(2))
}

/// Largest distance that anything has moved.
fn farthest(from: &[Location], to: &[Location]) -> f64 {
    to.iter().zip(from).map(|(now, start)| (*now - *start).length()).fold(0.0, f64::max)
}

fn title(t: f64, decimals: usize) -> String {
    format!("t = {t:.decimals$} s")
}

/// Number of decimals that show the times exactly, six at most.
fn decimals(times: &[f64]) -> usize {
    let exact = |decimals: usize| {
        let unit = 10f64.powi(decimals as i32);
        times.iter().all(|t| (t * unit - (t * unit).round()).abs() <= 1e-9 * (t * unit).abs().max(1.0))
    };
    (0..6).find(|decimals| exact(*decimals)).unwrap_or(6)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Protects titles from 0.30000000000000004 and from missing digits.
    #[test]
    fn times_are_shown_exactly() {
        assert_eq!(decimals(&[0.0, 1.0]), 0);
        assert_eq!(decimals(&[0.1 + 0.2, 0.25]), 2);
        assert_eq!(title(0.1 + 0.2, decimals(&[0.1 + 0.2])), "t = 0.3 s");
        assert_eq!(decimals(&[1.0 / 3.0]), 6);
    }
}
