//! Profile likelihoods.

use costate::cost::Quadrature;
use costate::noise::{NoiseLevel, SyntheticNoise};
use costate::{Hht, Matrix, Model, Number, Parameter, Plain, Quantity, Signature, Simulation, State, TimeGrid};
use costate_identify::optimise::Flow;
use costate_identify::problem::Problem;
use costate_identify::profile::{Identifiable, Profiles, Side, profiles};
use costate_identify::statistics::{Noise, Statistics};
use costate_identify::work::Work;
use costate_identify::{Settings, identify};
use std::sync::Arc;

/// q'' = u_0 sin t + u_1 cos 3 t + (what `shape` says).
#[derive(Clone)]
struct Forced {
    shape: Shape,
}

#[derive(Clone, Copy)]
enum Shape {
    /// Nothing more: the residuals are linear in the parameters.
    Linear,
    /// u_2 goes with u_0 everywhere.
    Sum,
    /// e^-u_2 saturates: the data say that u_2 is large, no more.
    Saturated,
}

impl Model for Forced {
    fn signature(&self) -> Signature {
        let mut parameters = vec![Parameter::new("u_0", "N", 2.0), Parameter::new("u_1", "N", -1.0)];
        match self.shape {
            Shape::Linear => {}
            Shape::Sum => parameters.push(Parameter::new("u_2", "N", 1.0)),
            Shape::Saturated => parameters.push(Parameter::new("u_2", "1", 9.0)),
        }
        Signature {
            coordinates: vec![Quantity::new("q", "m")],
            outputs: vec![Quantity::new("a", "m/s^2")],
            parameters,
            ..Signature::new("forced")
        }
    }

    fn initial<D: Number>(&self, _u: &[D], _q: &mut [D], _v: &mut [D]) {}

    fn mass<D: Number>(&self, _q: &[D], _u: &[D], m: &mut Matrix<D>) {
        m[(0, 0)] = D::from(1.0);
    }

    fn force<D: Number>(&self, t: D, _q: &[D], _v: &[D], _w: &[D], u: &[D], force: &mut [D]) {
        let more = match self.shape {
            Shape::Linear => D::from(0.0),
            Shape::Sum => u[2] * t.sin(),
            Shape::Saturated => (-u[2]).exp() * (t * 7.0).sin() * 10.0,
        };
        force[0] = u[0] * t.sin() + u[1] * (t * 3.0).cos() + more;
    }

    fn output<D: Number>(&self, _t: D, x: &State<'_, D>, _u: &[D], y: &mut [D]) {
        y[0] = x.a[0];
    }
}

fn problem(shape: Shape) -> Problem {
    let grid = TimeGrid::steps(0.0, 0.05, 120).unwrap();
    let system = Arc::new(Plain::new(Forced { shape }).unwrap());
    let simulation = Simulation::new(system, Hht::new(-0.05).unwrap(), grid, vec![]).unwrap();
    let optimum = simulation.signature().nominal();
    let problem = Problem::synthetic("forced", simulation, &optimum, &optimum, &["a"], Quadrature::Unit).unwrap();
    problem.with_noise(&SyntheticNoise { seed: 2, level: NoiseLevel::Relative(0.05) }).unwrap()
}

fn of(problem: &Problem) -> Profiles {
    let found = identify(problem, &Settings::default(), &mut |_| Flow::Continue).unwrap();
    let statistics = Statistics::of(problem, &found, Noise::Estimated).unwrap();
    profiles(problem, &found, &statistics, &Settings::default(), &problem.free(), (&Work::default(), &|_, _, _| {}))
        .unwrap()
}

/// Protects the scale: of residuals that are linear in the parameters, profiles are the parabolas of the standard errors, and so are
/// their intervals; to the tolerance with which ends are looked for.
#[test]
fn profiles_of_linear_residuals_are_parabolas() {
    let found = of(&problem(Shape::Linear));
    assert!(found.better.is_none());
    for own in &found.profiles {
        assert_eq!(own.verdict, Identifiable::Yes);
        for point in &own.points {
            let expected = (point.value - own.value).abs() / own.standard_error;
            assert!((point.excess - expected).abs() < 1e-5 * (1.0 + expected), "{}: {point:?} {expected}", own.name);
        }
        let ((lower, upper), (from, to)) = (own.interval(), own.linear);
        let width = to - from;
        assert!((lower - from).abs() < 1e-3 * width && (upper - to).abs() < 1e-3 * width, "{own:?}");
    }
}

