//! From where a mechanism is seen.

use super::shape::Location;
use costate::system::System;
use costate::vector::Vector;
use costate_identify::{Error, Result};
use std::str::FromStr;

/// A direction from which a mechanism of space is seen: without perspective, z upwards.
///
/// The viewer's azimuth counts from the front, where x leads to the right and y away from the viewer, towards the side, where y
/// leads to the right; the elevation counts from the horizon.
///
/// ```
/// use costate_report::plot::mechanism::View;
/// # fn main() -> costate_identify::Result<()> {
/// assert_eq!("side".parse::<View>()?, View::new(90.0, 0.0)?);
/// assert_eq!("-30,20".parse::<View>()?, View::new(-30.0, 20.0)?);
/// assert!("back".parse::<View>().unwrap_err().to_string().contains("front, side, top, isometric"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct View {
    azimuth: f64,
    elevation: f64,
}

/// The views that have a name.
const NAMED: [(&str, View); 4] =
    [("front", View::FRONT), ("side", View::SIDE), ("top", View::TOP), ("isometric", View::ISOMETRIC)];

impl View {
    /// x to the right, z upwards.
    pub const FRONT: View = View { azimuth: 0.0, elevation: 0.0 };
    /// y to the right, z upwards.
    pub const SIDE: View = View { azimuth: 90.0, elevation: 0.0 };
    /// x to the right, y upwards: the view of what moves in the plane.
    pub const TOP: View = View { azimuth: 0.0, elevation: 90.0 };
    /// Isometric view, in which all axes are foreshortened by the same factor: the default of what moves in space.
    pub const ISOMETRIC: View = View { azimuth: 45.0, elevation: 35.264_389_682_754_654 };

    /// The view that suits a system: [`View::ISOMETRIC`] for what moves in space, [`View::TOP`] for what moves in the plane.
    ///
    /// # Errors
    /// If the system has no looks.
    pub fn of(system: &dyn System) -> Result<Self> {
        Ok(if super::sketch(system)?.in_space { View::ISOMETRIC } else { View::TOP })
    }

    /// A view of any direction, in degrees.
    ///
    /// # Errors
    /// An azimuth that is not finite, or an elevation beyond ±90°.
    pub fn new(azimuth: f64, elevation: f64) -> Result<Self> {
        if azimuth.is_finite() && (-90.0..=90.0).contains(&elevation) {
            return Ok(View { azimuth, elevation });
        }
        let problem = "the azimuth must be finite and the elevation from -90 to 90 degrees";
        Err(Error::invalid(format!("the view {azimuth},{elevation}"), problem, remedy()))
    }
}

fn remedy() -> String {
    let names = NAMED.map(|(name, _)| name).join(", ");
    format!("take one of {names}, or AZIMUTH,ELEVATION in degrees, such as 30,20")
}

impl FromStr for View {
    type Err = Error;

    /// A name, or azimuth and elevation in degrees with a comma between them.
    fn from_str(text: &str) -> Result<Self> {
        let text = text.trim();
        if let Some((_, view)) = NAMED.iter().find(|(name, _)| *name == text) {
            return Ok(*view);
        }
        let angles =
            text.split_once(',').map(|(azimuth, elevation)| (azimuth.trim().parse(), elevation.trim().parse()));
        match angles {
            Some((Ok(azimuth), Ok(elevation))) => View::new(azimuth, elevation),
            _ => Err(Error::invalid(format!("view `{text}`"), "there is no such view", remedy())),
        }
    }
}

/// Projection from space to paper: unit vectors to the right, upwards and towards the viewer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Projection {
    right: Location,
    up: Location,
    near: Location,
}

/// Sine and cosine of an angle in degrees; exact for quarters of a turn.
fn sin_cos(degrees: f64) -> (f64, f64) {
    let turn = degrees.rem_euclid(360.0);
    match [0.0, 90.0, 180.0, 270.0].iter().position(|quarter| *quarter == turn) {
        Some(quarter) => [(0.0, 1.0), (1.0, 0.0), (0.0, -1.0), (-1.0, 0.0)][quarter],
        None => turn.to_radians().sin_cos(),
    }
}

impl Projection {
    pub fn of(view: View) -> Self {
        let ((sin, cos), (rise, level)) = (sin_cos(view.azimuth), sin_cos(view.elevation));
        let near = Vector([sin * level, -cos * level, rise]);
        let right = Vector([cos, sin, 0.0]);
        Projection { right, up: near.cross(right), near }
    }

    /// Projected position, to the right and upwards, m.
    pub fn at(&self, location: Location) -> [f64; 2] {
        [self.right.dot(location), self.up.dot(location)]
    }

    /// Nearness of a position to the viewer, m; zero for the world's origin.
    pub fn near(&self, location: Location) -> f64 {
        self.near.dot(location)
    }

    /// The unit vector towards the viewer.
    pub fn viewer(&self) -> Location {
        self.near
    }

    /// The unit vector to the right, unless that is `axis`: then upwards. Perpendicular to the axis.
    pub fn across(&self, axis: Location) -> Location {
        let [right, up] = [self.right, self.up].map(|side| side - axis * axis.dot(side));
        if right.length() > 0.1 { right.unit() } else { up.unit() }
    }

    /// The names of the axes to the right and upwards, if the view is along the third.
    pub fn axes(&self) -> Option<[&'static str; 2]> {
        let name = |direction: Location| {
            let axes = [([1.0, 0.0, 0.0], "x"), ([0.0, 1.0, 0.0], "y"), ([0.0, 0.0, 1.0], "z")];
            axes.into_iter().find(|(axis, _)| direction == Vector(*axis)).map(|(_, name)| name)
        };
        Some([name(self.right)?, name(self.up)?])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Protects views: the named ones show the axes that they say, and the isometric one all of them alike.
    #[test]
    fn views_show_the_axes_that_they_say() {
        for (view, axes) in [(View::FRONT, ["x", "z"]), (View::SIDE, ["y", "z"]), (View::TOP, ["x", "y"])] {
            let projection = Projection::of(view);
            assert_eq!(projection.axes(), Some(axes));
            // what is nearer is what the eye is turned to
            assert_eq!(projection.right.cross(projection.up), projection.near);
        }
        let projection = Projection::of(View::ISOMETRIC);
        assert_eq!(projection.axes(), None);
        let axes = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].map(Vector);
        // x to the right and downwards, y to the right and upwards, z upwards: √(2/3) of their length
        let (half, sixth) = (0.5f64.sqrt(), (1.0f64 / 6.0).sqrt());
        let expected = [[half, -sixth], [half, sixth], [0.0, (2.0f64 / 3.0).sqrt()]];
        for (axis, expected) in axes.into_iter().zip(expected) {
            let seen = projection.at(axis);
            assert!((0..2).all(|k| (seen[k] - expected[k]).abs() < 1e-15), "{seen:?} {expected:?}");
        }
        // the viewer is at the right, in front and above
        for (axis, sign) in axes.into_iter().zip([1.0, -1.0, 1.0]) {
            assert!((projection.near(axis) - sign / 3.0f64.sqrt()).abs() < 1e-15);
        }
        // from behind, x leads to the left: no axis would read from left to right
        assert_eq!(Projection::of(View { azimuth: 180.0, elevation: 0.0 }).axes(), None);
    }
}
