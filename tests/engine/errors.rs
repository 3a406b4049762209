//! What is refused, and that every refusal names the quantity, the place and the remedy.

use crate::common;

use common::Case;
use costate::scheme::{Hht, Scheme};
use costate::sensitivity::{Gradient, Method};
use costate::{Error, Interpolation, Matrix, Model, Number, Parameter, Plain, Signal, Signature, Simulation, TimeGrid};
use costate_check::{CheckOptions, check_products};
use costate_parts::assembly::{Assembler, Connection, Element};
use costate_parts::spatial::{Body, Inertia, Mechanism};
use std::sync::Arc;

/// What is wrong with [`Faulty`].
#[derive(Debug, Clone, Copy, PartialEq)]
enum Fault {
    RepeatedRow,
    EmptyRow,
    CombinedRow,
    Massless,
    /// √(0.2 - x) where x moves past 0.2.
    Root,
    /// A step without a solution: the force jumps across zero.
    Jump,
    Overflow,
    InitialNaN,
    NegativeStiffness,
}

/// Three coordinates and up to three constraints; `x` moves to the right with 1 m/s.
#[derive(Debug, Clone, Copy)]
struct Faulty(Fault);

impl Model for Faulty {
    fn signature(&self) -> Signature {
        let plain = Signature::new("faulty")
            .coordinates([("x", "m"), ("slider", "m"), ("z", "m")])
            .parameters([Parameter::new("k", "1", 1.0)]);
        match self.0 {
            Fault::RepeatedRow | Fault::EmptyRow => plain.constraints([("joint", "m"), ("copy", "m")]),
            Fault::CombinedRow => plain.constraints([("first", "m"), ("second", "m"), ("sum", "m")]),
            _ => plain,
        }
    }

    fn initial<D: Number>(&self, u: &[D], q: &mut [D], v: &mut [D]) {
        v[0] = D::from(1.0);
        if self.0 == Fault::InitialNaN {
            q[2] = (-u[0]).sqrt();
        }
        if !self.signature().constraints.is_empty() {
            v[0] = D::from(0.0);
        }
    }

    fn mass<D: Number>(&self, _q: &[D], _u: &[D], m: &mut Matrix<D>) {
        for j in 0..3 {
            m[(j, j)] = D::from(if j == 1 && self.0 == Fault::Massless { 0.0 } else { 1.0 });
        }
    }

    fn force<D: Number>(&self, t: D, q: &[D], _v: &[D], _w: &[D], u: &[D], force: &mut [D]) {
        match self.0 {
            Fault::Root => force[0] = u[0] * (-q[0] + 0.2).sqrt() * 1e-3,
            // pulls back to 0 from both sides, and is nowhere in between
            Fault::Jump if t.re() > 0.205 => force[1] = D::from(if q[1] > D::from(0.0) { -1e3 } else { 1e3 }),
            Fault::Overflow => force[2] = (t * 1e4).exp(),
            // M - β h² k is zero at α = 0 and h = 1/8 s
            Fault::NegativeStiffness => force[1] = q[1] * 256.0,
            _ => {}
        }
    }

    fn constraint<D: Number>(&self, _t: D, q: &[D], u: &[D], c: &mut [D]) {
        match self.0 {
            Fault::RepeatedRow => {
                c[0] = q[0] - q[1] * u[0];
                c[1] = (q[0] - q[1] * u[0]) * 2.0;
            }
            Fault::EmptyRow => c[0] = q[0] - q[1],
            Fault::CombinedRow => {
                c[0] = q[0] - q[1];
                c[1] = q[1] - q[2];
                c[2] = c[0] + c[1];
            }
            _ => {}
        }
    }
}

fn run(fault: Fault) -> Error {
    let case = Case::new(Faulty(fault), &[1.0], Vec::new(), 0.01, 100);
    case.simulation().run(&case.u).map(|run| run.counters).unwrap_err()
}

fn assert_says(error: &Error, words: &[&str]) {
    let text = error.to_string();
    for word in words {
        assert!(text.contains(word), "`{word}` is missing in: {text}");
    }
}

/// Protects the message on redundant constraints: the rows by name, what they repeat, and what to do.
#[test]
fn redundant_constraints_are_named() {
    let error = run(Fault::RepeatedRow);
    assert!(matches!(error, Error::Singular { .. }), "{error}");
    assert_says(&error, &["1 of the 2", "row `copy` repeats `joint`", "rank 1", "remove the redundant rows"]);
    let error = run(Fault::EmptyRow);
    assert_says(&error, &["row `copy` has no coordinate in it"]);
    let error = run(Fault::CombinedRow);
    assert_says(&error, &["row `sum` repeats `first`, `second`", "rank 2"]);
}

