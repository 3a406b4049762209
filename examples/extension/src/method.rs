//! Compass search (Hooke & Jeeves 1961): by costs alone, along one variable after the other.

use costate_identify::optimise::search::{Halt, How, ObjectiveEvaluator, Point, SearchMethod, Step};
use costate_identify::optimise::{Needs, OwnMethod, Reason};

/// The method by name.
pub const METHOD: OwnMethod = OwnMethod::new("compass", Needs::Gradient, || Box::new(Compass { reach: 0.1 }));

/// The search; how far it looks, in scaled variables.
struct Compass {
    reach: f64,
}

impl SearchMethod for Compass {
    fn name(&self) -> &'static str {
        "compass"
    }

    fn begin(&mut self, evaluator: &mut ObjectiveEvaluator) -> Step<Point> {
        let start = evaluator.evaluate_start()?;
        evaluator.record(&start, How::default())?;
        Ok(start)
    }

    fn step(&mut self, evaluator: &mut ObjectiveEvaluator, current: &Point) -> Step<Point> {
        while self.reach > evaluator.options().step_tolerance.max(1e-9) {
            for (i, direction) in (0..current.x.len()).flat_map(|i| [(i, 1.0), (i, -1.0)]) {
                let (lower, upper) = evaluator.bounds(i);
                let mut x = current.x.clone();
                x[i] = (x[i] + direction * self.reach).clamp(lower, upper);
                // a run that fails is a way that is closed
                if let Some(point) = evaluator.evaluate(&x)?.filter(|point| point.cost < current.cost) {
                    evaluator.record(&point, How::default())?;
                    return Ok(point);
                }
            }
            self.reach *= 0.5;
        }
        Err(Halt::Stop(Reason::StepSmall))
    }
}
