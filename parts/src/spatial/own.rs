//! Joints and forces of your own.

use super::{Mechanism, Place, Sides};
use crate::assembly::{Connection, Element, Row};
use costate::sketch::{Part, Spot};

impl Mechanism {
    /// Adds a joint or a force of your own between two places: an element whose coordinates are those of the first member and then of the second,
    /// as [`Sides`] reads them, and whose parameters begin with the locations of both places in their members' axes (x, y, z, x, y, z; m). What else it
    /// is connected to, `with` adds: further parameters, constraint rows, states, inputs, outputs. `look` says how it is drawn, if it is. Returns its
    /// constraint rows. As [`crate::planar::Mechanism::own`], where there is an example.
    ///
    /// What is wrong with it, such as one member on both sides, is reported by [`Mechanism::build`].
    pub fn own<E: Element>(
        &mut self,
        name: &str,
        [first, second]: [Place; 2],
        element: impl FnOnce(Sides) -> E,
        with: impl FnOnce(Connection) -> Connection,
        look: impl FnOnce([Spot; 2]) -> Option<Part>,
    ) -> Vec<Row> {
        let (sides, connection) = self.own_connection(name, [&first, &second]);
        let connection = with(connection);
        self.sketch.parts.extend(look([first.spot(), second.spot()]));
        if !connection.constraints.is_empty() {
            self.connectivity.link(first.member.name(), second.member.name());
        }
        self.assembler.element(name, element(sides), connection)
    }

    fn own_connection(&mut self, name: &str, [first, second]: [&Place; 2]) -> (Sides, Connection) {
        let (sides, connection) = self.between(name, &first.member, &second.member);
        (sides, connection.parameters(self.frames(name, first, second, false)))
    }
}