/// Protects the message on a coordinate that nothing determines.
#[test]
fn a_massless_unconstrained_coordinate_is_named() {
    let error = run(Fault::Massless);
    assert!(matches!(error, Error::Singular { time: 0.0, .. }), "{error}");
    assert_says(&error, &["`slider`", "neither mass nor a constraint", "give it mass"]);
    assert!(!error.to_string().contains("`x`"), "{error}");
}

/// Protects the message where only Newton's matrix is singular, at a step and not at the start.
#[test]
fn a_stiffness_that_cancels_the_mass_is_told_from_a_missing_one() {
    let case = Case::new(Faulty(Fault::NegativeStiffness), &[1.0], Vec::new(), 0.125, 10);
    let error = case.simulation().run(&case.u).map(|run| run.counters).unwrap_err();
    let Error::Singular { time, .. } = error else { panic!("{error}") };
    assert!((time - 0.125).abs() < 1e-12);
    assert_says(&error, &["stiffness or damping cancels the mass", "step size"]);
}

/// Protects failures of the iteration: time, step, and the quantity by name; never a wrong trajectory.
#[test]
fn values_that_are_not_finite_are_named_with_time_and_step() {
    let error = run(Fault::Root);
    let Error::NotFinite { ref quantity, time, step, value } = error else { panic!("{error}") };
    assert!(quantity.contains("`x`") && value.is_nan(), "{error}");
    assert!((time - 0.01 * step as f64).abs() < 1e-12 && (0.19..=0.23).contains(&time), "{error}");
    assert_says(&error, &["check its parameters"]);

    let error = run(Fault::Overflow);
    let Error::NotFinite { ref quantity, time, step, .. } = error else { panic!("{error}") };
    assert!(quantity.contains("`z`") && step >= 7 && (time - 0.01 * step as f64).abs() < 1e-12, "{error}");

    let error = run(Fault::InitialNaN);
    let Error::NotFinite { ref quantity, step: 0, .. } = error else { panic!("{error}") };
    assert_eq!(quantity, "initial position of `z`");
}

/// Protects against accepting a step that has no solution.
#[test]
fn a_step_without_a_solution_fails_with_its_place() {
    let error = run(Fault::Jump);
    let Error::NewtonFailed { time, step, step_size, iterations, residual, ref equation } = error else {
        panic!("{error}")
    };
    assert!(step == 21 && (time - 0.21).abs() < 1e-12 && step_size == 0.01, "{error}");
    assert!(iterations >= 5 && residual > 1.0, "{error}");
    assert_eq!(equation, "motion of `slider`");
    assert_says(&error, &["t = 0.21", "step 21", "take a smaller step"]);
}

/// Protects the range of α, NaN included, and both ends of it.
#[test]
fn alpha_outside_its_range_is_refused() {
    for alpha in [0.01, -0.34, f64::NAN, f64::INFINITY, 1.0] {
        let error = Hht::new(alpha).unwrap_err();
        assert_says(&error, &["alpha", "[-1/3, 0]", "use -0.1"]);
    }
    for alpha in [0.0, -0.0, -1.0 / 3.0, -0.1] {
        assert_eq!(Hht::new(alpha).unwrap().settings(), [("alpha", alpha)]);
    }
}

/// Protects inputs: as many signals as the model has, known over the whole time, finite.
#[test]
fn signals_that_do_not_fit_are_refused() {
    let mount = |signals| {
        let system = common::ready("engine_mount");
        let grid = TimeGrid::uniform(0.0, 1.0, 0.01).unwrap();
        Simulation::new(system, Hht::new(-0.1).unwrap(), grid, signals).unwrap_err()
    };
    assert_says(&mount(Vec::new()), &["engine_mount", "0 signals", "1 inputs", "F"]);
    assert_says(&mount(vec![Signal::constant(0.0); 2]), &["2 signals", "F"]);
    let short = Signal::sampled(&[0.0, 0.3, 0.6], &[1.0, 2.0, 3.0], Interpolation::Linear).unwrap();
    assert_says(&mount(vec![short]), &["input `F`", "0.6 s to 1 s"]);
    assert_says(&mount(vec![Signal::function(|t| 1.0 / (t - 0.5))]), &["input `F`", "inf", "t = 0.5 s"]);
    let system = common::ready("pendulum");
    let grid = TimeGrid::uniform(0.0, 1.0, 0.01).unwrap();
    let error = Simulation::new(system, Hht::new(-0.1).unwrap(), grid, vec![Signal::constant(0.0)]).unwrap_err();
    assert_says(&error, &["1 signals", "0 inputs", "give none"]);
}

