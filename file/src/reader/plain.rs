//! Plain models: masses and forces, or energies, and what else a model has.

use super::{
    Formula, MOST_WORK, OF_ANYTHING, OF_CONSTRAINT, OF_FORCE, OF_KINETIC, OF_MASS, OF_POTENTIAL, OF_START, Reading,
    shown,
};
use crate::dimension::{Dimension, Units};
use crate::formula::Meaning;
use crate::formula::graph::{Bank, Place};
use crate::formula::parse::Fault;
use crate::formula::program::Program;
use crate::keys;
use crate::lagrange::{Energies, sum};
use crate::model::FileModel;
use crate::picture;
use costate::Quantity;
use costate_identify::problem_file::Section;
use costate_identify::{Error, Result};
use std::collections::BTreeMap;

impl Reading {
    /// Node of a formula that is in the unit of energy over some others, with their powers.
    fn of_energy(&mut self, formula: &Formula, allowed: u8, over: &[(Units, i32)]) -> Result<Place> {
        let (place, units) = self.lowered(formula, allowed)?;
        let mut below = Dimension::NUMBER;
        for (units, power) in over {
            let Units::Is(units) = units else { return Ok(place) };
            below = below.times(*units, *power);
        }
        if let Units::Is(own) = units {
            self.of_energy.push((formula.clone(), own, below));
        }
        Ok(place)
    }

    /// Checks that masses and forces are in one unit of energy: that of the first one that is in J but for its scale, or else of the first one.
    fn agree_on_energy(&mut self) -> Result<()> {
        let energies = || self.of_energy.iter().map(|(_, own, below)| own.times(*below, 1));
        let found = energies().find(|energy| energy.is_alike(&Dimension::JOULE)).or_else(|| energies().next());
        self.energy = found.unwrap_or(Dimension::JOULE);
        for (formula, own, below) in &self.of_energy {
            let wanted = self.energy.times(*below, -1);
            let checked = self.formulas.expect(&formula.expression, Units::Is(*own), wanted);
            checked.map_err(|fault| formula.error(fault))?;
        }
        Ok(())
    }

    /// Place of a coordinate or state by its name.
    fn place_of(&self, section: &Section<'_>, key: &str, kind: &'static str, name: &str) -> Result<usize> {
        let of = if kind == "state" { &self.signature.states } else { &self.signature.coordinates };
        let found = of.iter().position(|quantity| quantity.name == name);
        let unknown = || Error::unknown(kind, name, section.place(), of.iter().map(|quantity| &quantity.name));
        found.ok_or_else(|| section.at(key, unknown()))
    }

    /// The unit of a coordinate or state, or of a rate of one with its primes.
    fn unit_of(&self, name: &str) -> Units {
        self.formulas.names.get(name).map_or(Units::Any, |meaning| meaning.units)
    }

