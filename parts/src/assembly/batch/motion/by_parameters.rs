//! Derivatives of linear motion by parameters: they are linear in positions, velocities and accelerations, too, and their coefficients
//! are constant.

use super::super::super::pattern::Values;
use super::super::{Batch, BatchEvaluator};
use super::MotionKernels;
use super::constants::SOME_TIME;
use costate::linearise::{Sizes, separate};
use costate::system::{Equations, Point};

/// So large that constants beside it are round-off; a power of two.
const FAR: f64 = (1u64 << 60) as f64;

/// Each derivative as a constant and terms.
pub(super) struct Coefficients {
    /// Of each derivative: the variables of its terms. Those by positions come first, then velocities, then accelerations.
    variables: Vec<Vec<usize>>,
    /// Element by element: of each derivative the constant, then the coefficients.
    values: Vec<f64>,
    /// Number of values of an element.
    stride: usize,
    /// Room for a state (q, v, a), for inputs, for the derivatives there, and for M.
    state: Vec<f64>,
    w: Vec<f64>,
    here: Vec<f64>,
    mass: Vec<f64>,
}

impl Coefficients {
    /// `None` where derivatives do not have any: motion is not linear, or is driven.
    pub fn new(batch: &Batch) -> Option<Self> {
        let Batch { models, sizes: Sizes { n, inputs, .. }, structure, plans, .. } = batch;
        let is_linear = structure.linear_motion && (!structure.has_force || batch.multiplies_force());
        if !is_linear || plans.strides.by_parameter == 0 {
            return None;
        }
        let variables_of = |row: usize| -> Vec<usize> {
            let by_state = structure.force[row].iter().copied().filter(|i| *i < 2 * n);
            let of_mass = structure.mass.iter().filter(|entry| entry.0 == row).map(|entry| 2 * n + entry.1);
            by_state.chain(of_mass).collect()
        };
        let variables: Vec<Vec<usize>> =
            plans.full_entries.parameter.iter().map(|(row, _)| variables_of(*row)).collect();
        let stride = variables.iter().map(|own| 1 + own.len()).sum();
        Some(Coefficients {
            values: vec![0.0; stride * models.len()],
            stride,
            state: vec![0.0; 3 * n],
            w: vec![0.0; *inputs],
            here: vec![0.0; variables.len()],
            mass: vec![0.0; structure.mass.len()],
            variables,
        })
    }
}

impl BatchEvaluator<'_> {
    /// Takes the coefficients for the parameters that are set.
    pub(super) fn set_coefficients(&mut self) {
        let Batch { models, sizes: Sizes { n, p, .. }, .. } = self.batch;
        let MotionKernels { coefficients: Some(own), by_parameters: kernel, .. } = &mut self.motion else { return };
        let (n, p, Coefficients { variables, values, stride, state, w, here, mass }) = (*n, *p, own);
        let separate = separate(Equations::MOTION);
        for (e, model) in models.iter().enumerate() {
            kernel.set_parameters(&self.u[e * p..(e + 1) * p]);
            let mut derivatives = |state: &[f64], to: &mut [f64]| {
                to.fill(0.0);
                let (q, rest) = state.split_at(n);
                let x = Point { t: SOME_TIME, q, v: &rest[..n], a: &rest[n..], lambda: &[], w };
                kernel.evaluate(model, &x, separate, &mut self.force, to, mass);
            };
            derivatives(state, here);
            let own = &mut values[e * *stride..(e + 1) * *stride];
            let mut first = 0;
            for (terms, constant) in variables.iter().zip(&*here) {
                own[first] = *constant;
                first += 1 + terms.len();
            }
            for variable in 0..3 * n {
                state[variable] = FAR;
                derivatives(state, here);
                state[variable] = 0.0;
                let mut first = 0;
                for (terms, there) in variables.iter().zip(&*here) {
                    if let Some(place) = terms.iter().position(|term| *term == variable) {
                        own[first + 1 + place] = (there - own[first]) / FAR;
                    }
                    first += 1 + terms.len();
                }
            }
        }
    }

    /// The derivatives by parameters from their coefficients; false if there are none.
    pub(super) fn multiply_coefficients(&self, x: &Point<'_>, values: &mut Values) -> bool {
        let batch = self.batch;
        let Some(Coefficients { variables, values: own, stride, .. }) = &self.motion.coefficients else { return false };
        let n = batch.sizes.n;
        for (e, own) in own.chunks_exact(*stride).enumerate() {
            let c = batch.coordinates_of(e);
            let mut own = own.iter();
            let mut next = || own.next().copied().unwrap_or_default();
            for (terms, value) in variables.iter().zip(&mut values.by_parameter[batch.places(e, |p| p.by_parameter)]) {
                *value = next();
                for &variable in terms {
                    let (part, j) = match variable {
                        i if i < n => (x.q, i),
                        i if i < 2 * n => (x.v, i - n),
                        i => (x.a, i - 2 * n),
                    };
                    *value += next() * part[c[j] as usize];
                }
            }
        }
        true
    }
}
