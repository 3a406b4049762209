//! Pictures of plain models in files.

use crate::dimension::{Dimension, Units};
use crate::formula::graph::{Bank, Place as NodePlace};
use crate::formula::program::{Program, banks};
use crate::keys;
use crate::reader::{OF_PICTURE, Reading, formula_of};
use costate::Drawing;
use costate::sketch::Place;
use costate_identify::problem_file::Section;
use costate_identify::{Error, Result};
use toml::Value;

/// What is drawn, with places among the numbers that are computed for it.
#[derive(Debug, Clone)]
enum Item {
    Point(String, [usize; 2]),
    Body(String, [usize; 3]),
    Disc(String, [usize; 4]),
    Bar(String, [usize; 4]),
    Between(Between, [At; 2]),
    /// Guide, angle, and what slides; a block, or a pin in a slot.
    Guide {
        slot: bool,
        places: [At; 2],
        angle: usize,
    },
    Force {
        on: At,
        angle: usize,
        amount: usize,
    },
    Torque {
        on: At,
        amount: usize,
    },
    Trace(At),
}

/// Something between two places.
#[derive(Debug, Clone, Copy)]
enum Between {
    Pin,
    Weld,
    Rod,
    Rope,
    Spring,
    Damper,
    Strut,
}

/// A place: a member by its number, or a point of the ground.
#[derive(Debug, Clone, Copy)]
enum At {
    Member(usize),
    Ground([usize; 2]),
}

/// The picture of a model.
#[derive(Debug, Clone, Default)]
pub(crate) struct Picture {
    program: Program,
    count: usize,
    items: Vec<Item>,
}

const BETWEEN: [(&str, Between); 7] = [
    ("pins", Between::Pin),
    ("welds", Between::Weld),
    ("rods", Between::Rod),
    ("ropes", Between::Rope),
    ("springs", Between::Spring),
    ("dampers", Between::Damper),
    ("struts", Between::Strut),
];

impl Picture {
    pub fn draw(&self, t: f64, [q, w, u]: [&[f64]; 3], drawing: &mut Drawing) {
        let mut numbers = vec![0.0; self.count];
        let all = [(Bank::Time, &[t][..]), (Bank::Position, q), (Bank::Input, w), (Bank::Parameter, u)];
        self.program.run(&banks(&all), &mut numbers);
        let pick = |at: &[usize; 2]| at.map(|k| numbers[k]);
        let mut members: Vec<Place> = Vec::new();
        for item in &self.items {
            let place = |at: &At, drawing: &Drawing| match at {
                At::Member(k) => members[*k],
                At::Ground(point) => drawing.ground(pick(point)),
            };
            match item {
                Item::Point(name, at) => members.push(drawing.point(name.clone(), pick(at))),
                Item::Body(name, [x, y, angle]) => {
                    members.push(drawing.body(name.clone(), pick(&[*x, *y]), numbers[*angle]));
                }
                Item::Disc(name, [x, y, angle, radius]) => {
                    members.push(drawing.disc(name.clone(), pick(&[*x, *y]), numbers[*angle], numbers[*radius]));
                }
                Item::Bar(name, [x, y, to_x, to_y]) => {
                    let [start, _] = drawing.bar(name.clone(), pick(&[*x, *y]), pick(&[*to_x, *to_y]));
                    members.push(start);
                }
                Item::Between(kind, both) => {
                    let [a, b] = both.each_ref().map(|at| place(at, drawing));
                    match kind {
                        Between::Pin => drawing.pin(a, b),
                        Between::Weld => drawing.weld(a, b),
                        Between::Rod => drawing.rod(a, b),
                        Between::Rope => drawing.rope(a, b),
                        Between::Spring => drawing.spring(a, b),
                        Between::Damper => drawing.damper(a, b),
                        Between::Strut => drawing.spring_and_damper(a, b),
                    }
                }
                Item::Guide { slot, places, angle } => {
                    let [guide, other] = places.each_ref().map(|at| place(at, drawing));
                    match slot {
                        true => drawing.slot(guide, numbers[*angle], other),
                        false => drawing.slider(guide, numbers[*angle], other),
                    }
                }
                Item::Force { on, angle, amount } => {
                    let on = place(on, drawing);
                    drawing.force(on, numbers[*angle], numbers[*amount]);
                }
                Item::Torque { on, amount } => {
                    let on = place(on, drawing);
                    drawing.torque(on, numbers[*amount]);
                }
                Item::Trace(at) => {
                    let at = place(at, drawing);
                    drawing.trace(at);
                }
            }
        }
    }
}

/// A picture that is being read.
struct Painter<'r> {
    reading: &'r mut Reading,
    roots: Vec<(NodePlace, usize)>,
    names: Vec<String>,
    items: Vec<Item>,
}

