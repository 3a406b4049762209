//! Signatures of models, by name and unit: coordinates, constraints, inputs, outputs, parameters.

use crate::continuous::beside;
use crate::spline::Spline;
use crate::{Error, Result};
use std::collections::HashSet;

/// A name with its unit, e.g. `x1 [m]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Quantity {
    /// Name, unique among its kind.
    pub name: String,
    /// Unit in plain text, e.g. `m/s^2`; `1` for a pure number.
    pub unit: String,
    /// Period of an output whose values mean the same when they differ by whole multiples of it: 2π for an angle that comes from `atan2` or
    /// is measured by an absolute encoder.
    ///
    /// Such an output is continuous along a run, whatever jumps there are in what the model returns: it begins with the
    /// model's own value, and each following one is that which is nearest to the one before. Costs, constraints, figures and
    /// files see it so. Differences from a reference are taken to the nearest multiple, so that the reference may jump or not.
    pub period: Option<f64>,
}

impl Quantity {
    /// A quantity that is known in full.
    pub fn new(name: impl Into<String>, unit: impl Into<String>) -> Self {
        Quantity { name: name.into(), unit: unit.into(), period: None }
    }

    /// An angle in rad that is known up to whole turns.
    pub fn angle(name: impl Into<String>) -> Self {
        Quantity::new(name, "rad").periodic(std::f64::consts::TAU)
    }

    /// Known up to whole multiples of `period`, in its unit; see [`Quantity::period`].
    pub fn periodic(mut self, period: f64) -> Self {
        self.period = Some(period);
        self
    }

    /// `value - reference`, of values known up to a period the difference of the least size.
    #[inline]
    pub fn difference(&self, value: f64, reference: f64) -> f64 {
        difference(value, reference, self.period)
    }

    /// The value that means the same as `value` and is nearest to `other`; `value` itself where `other` is none.
    #[inline]
    pub fn beside(&self, value: f64, other: f64) -> f64 {
        self.period.map_or(value, |period| beside(value, other, period))
    }

    /// Values without jumps, of which the first lies within half a period from zero, as angles do that come from `atan2`.
    pub fn unwrapped(&self, values: Vec<f64>) -> Vec<f64> {
        let first = values.iter().copied().find(|value| !value.is_nan()).unwrap_or(0.0);
        let shift = self.beside(first, 0.0) - first;
        self.continuous(values).into_iter().map(|value| value + shift).collect()
    }

    /// Values without jumps: each of them [beside](Quantity::beside) the last before it that is there (not NaN).
    pub(crate) fn continuous(&self, values: impl IntoIterator<Item = f64>) -> Vec<f64> {
        let mut last = f64::NAN;
        let follow = |value: f64| {
            let value = self.beside(value, last);
            last = if value.is_nan() { last } else { value };
            value
        };
        values.into_iter().map(follow).collect()
    }
}

/// The difference of the least size, where there is a period.
#[inline]
pub fn difference(value: f64, reference: f64, period: Option<f64>) -> f64 {
    period.map_or(value - reference, |period| beside(value - reference, 0.0, period))
}

impl std::fmt::Display for Quantity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} [{}]", self.name, self.unit)
    }
}

/// Scaling of a parameter for the optimiser.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scale {
    /// Divided by its size, or that of its start or nominal value: see [`Parameter::size_from`].
    #[default]
    Linear,
    /// Scaled by its logarithm: for positive parameters known only in order of magnitude.
    Log,
}

/// A constant of a model that may be identified.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// Name, unique in the model.
    pub name: String,
    /// Unit in plain text.
    pub unit: String,
    /// The value used where nothing else is said.
    pub nominal: f64,
    /// Smallest value allowed.
    pub lower: f64,
    /// Largest value allowed.
    pub upper: f64,
    /// Scaling for the optimiser.
    pub scale: Scale,
    /// True if an identification may change the parameter.
    pub free: bool,
    /// The size of a change that matters, for linear scaling; where it is not given, that of the start or nominal value.
    /// Parameters that start at zero want one.
    pub size: Option<f64>,
}

impl Parameter {
    /// A free parameter without bounds, linearly scaled.
    pub fn new(name: impl Into<String>, unit: impl Into<String>, nominal: f64) -> Self {
        Parameter {
            name: name.into(),
            unit: unit.into(),
            nominal,
            lower: f64::NEG_INFINITY,
            upper: f64::INFINITY,
            scale: Scale::Linear,
            free: true,
            size: None,
        }
    }

