//! Pictures of plain models: bodies, points and parts at one time, in world coordinates.

use crate::sketch::{About, Direction, GROUND, MemberKind, Part, Posed, Ray, Seen, Sketch, Slider, Spot};
use crate::value::Value;
use crate::{Error, Result};

/// Somewhere on the ground, on a point or on a body of a [`Drawing`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Place {
    member: usize,
    location: [f64; 2],
}

impl Place {
    /// Further along the axes of what it is on, m: those of the body, or of the world for points and the ground.
    pub fn at(self, [x, y]: [f64; 2]) -> Place {
        Place { location: [self.location[0] + x, self.location[1] + y], ..self }
    }

    fn spot(self) -> Spot {
        Spot { member: self.member, location: space(self.location) }
    }
}

/// A picture of a plain model at one time: [`crate::Model::picture`] fills it.
///
/// Lengths are in m, angles in rad, in the plane, x to the right and **y upwards**, whatever the model's coordinates are. At every
/// time there are the same members and parts; members move, and places are fixed to them: what moves against the ground or a body is
/// a point of its own.
#[derive(Debug)]
pub struct Drawing {
    sketch: Sketch,
}

/// Dimensions of a member of its own, m.
enum Extent {
    None,
    Disc(f64),
    Bar(f64),
}

impl Drawing {
    /// The ground alone.
    pub(crate) fn new() -> Self {
        Drawing { sketch: Sketch::new(false) }
    }

    /// A place that does not move.
    pub fn ground(&self, location: [f64; 2]) -> Place {
        Place { member: GROUND, location }
    }

    /// A point: a dark disc, or the block of a [`Drawing::slider`].
    pub fn point(&mut self, name: impl Into<String>, location: [f64; 2]) -> Place {
        self.member(name.into(), location, 0.0, Extent::None)
    }

    /// A body with axes of its own, turned by `angle`: the bar or plate through this place and those where parts are attached.
    pub fn body(&mut self, name: impl Into<String>, location: [f64; 2], angle: f64) -> Place {
        self.member(name.into(), location, angle, Extent::None)
    }

    /// A disc with a line from its centre to its rim, which shows its angle.
    pub fn disc(&mut self, name: impl Into<String>, center: [f64; 2], angle: f64, radius: f64) -> Place {
        self.member(name.into(), center, angle, Extent::Disc(radius))
    }

    /// A rigid bar between two locations: its ends. What changes its length is a [`Drawing::rod`] or a [`Drawing::rope`].
    pub fn bar(&mut self, name: impl Into<String>, from: [f64; 2], to: [f64; 2]) -> [Place; 2] {
        let (x, y) = (to[0] - from[0], to[1] - from[1]);
        let length = x.hypot(y);
        let start = self.member(name.into(), from, y.atan2(x), Extent::Bar(length));
        [start, start.at([length, 0.0])]
    }

    fn member(&mut self, name: String, [x, y]: [f64; 2], angle: f64, extent: Extent) -> Place {
        let (center, radius, bar) = match extent {
            Extent::None => ([0.0; 2], 0.0, None),
            Extent::Disc(radius) => ([0.0; 2], radius, None),
            Extent::Bar(length) => ([0.5 * length, 0.0], 0.0, Some(length)),
        };
        let posed = Posed { name, pose: [x, y, angle], radius, bar };
        let member =
            self.sketch.member(MemberKind::Posed(Box::new(posed)), Vec::new(), space(center), Value::from(0.0));
        Place { member, location: [0.0; 2] }
    }

    /// A revolute joint: a ring, with a support if one of the places is on the ground.
    pub fn pin(&mut self, first: Place, second: Place) {
        self.part(Part::Pin([first.spot(), second.spot()]));
    }

    /// Two things are one: a dark square.
    pub fn weld(&mut self, first: Place, second: Place) {
        self.part(Part::Weld([first.spot(), second.spot()]));
    }

    /// A block slides along a line through `guide`, at an angle against the axes of what carries it.
    pub fn slider(&mut self, guide: Place, angle: f64, block: Place) {
        self.guide(guide, angle, block, Slider::Block);
    }

    /// A pin slides in a slot through `guide`, at an angle against the axes of what carries it.
    pub fn slot(&mut self, guide: Place, angle: f64, pin: Place) {
        self.guide(guide, angle, pin, Slider::Pin);
    }

    fn guide(&mut self, guide: Place, angle: f64, other: Place, slider: Slider) {
        let line = ray(guide.member, angle);
        self.part(Part::Guide { spots: [guide.spot(), other.spot()], line, slider });
    }