    pub(super) fn model(&mut self, root: &Section<'_>) -> Result<FileModel> {
        let count = self.signature.coordinates.len();
        // by rows and columns, so that both halves are alike
        let mut mass: BTreeMap<(usize, usize), Place> = BTreeMap::new();
        if let Some((section, names)) = self.rows(root, "mass")? {
            for key in names {
                let parts: Vec<&str> = key.split(',').map(str::trim).collect();
                let (row, column) = match parts.as_slice() {
                    [one] => (*one, *one),
                    [row, column] => (*row, *column),
                    _ => {
                        return Err(section.wrong(&key, "an entry has a row and a column", "write it as \"x, theta\""));
                    }
                };
                let [i, j] = [row, column].map(|name| self.place_of(&section, &key, "coordinate", name));
                let (i, j) = (i?, j?);
                let what = if i == j { format!("mass of `{row}`") } else { format!("mass of `{row}` and `{column}`") };
                let formula = self.formula(&section, &key, what, true)?;
                let units = [row, column].map(|name| (self.unit_of(name), 1));
                let squared = (Units::Is(Dimension::SECOND), -2);
                let place = self.of_energy(&formula, OF_MASS, &[units[0], units[1], squared])?;
                if mass.insert((i.max(j), i.min(j)), place).is_some() {
                    return Err(section.wrong(
                        &key,
                        "this entry is given twice",
                        "give it once: it stands for both of its places",
                    ));
                }
            }
        }
        let mut forces = vec![None; count];
        if let Some((section, names)) = self.rows(root, "force")? {
            for name in names {
                let i = self.place_of(&section, &name, "coordinate", &name)?;
                let formula = self.formula(&section, &name, format!("force of `{name}`"), true)?;
                let unit = (self.unit_of(&name), 1);
                forces[i] = Some(self.of_energy(&formula, OF_FORCE, &[unit])?);
            }
        }
        self.energies(root, &mut mass, &mut forces)?;
        self.agree_on_energy()?;
        let mut rates = Vec::new();
        if let Some((section, names)) = self.rows(root, "rates")? {
            for name in names {
                let i = self.place_of(&section, &name, "state", &name)?;
                let formula = self.formula(&section, &name, format!("rate of `{name}`"), true)?;
                let wanted = self.unit_of(&format!("{name}'"));
                rates.push((self.in_unit(&formula, OF_FORCE, wanted)?, i));
            }
        }
        let constraints = self.constraints(root)?;
        let outputs = self.outputs(root)?;
        let start = self.start(root)?;
        let picture = picture::read(self, root)?;
        let graph = &self.formulas.graph;
        let forces: Vec<_> = forces.into_iter().enumerate().filter_map(|(i, place)| Some((place?, i))).collect();
        // rows of the model's matrix go on to its states
        let width = count + self.signature.states.len();
        let both = |((i, j), place): ((usize, usize), Place)| {
            let other = (i != j).then_some((place, j * width + i));
            std::iter::once((place, i * width + j)).chain(other)
        };
        let mass: Vec<(Place, usize)> = mass.into_iter().flat_map(both).collect();
        Ok(FileModel {
            signature: self.signature.clone(),
            start: start.map(|roots| Program::new(graph, &roots)),
            mass: Program::new(graph, &mass),
            force: Program::new(graph, &forces),
            rates: Program::new(graph, &rates),
            constraint: Program::new(graph, &constraints),
            output: Program::new(graph, &outputs),
            picture,
        })
    }

    /// Adds what energies give.
    fn energies(
        &mut self,
        root: &Section<'_>,
        mass: &mut BTreeMap<(usize, usize), Place>,
        forces: &mut [Option<Place>],
    ) -> Result<()> {
        let Some(section) = root.section("energy")? else { return Ok(()) };
        section.only(&[&keys::ENERGY])?;
        let mut read = |key: &str, allowed: u8, over: &[(Units, i32)]| -> Result<Option<(Formula, Place)>> {
            if !section.table.contains_key(key) {
                return Ok(None);
            }
            let what = if key == "dissipation" { key.to_string() } else { format!("{key} energy") };
            let formula = self.formula(&section, key, what, true)?;
            let place = self.of_energy(&formula, allowed, over)?;
            Ok(Some((formula, place)))
        };
        let kinetic = read("kinetic", OF_KINETIC, &[])?;
        let potential = read("potential", OF_POTENTIAL, &[])?;
        let dissipation = read("dissipation", OF_FORCE, &[(Units::Is(Dimension::SECOND), 1)])?;
        let place = |read: &Option<(Formula, Place)>| read.as_ref().map(|(_, place)| *place);
        let energies =
            Energies { kinetic: place(&kinetic), potential: place(&potential), dissipation: place(&dissipation) };
        let large = self.large();
        let work = forces.len() * forces.len() * self.formulas.graph.len();
        if work > MOST_WORK {
            let problem = format!("derivatives by {} coordinates of formulas so large take too long", forces.len());
            return Err(Error::invalid("[energy]", problem, "write forces and masses by hand").under(&["energy"]));
        }
        let derived = energies.derive(&mut self.formulas.graph, forces.len()).map_err(&large)?;
        let graph = &mut self.formulas.graph;
        for (i, j, entry) in derived.mass {
            if let (true, Some((formula, _))) = (graph.banks(entry) & Bank::Velocity.bit() != 0, &kinetic) {
                let problem = "the kinetic energy is not quadratic in the velocities";
                return Err(formula.error(Fault::new(
                    &formula.expression.span,
                    problem,
                    "write forces and masses by hand",
                )));
            }
            let own = mass.get(&(i, j)).copied();
            if let Some(sum) = sum(graph, own, Some(entry)).map_err(&large)? {
                mass.insert((i, j), sum);
            }
        }
        for (force, derived) in forces.iter_mut().zip(derived.forces) {
            *force = sum(graph, *force, derived).map_err(&large)?;
        }
        Ok(())
    }

