//! Evaluation of a model's functions on [`Jet`]s of a fixed width, with the seeds that a plan asks for.

use super::functions::{Functions, MotionOn, OutputOn};
use super::plan::{Plan, Seed, Target};
use super::structure::state_of;
use crate::number::Jet;
use crate::signature::Signature;
use crate::system::{OutputPoint, Point, StatePart, Weights};
use crate::{Matrix, State};

/// Evaluates Q and M a with derivatives.
pub trait ForceKernel: Send {
    /// Sets the parameters of the evaluations that follow.
    fn set_parameters(&mut self, u: &[f64]);

    /// `dynamics`, if there is room for it, = [M a] - Q, Q only if the weights' equations have it, and its derivatives are *added* to
    /// `derivatives` at the plan's destinations. The part in brackets is there if the kernel was made `with_mass`; `mass` then takes the
    /// values of M's entries.
    fn evaluate(
        &mut self,
        model: &dyn Functions,
        x: &Point<'_>,
        weights: Weights,
        dynamics: &mut [f64],
        derivatives: &mut [f64],
        mass: &mut [f64],
    );
}

struct JetForces<'m, const W: usize> {
    plan: Plan,
    with_mass: bool,
    mass_entries: &'m [(usize, usize)],
    /// Arguments, one a chunk of the plan.
    arguments: Vec<Arguments<W>>,
    force: Vec<Jet<f64, W>>,
    mass: Matrix<Jet<f64, W>>,
    /// Weights of the seeds that are in place.
    seeded: Option<Weights>,
}

/// Variables that are differentiated by, with the seeds of one chunk, which stay in place from call to call.
struct Arguments<const W: usize> {
    q: Vec<Jet<f64, W>>,
    v: Vec<Jet<f64, W>>,
    a: Vec<Jet<f64, W>>,
    u: Vec<Jet<f64, W>>,
    w: Vec<Jet<f64, W>>,
    /// Place of the first state among the velocities.
    first_state: usize,
}

impl<const W: usize> Arguments<W> {
    fn seed(&mut self, seeds: &[Seed], weights: Weights) {
        for seed in seeds {
            let (jet, weight) = match seed.target {
                Target::Position => (&mut self.q[seed.index], weights.position),
                Target::Velocity if seed.index >= self.first_state => (&mut self.v[seed.index], weights.state),
                Target::Velocity => (&mut self.v[seed.index], weights.velocity),
                Target::Acceleration => (&mut self.a[seed.index], weights.acceleration),
                Target::Parameter => (&mut self.u[seed.index], 1.0),
                Target::Input => (&mut self.w[seed.index], 1.0),
            };
            jet.eps[seed.lane] = weight;
        }
    }
}

fn zeros<const W: usize>(count: usize) -> Vec<Jet<f64, W>> {
    vec![Jet { re: 0.0, eps: [0.0; W] }; count]
}

fn set_values<const W: usize>(jets: &mut [Jet<f64, W>], values: &[f64]) {
    for (jet, value) in jets.iter_mut().zip(values) {
        jet.re = *value;
    }
}

/// Numbers of coordinates with states, of states, inputs and parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// Coordinates and states.
    pub n: usize,
    /// The last ones of n.
    pub states: usize,
    /// Constraints.
    pub m: usize,
    /// Parameters.
    pub p: usize,
    /// Inputs.
    pub inputs: usize,
    /// Outputs.
    pub outputs: usize,
}

impl Sizes {
    /// Sizes of a model.
    pub fn of(signature: &Signature) -> Self {
        Sizes {
            n: signature.unknown_count(),
            states: signature.states.len(),
            m: signature.constraints.len(),
            p: signature.parameters.len(),
            inputs: signature.inputs.len(),
            outputs: signature.outputs.len(),
        }
    }

    /// Variable `i` of (q, v, u, w), as a part of a state vector.
    pub(crate) fn motion_variable(self, i: usize) -> (StatePart, usize) {
        let Sizes { n, p, .. } = self;
        match i {
            i if i < n => (StatePart::Position, i),
            i if i < 2 * n => (StatePart::Velocity, i - n),
            i if i < 2 * n + p => (StatePart::Parameter, i - 2 * n),
            i => (StatePart::Input, i - 2 * n - p),
        }
    }

    /// Variable `i` of (q, v, a, a_scheme, λ, u, w).
    pub fn output_variable(self, i: usize) -> (StatePart, usize) {
        let Sizes { n, m, p, .. } = self;
        match i {
            i if i < 4 * n => (StatePart::STATE[i / n], i % n),
            i if i < 4 * n + m => (StatePart::Multiplier, i - 4 * n),
            i if i < 4 * n + m + p => (StatePart::Parameter, i - 4 * n - m),
            i => (StatePart::Input, i - 4 * n - m - p),
        }
    }

    /// Number of the variables of outputs, (q, v, a, a_scheme, λ, u, w).
    pub fn output_variables(self) -> usize {
        4 * self.n + self.m + self.p + self.inputs
    }
}

/// The kernel of a plan for forces; `mass_entries` are those of M that can be non-zero.
pub fn force_kernel<'m>(
    sizes: Sizes,
    plan: Plan,
    mass_entries: &'m [(usize, usize)],
    with_mass: bool,
) -> Box<dyn ForceKernel + 'm> {
    match plan.width {
        2 => Box::new(JetForces::<2>::new(sizes, plan, mass_entries, with_mass)),
        4 => Box::new(JetForces::<4>::new(sizes, plan, mass_entries, with_mass)),
        _ => Box::new(JetForces::<8>::new(sizes, plan, mass_entries, with_mass)),
    }
}

