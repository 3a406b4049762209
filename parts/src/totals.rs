//! Sums over the parts of a mechanism: energy, power lost, momentum.

use crate::assembly::{Assembler, Connection, Element, Sum};
use crate::law::{Law, contradiction};
use costate::shown::rounded;
use costate::value::Value;
use costate::{Error, Number};

/// The quantity that is summed up over the parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Total {
    /// Kinetic energy, energy in the gravity field and of springs, J.
    Energy,
    /// Power lost, W.
    Dissipation,
    /// Momentum, kg m/s, and angular momentum about the world's origin, kg m²/s, in world axes.
    Momentum,
}

/// Adds an element of this name that contributes a part's share, if it has one.
type Share = Box<dyn Fn(&mut Assembler, Total, &str, &[Sum]) + Send + Sync>;

/// The parts that contribute, so far.
#[derive(Default)]
pub(crate) struct Contributions {
    shares: Vec<(String, Share)>,
    /// Parts whose law does not tell its energy.
    silent: Vec<String>,
    /// Parts whose law has states.
    hysteretic: Vec<String>,
}

impl Contributions {
    pub fn add(&mut self, part: &str, share: impl Fn(&mut Assembler, Total, &str, &[Sum]) + Send + Sync + 'static) {
        self.shares.push((part.into(), Box::new(share)));
    }

    /// Adds an element that acts, and notes what it contributes: `element` is asked for it in each role.
    pub fn part<E: Element>(
        &mut self,
        assembler: &mut Assembler,
        name: &str,
        connection: Connection,
        element: impl Fn(Role) -> Option<E> + Send + Sync + 'static,
    ) {
        if let Some(acting) = element(Role::Acts) {
            assembler.element(name, acting, connection.clone());
        }
        self.add(name, move |assembler, total, name, sums| {
            if let Some(element) = element(Role::Tells(total)) {
                assembler.element(name, element, connection.clone().adds_to(sums.iter().copied()));
            }
        });
    }

    /// Notes what a law, with these parameters, says of its energy.
    pub fn check<L: Law>(&mut self, part: &str, law: &L, parameters: &[Value], assembler: &mut Assembler) {
        if !law.states(false).is_empty() {
            self.hysteretic.push(part.into());
        }
        let u: Vec<f64> = parameters.iter().map(|value| value.evaluate(assembler.nominal())).collect();
        let energy = costate::slip::caught(|| (law.energy(0.0, &u).is_some(), contradiction(law, &u)));
        match energy {
            Ok((true, None)) => {}
            Ok((true, Some(found))) => {
                let [elongation, slope, tension] = found.map(|number| rounded(number, 4));
                let problem = format!(
                    "at an elongation of {elongation} the energy of its law grows by {slope}, and its tension at rest is {tension}"
                );
                let remedy = "let `Law::energy` be the integral of `Law::tension` at rest";
                assembler.note(Error::invalid(format!("`{part}`"), problem, remedy));
            }
            // a panic is reported where the element is added
            Ok((false, _)) | Err(_) => self.silent.push(part.into()),
        }
    }

    /// Adds outputs `name.NAME` (or `name`, for one without a name) that sum up what all parts have so far.
    pub fn sum(&self, assembler: &mut Assembler, total: Total, name: &str, outputs: &[(&str, &str)]) {
        let sums: Vec<Sum> = outputs
            .iter()
            .map(|(own, unit)| assembler.sum(if own.is_empty() { name.into() } else { format!("{name}.{own}") }, *unit))
            .collect();
        for (part, share) in &self.shares {
            share(assembler, total, &format!("{name} of {part}"), &sums);
        }
        if total == Total::Dissipation && !self.hysteretic.is_empty() {
            let names: Vec<String> = self.hysteretic.iter().map(|part| format!("`{part}`")).collect();
            assembler.remark(format!("output `{name}` leaves out what the states of {} take", names.join(", ")));
        }
        if total == Total::Energy && !self.silent.is_empty() {
            let names: Vec<String> = self.silent.iter().map(|part| format!("`{part}`")).collect();
            let (does, its) = if names.len() == 1 { ("does", "its") } else { ("do", "their") };
            assembler.remark(format!(
                "output `{name}` leaves out the energy of {}, whose law {does} not tell it: add `energy` to {its} `Law`",
                names.join(", ")
            ));
        }
    }
}

/// The role in which an element with forces of its own is used: the same functions act, and tell what they store and take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// The element acts.
    Acts,
    /// The element's first output is its share of a total.
    Tells(Total),
    /// The element's outputs are what a sensor sees.
    Sensor,
}

impl Total {
    /// The share of a law.
    pub fn of_law<L: Law, D: Number>(self, law: &L, elongation: D, rate: D, u: &[D]) -> D {
        match self {
            Total::Energy => law.energy(elongation, u).unwrap_or(D::from(0.0)),
            Total::Dissipation => law.dissipation(elongation, rate, u),
            Total::Momentum => D::from(0.0),
        }
    }

    /// The share of Hertz' law with damping (Hunt & Crossley 1975): F = k δ^(3/2) (1 + c δ'), never negative.
    pub fn of_hertz<D: Number>(self, [k, c]: [D; 2], depth: D, depth_rate: D) -> D {
        let at_rest = k * depth * depth.sqrt();
        match self {
            Total::Energy => at_rest * depth * 0.4,
            Total::Dissipation => (hertz([k, c], depth, depth_rate) - at_rest) * depth_rate,
            Total::Momentum => D::from(0.0),
        }
    }
}

/// The pressure of a contact, k δ^(3/2) (1 + c δ'); zero where it would pull: surfaces do not stick to each other.
#[inline]
pub(crate) fn hertz<D: Number>([k, c]: [D; 2], depth: D, depth_rate: D) -> D {
    let pressure = k * depth * depth.sqrt() * (c * depth_rate + 1.0);
    if pressure > 0.0 { pressure } else { D::from(0.0) }
}

/// Power that the air takes from a point: (d_1 + d_2 |v|) v².
pub(crate) fn of_drag<D: Number>([linear, quadratic]: [D; 2], square_of_speed: D) -> D {
    (linear + quadratic * (square_of_speed + STILL).sqrt()) * square_of_speed
}

/// |v| has a kink at rest: its square is rounded off by that of a micrometre a second, where the drag is nothing.
pub(crate) const STILL: f64 = 1e-12;
