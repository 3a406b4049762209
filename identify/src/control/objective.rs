//! A control problem as a function of its unknowns.

use super::band::{Band, Row};
use super::{Control, Placed, Source};
use crate::design::Informed;
use crate::optimise::{DampedSteps, Objective};
use crate::{Error, Result};
use costate::Interrupt;
use costate::sensitivity::{Change, Gradient, Method};
use std::mem::take;

/// Cost, gradient, second derivatives and Gauss-Newton steps by the unknowns, for one thread.
pub struct ControlObjective<'p> {
    control: &'p Control,
    engine: Gradient<'p>,
    informed: Option<Informed<'p>>,
    free: Vec<usize>,
    /// Places of coefficients among the unknowns, see [`Control::layout`].
    layout: Vec<Vec<Option<usize>>>,
    /// Parameters, and inputs in all rows, of the last evaluation.
    u: Vec<f64>,
    w: Vec<f64>,
    gradient: Vec<f64>,
    by_inputs: Vec<f64>,
    /// The band, with the unknowns at which it was linearised.
    band: Option<(Vec<f64>, Band<'p>)>,
}

/// Costs of a signal by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Own {
    Effort,
    Smoothness,
    /// Penalty beyond the limit of the signal's rate.
    Rate,
}

/// Shows the residuals of a signal itself at time `i`: effort, smoothness, and the limit on its rate; values, and slopes by the signal then and
/// one step before.
fn own_rows(placed: &Placed, times: &[f64], i: usize, w: &dyn Fn(usize) -> f64, take: &mut dyn FnMut(Own, [f64; 3])) {
    let signal = &placed.signal;
    let before = if i > 0 { times[i] - times[i - 1] } else { 0.0 };
    let after = times.get(i + 1).map_or(0.0, |next| next - times[i]);
    if signal.effort > 0.0 {
        let slope = (0.5 * (before + after) * signal.effort).sqrt() / signal.size;
        take(Own::Effort, [slope * (w(i) - signal.about), slope, 0.0]);
    }
    if i == 0 {
        return;
    }
    let change = w(i) - w(i - 1);
    if signal.smoothness > 0.0 {
        let slope = (signal.smoothness / before).sqrt() / signal.size;
        take(Own::Smoothness, [slope * change, slope, -slope]);
    }
    if signal.rate.is_finite() {
        let shifted = change / before / signal.rate + placed.shifts[i];
        let beyond = shifted - shifted.clamp(-1.0, 1.0);
        if beyond != 0.0 {
            let root = (placed.penalty * before).sqrt();
            let slope = root / (before * signal.rate);
            take(Own::Rate, [root * beyond, slope, -slope]);
        }
    }
}

impl<'p> ControlObjective<'p> {
    /// Objective of a control problem, for one thread.
    ///
    /// # Errors
    /// As [`Gradient::with_inputs`].
    pub fn new(control: &'p Control) -> Result<Self> {
        let free = control.free();
        let engine = match free.as_slice() {
            [] => Gradient::with_inputs_alone(&control.simulation, &control.cost)?,
            _ => Gradient::with_inputs(&control.simulation, &control.cost)?.with_respect_to(&free),
        };
        let start: Vec<f64> = control.variables()?.iter().map(|variable| variable.start).collect();
        let (u, w) = control.expand(&start);
        let gradient = vec![0.0; u.len()];
        let by_inputs = vec![0.0; w.len()];
        let layout = control.layout();
        let informed = control.information.as_ref();
        let informed = informed.map(|sought| Informed::new(sought, &control.simulation, &free)).transpose()?;
        Ok(ControlObjective { control, engine, informed, free, layout, u, w, gradient, by_inputs, band: None })
    }

    /// The objective that stops at the next time step once `interrupt` is raised.
    pub fn interrupted_by(mut self, interrupt: &Interrupt) -> Self {
        self.engine = self.engine.interrupted_by(interrupt);
        self.informed = self.informed.map(|informed| informed.interrupted_by(interrupt));
        self
    }

    fn inputs(&self) -> usize {
        self.control.simulation.signature().inputs.len()
    }

    /// Costs of signals by themselves, without penalties.
    pub(super) fn own_shares(&self) -> Vec<(String, f64)> {
        let mut shares = Vec::new();
        for placed in &self.control.signals {
            let mut sums = [None; 2];
            self.rows_of(placed, &mut |_, own, [value, ..]| {
                let kind = [Own::Effort, Own::Smoothness].iter().position(|kind| *kind == own);
                kind.into_iter().for_each(|kind| *sums[kind].get_or_insert(0.0) += 0.5 * value * value);
            });
            for (sum, name) in sums.into_iter().zip(["effort", "smoothness"]) {
                shares.extend(sum.map(|sum| (format!("{name} of {}", placed.signal.input), sum)));
            }
        }
        shares
    }

