//! A simulation with a cost and parameters to be found: what gradients, checks and identifications work on.

use crate::constraint::Constraint;
use crate::cost::{Cost, LeastSquares, Quadrature, Reference};
use crate::error::{Error, Result};
use crate::grid::TimeGrid;
use crate::noise::SyntheticNoise;
use crate::scheme;
use crate::sensitivity::Gradient;
use crate::signal::Signal;
use crate::signature::Parameter;
use crate::simulate::Simulation;
use crate::start::InitialState;
use crate::system::System;
use std::sync::Arc;

/// Settings of the time integrator.
#[derive(Debug, Clone, PartialEq)]
pub struct Integrator {
    /// The scheme's name, see [`scheme::names`].
    pub scheme: String,
    /// Its settings, by name, where they are not its own.
    pub settings: Vec<(String, f64)>,
    /// Where simulations begin.
    pub initial_state: InitialState,
    /// Coordinates that a projected start keeps ([`Simulation::hold`]).
    pub hold: Vec<String>,
}

impl Default for Integrator {
    /// Generalized-α: of second order in accelerations and multipliers, too, from the first step on.
    fn default() -> Self {
        let (initial_state, hold) = (InitialState::AsGiven, Vec::new());
        Integrator { scheme: "generalized-alpha".into(), settings: Vec::new(), initial_state, hold }
    }
}

impl std::fmt::Display for Integrator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match scheme::by_name(&self.scheme, &self.settings) {
            Ok(scheme) => f.write_str(&scheme::in_words(&*scheme)),
            Err(_) => f.write_str(&self.scheme),
        }
    }
}

impl Integrator {
    /// HHT with this α. With α = 0 the multipliers and accelerations of a constrained mechanism oscillate without damping from step to
    /// step and may grow: use it without constraints only.
    pub fn hht(alpha: f64) -> Self {
        Integrator { scheme: "hht".into(), settings: vec![("alpha".into(), alpha)], ..Integrator::default() }
    }

    /// Another scheme, if a name is given, or if a setting is one of another scheme; and other settings. What was set before is kept where
    /// the scheme has such a setting.
    ///
    /// # Errors
    /// A scheme that does not exist.
    pub(crate) fn choose(&mut self, scheme: Option<&str>, settings: &[(String, f64)]) -> Result<()> {
        let has = |name: &str, setting: &str| scheme::setting_of(name).is_some_and(|own| own == setting);
        let asked = settings.iter().find(|(setting, _)| !has(&self.scheme, setting));
        let meant = asked.and_then(|(setting, _)| scheme::names().into_iter().find(|name| has(name, setting)));
        if let Some(name) = scheme.or(meant) {
            let own = scheme::by_name(name, &[])?.settings();
            self.settings.retain(|(setting, _)| own.iter().any(|(own, _)| own == setting));
            self.scheme = name.into();
        }
        for (name, value) in settings {
            self.settings.retain(|(own, _)| own != name);
            self.settings.push((name.clone(), *value));
        }
        Ok(())
    }

    /// A simulation with these settings.
    ///
    /// # Errors
    /// A scheme or settings that do not exist or make no sense, or signals that do not fit.
    pub fn simulation(&self, system: Arc<dyn System>, grid: TimeGrid, signals: Vec<Signal>) -> Result<Simulation> {
        let scheme = scheme::by_name(&self.scheme, &self.settings)?;
        Simulation::new(system, scheme, grid, signals)?.initial_state(self.initial_state).hold(&self.hold)
    }
}

/// A simulation, its cost, and the parameters with their starts.
pub struct Problem {
    /// Name for reports.
    pub name: String,
    /// The simulation.
    pub simulation: Simulation,
    /// What is minimised.
    pub cost: Box<dyn Cost>,
    /// All parameters of the model, in its order; bounds, scale and freedom as this problem wants them.
    pub parameters: Vec<Parameter>,
    /// Where an identification starts, one value a parameter.
    pub start: Vec<f64>,
    /// The parameters that made the reference, where known.
    pub optimum: Option<Vec<f64>>,
    /// What an identification must keep to.
    pub constraints: Vec<Constraint>,
}