impl<'m, const W: usize> JetForces<'m, W> {
    fn new(sizes: Sizes, plan: Plan, mass_entries: &'m [(usize, usize)], with_mass: bool) -> Self {
        let Sizes { n, states, p, inputs, .. } = sizes;
        let size_of_mass = if with_mass { n } else { 0 };
        let arguments = || Arguments {
            q: zeros(n),
            v: zeros(n),
            a: zeros(n),
            u: zeros(p),
            w: zeros(inputs),
            first_state: n - states,
        };
        let arguments = plan.chunks.iter().map(|_| arguments()).collect();
        JetForces {
            plan,
            with_mass,
            mass_entries,
            arguments,
            force: zeros(n),
            mass: Matrix::filled(size_of_mass, size_of_mass, Jet { re: 0.0, eps: [0.0; W] }),
            seeded: None,
        }
    }
}

impl<const W: usize> ForceKernel for JetForces<'_, W>
where
    for<'a> dyn Functions + 'a: MotionOn<Jet<f64, W>>,
{
    fn set_parameters(&mut self, u: &[f64]) {
        self.arguments.iter_mut().for_each(|arguments| set_values(&mut arguments.u, u));
    }

    fn evaluate(
        &mut self,
        model: &dyn Functions,
        x: &Point<'_>,
        weights: Weights,
        dynamics: &mut [f64],
        derivatives: &mut [f64],
        mass: &mut [f64],
    ) {
        if self.seeded != Some(weights) {
            for (arguments, chunk) in self.arguments.iter_mut().zip(&self.plan.chunks) {
                arguments.seed(&chunk.seeds, weights);
            }
            self.seeded = Some(weights);
        }
        let t = Jet { re: x.t, eps: [0.0; W] };
        for (place, (arguments, chunk)) in self.arguments.iter_mut().zip(&self.plan.chunks).enumerate() {
            let Arguments { q, v, a, u, w, .. } = arguments;
            set_values(q, x.q);
            set_values(v, x.v);
            set_values(w, x.w);
            self.force.iter_mut().for_each(|force| *force = Jet { re: 0.0, eps: [0.0; W] });
            if weights.equations.forces {
                model.force(t, q, v, w, u, &mut self.force);
            }
            if self.with_mass {
                set_values(a, x.a);
                self.mass.fill(Jet { re: 0.0, eps: [0.0; W] });
                model.mass(q, u, &mut self.mass);
                for (value, &(row, column)) in mass.iter_mut().zip(self.mass_entries) {
                    let entry = self.mass[(row, column)];
                    *value = entry.re;
                    self.force[row] -= entry * a[column];
                }
            }
            if place == 0 {
                for (value, force) in dynamics.iter_mut().zip(&self.force) {
                    *value = -force.re;
                }
            }
            for entry in &chunk.entries {
                derivatives[entry.destination as usize] -= self.force[entry.row as usize].eps[entry.lane as usize % W];
            }
        }
    }
}

/// Evaluates the outputs with derivatives.
pub trait OutputKernel: Send {
    /// Sets the parameters of the evaluations that follow.
    fn set_parameters(&mut self, u: &[f64]);
    /// Derivatives at the plan's destinations.
    fn evaluate(&mut self, model: &dyn Functions, x: &OutputPoint<'_>, derivatives: &mut [f64]);
}

struct JetOutputs<const W: usize> {
    plan: Plan,
    sizes: Sizes,
    /// q, v, a, a_scheme, lambda, u, w
    x: Vec<Jet<f64, W>>,
    y: Vec<Jet<f64, W>>,
}

/// The kernel of a plan for outputs.
pub fn output_kernel(sizes: Sizes, plan: Plan) -> Box<dyn OutputKernel> {
    match plan.width {
        4 => Box::new(JetOutputs::<4>::new(sizes, plan)),
        _ => Box::new(JetOutputs::<8>::new(sizes, plan)),
    }
}

impl<const W: usize> JetOutputs<W> {
    fn new(sizes: Sizes, plan: Plan) -> Self {
        let Sizes { n, m, p, inputs, outputs, .. } = sizes;
        JetOutputs { plan, sizes, x: zeros(4 * n + m + p + inputs), y: zeros(outputs) }
    }
}

impl<const W: usize> OutputKernel for JetOutputs<W>
where
    for<'a> dyn Functions + 'a: OutputOn<Jet<f64, W>>,
{
    fn set_parameters(&mut self, u: &[f64]) {
        let Sizes { n, m, .. } = self.sizes;
        set_values(&mut self.x[4 * n + m..], u);
    }

    fn evaluate(&mut self, model: &dyn Functions, x: &OutputPoint<'_>, derivatives: &mut [f64]) {
        let Sizes { n, m, p, .. } = self.sizes;
        for (part, values) in [x.q, x.v, x.a, x.a_scheme].into_iter().enumerate() {
            set_values(&mut self.x[part * n..(part + 1) * n], values);
        }
        set_values(&mut self.x[4 * n..4 * n + m], x.lambda);
        set_values(&mut self.x[4 * n + m + p..], x.w);
        let t = Jet { re: x.t, eps: [0.0; W] };
        for chunk in &self.plan.chunks {
            self.x.iter_mut().for_each(|jet| jet.eps = [0.0; W]);
            chunk.seeds.iter().for_each(|seed| self.x[seed.index].eps[seed.lane] = 1.0);
            self.y.fill(Jet { re: 0.0, eps: [0.0; W] });
            let (u, w) = self.x[4 * n + m..].split_at(p);
            model.output(t, &State { w, ..state_of(&self.x, n, m) }, u, &mut self.y);
            for entry in &chunk.entries {
                derivatives[entry.destination as usize] = self.y[entry.row as usize].eps[entry.lane as usize];
            }
        }
    }
}
