//! Random points at which derivatives are compared.

use super::CheckOptions;
use costate::random::SplitMix64;
use costate::system::{Blocks, Evaluator, Point, System};
use costate::{Error, Parameter, Result, Signature};

/// Numbers at which derivatives are compared.
pub(super) trait Draws {
    /// Between a quarter of `size` and `size`, of either sign: never small by accident.
    fn signed(&mut self, size: f64) -> f64;

    /// `count` of [`Draws::signed`].
    fn vector(&mut self, count: usize, size: f64) -> Vec<f64>;

    /// Half to one and a half times the nominal value, pulled inside the bounds.
    fn parameter(&mut self, parameter: &Parameter) -> f64;
}

impl Draws for SplitMix64 {
    fn signed(&mut self, size: f64) -> f64 {
        let magnitude = size * (0.25 + 0.75 * self.unit());
        if self.unit() < 0.5 { -magnitude } else { magnitude }
    }

    fn vector(&mut self, count: usize, size: f64) -> Vec<f64> {
        (0..count).map(|_| self.signed(size)).collect()
    }

    fn parameter(&mut self, parameter: &Parameter) -> f64 {
        let &Parameter { nominal, lower, upper, .. } = parameter;
        let value = if nominal == 0.0 { self.signed(1.0) } else { nominal * (0.5 + self.unit()) };
        let inside = 0.25 + 0.75 * self.unit();
        if value < lower {
            nominal + inside * (lower - nominal)
        } else if value > upper {
            nominal + inside * (upper - nominal)
        } else {
            value
        }
    }
}

/// A random point, and how large each variable is there (never zero).
#[derive(Debug, Clone)]
pub(super) struct Sample {
    pub u: Vec<f64>,
    pub t: f64,
    pub q: Vec<f64>,
    pub v: Vec<f64>,
    pub a: Vec<f64>,
    pub lambda: Vec<f64>,
    pub w: Vec<f64>,
    pub sizes: Sizes,
    /// Number of the point, from 1.
    pub number: usize,
}

/// Sizes of the variables.
#[derive(Debug, Clone)]
pub(super) struct Sizes {
    pub q: Vec<f64>,
    pub v: Vec<f64>,
    pub a: Vec<f64>,
    pub lambda: Vec<f64>,
    pub u: Vec<f64>,
}

impl Sample {
    pub(super) fn point(&self) -> Point<'_> {
        Point { t: self.t, q: &self.q, v: &self.v, a: &self.a, lambda: &self.lambda, w: &self.w }
    }

    /// Draws point `number` (from 1) around the model's initial state, which is moved by up to `reach`.
    fn draw(
        random: &mut SplitMix64,
        evaluator: &mut dyn Evaluator,
        signature: &Signature,
        options: &CheckOptions,
        reach: f64,
        number: usize,
    ) -> Self {
        let (n, m) = (signature.unknown_count(), signature.constraints.len());
        let u: Vec<f64> = signature.parameters.iter().map(|p| random.parameter(p)).collect();
        evaluator.set_parameters(&u);
        let (mut q, mut v) = (vec![0.0; n], vec![0.0; n]);
        evaluator.initial(&mut q, &mut v);
        let size = |start: &[f64]| start.iter().map(|x| x.abs() + reach).collect::<Vec<_>>();
        let sizes = Sizes {
            q: size(&q),
            v: size(&v),
            a: vec![1.0; n],
            lambda: vec![1.0; m],
            u: u.iter().map(|u| if *u == 0.0 { 1.0 } else { u.abs() }).collect(),
        };
        q.iter_mut().chain(&mut v).for_each(|x| *x += random.signed(reach));
        let [first, last] = options.times;
        let t = first + random.unit() * (last - first);
        let (a, lambda) = (random.vector(n, 1.0), random.vector(m, 1.0));
        let w = random.vector(signature.inputs.len(), 1.0);
        Sample { u, t, q, v, a, lambda, w, sizes, number }
    }
}

