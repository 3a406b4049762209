//! What holds a mechanism: members and the joints and forces between them.

use crate::assembly::Coordinate;
use costate::{Error, Result};

/// The world's name.
pub(crate) const WORLD: &str = "ground";

/// Members by their names, in groups that joints and forces connect.
#[derive(Default)]
pub(crate) struct Connectivity {
    members: Vec<Held>,
    /// Pairs of members; `None` is the ground.
    links: Vec<[Option<usize>; 2]>,
    /// Elements of the user's own may hold anything.
    pub unknown: bool,
}

struct Held {
    name: String,
    coordinates: Vec<Coordinate>,
    is_free: bool,
}

impl Connectivity {
    /// # Errors
    /// The world's own name.
    pub fn add(&mut self, name: &str, coordinates: &[Coordinate]) -> Result<()> {
        self.members.push(Held { name: name.into(), coordinates: coordinates.into(), is_free: false });
        if name == WORLD {
            return Err(Error::invalid(
                format!("`{name}`"),
                "the world itself bears this name",
                "give it another name",
            ));
        }
        Ok(())
    }

    fn place(&self, name: &str) -> Option<usize> {
        // the last one is looked for most
        self.members.iter().rposition(|held| held.name == name)
    }

    /// Two members, or a member and the ground, are connected.
    pub fn link(&mut self, first: &str, second: &str) {
        let link = [first, second].map(|name| self.place(name));
        self.links.push(link);
    }

    /// A coordinate that is held by itself.
    pub fn ground(&mut self, coordinate: Coordinate) {
        let place = self.members.iter().position(|held| held.coordinates.contains(&coordinate));
        self.links.push([None, place]);
    }

    /// Nothing needs to hold this member.
    pub fn let_free(&mut self, name: &str) {
        if let Some(place) = self.place(name) {
            self.members[place].is_free = true;
        }
    }

    /// Members that no chain of joints and forces leads from to the ground, and that are not said to be free.
    fn loose(&self) -> Vec<&str> {
        let mut reached = vec![false; self.members.len()];
        let mut free: Vec<usize> = (0..self.members.len()).filter(|&i| self.members[i].is_free).collect();
        let grounded = self.links.iter().filter(|link| link.contains(&None)).flatten().flatten();
        free.extend(grounded);
        let mut neighbours = vec![Vec::new(); self.members.len()];
        for link in &self.links {
            if let [Some(a), Some(b)] = *link {
                neighbours[a].push(b);
                neighbours[b].push(a);
            }
        }
        while let Some(i) = free.pop() {
            if !std::mem::replace(&mut reached[i], true) {
                free.extend(&neighbours[i]);
            }
        }
        self.members.iter().zip(reached).filter(|(_, reached)| !reached).map(|(held, _)| held.name.as_str()).collect()
    }

    /// The error of a sensor of all bodies that is added before any of them.
    pub fn nothing_yet(&self, sensor: &str) -> Option<Error> {
        let problem = "no body or mass has been added before it";
        let remedy = "add it behind all that it is to count";
        self.members.is_empty().then(|| Error::invalid(format!("sensor `{sensor}`"), problem, remedy))
    }

    /// Says what nothing holds.
    pub fn error(&self) -> Option<Error> {
        let loose = if self.unknown { Vec::new() } else { self.loose() };
        if loose.is_empty() {
            return None;
        }
        let names: Vec<String> = loose.iter().take(6).map(|name| format!("`{name}`")).collect();
        let more = if loose.len() > names.len() { ", and more" } else { "" };
        let problem = "no chain of joints, springs or contacts leads from there to the ground";
        let remedy = "connect it, or say with `Mechanism::free` that it is meant to fly";
        Some(Error::invalid(format!("{}{more}", names.join(", ")), problem, remedy))
    }
}