/// Protects verdicts: parameters that make up for each other have no interval, and one that the data only keep from falling has a lower
/// end alone; the others keep theirs.
#[test]
fn verdicts_tell_what_data_do_not_determine() {
    let found = of(&problem(Shape::Sum));
    let verdicts: Vec<Identifiable> = found.profiles.iter().map(|own| own.verdict).collect();
    assert_eq!(verdicts, [Identifiable::No, Identifiable::Yes, Identifiable::No]);
    assert!(matches!(found.profiles[0].lower, Side::Open(_)) && found.profiles[0].remarks().len() == 2);
    let found = of(&problem(Shape::Saturated));
    let verdicts: Vec<Identifiable> = found.profiles.iter().map(|own| own.verdict).collect();
    assert_eq!(verdicts, [Identifiable::Yes, Identifiable::Yes, Identifiable::FromBelow]);
    let (lower, upper) = found.profiles[2].interval();
    assert!(lower > 1.0 && lower < 9.0 && upper == f64::INFINITY, "{lower} {upper}");
}

/// Protects bounds: a walk ends at its bound, which is no end of the interval: from that side the data do not limit the parameter, and of one between
/// two bounds that they do not reach, they tell hardly anything (Raue et al. 2009). A bound beyond the interval's end changes nothing.
#[test]
fn bounds_end_profiles() {
    let mut bounded = problem(Shape::Linear);
    bounded.parameters[0].lower = 1.99;
    let found = of(&bounded);
    assert_eq!(found.profiles[0].lower, Side::Bound(1.99));
    assert!(found.profiles[0].points.iter().all(|point| point.value >= 1.99));
    assert!(found.profiles[0].remarks()[0].contains("lower bound 1.99"), "{:?}", found.profiles[0].remarks());
    assert_eq!(found.profiles[0].verdict, Identifiable::FromAbove);
    let (lower, upper) = found.profiles[0].interval();
    assert!(lower == f64::NEG_INFINITY && upper > 2.0 && upper.is_finite(), "{lower} {upper}");
    bounded.parameters[0].upper = 2.01;
    let found = of(&bounded);
    assert_eq!(found.profiles[0].upper, Side::Bound(2.01));
    assert_eq!(found.profiles[0].verdict, Identifiable::Hardly);
    (bounded.parameters[0].lower, bounded.parameters[0].upper) = (-2.0, 6.0);
    let found = of(&bounded);
    assert_eq!(found.profiles[0].verdict, Identifiable::Yes);
    let mut above = problem(Shape::Linear);
    above.parameters[1].upper = -0.99;
    let found = of(&above);
    assert_eq!((&found.profiles[1].upper, found.profiles[1].verdict), (&Side::Bound(-0.99), Identifiable::FromBelow));
}

/// Protects against intervals of nothing: without noise there are none, and the sentence says what to do.
#[test]
fn data_without_noise_have_no_profiles() {
    let mut clean = problem(Shape::Linear);
    let optimum = clean.optimum.clone().unwrap();
    let simulation = clean.first().simulation.clone();
    clean = Problem::synthetic("forced", simulation, &optimum, &[1.0, 1.0], &["a"], Quadrature::Unit).unwrap();
    let found = identify(&clean, &Settings::default(), &mut |_| Flow::Continue).unwrap();
    let statistics = Statistics::of(&clean, &found, Noise::Estimated).unwrap();
    let error =
        profiles(&clean, &found, &statistics, &Settings::default(), &clean.free(), (&Work::default(), &|_, _, _| {}))
            .unwrap_err()
            .to_string();
    assert!(error.contains("round-off") && error.contains("--noise given"), "{error}");
}

/// Protects intervals from fits of the other parameters that fail: where these make up for each other down to a bound, a fit beside the bound that begins far
/// from its minimum must not be taken for a rise of the cost. J, d and k of the motor are known up to a common factor, which noise limits from above alone.
#[test]
fn fits_that_fail_beside_a_bound_end_no_interval() {
    let registry = costate_models::registry().unwrap();
    let entry = registry.get("dc_motor").unwrap();
    let problem = entry.problem(&entry.scenario).unwrap();
    let problem = problem.with_noise(&SyntheticNoise { seed: 1, level: NoiseLevel::Relative(0.01) }).unwrap();
    let found = identify(&problem, &Settings::default(), &mut |_| Flow::Continue).unwrap();
    let statistics = Statistics::of(&problem, &found, Noise::Estimated).unwrap();
    let places: Vec<usize> = ["J", "d"].iter().flat_map(|name| problem.places(name).unwrap()).collect();
    let work = (&Work::default(), &|_: &str, _: usize, _: usize| {});
    let found = profiles(&problem, &found, &statistics, &Settings::default(), &places, (work.0, work.1)).unwrap();
    for own in &found.profiles {
        // where J is at its bound, 1e-9 kg m^2, d cannot follow any more
        let is_bound = match &own.lower {
            Side::Bound(_) => own.name == "J",
            Side::BoundOf(_, other) => own.name == "d" && other == "J",
            _ => false,
        };
        assert!(is_bound, "{}: {:?}", own.name, own.lower);
        assert_eq!(own.verdict, Identifiable::FromAbove, "{}", own.name);
    }
}