    /// Keeps the parameter within `lower ..= upper`.
    pub fn bounds(mut self, lower: f64, upper: f64) -> Self {
        (self.lower, self.upper) = (lower, upper);
        self
    }

    /// Keeps the parameter at or above zero.
    pub fn non_negative(self) -> Self {
        self.bounds(0.0, f64::INFINITY)
    }

    /// Scales by the logarithm; the parameter must stay positive.
    pub fn log(mut self) -> Self {
        self.scale = Scale::Log;
        self
    }

    /// Scales linearly by `size`, a change that matters.
    pub fn size(mut self, size: f64) -> Self {
        self.size = Some(size);
        self
    }

    /// A change that matters where its value is `value`: its size if that is given, or the magnitude of `value` or of the nominal
    /// value, or 1.
    pub(crate) fn size_at(&self, value: f64) -> f64 {
        let candidates = self.size.into_iter().chain([value.abs(), self.nominal.abs()]);
        candidates.into_iter().find(|size| *size > 0.0).unwrap_or(1.0)
    }

    /// The parameter as one that is not changed by an identification unless asked for.
    pub fn fixed(mut self) -> Self {
        self.free = false;
        self
    }
}

/// A motion over time that is made of parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct Motion {
    /// Name, unique among motions and inputs, and its unit.
    pub quantity: Quantity,
    /// Spline of which the motion's parameters, one after another, are the coefficients.
    pub spline: Spline,
    /// The place of the first one.
    pub first: usize,
}

impl Motion {
    /// Places of its parameters.
    pub fn places(&self) -> std::ops::Range<usize> {
        self.first..self.first + self.spline.count()
    }

    /// Values of the motion at some times, from all parameters of the model.
    pub fn values(&self, times: &[f64], u: &[f64]) -> Vec<f64> {
        let own = u.get(self.places()).unwrap_or_default();
        times.iter().map(|t| self.spline.at(*t, own)).collect()
    }
}

/// Names and units of everything in a model.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Signature {
    /// The model's name, `snake_case`.
    pub name: String,
    /// Coordinates q.
    pub coordinates: Vec<Quantity>,
    /// First-order states z, which follow the velocities in v: see [`crate::Model::rates`].
    pub states: Vec<Quantity>,
    /// Rows of C, with the unit of C; the multiplier's unit follows from the equation of motion.
    pub constraints: Vec<Quantity>,
    /// Inputs w(t).
    pub inputs: Vec<Quantity>,
    /// Outputs y.
    pub outputs: Vec<Quantity>,
    /// Parameters u.
    pub parameters: Vec<Parameter>,
    /// Motions whose coefficients are among the parameters.
    pub motions: Vec<Motion>,
}

fn quantities<const N: usize>(pairs: [(&str, &str); N]) -> impl Iterator<Item = Quantity> {
    pairs.into_iter().map(|(name, unit)| Quantity::new(name, unit))
}

impl Signature {
    /// A model of this name with nothing in it yet.
    pub fn new(name: impl Into<String>) -> Self {
        Signature { name: name.into(), ..Signature::default() }
    }

    /// Adds coordinates as `(name, unit)`.
    pub fn coordinates<const N: usize>(mut self, pairs: [(&str, &str); N]) -> Self {
        self.coordinates.extend(quantities(pairs));
        self
    }

    /// Adds first-order states as `(name, unit)`: quantities of which the model gives the rate ([`crate::Model::rates`]), such as a
    /// current, a temperature, the deflection of a bristle.
    pub fn states<const N: usize>(mut self, pairs: [(&str, &str); N]) -> Self {
        self.states.extend(quantities(pairs));
        self
    }

    /// Adds constraint rows as `(name, unit)`.
    pub fn constraints<const N: usize>(mut self, pairs: [(&str, &str); N]) -> Self {
        self.constraints.extend(quantities(pairs));
        self
    }

    /// Adds inputs as `(name, unit)`.
    pub fn inputs<const N: usize>(mut self, pairs: [(&str, &str); N]) -> Self {
        self.inputs.extend(quantities(pairs));
        self
    }

    /// Adds outputs as `(name, unit)`.
    pub fn outputs<const N: usize>(mut self, pairs: [(&str, &str); N]) -> Self {
        self.outputs.extend(quantities(pairs));
        self
    }