    /// A massless rod.
    pub fn rod(&mut self, first: Place, second: Place) {
        self.part(Part::Rod([first.spot(), second.spot()]));
    }

    /// A rope: a plain line.
    pub fn rope(&mut self, first: Place, second: Place) {
        self.part(Part::Rope([first.spot(), second.spot()]));
    }

    /// A spring.
    pub fn spring(&mut self, first: Place, second: Place) {
        self.strut([first, second], [1.0, 0.0]);
    }

    /// A damper.
    pub fn damper(&mut self, first: Place, second: Place) {
        self.strut([first, second], [0.0, 1.0]);
    }

    /// A spring and a damper, side by side.
    pub fn spring_and_damper(&mut self, first: Place, second: Place) {
        self.strut([first, second], [1.0, 1.0]);
    }

    fn strut(&mut self, places: [Place; 2], linear: [f64; 2]) {
        self.part(Part::Strut { spots: places.map(Place::spot), linear: Some(linear.map(Value::from)) });
    }

    /// A force (N) at a place, positive along a direction at `angle` from the x axis: an arrow, the longest one where it is largest.
    pub fn force(&mut self, on: Place, angle: f64, newtons: f64) {
        self.part(Part::Force { spots: [on.spot()], along: ray(GROUND, angle), amount: Seen::constant(newtons) });
    }

    /// A torque (N m) at a place, positive against the clock.
    pub fn torque(&mut self, on: Place, newton_metres: f64) {
        let axis = Ray { member: GROUND, direction: Direction::Vector([0.0, 0.0, 1.0].map(Value::from)) };
        let about = About::Axis { spot: Box::new(on.spot()), axis, member: on.member };
        self.part(Part::Torque { about, amount: Seen::constant(newton_metres) });
    }

    /// Draws the path of a place.
    pub fn trace(&mut self, place: Place) {
        self.sketch.traces.push(place.spot());
    }

    fn part(&mut self, part: Part) {
        self.sketch.parts.push(part);
    }

    /// The sketch that has been drawn, unchecked.
    pub(crate) fn sketch(self) -> Sketch {
        self.sketch
    }

    /// The sketch that has been drawn at `t` by the model that `model` names, checked.
    ///
    /// # Errors
    /// Places, sizes, forces or torques that are not finite, or that are on something else than what is drawn here.
    pub(crate) fn checked(self, model: &str, t: f64) -> Result<Sketch> {
        let refuse = |problem: String, remedy: &str| {
            Err(Error::invalid(format!("the picture of {model} at t = {t} s"), problem, remedy))
        };
        let members = &self.sketch.members;
        for member in members {
            let MemberKind::Posed(posed) = &member.kind else { continue };
            let Posed { name, pose: [x, y, angle], radius, .. } = &**posed;
            if ![x, y, angle, radius].iter().all(|value| value.is_finite()) {
                let at = format!("x = {x} m, y = {y} m, angle = {angle} rad");
                let size = if *radius == 0.0 { String::new() } else { format!(", radius = {radius} m") };
                let remedy = "check what `Model::picture` computes it from, and the motion";
                return refuse(format!("`{name}` is at {at}{size}"), remedy);
            }
        }
        let sketch = &self.sketch;
        let spots = sketch.parts.iter().flat_map(Part::places).chain(&sketch.traces);
        for spot in spots {
            let [x, y, _] = spot.at(&[]).0;
            let Some(member) = members.get(spot.member) else {
                let remedy = "keep no places from one call of `Model::picture` to the next";
                return refuse("a part is attached to something that is not drawn".to_string(), remedy);
            };
            if !(x.is_finite() && y.is_finite()) {
                let problem = format!("a place on {} is at ({x}, {y}) m", member.shown());
                return refuse(problem, "check what `Model::picture` computes it from");
            }
        }
        match sketch.parts.iter().map(|part| part.amount(t, &[], &[])).find(|amount| !amount.is_finite()) {
            Some(amount) => refuse(
                format!("a force or torque is {amount}"),
                "check what `Model::picture` computes it from, and the inputs",
            ),
            None => Ok(self.sketch),
        }
    }
}

fn space([x, y]: [f64; 2]) -> [Value; 3] {
    [x, y, 0.0].map(Value::from)
}

fn ray(member: usize, angle: f64) -> Ray {
    Ray { member, direction: Direction::Angle(Value::from(angle)) }
}