/// Protects time grids: steps that divide the time, positive, increasing; a remedy that works.
#[test]
fn time_grids_that_make_no_sense_are_refused() {
    let error = TimeGrid::uniform(0.0, 1.0, 0.03).unwrap_err();
    assert_says(&error, &["0.03 s does not divide", "use 0.025 s"]);
    assert!(TimeGrid::uniform(0.0, 1.0, 1.0 / 34.0).is_ok());
    for (start, end, step) in [
        (0.0, 1.0, 0.0),
        (0.0, 1.0, -0.1),
        (0.0, 1.0, f64::NAN),
        (1.0, 1.0, 0.1),
        (1.0, 0.0, 0.1),
        (0.0, f64::NAN, 0.1),
    ] {
        assert!(matches!(TimeGrid::uniform(start, end, step), Err(Error::Invalid { .. })), "{start} {end} {step}");
    }
    assert_says(&TimeGrid::uniform(0.0, 1.0, 1e-13).unwrap_err(), &["larger step"]);
    assert_says(&TimeGrid::through(&[0.0, 0.2, 0.2], 1).unwrap_err(), &["time 2", "0.2 s"]);
    assert_says(&TimeGrid::through(&[0.0], 1).unwrap_err(), &["at least a start and an end"]);
    assert_says(&TimeGrid::through(&[0.0, f64::NAN], 1).unwrap_err(), &["finite"]);
    assert_says(&TimeGrid::through(&[0.0, 1.0], 0).unwrap_err(), &["0 substeps"]);
}

/// Protects parameters: their number and values, in runs, costs and gradients of every method.
#[test]
fn parameters_that_are_no_numbers_are_refused_by_name() {
    let case = common::oscillator();
    let simulation = case.simulation();
    assert_says(&simulation.run(&[1.0, f64::NAN, 0.3, 0.1, 0.0]).unwrap_err(), &["parameter `c`", "NaN"]);
    assert_says(&simulation.run(&[1.0, 30.0]).unwrap_err(), &["oscillator", "2 values", "5 parameters"]);
    let cost = case.cost_of(common::ALL).differentiated(costate::cost::Quadrature::Rectangle);
    let mut workspace = Gradient::new(&simulation, &*cost).unwrap();
    let mut gradient = [0.0; 5];
    for method in [Method::Adjoint, Method::Tangent, Method::Difference] {
        let u = [1.0, 30.0, f64::INFINITY, 0.1, 0.0];
        let error = workspace.cost_and_gradient(&u, method, &mut gradient).unwrap_err();
        assert_says(&error, &["parameter `d`", "inf"]);
        // and the workspace still works
        workspace.cost_and_gradient(&case.u, method, &mut gradient).unwrap();
    }
}

/// Protects a workspace against its own past: after a run that failed it gives the very same numbers as a new one.
#[test]
fn a_failed_run_leaves_no_trace() {
    let case = common::pendulum().alpha(-0.1);
    let cost = case.cost_of(common::ALL).differentiated(costate::cost::Quadrature::Rectangle);
    let simulation = case.simulation();
    let mut fresh = vec![0.0; 6];
    let value =
        Gradient::new(&simulation, &*cost).unwrap().cost_and_gradient(&case.u, Method::Adjoint, &mut fresh).unwrap();
    let mut workspace = Gradient::new(&simulation, &*cost).unwrap();
    let mut gradient = vec![0.0; 6];
    // no mass; then a pendulum whose gravity overflows
    for (k, bad) in [(0, 0.0), (3, 1e308)] {
        let mut u = case.u.clone();
        u[k] = bad;
        assert!(workspace.cost_and_gradient(&u, Method::Adjoint, &mut gradient).is_err());
        let again = workspace.cost_and_gradient(&case.u, Method::Adjoint, &mut gradient).unwrap();
        assert_eq!((again, &gradient), (value, &fresh));
    }
}

/// Two coordinates with any mass matrix, m[(0, 0)], m[(0, 1)], m[(1, 0)], m[(1, 1)] of position and parameter; and a constraint
/// x + slope y = 0, if a slope is given.
#[derive(Clone, Copy)]
struct Weighed {
    entries: [f64; 4],
    by_position: f64,
    by_parameter: f64,
    slope: Option<f64>,
}

const WEIGHED: Weighed = Weighed { entries: [2.0, 0.5, 0.5, 1.0], by_position: 0.0, by_parameter: 0.0, slope: None };