    /// Adds outputs that are angles in rad, known up to whole turns: those from `atan2`, and those whose records jump by a turn. Of
    /// other units or periods, push [`Quantity::periodic`] ones.
    pub fn angles<const N: usize>(mut self, names: [&str; N]) -> Self {
        self.outputs.extend(names.map(Quantity::angle));
        self
    }

    /// Adds parameters.
    pub fn parameters(mut self, parameters: impl IntoIterator<Item = Parameter>) -> Self {
        self.parameters.extend(parameters);
        self
    }

    /// Adds a motion, with a parameter `name_0`, `name_1`, ... for each of its coefficients. An identification does not change them unless asked
    /// to; control finds those that are not held at an end.
    pub fn motion(mut self, name: &str, unit: &str, spline: &Spline) -> Self {
        let first = self.parameters.len();
        let parameter = |(k, value)| Parameter::new(format!("{name}_{k}"), unit, value).fixed();
        self.parameters.extend(spline.start().into_iter().enumerate().map(parameter));
        self.motions.push(Motion { quantity: Quantity::new(name, unit), spline: spline.clone(), first });
        self
    }

    /// Number of coordinates and states: the size of velocities, accelerations and forces.
    pub fn unknown_count(&self) -> usize {
        self.coordinates.len() + self.states.len()
    }

    /// Coordinates, and behind them states, as they follow one another in velocities, accelerations and forces.
    pub fn unknowns(&self) -> impl Iterator<Item = &Quantity> + Clone {
        self.coordinates.iter().chain(&self.states)
    }

    /// A coordinate or state by its number; none beyond the last.
    pub(crate) fn unknown(&self, j: usize) -> Option<&Quantity> {
        self.coordinates.get(j).or_else(|| self.states.get(j.checked_sub(self.coordinates.len())?))
    }

    /// Name of a coordinate or state.
    pub fn unknown_name(&self, j: usize) -> &str {
        self.unknown(j).map_or("", |quantity| &quantity.name)
    }

    /// Places of the states among coordinates and states.
    pub fn state_places(&self) -> std::ops::Range<usize> {
        self.coordinates.len()..self.unknown_count()
    }

    /// Name of a quantity of an unknown: `kind` of a coordinate, or what a state calls the same: its value is handled as a velocity, and
    /// its rate as an acceleration.
    pub(crate) fn part_name(&self, kind: &str, j: usize) -> String {
        let name = self.unknown_name(j);
        match kind {
            _ if j < self.coordinates.len() => format!("the {kind} of `{name}`"),
            "velocity" => format!("the state `{name}`"),
            _ => format!("the rate of `{name}`"),
        }
    }

    /// Place of a parameter.
    ///
    /// # Errors
    /// [`Error::UnknownName`] with the nearest known name.
    pub fn parameter_index(&self, name: &str) -> Result<usize> {
        let found = self.parameters.iter().position(|p| p.name == name);
        found.ok_or_else(|| Error::unknown("parameter", name, self.place(), self.parameters.iter().map(|p| &p.name)))
    }

    /// Place of a coordinate.
    ///
    /// # Errors
    /// [`Error::UnknownName`] with the nearest known name.
    pub fn coordinate_index(&self, name: &str) -> Result<usize> {
        let found = self.coordinates.iter().position(|q| q.name == name);
        found.ok_or_else(|| Error::unknown("coordinate", name, self.place(), self.coordinates.iter().map(|q| &q.name)))
    }

    /// Place of an output.
    ///
    /// # Errors
    /// [`Error::UnknownName`] with the nearest known name.
    pub fn output_index(&self, name: &str) -> Result<usize> {
        let found = self.outputs.iter().position(|p| p.name == name);
        found.ok_or_else(|| Error::unknown("output", name, self.place(), self.outputs.iter().map(|p| &p.name)))
    }

    /// Place of an input.
    ///
    /// # Errors
    /// [`Error::UnknownName`] with the nearest known name.
    pub fn input_index(&self, name: &str) -> Result<usize> {
        let found = self.inputs.iter().position(|p| p.name == name);
        found.ok_or_else(|| Error::unknown("input", name, self.place(), self.inputs.iter().map(|p| &p.name)))
    }

    /// Nominal values of all parameters.
    pub fn nominal(&self) -> Vec<f64> {
        self.parameters.iter().map(|p| p.nominal).collect()
    }