/// Reads the picture of a model, if there is one.
pub(crate) fn read(reading: &mut Reading, root: &Section<'_>) -> Result<Option<Picture>> {
    let Some(section) = root.section("picture")? else { return Ok(None) };
    section.only(&[&keys::PICTURE])?;
    let mut painter = Painter { reading, roots: Vec::new(), names: Vec::new(), items: Vec::new() };
    painter.members::<2>(&section, "points", ["m", "m"], Item::Point)?;
    painter.members::<3>(&section, "bodies", ["m", "m", "rad"], Item::Body)?;
    painter.members::<4>(&section, "discs", ["m", "m", "rad", "m"], Item::Disc)?;
    painter.members::<4>(&section, "bars", ["m", "m", "m", "m"], Item::Bar)?;
    for (key, slot, other) in [("sliders", false, "block"), ("slots", true, "pin")] {
        for own in section.sections(key)? {
            only(&own, &["guide", "angle", other])?;
            let places = [painter.place_of(&own, "guide")?, painter.place_of(&own, other)?];
            let angle = painter.number_or_zero(&own, "angle", "rad")?;
            painter.items.push(Item::Guide { slot, places, angle });
        }
    }
    for (key, kind) in BETWEEN {
        for pair in list(&section, key)? {
            let wrong = || {
                section.wrong(
                    key,
                    "one of them is no pair of places",
                    "write pairs: [[\"cart\", \"load\"], [[0, 0], \"cart\"]]",
                )
            };
            let [a, b] =
                pair.as_array().and_then(|pair| <&[Value; 2]>::try_from(pair.as_slice()).ok()).ok_or_else(wrong)?;
            let both = [painter.place(&section, key, a)?, painter.place(&section, key, b)?];
            painter.items.push(Item::Between(kind, both));
        }
    }
    for own in section.sections("forces")? {
        only(&own, &["on", "angle", "is"])?;
        let (on, angle) = (painter.place_of(&own, "on")?, painter.number_or_zero(&own, "angle", "rad")?);
        let amount = painter.number_or_zero(&own, "is", "N")?;
        painter.items.push(Item::Force { on, angle, amount });
    }
    for own in section.sections("torques")? {
        only(&own, &["on", "is"])?;
        let (on, amount) = (painter.place_of(&own, "on")?, painter.number_or_zero(&own, "is", "N m")?);
        painter.items.push(Item::Torque { on, amount });
    }
    for value in list(&section, "traces")? {
        let at = painter.place(&section, "traces", value)?;
        painter.items.push(Item::Trace(at));
    }
    let Painter { reading, roots, items, .. } = painter;
    let program = Program::new(&reading.formulas.graph, &roots);
    Ok(Some(Picture { program, count: roots.len(), items }))
}

/// Refuses other keys.
fn only(own: &Section<'_>, known: &[&str]) -> Result<()> {
    match own.table.keys().find(|key| !known.contains(&key.as_str())) {
        Some(key) => Err(own.at(key, Error::unknown("key", key, own.place(), known))),
        None => Ok(()),
    }
}

/// The list under a key; empty if there is none.
fn list<'s>(section: &Section<'s>, key: &str) -> Result<&'s [Value]> {
    match section.table.get(key) {
        None => Ok(&[]),
        Some(Value::Array(list)) => Ok(list),
        Some(_) => Err(section.wrong(key, "it is no list", "write it as a list: [..]")),
    }
}

impl Painter<'_> {
    /// The place among the numbers that a formula's value will have.
    fn number(&mut self, section: &Section<'_>, key: &str, value: &Value, unit: &str) -> Result<usize> {
        let formula = formula_of(value, section, key, format!("`{key}` of the picture"))?;
        // those that stand in this file are known
        let wanted = Dimension::of(unit).map_or(Units::Any, Units::Is);
        let node = self.reading.in_unit(&formula, OF_PICTURE, wanted)?;
        self.roots.push((node, self.roots.len()));
        Ok(self.roots.len() - 1)
    }

    fn number_or_zero(&mut self, own: &Section<'_>, key: &str, unit: &str) -> Result<usize> {
        let zero = Value::Integer(0);
        let value = own.table.get(key).unwrap_or(&zero);
        self.number(own, key, value, unit)
    }

    fn numbers<const N: usize>(
        &mut self,
        section: &Section<'_>,
        key: &str,
        value: &Value,
        units: [&str; N],
    ) -> Result<[usize; N]> {
        let list = value.as_array().filter(|list| list.len() == N);
        let Some(list) = list else {
            let remedy = format!("write it as [{}]", ["\"x\""; N].join(", "));
            return Err(section.wrong(key, format!("it is no list of {N} numbers or formulas"), &remedy));
        };
        let mut all = [0; N];
        for ((place, element), unit) in all.iter_mut().zip(list).zip(units) {
            *place = self.number(section, key, element, unit)?;
        }
        Ok(all)
    }

    /// Members of one kind.
    fn members<const N: usize>(
        &mut self,
        section: &Section<'_>,
        key: &str,
        units: [&str; N],
        item: fn(String, [usize; N]) -> Item,
    ) -> Result<()> {
        let Some((own, names)) = self.reading.rows(section, key)? else { return Ok(()) };
        for name in names {
            if self.names.contains(&name) {
                return Err(own.wrong(
                    &name,
                    "the picture has a member of this name already",
                    "give each its own name",
                ));
            }
            let Some(value) = own.table.get(&name) else { continue };
            let numbers = self.numbers(&own, &name, value, units)?;
            self.items.push(item(name.clone(), numbers));
            self.names.push(name);
        }
        Ok(())
    }

    /// A member by its name, or a point of the ground.
    fn place(&mut self, section: &Section<'_>, key: &str, value: &Value) -> Result<At> {
        let Value::String(name) = value else {
            return Ok(At::Ground(self.numbers(section, key, value, ["m", "m"])?));
        };
        let found = self.names.iter().position(|own| own == name);
        let unknown = || Error::unknown("member of the picture", name, section.place(), &self.names);
        found.map(At::Member).ok_or_else(|| section.at(key, unknown()))
    }

    fn place_of(&mut self, own: &Section<'_>, key: &str) -> Result<At> {
        match own.table.get(key) {
            Some(value) => self.place(own, key, value),
            None => {
                Err(own.wrong(key, "it is missing", "name a member of the picture, or a point of the ground: [0, 0]"))
            }
        }
    }
}