    fn constraints(&mut self, root: &Section<'_>) -> Result<Vec<(Place, usize)>> {
        let Some((section, names)) = self.rows(root, "constraints")? else { return Ok(Vec::new()) };
        let mut rows = Vec::new();
        for (k, name) in names.into_iter().enumerate() {
            let Some(own) = section.section(&name)? else { continue };
            own.only(&[&keys::CONSTRAINT])?;
            let unit = own.text("unit")?.unwrap_or_default();
            let units = self.declared(&own, "unit", &unit)?;
            let mut formula = self.formula(&own, "is", format!("constraint `{name}`"), false)?;
            formula.is_checked = own.flag("units")?.unwrap_or(true);
            rows.push((self.in_unit(&formula, OF_CONSTRAINT, units)?, k));
            let place = self.formulas.graph.variable(Bank::Multiplier, k).map_err(self.large())?;
            let units = match units {
                Units::Is(unit) => Units::Is(self.energy.times(unit, -1)),
                Units::Any => Units::Any,
            };
            self.formulas.multipliers.insert(name.clone(), Meaning { kind: "a multiplier", place, units });
            self.signature.constraints.push(Quantity::new(name, shown(&unit)));
        }
        Ok(rows)
    }

    fn outputs(&mut self, root: &Section<'_>) -> Result<Vec<(Place, usize)>> {
        let Some((section, names)) = self.rows(root, "outputs")? else { return Ok(Vec::new()) };
        let mut rows = Vec::new();
        for (k, name) in names.into_iter().enumerate() {
            let Some(own) = section.section(&name)? else { continue };
            own.only(&[&keys::OUTPUT])?;
            let unit = own.text("unit")?.unwrap_or_default();
            let units = self.declared(&own, "unit", &unit)?;
            let mut formula = self.formula(&own, "is", format!("output `{name}`"), false)?;
            formula.is_checked = own.flag("units")?.unwrap_or(true);
            rows.push((self.in_unit(&formula, OF_ANYTHING, units)?, k));
            let quantity = match own.flag("turns")?.unwrap_or(false) {
                true if unit == "rad" => Quantity::angle(name),
                true => {
                    return Err(own.wrong(
                        "turns",
                        format!("its unit is `{unit}`"),
                        "give angles that are known up to turns in rad",
                    ));
                }
                false => Quantity::new(name, shown(&unit)),
            };
            self.signature.outputs.push(quantity);
        }
        Ok(rows)
    }

    /// Positions, and velocities with states.
    fn start(&mut self, root: &Section<'_>) -> Result<[Vec<(Place, usize)>; 2]> {
        let mut all = [Vec::new(), Vec::new()];
        let Some((section, names)) = self.rows(root, "start")? else { return Ok(all) };
        for key in names {
            let coordinate = key.strip_suffix('\'').unwrap_or(&key);
            let is_state = self.signature.states.iter().any(|state| state.name == key);
            let kind = if is_state { "state" } else { "coordinate" };
            let i = self.place_of(&section, &key, kind, coordinate)?;
            let units = self.unit_of(&key);
            let formula = self.formula(&section, &key, format!("start of `{key}`"), true)?;
            let place = self.in_unit(&formula, OF_START, units)?;
            match (is_state, key.ends_with('\'')) {
                (true, _) => all[1].push((place, self.signature.coordinates.len() + i)),
                (false, true) => all[1].push((place, i)),
                (false, false) => all[0].push((place, i)),
            }
        }
        Ok(all)
    }
}
