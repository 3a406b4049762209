//! Trust-region Newton with truncated conjugate gradients (Steihaug 1983; Lin & Moré 1999).
//!
//! Up to [`MOST_FOR_HESSIAN`] free variables, the whole Hessian, which one sweep gives at about the price of one product a
//! variable, is cheaper than as many products as a solution takes, one sweep each; then its diagonal also gives the weights of
//! the trust region, and its eigenvalues tell a saddle from a minimum. With more variables only products are formed, as many as
//! the model's slopes need to fall by min(1/10, √(|g|/|g_start|)), which makes convergence superlinear.
//!
//! Where combinations of variables are hardly determined, the cost is a narrow curved valley, and a step along its tangent leaves it soon: a
//! trust region in which single steps gain what the model promises lets the search creep. A whole Hessian is worth some gradients, so a step
//! that gains less is corrected with what the gradient at its end says of third derivatives, after Chebyshev's method (as geodesic
//! acceleration does for least squares; Transtrum & Sethna 2012): by c with (H + λ D²) c = -(g(x + d) - g - H d), λ at least the damping that the trust
//! region amounts to, and as large as keeps c small beside d: combinations that nothing determines are none to be corrected along.

use super::evaluation::{Evaluator, Halt, How, Point, Step, dot, norm};
use super::executor::Search;
use super::hessian_model::{Hessian, factor};
use super::method::CurvedMethod;
use super::outcome::{Curvature, Reason};
use super::progress::Progress;
use super::trial::{Accepted, Offer, Taken, Trials, Verdict, begin, relative_size, trial};
use super::truncated_cg::{Path, PathStep, Subproblem};
use super::weights::Weights;
use nalgebra::{DMatrix, DVector};

/// With more free variables, products with the Hessian are cheaper than the Hessian.
const MOST_FOR_HESSIAN: usize = 20;
/// Steps are accepted that gain this part of what is promised.
const LEAST_GAIN: f64 = 1e-4;
/// Steps are good that gain this part of it: the trust region grows.
const GOOD_GAIN: f64 = 0.75;
/// So many corrections of a step.
const MOST_CORRECTIONS: usize = 3;
/// A correction goes no farther than this part of the step.
const LONGEST_CORRECTION: f64 = 0.5;
/// Its damping, beside what weighs most, begins here at least, and grows by a factor until the correction is short enough; beyond the largest, the model is worth
/// nothing.
const DAMPINGS: [f64; 3] = [1e-12, 10.0, 1.0];

/// The search.
#[derive(Default)]
pub(crate) struct NewtonTrustRegion {
    progress: Progress,
    /// D, from the roots of the Hessian's diagonal where that is known.
    weights: Weights,
    /// `None` before the first step.
    radius: Option<f64>,
    /// The last Hessian, if they are computed.
    last: Option<Hessian>,
}