    /// Name of the equation at row `row` of (dynamics, rates, constraints), for messages.
    pub fn equation_name(&self, row: usize) -> String {
        let count = self.unknown_count();
        match (self.unknown(row), self.constraints.get(row.wrapping_sub(count))) {
            (Some(coordinate), _) if row < self.coordinates.len() => format!("motion of `{}`", coordinate.name),
            (Some(state), _) => format!("rate of `{}`", state.name),
            (None, Some(constraint)) => format!("constraint `{}`", constraint.name),
            _ => format!("row {row}"),
        }
    }

    /// The model by its name, for messages.
    pub fn place(&self) -> String {
        format!("model `{}`", self.name)
    }

    /// Checks that names are given and unique and that the parameters' values and bounds make sense.
    ///
    /// # Errors
    /// [`Error::Invalid`] naming the first thing that is wrong.
    pub fn validate(&self) -> Result<()> {
        if self.unknown_count() == 0 {
            let problem = "it has no coordinates, and no states";
            return Err(Error::invalid(self.place(), problem, "name at least one in its signature"));
        }
        self.motions.iter().try_for_each(|motion| motion.spline.validate(&motion.quantity.name))?;
        let parameters = self.parameters.iter().map(|p| p.name.as_str()).collect::<Vec<_>>();
        let signals = self.inputs.iter().chain(self.motions.iter().map(|motion| &motion.quantity));
        let names = |list: &'_ [Quantity]| list.iter().map(|x| x.name.clone()).collect::<Vec<_>>();
        let kinds = [
            ("coordinate", names(&self.coordinates)),
            ("coordinates and state", self.unknowns().map(|x| x.name.clone()).collect()),
            ("constraint", names(&self.constraints)),
            ("input", signals.map(|signal| signal.name.clone()).collect()),
            ("output", names(&self.outputs)),
            ("parameter", parameters.iter().map(|s| s.to_string()).collect()),
        ];
        for (kind, list) in &kinds {
            let mut seen = HashSet::new();
            for (i, name) in list.iter().enumerate() {
                if name.trim().is_empty() {
                    return Err(Error::invalid(self.place(), format!("{kind} {i} has an empty name"), "name it"));
                }
                if !seen.insert(name) {
                    let problem = format!("two of its {kind}s are called `{name}`");
                    return Err(Error::invalid(self.place(), problem, "give each its own name"));
                }
            }
        }
        let usable = |period: f64| period.is_finite() && period > 0.0;
        if let Some(output) = self.outputs.iter().find(|output| output.period.is_some_and(|period| !usable(period))) {
            let problem = format!("its period is {} {}", output.period.unwrap_or(f64::NAN), output.unit);
            return Err(Error::invalid(format!("output `{}`", output.name), problem, "give a positive one, or none"));
        }
        self.parameters.iter().try_for_each(Parameter::validate)
    }
}

impl Parameter {
    /// Checks nominal value, bounds and scale against each other.
    ///
    /// # Errors
    /// [`Error::Invalid`] naming the parameter.
    pub fn validate(&self) -> Result<()> {
        self.validate_as("value")
    }

    /// Checks as [`Parameter::validate`] does, where the nominal value is called `role` in messages.
    pub fn validate_as(&self, role: &str) -> Result<()> {
        let what = || format!("parameter `{}`", self.name);
        if self.lower.is_nan() || self.upper.is_nan() || self.lower > self.upper {
            let problem = format!("its bounds [{}, {}] exclude every value", self.lower, self.upper);
            return Err(Error::invalid(what(), problem, "give lower <= upper"));
        }
        if !self.nominal.is_finite() {
            return Err(Error::invalid(what(), format!("its {role} is {}", self.nominal), "give a finite number"));
        }
        if self.nominal < self.lower || self.nominal > self.upper {
            let problem = format!(
                "its {role} {} {} lies outside its bounds [{}, {}]",
                self.nominal, self.unit, self.lower, self.upper
            );
            return Err(Error::invalid(what(), problem, format!("move the {role} or the bounds")));
        }
        if let Some(size) = self.size.filter(|size| !(size.is_finite() && *size > 0.0)) {
            return Err(Error::invalid(what(), format!("its size {size} is not positive"), "give a positive number"));
        }
        if self.scale == Scale::Log && self.nominal <= 0.0 {
            let problem =
                format!("its {role} {} {} has no logarithm, and its scale is logarithmic", self.nominal, self.unit);
            return Err(Error::invalid(what(), problem, format!("give a positive {role}, or use the linear scale")));
        }
        Ok(())
    }
}
