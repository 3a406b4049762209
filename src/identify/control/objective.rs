//! A control problem as a function of its unknowns.

use super::band::{Band, InputRow, Unknowns};
use super::{Control, Placed};
use crate::error::Result;
use crate::interrupt::Interrupt;
use crate::optimise::{BandObjective, CurvedObjective, Objective};
use crate::sensitivity::{Change, Gradient, Method};

/// Cost, gradient, second derivatives and Gauss-Newton steps by the unknowns, for one thread.
pub struct ControlObjective<'p> {
    control: &'p Control,
    engine: Gradient<'p>,
    free: Vec<usize>,
    /// Parameters, and inputs at all times, of the last evaluation.
    u: Vec<f64>,
    w: Vec<f64>,
    gradient: Vec<f64>,
    by_inputs: Vec<f64>,
    /// Where the band was linearised.
    band: Option<(Vec<f64>, Band)>,
}

/// What an input costs by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Own {
    Effort,
    Smoothness,
    /// Beyond the limit of its rate: a penalty.
    Rate,
}

/// Shows the residuals of an input itself at time `i`: effort, smoothness, and the limit on its rate.
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
    /// For one thread.
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
        Ok(ControlObjective { control, engine, free, u, w, gradient, by_inputs, band: None })
    }

    /// The same, to stop at the next time step once `interrupt` is raised.
    pub fn interrupted_by(mut self, interrupt: &Interrupt) -> Self {
        self.engine = self.engine.interrupted_by(interrupt);
        self
    }

    fn inputs(&self) -> usize {
        self.control.simulation.signature().inputs.len()
    }

    /// What inputs cost by themselves, where that is not a penalty.
    pub(super) fn own_shares(&self) -> Vec<(String, f64)> {
        let (times, inputs) = (self.control.simulation.grid().times(), self.inputs());
        let mut shares = Vec::new();
        for placed in &self.control.signals {
            let w = |i: usize| self.w[i * inputs + placed.input];
            for (kind, name) in [(Own::Effort, "effort"), (Own::Smoothness, "smoothness")] {
                let (mut sum, mut any) = (0.0, false);
                for i in 0..times.len() {
                    own_rows(placed, times, i, &w, &mut |own, [value, ..]| {
                        any |= own == kind;
                        sum += if own == kind { 0.5 * value * value } else { 0.0 };
                    });
                }
                if any {
                    shares.push((format!("{name} of {}", placed.signal.input), sum));
                }
            }
        }
        shares
    }

    /// Takes unknowns to parameters and inputs.
    pub(super) fn set(&mut self, unknowns: &[f64]) {
        let inputs = self.inputs();
        self.control.put(unknowns, &mut self.u, &mut self.w, inputs);
        self.engine.inputs_mut().copy_from_slice(&self.w);
    }

    /// From derivatives by parameters and inputs to those by the unknowns.
    fn gather(&self, by_parameters: &[f64], by_inputs: &[f64], by_unknowns: &mut [f64]) {
        by_unknowns.fill(0.0);
        self.free.iter().zip(&mut *by_unknowns).for_each(|(&k, slope)| *slope = by_parameters[k]);
        let (inputs, mut offset) = (self.inputs(), self.free.len());
        for placed in &self.control.signals {
            for (i, bar) in by_inputs.iter().skip(placed.input).step_by(inputs).enumerate() {
                placed.mixing.at(i).for_each(|(k, factor)| by_unknowns[offset + k] += factor * bar);
            }
            offset += placed.mixing.coefficients;
        }
    }

    /// Shows the residuals of inputs at all times: time, input, value, and slopes by the input then and one step before.
    fn own_rows(&self, take: &mut dyn FnMut(usize, InputRow)) {
        let (times, inputs) = (self.control.simulation.grid().times(), self.inputs());
        for placed in &self.control.signals {
            let w = |i: usize| self.w[i * inputs + placed.input];
            for i in 0..times.len() {
                own_rows(placed, times, i, &w, &mut |_, [value, now, before]| {
                    take(i, InputRow { input: placed.input, value, now, before });
                });
            }
        }
    }

    /// The cost of the inputs themselves: effort, smoothness, limits on rates.
    pub fn own_cost(&self) -> f64 {
        let mut sum = 0.0;
        self.own_rows(&mut |_, row| sum += 0.5 * row.value * row.value);
        sum
    }

    /// The cost at these unknowns, without derivatives.
    ///
    /// # Errors
    /// A simulation that fails.
    pub fn cost(&mut self, unknowns: &[f64]) -> Result<f64> {
        self.set(unknowns);
        Ok(self.engine.cost(&self.u)? + self.own_cost())
    }

    /// The derivative of the cost along changes of the unknowns by tangents, which share nothing with the adjoint.
    ///
    /// # Errors
    /// A simulation that fails.
    pub fn derivatives_along(&mut self, unknowns: &[f64], along: &[Vec<f64>]) -> Result<Vec<f64>> {
        self.set(unknowns);
        let changes: Vec<Change> = along.iter().map(|along| self.change(along)).collect();
        let (_, mut slopes) = self.engine.derivatives_along(&self.u, &changes)?;
        let inputs = self.inputs();
        for (slope, change) in slopes.iter_mut().zip(&changes) {
            self.own_rows(&mut |i, row| {
                let at = |i: usize| change.w[i * inputs + row.input];
                *slope += row.value * (row.now * at(i) + if i > 0 { row.before * at(i - 1) } else { 0.0 });
            });
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
    fn band(&mut self, unknowns: &[f64]) -> Result<&Band> {
        let kept = self.band.take().filter(|(at, _)| at == unknowns);
        let band = if let Some((_, band)) = kept {
            band
        } else {
            self.set(unknowns);
            let mut maps = Vec::with_capacity(self.control.simulation.grid().times().len());
            self.engine.step_maps(&self.u, &self.control.cost, &mut |_, map| maps.push(map))?;
            let mut rows = vec![Vec::new(); maps.len()];
            self.own_rows(&mut |i, row| rows[i].push(row));
            Band::new(maps, rows, self.free.len(), self.inputs())
        };
        Ok(&self.band.insert((unknowns.to_vec(), band)).1)
    }
}

impl Objective for ControlObjective<'_> {
    fn dimension(&self) -> usize {
        self.control.unknowns().0
    }

    fn value_and_gradient(&mut self, unknowns: &[f64], gradient: &mut [f64]) -> Result<f64> {
        self.set(unknowns);
        let cost = self.engine.cost_and_gradient(&self.u, Method::Adjoint, &mut self.gradient)?;
        let inputs = self.inputs();
        let mut by_inputs = std::mem::take(&mut self.by_inputs);
        by_inputs.copy_from_slice(self.engine.by_inputs());
        let mut own = 0.0;
        self.own_rows(&mut |i, row| {
            own += 0.5 * row.value * row.value;
            by_inputs[i * inputs + row.input] += row.value * row.now;
            if i > 0 {
                by_inputs[(i - 1) * inputs + row.input] += row.value * row.before;
            }
        });
        self.gather(&self.gradient, &by_inputs, gradient);
        self.by_inputs = by_inputs;
        Ok(cost + own)
    }
}