impl Model for Weighed {
    fn signature(&self) -> Signature {
        let signature = Signature::new("weighed").coordinates([("x", "m"), ("angle", "rad")]);
        let signature = signature.parameters([Parameter::new("shift", "1", 0.0), Parameter::new("m", "kg", 1.0)]);
        if self.slope.is_some() { signature.constraints([("tie", "m")]) } else { signature }
    }
    fn mass<D: Number>(&self, q: &[D], u: &[D], m: &mut Matrix<D>) {
        for (k, entry) in self.entries.into_iter().enumerate() {
            m[(k / 2, k % 2)] = u[1] * entry;
        }
        m[(0, 1)] += q[0] * self.by_position + u[0] * self.by_parameter;
    }
    fn force<D: Number>(&self, _t: D, _q: &[D], _v: &[D], _w: &[D], _u: &[D], force: &mut [D]) {
        force[0] = D::from(1.0);
    }
    fn constraint<D: Number>(&self, _t: D, q: &[D], _u: &[D], c: &mut [D]) {
        if let Some(slope) = self.slope {
            c[0] = q[0] + q[1] * slope;
        }
    }
}

/// Protects motion from a mass matrix that is none: entries that differ from their mirror images are refused by place and name,
/// wherever they differ: at the start, by position, or by a parameter that is nominally zero.
#[test]
fn unsymmetric_mass_matrices_are_refused() {
    let refused = |model: Weighed| Plain::new(model).err().map(|error| error.to_string()).unwrap_or_default();
    let text = refused(Weighed { entries: [2.0, 0.5, 0.0, 1.0], ..WEIGHED });
    for part in ["`weighed`", "not symmetric", "m[(0, 1)] = 5.000000e-1", "m[(1, 0)] = 0.0", "`x` and `angle`"] {
        assert!(text.contains(part), "{part} is not in: {text}");
    }
    assert!(refused(Weighed { by_position: 1e-3, ..WEIGHED }).contains("m[(0, 1)]"));
    assert!(refused(Weighed { by_parameter: 1e-3, ..WEIGHED }).contains("m[(0, 1)]"));
    // round-off is no asymmetry
    assert_eq!(refused(Weighed { entries: [2.0, 0.5, 0.5 * (1.0 + 1e-15), 1.0], ..WEIGHED }), "");
    // of an element, by the assembly's names
    struct Lopsided;
    impl Element for Lopsided {
        fn mass<D: Number>(&self, _q: &[D], _u: &[D], m: &mut Matrix<D>) {
            (m[(0, 0)], m[(1, 1)]) = (D::from(1.0), D::from(2.0));
            m[(1, 0)] = D::from(0.3);
        }
    }
    let mut assembler = Assembler::new("lopsided");
    let places = ["left", "right"].map(|name| assembler.coordinate(name, "m", 0.0, 0.0));
    assembler.element("weight", Lopsided, Connection::to(places));
    let error = assembler.build().err().unwrap();
    assert_says(&error, &["`lopsided`", "m[(1, 0)] = 3.0", "`right` and `left`", "m[(i, j)]"]);
    let report = check_products(&Plain::new(WEIGHED).unwrap(), &CheckOptions::default()).unwrap();
    assert!(report.passed() && report.agreeing.iter().any(|block| block.symbol == "M = Mᵀ"), "{report}");
}