impl Search for NewtonTrustRegion {
    fn name(&self) -> &'static str {
        CurvedMethod::NewtonTrustRegion.name()
    }

    fn begin(&mut self, evaluator: &mut Evaluator) -> Step<Point> {
        let (point, progress) = begin(evaluator)?;
        self.progress = progress;
        Ok(point)
    }

    fn step(&mut self, evaluator: &mut Evaluator, current: &Point) -> Step<Point> {
        let n = current.x.len();
        let is_saddle = self.examine(evaluator, current)?;
        let hessian = self.last.as_ref();
        let weights = match hessian {
            Some(Hessian { matrix, .. }) => {
                let roots: Vec<f64> = (0..n).map(|i| matrix[(i, i)].abs().sqrt()).collect();
                let sizes = &current.magnitudes;
                self.weights.update(&roots, sizes, sizes, &evaluator.scaling)
            }
            None => vec![1.0; n],
        };
        // at first, as if every variable changed by its size
        let mut radius = self.radius.unwrap_or_else(|| norm(weights.iter().copied()));
        let model = Model::new(weights, evaluator, current);
        let path = match hessian {
            Some(hessian) if is_saddle => model.off_the_saddle(hessian, current, radius),
            Some(hessian) => {
                let mut times = |p: &[f64]| Ok(Some(model.divided(&hessian.times(&model.divided(p)))));
                Path::follow(&model.subproblem(1e-12, 10 * n), &model.size(radius), &mut times)?
            }
            None => {
                let tolerance = self.progress.relative_gradient(current).sqrt().min(0.1);
                let mut times = |p: &[f64]| evaluator.hessian_vector(current, p);
                Path::follow(&model.subproblem(tolerance, 2 * n), &model.size(radius), &mut times)?
            }
        };
        let curvature = hessian.map_or(path.curvature, |hessian| hessian.curvature);
        let most = path.within(&model.gradient, &model.size(radius)).promise;
        let mut trials = Trials::default();
        loop {
            let step = path.within(&model.gradient, &model.size(radius));
            let (d, promise) = (model.divided(&step.d), step.promise);
            if promise <= 0.0 && trials.is_new() {
                return Err(Halt::Stop(Reason::CostAtRoundOff));
            }
            if relative_size(current, &d) <= f64::EPSILON {
                return Err(self.progress.without_step(evaluator, current, most, &trials));
            }
            let length = norm(step.d.iter().copied());
            let how = How { damping: Some(1.0 / radius), curvature: Some(curvature) };
            let Some(next) = trial(evaluator, current, &d)? else {
                trials.failed();
                radius = 0.25 * length;
                continue;
            };
            let next = if is_saddle { next } else { self.corrected(evaluator, &model, current, &step, next)? };
            let offer = Offer { promise, most, least_gain: LEAST_GAIN };
            let verdict = self.progress.judge(evaluator, current, &next, offer, &mut trials)?;
            let slope = dot(&d, &current.scaled_gradient);
            let taken = Taken { length, slope, gain: current.cost - next.cost, promise };
            if verdict != Verdict::AcceptedInNoise {
                radius = taken.radius(radius, !step.is_cut);
            }
            if verdict != Verdict::Rejected {
                self.radius = Some(radius);
                let limited = step.is_cut || trials.any_failed();
                return self.progress.accept(evaluator, current, Accepted { point: next, limited, how }, most);
            }
        }
    }
}

impl NewtonTrustRegion {
    /// A step that gains less than it should, corrected, where the Hessian is known: the better one of both ends.
    fn corrected(
        &self,
        evaluator: &mut Evaluator,
        model: &Model,
        current: &Point,
        step: &PathStep,
        end: Point,
    ) -> Step<Point> {
        let uncertain = evaluator.options.cost_noise * current.cost.abs();
        let hessian = self.last.as_ref().filter(|hessian| hessian.curvature != Curvature::Unknown);
        let Some(hessian) = hessian.filter(|_| step.promise > uncertain) else { return Ok(end) };
        let y = &step.d;
        let product = model.divided(&hessian.times(&model.divided(y)));
        // (H + λ D²) d = -g, as far as a single number can say it
        let damping = (-(dot(&model.gradient, y) + dot(y, &product)) / dot(y, y)).max(0.0);
        let relative =
            DMatrix::from_fn(y.len(), y.len(), |i, j| hessian.matrix[(i, j)] / (model.weights[i] * model.weights[j]));
        let gain = |point: &Point| current.cost - point.cost;
        let mut best = end;
        for _ in 0..MOST_CORRECTIONS {
            if gain(&best) >= GOOD_GAIN * step.promise {
                break;
            }
            let held = evaluator.scaling.held(&best);
            let free: Vec<usize> = (0..y.len()).filter(|&i| !held[i]).collect();
            let off = |i: usize| best.scaled_gradient[i] / model.weights[i] - model.gradient[i] - product[i];
            let right = DVector::from_iterator(free.len(), free.iter().map(|&i| -off(i)));
            let Some(found) = shortest(&relative, &held, damping, &right, LONGEST_CORRECTION * norm(y.iter().copied()))
            else {
                break;
            };
            let mut c = vec![0.0; y.len()];
            free.iter().zip(found.iter()).for_each(|(&i, c_i)| c[i] = *c_i);
            let corrected = trial(evaluator, &best, &model.divided(&c))?;
            match corrected {
                Some(point) if point.cost < best.cost => best = point,
                _ if gain(&best) < LEAST_GAIN * step.promise => break,
                // what is computed next at the end of a step relies on its being run last
                _ => return Ok(evaluator.evaluate(&best.x)?.unwrap_or(best)),
            }
        }
        Ok(best)
    }