impl CurvedObjective for ControlObjective<'_> {
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
        let along = [self.change(direction)];
        let mut products = [Change::default()];
        let mut gradient = vec![0.0; self.u.len()];
        self.engine.hessian_changes(&self.u, &along, &mut gradient, &mut products)?;
        let [Change { u, mut w }] = products;
        let inputs = self.inputs();
        self.own_rows(&mut |i, row| {
            let at = |i: usize| along[0].w[i * inputs + row.input];
            let slope = row.now * at(i) + if i > 0 { row.before * at(i - 1) } else { 0.0 };
            w[i * inputs + row.input] += slope * row.now;
            if i > 0 {
                w[(i - 1) * inputs + row.input] += slope * row.before;
            }
        });
        self.gather(&u, &w, product);
        Ok(())
    }
}

impl BandObjective for ControlObjective<'_> {
    fn damped_step(&mut self, unknowns: &[f64], damping: &[f64], held: &[bool], step: &mut [f64]) -> Result<()> {
        let control = self.control;
        let mut offset = self.free.len();
        let mut signals = Vec::new();
        for placed in &control.signals {
            signals.push((placed.input, &placed.mixing, offset));
            offset += placed.mixing.coefficients;
        }
        let all: Unknowns<'_> = &signals;
        step.copy_from_slice(&self.band(unknowns)?.step(all, damping, held));
        Ok(())
    }
}
