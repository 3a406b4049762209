//! The cost over two parameters, and how methods find their way through it.

use crate::ensemble::Ensemble;
use crate::optimise::{self, Flow, Iteration};
use crate::problem::Problem;
use crate::{Error, Result};
use crate::{Settings, identify_from};
use costate::memory;
use costate::parallel::{in_parallel, threads};

/// Margin of the map beyond starts, ways and ends, in parts of their extent.
const MARGIN: f64 = 0.2;
/// The least extent of a map, in sizes of its parameter.
const LEAST: f64 = 0.05;
/// A way that leaves this many extents of start and end is not followed by the map.
const FAR: f64 = 3.0;

/// Area of a map.
#[derive(Debug, Clone, PartialEq)]
pub struct Area {
    /// Places of the two parameters; the others stay where they start.
    pub parameters: [usize; 2],
    /// Ranges of the two parameters; without one, that of start, ends and the ways between.
    pub ranges: [Option<(f64, f64)>; 2],
    /// Points along each side.
    pub points: usize,
}

/// The way of a method.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Way {
    /// The method.
    pub method: optimise::Method,
    /// The two parameters at the start and after every step.
    pub points: Vec<[f64; 2]>,
    /// The cost at its end.
    pub cost: f64,
    /// Reason of its end, which says whether that is a minimum; or why it did not begin.
    pub reason: std::result::Result<optimise::Reason, String>,
    /// Simulations.
    pub evaluations: usize,
}

/// A map of the cost.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Landscape {
    /// Places of the two parameters, see [`Area::parameters`].
    pub parameters: [usize; 2],
    /// Values along both sides.
    pub sides: [Vec<f64>; 2],
    /// One row for each value of the second parameter; NaN where simulations fail.
    pub cost: Vec<Vec<f64>>,
    /// The ways of the methods, from the problem's start.
    pub ways: Vec<Way>,
}

impl Landscape {
    /// Follows the methods and works out the map; `done` is called after each row.
    ///
    /// # Errors
    /// Parameters that are one, ranges that are none, fewer than two points, or a map without any cost.
    pub fn of(
        problem: &Problem,
        area: &Area,
        methods: &[optimise::Method],
        settings: &Settings,
        done: &(dyn Fn() + Sync),
    ) -> Result<Self> {
        problem.validate()?;
        let [x, y] = area.parameters;
        let subject = || format!("the landscape of `{}`", problem.name);
        if x == y {
            let problem = format!("both sides are `{}`", problem.parameters[x].name);
            return Err(Error::invalid(subject(), problem, "name two parameters"));
        }
        if area.points < 2 {
            return Err(Error::invalid(subject(), "it has fewer than two points a side", "take 40, say"));
        }
        let numbers = area.points.saturating_mul(area.points);
        memory::check(
            || format!("a map of {0} x {0} points", area.points),
            memory::bytes_of(numbers),
            "take fewer, 40 say",
        )?;
        let mut ways = methods.to_vec();
        let ways = in_parallel(&mut ways, problem.at_once()?, |_, method| {
            Ok::<_, Error>(way(problem, [x, y], *method, settings))
        })?;
        let side = |place: usize| -> Result<Vec<f64>> {
            let (from, to) = match area.ranges[place] {
                Some(range) => range,
                None => extent(problem, area.parameters[place], ways.iter().map(|way| (way, place))),
            };
            if !(from < to && (to - from).is_finite()) {
                let name = &problem.parameters[area.parameters[place]].name;
                let problem = format!("the range of `{name}` is {from} to {to}");
                return Err(Error::invalid(subject(), problem, "give the smaller end first"));
            }
            Ok((0..area.points).map(|i| from + (to - from) * i as f64 / (area.points - 1) as f64).collect())
        };
        let sides = [side(0)?, side(1)?];
        let mut rows: Vec<f64> = sides[1].clone();
        let cost = in_parallel(&mut rows, threads()?, |_, second| {
            let mut engine = Ensemble::new(problem)?.interrupted_by(&settings.options.interrupt);
            let mut u = problem.start.clone();
            u[y] = *second;
            let cost = |first: &f64| {
                u[x] = *first;
                match engine.cost(&u) {
                    Err(error) if error.is_simulation_failure() => Ok(f64::NAN),
                    other => other,
                }
            };
            let row = sides[0].iter().map(cost).collect::<Result<Vec<f64>>>();
            done();
            row
        })?;
        if cost.iter().flatten().all(|cost| cost.is_nan()) {
            return Err(Error::invalid(subject(), "every simulation on it fails", "take other ranges"));
        }
        Ok(Landscape { parameters: [x, y], sides, cost, ways })
    }

    /// The least cost of the map, and the parameters there.
    pub fn least(&self) -> (f64, [f64; 2]) {
        let rows = self.cost.iter().zip(&self.sides[1]);
        let all = rows.flat_map(|(row, y)| row.iter().zip(&self.sides[0]).map(|(cost, x)| (*cost, [*x, *y])));
        all.filter(|(cost, _)| !cost.is_nan())
            .fold((f64::INFINITY, [f64::NAN; 2]), |least, own| if own.0 < least.0 { own } else { least })
    }
}

/// The way of one method over two parameters.
fn way(problem: &Problem, places: [usize; 2], method: optimise::Method, settings: &Settings) -> Way {
    let settings = Settings { method: Some(method), ..settings.clone() };
    let found = identify_from(problem, (&problem.start, &places), &settings, &mut |_: &Iteration| Flow::Continue);
    let pair = |u: &Vec<f64>| places.map(|k| u[k]);
    match found {
        Ok(found) => Way {
            method,
            points: found.history.iter().map(pair).collect(),
            cost: found.outcome.cost,
            reason: Ok(found.outcome.reason),
            evaluations: found.outcome.evaluations,
        },
        Err(error) => {
            let points = vec![pair(&problem.start)];
            Way { method, points, cost: f64::NAN, reason: Err(error.to_string()), evaluations: 0 }
        }
    }
}

/// The range of a parameter that shows starts and ends of all ways, and what is not far from these.
fn extent<'w>(problem: &Problem, k: usize, ways: impl Iterator<Item = (&'w Way, usize)> + Clone) -> (f64, f64) {
    let known = problem.optimum.iter().map(|optimum| optimum[k]);
    let join = |range: (f64, f64), value: f64| (range.0.min(value), range.1.max(value));
    let ends = ways.clone().filter(|(way, _)| way.reason.as_ref().is_ok_and(|reason| reason.was_successful()));
    let ends = ends.filter_map(|(way, place)| way.points.last().map(|point| point[place]));
    let start = problem.start[k];
    let (from, to) = known.chain(ends).fold((start, start), join);
    let width = (to - from).max(LEAST * problem.parameters[k].size_from(start));
    let is_near = |value: &f64| *value > from - FAR * width && *value < to + FAR * width;
    let all = ways.flat_map(|(way, place)| way.points.iter().map(move |point| point[place])).filter(is_near);
    let (from, to) = all.fold((from, to), join);
    let margin = MARGIN * (to - from).max(width);
    let parameter = &problem.parameters[k];
    ((from - margin).max(parameter.lower), (to + margin).min(parameter.upper))
}