impl Problem {
    /// A least-squares problem whose reference is a simulation at `optimum`.
    ///
    /// # Errors
    /// If that simulation fails, or an output is unknown.
    pub fn synthetic(
        name: &str,
        simulation: Simulation,
        optimum: &[f64],
        start: &[f64],
        outputs: &[&str],
        quadrature: Quadrature,
    ) -> Result<Self> {
        let trajectory = simulation.run(optimum)?;
        let references = outputs
            .iter()
            .map(|output| {
                let output = simulation.signature().output_index(output)?;
                Ok(Reference { output, values: trajectory.output(output), deviation: 1.0 })
            })
            .collect::<Result<Vec<_>>>()?;
        let cost = LeastSquares::new(simulation.grid().times(), references, 1, quadrature)?;
        Ok(Problem {
            name: name.to_string(),
            parameters: simulation.signature().parameters.clone(),
            simulation,
            cost: Box::new(cost),
            start: start.to_vec(),
            optimum: Some(optimum.to_vec()),
            constraints: Vec::new(),
        })
    }

    /// The same with noise on its reference.
    ///
    /// # Errors
    /// If the cost is no sum of squares, or as [`LeastSquares::with_noise`].
    pub fn with_noise(mut self, noise: &SyntheticNoise) -> Result<Self> {
        let Some(cost) = self.cost.as_least_squares() else {
            let subject = format!("problem `{}`", self.name);
            return Err(Error::invalid(subject, "noise needs references", "give a least-squares cost"));
        };
        self.cost = Box::new(cost.clone().with_noise(noise, self.simulation.signature())?);
        Ok(self)
    }

    /// Evaluates cost and gradient again and again, with respect to all parameters. Fixed ones that a start as given does not follow
    /// are left out ([`Gradient::left_out`]).
    ///
    /// # Errors
    /// If the cost does not go with the simulation.
    pub fn gradient(&self) -> Result<Gradient<'_>> {
        Ok(Gradient::new(&self.simulation, &*self.cost)?.leaving_out_if_astray(|k| !self.parameters[k].free))
    }

    /// The same with respect to the free parameters alone: derivatives by the others are zero.
    pub(crate) fn gradient_by_free(&self) -> Result<Gradient<'_>> {
        Ok(Gradient::new(&self.simulation, &*self.cost)?.with_respect_to(&self.free()))
    }

    /// Places of the parameters that an identification changes.
    pub fn free(&self) -> Vec<usize> {
        (0..self.parameters.len()).filter(|&k| self.parameters[k].free).collect()
    }

    /// The size of a change of parameter `k` that matters: as the parameter says, or that of its start; or that of its nominal
    /// value, if it starts a thousand times nearer to zero or farther away than that, which makes no scale.
    pub fn size(&self, k: usize) -> f64 {
        size_from(&self.parameters[k], self.start[k])
    }
    /// Checks every parameter's start against its bounds and scale, and every constraint.
    ///
    /// # Errors
    /// [`Error::Invalid`] naming the parameter or the constraint.
    pub fn validate(&self) -> Result<()> {
        if self.start.len() != self.parameters.len() {
            let problem = format!("{} start values for {} parameters", self.start.len(), self.parameters.len());
            return Err(Error::invalid(format!("problem `{}`", self.name), problem, "give one a parameter"));
        }
        for (parameter, start) in self.parameters.iter().zip(&self.start) {
            Parameter { nominal: *start, ..parameter.clone() }.validate_as("start")?;
        }
        self.constraints.iter().try_for_each(|constraint| constraint.validate(self))
    }
}

/// See [`Problem::size`].
pub(crate) fn size_from(parameter: &Parameter, start: f64) -> f64 {
    const FAR: f64 = 1e3;
    let (start, nominal) = (start.abs(), parameter.nominal.abs());
    let is_near = nominal == 0.0 || (nominal / FAR..=nominal * FAR).contains(&start);
    match parameter.size {
        Some(size) => size,
        None if start > 0.0 && is_near => start,
        None if nominal > 0.0 => nominal,
        None => 1.0,
    }
}
