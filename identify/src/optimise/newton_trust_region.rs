//! Trust-region Newton with truncated conjugate gradients (Steihaug 1983; Lin & Moré 1999).
//!
//! Up to [`MOST_FOR_HESSIAN`] free variables, the whole Hessian, which one sweep gives at about the price of one product a
//! variable, is cheaper than as many products as a solution takes, one sweep each; then its diagonal also gives the weights of
//! the trust region, and its eigenvalues tell a saddle from a minimum. With more variables only products are formed, as many as
//! the model's slopes need to fall by min(1/10, √(|g|/|g_start|)), which makes convergence superlinear.

use super::evaluation::{Halt, How, ObjectiveEvaluator, Point, Step, dot, norm};
use super::executor::SearchMethod;
use super::hessian_model::Hessian;
use super::method::Method;
use super::outcome::{Curvature, Reason};
use super::progress::Progress;
use super::trial::{Acceptance, Accepted, Offer, Taken, Trials, begin, relative_size, trial};
use super::truncated_cg::{Path, Subproblem};
use super::weights::Weights;

/// Most free variables for the whole Hessian: of more, products with it are cheaper.
const MOST_FOR_HESSIAN: usize = 20;
/// Steps are accepted that gain this part of what is promised.
const LEAST_GAIN: f64 = 1e-4;

/// The search.
#[derive(Default)]
pub(crate) struct NewtonTrustRegion {
    progress: Progress,
    /// Weights D, from the roots of the Hessian's diagonal where that is known.
    weights: Weights,
    /// `None` before the first step.
    radius: Option<f64>,
    /// The last Hessian, if they are computed.
    last: Option<Hessian>,
}

impl SearchMethod for NewtonTrustRegion {
    fn name(&self) -> &'static str {
        Method::NewtonTrustRegion.name()
    }

    fn begin(&mut self, evaluator: &mut ObjectiveEvaluator) -> Step<Point> {
        let (point, progress) = begin(evaluator)?;
        self.progress = progress;
        Ok(point)
    }

    fn step(&mut self, evaluator: &mut ObjectiveEvaluator, current: &Point) -> Step<Point> {
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
            let offer = Offer { promise, most, least_gain: LEAST_GAIN };
            let acceptance = self.progress.judge(evaluator, current, &next, offer, &mut trials)?;
            let slope = dot(&d, &current.scaled_gradient);
            let taken = Taken { length, slope, gain: current.cost - next.cost, promise };
            if acceptance != Acceptance::AcceptedInNoise {
                radius = taken.radius(radius, !step.is_cut);
            }
            if acceptance != Acceptance::Rejected {
                self.radius = Some(radius);
                let limited = step.is_cut || trials.any_failed();
                return self.progress.accept(evaluator, current, Accepted { point: next, limited, how }, most);
            }
        }
    }
}

impl NewtonTrustRegion {
    /// Computes the Hessian, if that is cheap enough, and stops at a minimum; says whether this is a saddle.
    fn examine(&mut self, evaluator: &mut ObjectiveEvaluator, current: &Point) -> Step<bool> {
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

/// The quadratic model around a point, in y = D d.
struct Model {
    /// Weights D.
    weights: Vec<f64>,
    gradient: Vec<f64>,
    /// Least and largest step of each variable.
    ranges: Vec<(f64, f64)>,
    /// Variables that bounds hold.
    held: Vec<bool>,
    /// Largest trusted step in each component of d.
    limits: Vec<f64>,
}

impl Model {
    fn new(weights: Vec<f64>, evaluator: &ObjectiveEvaluator, current: &Point) -> Self {
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

fn divide(y: &[f64], weights: &[f64]) -> Vec<f64> {
    y.iter().zip(weights).map(|(y, w)| y / w).collect()
}