/// Protects motion from negative kinetic energy: a negative mass is refused by name, and so are couplings larger than the masses,
/// unless the constraints leave no such motion free; for other parameters the run is. Masses of zero are legal, with and without a
/// constraint, and the seven coordinates of a body with its six freedoms.
#[test]
fn impossible_mass_matrices_are_refused() {
    let refused = |entries: [f64; 4], slope: Option<f64>| {
        Plain::new(Weighed { entries, slope, ..WEIGHED }).err().map(|error| error.to_string()).unwrap_or_default()
    };
    for slope in [None, Some(0.1)] {
        let text = refused([2.0, 0.0, 0.0, -1e-12], slope);
        assert!(text.contains("m[(1, 1)] = -1.0") && text.contains("`angle` has a negative mass"), "{text}");
    }
    let text = refused([1.0, 2.0, 2.0, 1.0], None);
    assert!(text.contains("a motion, of `x`, `angle`, has negative kinetic energy"), "{text}");
    assert!(refused([1.0, 2.0, 2.0, 1.0], Some(1.0)).contains("that the constraints leave free"));
    assert_eq!(refused([1.0, 2.0, 2.0, 1.0], Some(-1.0)), "");
    for legal in [[0.0; 4], [1.0, 0.0, 0.0, 0.0], [1.0, 2.0, 2.0, 4.0], [1e-15, 0.0, 0.0, 1e12]] {
        assert_eq!(refused(legal, None), "", "{legal:?}");
        assert_eq!(refused(legal, Some(0.5)), "", "{legal:?}");
    }
    let mut m = Mechanism::new("tumbling");
    let body = Body::new(2.0, Inertia::diagonal([1e-9, 1.0, 1.0])).center([0.3, 0.0, 1e-3]);
    let body = m.body("body", body.moving([0.0; 3], [1.0, 2.0, 3.0]));
    m.free(&body);
    m.build().unwrap();
    let run = |model: Weighed, mass: f64| {
        let grid = TimeGrid::uniform(0.0, 0.1, 0.01).unwrap();
        let simulation = Simulation::new(Arc::new(Plain::new(model).unwrap()), Hht::new(-0.1).unwrap(), grid, vec![]);
        simulation.unwrap().run(&[0.0, mass])
    };
    let error = run(WEIGHED, -1.0).unwrap_err();
    assert!(error.is_simulation_failure() && matches!(error, Error::ImpossibleMass { .. }), "{error}");
    assert_says(&error, &["t = 0 s", "`x`", "m[(0, 0)] = -2.0", "must not be negative"]);
    assert!(run(WEIGHED, 1.0).is_ok());
}

/// Protects a user's screen: a slip in a model or an element is one sentence, with the place in the source; Rust's own message does
/// not come before it. (The test runs itself once more, to see what is printed.)
#[test]
fn slips_are_told_once() {
    struct Short;
    impl Model for Short {
        fn signature(&self) -> Signature {
            Signature::new("short").coordinates([("x", "m")])
        }
        fn mass<D: Number>(&self, _q: &[D], _u: &[D], m: &mut Matrix<D>) {
            m[(0, 0)] = D::from(1.0);
        }
        fn force<D: Number>(&self, _t: D, q: &[D], _v: &[D], _w: &[D], _u: &[D], force: &mut [D]) {
            force[0] = -q[std::hint::black_box(1)];
        }
    }
    impl Element for Short {
        fn force<D: Number>(&self, _t: D, q: &[D], _v: &[D], _w: &[D], _u: &[D], force: &mut [D]) {
            force[0] = -q[std::hint::black_box(1)];
        }
    }
    if std::env::var_os("COSTATE_SLIPS").is_some() {
        let mut assembler = Assembler::new("assembly");
        let place = assembler.coordinate("x", "m", 0.0, 0.0);
        assembler.element("element", Short, Connection::to([place]));
        for error in [Plain::new(Short).err().unwrap(), assembler.build().err().unwrap()] {
            assert_says(&error, &["one of its functions panics: index out of bounds", "errors.rs:", "compare what it"]);
        }
        // other panics are reported as ever
        assert!(std::panic::catch_unwind(|| panic!("on purpose")).is_err());
        return;
    }
    let path = module_path!().split_once("::").map_or(String::new(), |(_, path)| format!("{path}::"));
    let mut again = std::process::Command::new(std::env::current_exe().unwrap());
    again.args(["--exact", &format!("{path}slips_are_told_once"), "--nocapture"]).env("COSTATE_SLIPS", "1");
    let output = again.output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{stderr}");
    assert!(String::from_utf8(output.stdout).unwrap().contains("1 passed"));
    assert_eq!(stderr.matches("panicked at").count(), 1, "{stderr}");
    assert!(stderr.contains("on purpose"), "{stderr}");
}

/// Protects programs whose `main` returns a [`costate::Result`], and those that unwrap one: what is printed is the sentence.
#[test]
fn debug_is_the_sentence() {
    let error = TimeGrid::uniform(0.0, -1.0, 0.1).unwrap_err();
    assert_eq!(format!("{error:?}"), error.to_string());
    assert_says(&error, &["there is no time between 0 s and -1 s", "let it end after it starts"]);
}

/// Protects programs from being ended by the system: what no memory holds is an error, by every way that a grid is made.
#[test]
fn grids_beyond_every_memory_are_errors() {
    for grid in [
        TimeGrid::uniform(0.0, 1e6, 1e-12),
        TimeGrid::uniform(-1e308, 1e308, 1.0),
        TimeGrid::steps(0.0, 1.0, usize::MAX),
        TimeGrid::through(&[0.0, 1.0, 3.0], usize::MAX),
    ] {
        let error = grid.unwrap_err();
        assert!(matches!(error, Error::Memory { .. }), "{error}");
        assert_says(&error, &["times of ", " EB of memory are needed, and ", "; "]);
    }
}