    /// Shows the residuals of a signal at all times.
    fn rows_of(&self, placed: &Placed, take: &mut dyn FnMut(usize, Own, [f64; 3])) {
        let (times, inputs) = (self.control.simulation.grid().times(), self.inputs());
        let value = |i: usize| placed.value(i, &self.u, &self.w, inputs);
        for i in 0..times.len() {
            own_rows(placed, times, i, &value, &mut |own, row| take(i, own, row));
        }
    }

    /// Shows the residuals of all signals by time, as functions of the unknowns.
    fn own_rows(&self, take: &mut dyn FnMut(usize, Row<'_>)) {
        let mut slopes = Vec::new();
        for (placed, layout) in self.control.signals.iter().zip(&self.layout) {
            self.rows_of(placed, &mut |i, _, [value, now, before]| {
                slopes.clear();
                for (at, slope) in [(i, now), (i.saturating_sub(1), before)] {
                    for &(k, factor) in if slope == 0.0 { &[] } else { placed.mixing.rows.row(at) } {
                        if let Some(unknown) = layout[k as usize] {
                            slopes.push((unknown, slope * factor));
                        }
                    }
                }
                take(i, Row { value, slopes: &slopes });
            });
        }
    }

    /// Takes unknowns to parameters and inputs.
    pub(super) fn set(&mut self, unknowns: &[f64]) {
        let inputs = self.inputs();
        self.control.put(unknowns, &mut self.u, &mut self.w, inputs);
        self.engine.inputs_mut().copy_from_slice(&self.w);
        if let Some(informed) = &mut self.informed {
            informed.set(&self.u, &self.w);
        }
    }

    /// Information of the run about parameters, as a cost; zero where nothing is sought.
    pub(super) fn information(&mut self) -> Result<f64> {
        self.informed.as_mut().map_or(Ok(0.0), Informed::value)
    }

    /// Information has no derivatives but its gradient.
    fn refuse_information(&self, what: &str) -> Result<()> {
        match self.informed {
            None => Ok(()),
            Some(_) => Err(Error::invalid(what, "the information of a run has no such", "take its gradient")),
        }
    }

    /// Derivatives by the unknowns, from those by parameters and inputs.
    fn gather(&self, by_parameters: &[f64], by_inputs: &[f64], by_unknowns: &mut [f64]) {
        by_unknowns.fill(0.0);
        self.free.iter().zip(&mut *by_unknowns).for_each(|(&k, slope)| *slope = by_parameters[k]);
        for (placed, input, first) in self.control.inputs() {
            placed.mixing.rows.add_transposed(&by_inputs[input..], self.inputs(), &mut by_unknowns[first..]);
        }
    }

    /// The cost of the signals themselves: effort, smoothness, limits on rates.
    pub fn own_cost(&self) -> f64 {
        let mut sum = 0.0;
        self.own_rows(&mut |_, row| sum += 0.5 * row.value * row.value);
        sum
    }

    /// The cost of the signals themselves; adds its slopes to those by parameters and inputs.
    fn own_cost_and_slopes(&self, by_parameters: &mut [f64], by_inputs: &mut [f64]) -> f64 {
        let (mut sum, inputs) = (0.0, self.inputs());
        for placed in &self.control.signals {
            self.rows_of(placed, &mut |i, _, [value, now, before]| {
                sum += 0.5 * value * value;
                let mut add = |i: usize, slope: f64| match placed.source {
                    Source::Input(k) => by_inputs[i * inputs + k] += slope,
                    Source::Motion(_, first) => placed.mixing.rows.add(i, slope, &mut by_parameters[first..]),
                };
                add(i, value * now);
                if before != 0.0 {
                    add(i - 1, value * before);
                }
            });
        }
        sum
    }

    /// The cost at these unknowns, without derivatives.
    ///
    /// # Errors
    /// A simulation that fails.
    pub fn cost(&mut self, unknowns: &[f64]) -> Result<f64> {
        self.set(unknowns);
        Ok(self.engine.cost(&self.u)? + self.information()? + self.own_cost())
    }

    /// The derivative of the cost along changes of the unknowns by tangents, which share nothing with the adjoint.
    ///
    /// # Errors
    /// A simulation that fails.
    pub fn derivatives_along(&mut self, unknowns: &[f64], along: &[Vec<f64>]) -> Result<Vec<f64>> {
        self.refuse_information("derivatives by tangents")?;
        self.set(unknowns);
        let changes: Vec<Change> = along.iter().map(|along| self.change(along)).collect();
        let (_, mut slopes) = self.engine.derivatives_along(&self.u, &changes)?;
        for (slope, along) in slopes.iter_mut().zip(along) {
            self.own_rows(&mut |_, row| *slope += row.value * row.along(along));
        }
        Ok(slopes)
    }

    fn change(&self, unknowns: &[f64]) -> Change {
        let (mut u, mut w) = (vec![0.0; self.u.len()], vec![0.0; self.w.len()]);
        let inputs = self.inputs();
        self.control.put(unknowns, &mut u, &mut w, inputs);
        Change { u, w }
    }

    /// The linearised problem where the function ran last.
    fn band(&mut self, unknowns: &[f64]) -> Result<&Band<'p>> {
        self.refuse_information("Gauss-Newton steps")?;
        let control = self.control;
        let kept = self.band.take().filter(|(at, _)| at == unknowns);
        let band = if let Some((_, band)) = kept {
            band
        } else {
            self.set(unknowns);
            let mut maps = Vec::with_capacity(control.simulation.grid().times().len());
            self.engine.step_maps(&self.u, &control.cost, &mut |_, map| maps.push(map))?;
            let signals = control.inputs().map(|(placed, input, first)| (input, &placed.mixing.rows, first)).collect();
            let seen = (0..maps.len()).map(|i| control.simulation.rows_of(i)).collect();
            let mut band = Band::new(maps, seen, (self.free.len(), self.inputs(), unknowns.len()), signals);
            self.own_rows(&mut |i, row| band.push(i, row));
            band
        };
        Ok(&self.band.insert((unknowns.to_vec(), band)).1)
    }
}