/// Draws again, ever nearer to the initial state, where the model is not defined.
const ATTEMPTS: usize = 30;

/// A function that is called at each point: sample, evaluator, exact blocks, more random numbers.
type Visitor<'v> = dyn FnMut(&Sample, &mut dyn Evaluator, &Blocks, &mut SplitMix64) -> Result<()> + 'v;

/// Calls `visit` at every random point with the exact blocks there; the evaluator has the point's parameters.
pub(super) fn visit_points(system: &dyn System, options: &CheckOptions, visit: &mut Visitor<'_>) -> Result<()> {
    options.validate()?;
    let signature = system.signature();
    let mut evaluator = system.evaluator();
    let mut random = SplitMix64::new(options.seed);
    let mut blocks = Blocks::zeros(signature);
    'points: for k in 0..options.points {
        let mut reach = options.offset * 0.1f64.powi((k % 4) as i32);
        for _ in 0..ATTEMPTS {
            let sample = Sample::draw(&mut random, &mut *evaluator, signature, options, reach, k + 1);
            evaluator.blocks(&sample.point(), &mut blocks);
            if super::hand::Block::ALL.iter().all(|b| b.of(&blocks).as_slice().iter().all(|x| x.is_finite())) {
                visit(&sample, &mut *evaluator, &blocks, &mut random)?;
                continue 'points;
            }
            reach *= 0.7;
        }
        return Err(Error::invalid(
            format!("random points of {}", signature.place()),
            format!("{ATTEMPTS} of them in a row have derivatives that are not finite"),
            "choose a smaller offset of the check, or a nominal state where the model is smooth",
        ));
    }
    Ok(())
}

/// Size of each equation at a point: the sum of its derivatives, each times the size of its variable; motion, constraints.
pub(super) fn equation_sizes(blocks: &Blocks, sizes: &Sizes) -> (Vec<f64>, Vec<f64>) {
    let (n, m) = (blocks.mass.rows(), blocks.constraint_by_position.rows());
    let row = |matrix: &costate::Matrix<f64>, i: usize, sizes: &[f64]| {
        sizes.iter().enumerate().map(|(j, size)| matrix[(i, j)].abs() * size).sum::<f64>()
    };
    let motion = (0..n).map(|i| {
        let by_position =
            [&blocks.inertia_by_position, &blocks.constraint_force_by_position, &blocks.force_by_position]
                .map(|block| row(block, i, &sizes.q));
        let by_parameter =
            [&blocks.inertia_by_parameter, &blocks.constraint_force_by_parameter, &blocks.force_by_parameter]
                .map(|block| row(block, i, &sizes.u));
        let by_multiplier: f64 = (0..m).map(|r| blocks.constraint_by_position[(r, i)].abs() * sizes.lambda[r]).sum();
        row(&blocks.mass, i, &sizes.a)
            + row(&blocks.force_by_velocity, i, &sizes.v)
            + by_position.iter().sum::<f64>()
            + by_parameter.iter().sum::<f64>()
            + by_multiplier
    });
    let constraint = (0..m)
        .map(|r| row(&blocks.constraint_by_position, r, &sizes.q) + row(&blocks.constraint_by_parameter, r, &sizes.u));
    (motion.collect(), constraint.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Protects models from values outside their bounds, and checks from values that hide an entry.
    #[test]
    fn parameters_stay_within_their_bounds() {
        let mut random = SplitMix64::new(3);
        let tight = Parameter::new("a", "1", 2.0).bounds(1.9, 2.05);
        let offset = Parameter::new("b", "1", 0.0).bounds(0.0, 0.5);
        for _ in 0..100 {
            assert!((1.9..=2.05).contains(&random.parameter(&tight)));
            assert!((0.0..=0.5).contains(&random.parameter(&offset)));
            let x = random.signed(2.0).abs();
            assert!((0.5..=2.0).contains(&x));
        }
    }
}
