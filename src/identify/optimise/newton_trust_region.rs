//! Trust-region Newton with truncated conjugate gradients (Steihaug 1983; Lin & Moré 1999).
//!
//! Up to [`MOST_FOR_HESSIAN`] free variables, the whole Hessian, which one sweep gives at about the price of one product a
//! variable, is cheaper than as many products as a solution takes, one sweep each; then its diagonal also gives the weights of
//! the trust region, and its eigenvalues tell a saddle from a minimum. With more variables only products are formed, as many as
//! the model's slopes need to fall by min(1/10, √(|g|/|g_start|)), which makes convergence superlinear.

use super::evaluation::{Evaluator, Halt, How, Point, Step, dot, norm};
use super::executor::Search;
use super::hessian_model::Hessian;
use super::method::CurvedMethod;
use super::outcome::{Curvature, Reason};
use super::progress::Progress;
use super::trial::{Accepted, Offer, Taken, Trials, Verdict, begin, relative_size, trial};
use super::truncated_cg::{Path, Subproblem};
use super::weights::Weights;

/// With more free variables, products with the Hessian are cheaper than the Hessian.
const MOST_FOR_HESSIAN: usize = 20;
/// Steps are accepted that gain this part of what is promised.
const LEAST_GAIN: f64 = 1e-4;

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
        let is_small = self.progress.is_gradient_small(current, evaluator.options.gradient_tolerance);
        let hessian = if evaluator.scaling.free_count() <= MOST_FOR_HESSIAN {
            if let Some(last) = &self.last {
                last.stop_at_minimum(evaluator, &self.progress, current)?;
            }
            let hessian = Hessian::at(evaluator, current)?;
            hessian.stop_at_minimum(evaluator, &self.progress, current)?;
            Some(&*self.last.insert(hessian))
        } else {
            None
        };
        let is_saddle = is_small && hessian.is_some_and(|hessian| hessian.curvature == Curvature::Negative);
        let is_unsure = hessian.is_some_and(|hessian| hessian.curvature == Curvature::Positive);
        if is_small && !is_saddle && !is_unsure {
            return Err(Halt::Stop(Reason::GradientSmall));
        }
        let weights = match hessian {
            Some(Hessian { matrix, .. }) => {
                self.weights.update((0..n).map(|i| matrix[(i, i)].abs().sqrt()), &current.x, &evaluator.scaling)
            }
            None => vec![1.0; n],
        };
        // at first, as if every variable changed by its size
        let mut radius = self.radius.unwrap_or_else(|| norm(weights.iter().copied()));
        let limits = evaluator.scaling.trusted_steps(&current.x);
        let size = |radius: f64| {
            let (weights, limits) = (&weights, &limits);
            // in y = D d
            move |y: &[f64]| {
                let farthest = y.iter().zip(weights).zip(limits).map(|((y, w), limit)| (y / w).abs() / limit);
                farthest.fold(norm(y.iter().copied()) / radius, f64::max)
            }
        };
        let divided = |y: &[f64]| -> Vec<f64> { y.iter().zip(&weights).map(|(y, w)| y / w).collect() };
        let gradient = divided(&current.scaled_gradient);
        let held = evaluator.scaling.held(current);
        let ranges: Vec<(f64, f64)> = (0..n)
            .map(|i| evaluator.scaling.range(i, current.x[i]))
            .zip(&weights)
            .map(|((least, most), w)| (least * w, most * w))
            .collect();
        let path = match hessian {
            Some(hessian) if is_saddle => {
                let sign = if dot(&hessian.downwards, &current.scaled_gradient) > 0.0 { -1.0 } else { 1.0 };
                let p: Vec<f64> = hessian.downwards.iter().zip(&weights).map(|(d, w)| sign * d * w).collect();
                let product = divided(&hessian.times(&divided(&p)));
                Path::straight(&p, &product, &ranges, &size(radius))
            }
            Some(hessian) => {
                let subproblem = Subproblem {
                    gradient: &gradient,
                    ranges: &ranges,
                    held: &held,
                    tolerance: 1e-12,
                    most_products: 10 * n,
                };
                Path::follow(&subproblem, &size(radius), &mut |p| Ok(Some(divided(&hessian.times(&divided(p))))))?
            }
            None => {
                let tolerance = self.progress.relative_gradient(current).sqrt().min(0.1);
                let subproblem =
                    Subproblem { gradient: &gradient, ranges: &ranges, held: &held, tolerance, most_products: 2 * n };
                Path::follow(&subproblem, &size(radius), &mut |p| evaluator.hessian_vector(current, p))?
            }
        };
        let curvature = hessian.map_or(path.curvature, |hessian| hessian.curvature);
        let most = path.within(&gradient, &size(radius)).promise;
        let mut trials = Trials::default();
        loop {
            let step = path.within(&gradient, &size(radius));
            let (d, promise) = (divided(&step.d), step.promise);
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
