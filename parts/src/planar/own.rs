//! Joints and forces of your own.

use super::{Joint, Mechanism, Place, Sides};
use crate::assembly::{Connection, Element};
use costate::sketch::{Part, Spot};

impl Mechanism {
    /// Adds a joint or a force of your own between two places: an element whose coordinates are those of the first member and then of the second,
    /// as [`Sides`] reads them, and whose parameters begin with the locations of both places in their members' axes (x, y, x, y; m). What else it is
    /// connected to, `with` adds: further parameters, constraint rows, states, inputs, outputs. `look` says how it is drawn, if it is.
    ///
    /// ```
    /// use costate::Number;
    /// use costate::sketch::Part;
    /// use costate_parts::assembly::{Connection, Element};
    /// use costate_parts::planar::{Body, Mechanism, Sides};
    ///
    /// /// A point of the second member stays on a circle of the first. Parameters: locations, radius.
    /// #[derive(Clone)]
    /// struct OnCircle(Sides);
    ///
    /// impl Element for OnCircle {
    ///     fn constraint<D: Number>(&self, _t: D, q: &[D], u: &[D], c: &mut [D]) {
    ///         let [a, b] = self.0.poses(q);
    ///         let (center, point) = (a.point([u[0], u[1]]), b.point([u[2], u[3]]));
    ///         let [x, y] = [point[0] - center[0], point[1] - center[1]];
    ///         c[0] = (x * x + y * y - u[4] * u[4]) / (u[4] * 2.0);
    ///     }
    /// }
    ///
    /// # fn main() -> costate::Result<()> {
    /// let mut mechanism = Mechanism::new("bead");
    /// let bead = mechanism.body("bead", Body::new(0.1, 1e-5).at([0.3, 0.0], 0.0));
    /// let places = [mechanism.ground().at([0.0, 0.0]), bead.at([0.0, 0.0])];
    /// let with = |connection: Connection| connection.parameters([0.3]).constraints([("circle", "m")]);
    /// let joint = mechanism.own("ring", places, OnCircle, with, |spots| Some(Part::Rod(spots)));
    /// assert_eq!(joint.rows().len(), 1);
    /// # mechanism.build()?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// What is wrong with it, such as one member on both sides, is reported by [`Mechanism::build`].
    pub fn own<E: Element + Clone>(
        &mut self,
        name: &str,
        [first, second]: [Place; 2],
        element: impl FnOnce(Sides) -> E,
        with: impl FnOnce(Connection) -> Connection,
        look: impl FnOnce([Spot; 2]) -> Option<Part>,
    ) -> Joint<E> {
        let (sides, connection) = self.own_connection(name, [&first, &second]);
        let connection = with(connection);
        self.sketch.parts.extend(look([first.spot(), second.spot()]));
        if !connection.constraints.is_empty() {
            self.connectivity.link(&first.member.name, &second.member.name);
        }
        let (element, parameters) = (element(sides), connection.parameters.clone());
        let rows = self.assembler.element(name, element.clone(), connection);
        Joint { element, members: [first.member, second.member], parameters, has_points: true, rows }
    }

    fn own_connection(&mut self, name: &str, [first, second]: [&Place; 2]) -> (Sides, Connection) {
        let (sides, connection) = self.between(name, &first.member, &second.member);
        (sides, connection.parameters([first.location, second.location].concat()))
    }
}