    /// Computes the Hessian, if that is cheap enough, and stops at a minimum; says whether this is a saddle.
    fn examine(&mut self, evaluator: &mut Evaluator, current: &Point) -> Step<bool> {
        let is_small = self.progress.is_gradient_small(current, evaluator.options.gradient_tolerance);
        let mut curvature = None;
        if evaluator.scaling.free_count() <= MOST_FOR_HESSIAN {
            if let Some(last) = &self.last {
                last.stop_at_minimum(evaluator, &self.progress, current)?;
            }
            let hessian = self.last.insert(Hessian::at(evaluator, current)?);
            hessian.stop_at_minimum(evaluator, &self.progress, current)?;
            curvature = Some(hessian.curvature);
        }
        match curvature {
            Some(Curvature::Negative) => Ok(is_small),
            Some(Curvature::Positive) => Ok(false),
            _ if is_small => Err(Halt::Stop(Reason::GradientSmall)),
            _ => Ok(false),
        }
    }
}

/// What belongs to the quadratic model around a point, in y = D d.
struct Model {
    /// D.
    weights: Vec<f64>,
    gradient: Vec<f64>,
    /// Least and largest step of each variable.
    ranges: Vec<(f64, f64)>,
    /// Variables that bounds hold.
    held: Vec<bool>,
    /// How far the model can be trusted in each component of d.
    limits: Vec<f64>,
}

impl Model {
    fn new(weights: Vec<f64>, evaluator: &Evaluator, current: &Point) -> Self {
        let scaling = &evaluator.scaling;
        let range = |(i, w): (usize, &f64)| {
            let (least, most) = scaling.range(i, current.x[i]);
            (least * w, most * w)
        };
        Model {
            gradient: divide(&current.scaled_gradient, &weights),
            ranges: weights.iter().enumerate().map(range).collect(),
            held: scaling.held(current),
            limits: scaling.trusted_steps(&current.x),
            weights,
        }
    }

    fn divided(&self, y: &[f64]) -> Vec<f64> {
        divide(y, &self.weights)
    }

    /// The size of a step, of which a trust region of this radius allows 1.
    fn size(&self, radius: f64) -> impl Fn(&[f64]) -> f64 {
        move |y: &[f64]| {
            let farthest = y.iter().zip(&self.weights).zip(&self.limits).map(|((y, w), limit)| (y / w).abs() / limit);
            farthest.fold(norm(y.iter().copied()) / radius, f64::max)
        }
    }

    fn subproblem(&self, tolerance: f64, most_products: usize) -> Subproblem<'_> {
        Subproblem { gradient: &self.gradient, ranges: &self.ranges, held: &self.held, tolerance, most_products }
    }

    /// The way along the direction of negative curvature.
    fn off_the_saddle(&self, hessian: &Hessian, current: &Point, radius: f64) -> Path {
        let sign = if dot(&hessian.downwards, &current.scaled_gradient) > 0.0 { -1.0 } else { 1.0 };
        let p: Vec<f64> = hessian.downwards.iter().zip(&self.weights).map(|(d, w)| sign * d * w).collect();
        let product = self.divided(&hessian.times(&self.divided(&p)));
        Path::straight(&p, &product, &self.ranges, &self.size(radius))
    }
}

/// The solution of (H + λ I) c = `right` over the variables that are not `held`, with the least λ from `damping` on for which it exists and is not longer than `most`.
fn shortest(
    hessian: &DMatrix<f64>,
    held: &[bool],
    damping: f64,
    right: &DVector<f64>,
    most: f64,
) -> Option<DVector<f64>> {
    let [least, growth, largest] = DAMPINGS;
    let mut damping = damping.max(least);
    while damping <= largest {
        let found = factor(hessian, held, damping).map(|factor| factor.solve(right));
        if let Some(found) = found.filter(|found| found.norm() <= most) {
            return Some(found);
        }
        damping *= growth;
    }
    None
}

fn divide(y: &[f64], weights: &[f64]) -> Vec<f64> {
    y.iter().zip(weights).map(|(y, w)| y / w).collect()
}