/// Does both, on two threads if there are two.
fn side_by_side<A, B: Send>(
    one: impl FnOnce() -> costate::Result<A>,
    other: impl FnOnce() -> Result<B> + Send,
) -> Result<(A, Option<B>)> {
    if costate::parallel::threads()? < 2 {
        return Ok((one()?, Some(other()?)));
    }
    std::thread::scope(|scope| {
        let other = scope.spawn(other);
        let one = one();
        let problem = || costate::Error::invalid("the information of a run", "its thread failed", "report it");
        let other = other.join().map_err(|_| problem())??;
        Ok((one?, Some(other)))
    })
}

impl Objective for ControlObjective<'_> {
    fn dimension(&self) -> usize {
        self.control.unknowns().0
    }

    fn value_and_gradient(&mut self, unknowns: &[f64], gradient: &mut [f64]) -> Result<f64> {
        self.set(unknowns);
        let ControlObjective { engine, informed, u, gradient: by_u, .. } = self;
        let mut goals = || engine.cost_and_gradient(u, Method::Adjoint, by_u);
        let (cost, information) = match informed {
            None => (goals()?, None),
            Some(informed) => side_by_side(goals, || informed.value_and_gradient())?,
        };
        self.by_inputs.copy_from_slice(self.engine.by_inputs());
        let mut own = 0.0;
        if let Some((information, slope)) = information {
            own += information;
            self.gradient.iter_mut().zip(&slope.u).for_each(|(sum, own)| *sum += own);
            self.by_inputs.iter_mut().zip(&slope.w).for_each(|(sum, own)| *sum += own);
        }
        let (mut by_u, mut by_w) = (take(&mut self.gradient), take(&mut self.by_inputs));
        own += self.own_cost_and_slopes(&mut by_u, &mut by_w);
        self.gather(&by_u, &by_w, gradient);
        (self.gradient, self.by_inputs) = (by_u, by_w);
        Ok(cost + own)
    }

    fn hessian(&mut self, unknowns: &[f64], hessian: &mut [Vec<f64>]) -> Result<()> {
        let mut direction = vec![0.0; unknowns.len()];
        for (k, row) in hessian.iter_mut().enumerate() {
            direction[k] = 1.0;
            self.hessian_vector(unknowns, &direction, row)?;
            direction[k] = 0.0;
        }
        Ok(())
    }

    fn hessian_vector(&mut self, _unknowns: &[f64], direction: &[f64], product: &mut [f64]) -> Result<()> {
        self.refuse_information("second derivatives")?;
        let along = [self.change(direction)];
        let mut products = [Change::default()];
        let mut gradient = vec![0.0; self.u.len()];
        self.engine.hessian_changes(&self.u, &along, &mut gradient, &mut products)?;
        let [Change { u, w }] = products;
        self.gather(&u, &w, product);
        self.own_rows(&mut |_, row| row.add(row.along(direction), product));
        Ok(())
    }

    fn damped_steps(&mut self) -> Option<&mut dyn DampedSteps> {
        Some(self)
    }
}

impl DampedSteps for ControlObjective<'_> {
    fn damped_step(
        &mut self,
        unknowns: &[f64],
        damping: &[f64],
        given: &[Option<f64>],
        step: &mut [f64],
    ) -> Result<()> {
        step.copy_from_slice(&self.band(unknowns)?.step(damping, given));
        Ok(())
    }

    fn normal_product(&mut self, unknowns: &[f64], direction: &[f64], product: &mut [f64]) -> Result<()> {
        self.band(unknowns)?.normal_product(direction, product);
        Ok(())
    }
}
