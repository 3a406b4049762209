//! Structure that is found once must hold everywhere: branches, many variables, shared seeds; and products of the waist
//! against its dense blocks.

use crate::common;

use common::ALL;
use common::compare::{Limits, compare, compare_within, taylor};
use common::mechanisms::{bead, branching, guided, wide};
use common::{Case, FORMS};
use costate::cost::Quadrature;
use costate::system::{
    Blocks, By, Equations, Evaluator, Level, Mode, OutputPoint, Point, StateVector, System, Weights,
};
use costate::{Matrix, Model, Number, Parameter, Plain, Signature};

/// Protects models with branches: variables that matter only on the side where the structure was not looked for.
#[test]
fn derivatives_are_exact_on_both_sides_of_a_branch() {
    let case = branching();
    let run = case.simulation().run(&case.u).unwrap();
    let x: Vec<f64> = (0..run.times().len()).map(|i| run.state(i).q[0]).collect();
    let y: Vec<f64> = (0..run.times().len()).map(|i| run.state(i).q[1]).collect();
    let both_sides = |values: &[f64], at: f64| values.iter().any(|v| *v > at) && values.iter().any(|v| *v < at);
    assert!(both_sides(&x, 0.0) && both_sides(&y, 0.3), "the test's mechanism never changes sides");
    for form in FORMS {
        for alpha in [-0.05, -0.3] {
            let case = case.clone().alpha(alpha).form(form);
            compare("branching", &case, &case.cost_of(ALL), Quadrature::Trapezoid);
        }
    }
}

/// Protects windows of the structure's search, several passes of dual numbers, and constraints with many variables.
#[test]
fn wide_models_have_exact_gradients() {
    for form in FORMS {
        let case = wide().alpha(-0.1).form(form);
        // the constraint is a sum of ten terms: ten times the round-off that one term leaves in λ
        let limits = Limits { textbook: 1e-10, tangent: 1e-11, value: 1e-10 };
        compare_within(limits, "wide", &case, &case.cost_of(ALL), Quadrature::Trapezoid);
        taylor("wide", &case, &case.cost_of(ALL));
    }
}

/// Numbers of about 1 without any pattern.
fn values(count: usize, salt: f64) -> Vec<f64> {
    (0..count).map(|i| (1.3 * i as f64 + salt).sin() + 0.2 * (salt * 7.0).cos()).collect()
}

fn times(matrix: &Matrix<f64>, x: &[f64]) -> Vec<f64> {
    (0..matrix.rows()).map(|i| (0..matrix.columns()).map(|j| matrix[(i, j)] * x[j]).sum()).collect()
}

fn transposed_times(matrix: &Matrix<f64>, x: &[f64]) -> Vec<f64> {
    (0..matrix.columns()).map(|j| (0..matrix.rows()).map(|i| matrix[(i, j)] * x[i]).sum()).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn combine(parts: &[(f64, Vec<f64>)]) -> Vec<f64> {
    (0..parts[0].1.len()).map(|i| parts.iter().map(|(factor, part)| factor * part[i]).sum()).collect()
}

fn assert_near(what: &str, seen: &[f64], expected: &[f64]) {
    let size = expected.iter().fold(1e-12f64, |s, x| s.max(x.abs()));
    for (i, (seen, expected)) in seen.iter().zip(expected).enumerate() {
        let error = (seen - expected).abs() / size;
        assert!(error <= 1e-13, "{what}, entry {i}: {seen:e} instead of {expected:e}");
    }
}

fn all_parts(x: &StateVector) -> Vec<f64> {
    [&x.q[..], &x.v, &x.a, &x.a_scheme, &x.lambda, &x.u].concat()
}

/// Values against each other, K against its definition by products, and products against central differences of the residual, for
/// every level with and without forces.
fn check_equations(name: &str, evaluator: &mut dyn Evaluator, x: &Point<'_>, equations: Equations, b: &Blocks) {
    let (n, m) = (x.q.len(), x.lambda.len());
    // only accelerations follow the unknown at their level
    let (position, velocity) = if equations.level == Level::Acceleration { (0.0, 0.0) } else { (0.03, 0.2) };
    let weights = Weights { acceleration: 1.1, position, velocity, state: velocity, compliance: 0.0, equations };
    let residual = |evaluator: &mut dyn Evaluator, x: &Point<'_>| {
        let (mut d, mut c) = (vec![0.0; n], vec![0.0; m]);
        evaluator.residual(x, equations, &mut d, &mut c);
        [d, c].concat()
    };
    let value = residual(evaluator, x);
    let (mut d, mut c, mut alone) = (vec![0.0; n], vec![0.0; m], vec![0.0; m]);
    let regular = evaluator.factorise(x, weights, &mut d, &mut c).is_ok();
    assert_near(&format!("{name}, {equations:?}: values"), &[d, c].concat(), &value);
    evaluator.constraint(equations.level, x, &mut alone);
    assert_near(&format!("{name}, {equations:?}: constraints"), &value[n..], &alone);
    // K z by products is what the factors solve
    let z = values(n + m, 0.7);
    let scaled = |factor: f64| z[..n].iter().map(|z| factor * z).collect::<Vec<f64>>();
    let along = StateVector {
        q: scaled(weights.position),
        v: scaled(weights.velocity),
        a: scaled(weights.acceleration),
        lambda: z[n..].to_vec(),
        u: vec![0.0; b.force_by_parameter.columns()],
        ..StateVector::default()
    };
    if regular && evaluator.linearise(x, weights).is_ok() {
        let mut product = vec![0.0; n + m];
        let (d, c) = product.split_at_mut(n);
        evaluator.push_forward(&along, d, c);
        c.iter_mut().for_each(|c| *c /= weights.of_level());
        let size = z.iter().fold(0.0f64, |s, z| s.max(z.abs()));
        for factors in ["linearise", "factorise"] {
            if factors == "factorise" {
                evaluator.factorise(x, weights, &mut vec![0.0; n], &mut vec![0.0; m]).unwrap();
            }
            let mut solution = product.clone();
            evaluator.solve(&mut solution);
            let error = solution.iter().zip(&z).fold(0.0f64, |e, (a, b)| e.max((a - b).abs())) / size;
            assert!(error < 1e-9, "{name}, {equations:?}: K after {factors} {error:e}");
        }
    }
    // along a direction of everything but the parameters
    let step = 1e-6;
    let [dq, dv, da] = [5.1, 5.2, 5.3].map(|salt| values(n, salt));
    let dlambda = values(m, 5.4);
    let moved = |evaluator: &mut dyn Evaluator, s: f64| {
        let add = |x: &[f64], dx: &[f64]| x.iter().zip(dx).map(|(x, dx)| x + s * dx).collect::<Vec<f64>>();
        let (q, v, a, lambda) = (add(x.q, &dq), add(x.v, &dv), add(x.a, &da), add(x.lambda, &dlambda));
        residual(evaluator, &Point { q: &q, v: &v, a: &a, lambda: &lambda, ..*x })
    };
    let (up, down) = (moved(evaluator, step), moved(evaluator, -step));
    let _ = evaluator.linearise(x, weights);
    let tangent = StateVector { q: dq, v: dv, a: da, lambda: dlambda, ..along };
    let (mut d, mut c) = (vec![0.0; n], vec![0.0; m]);
    evaluator.push_forward(&tangent, &mut d, &mut c);
    let product = [d, c].concat();
    let size = product.iter().chain(&value).fold(1.0f64, |s, x| s.max(x.abs()));
    for (i, slope) in product.iter().enumerate() {
        let difference = (up[i] - down[i]) / (2.0 * step);
        assert!((slope - difference).abs() < 1e-7 * size, "{name}, {equations:?}, {i}: {slope:e} {difference:e}");
    }
}

/// An evaluator at a point, with the blocks there.
struct Trial<'a> {
    name: String,
    signature: &'a Signature,
    evaluator: &'a mut dyn Evaluator,
    x: Point<'a>,
    blocks: Blocks,
}

const WEIGHTS: Weights = Weights {
    acceleration: 1.1,
    position: 0.03,
    velocity: 0.2,
    state: 0.2,
    compliance: 0.0,
    equations: Equations::MOTION,
};

impl Trial<'_> {
    fn place(&self, what: &str) -> String {
        format!("{}, {what}", self.name)
    }

    fn sizes(&self) -> (usize, usize) {
        (self.x.q.len(), self.x.lambda.len())
    }

    /// The same matrix from both factorisations, and from the blocks. Leaves the point linearised; returns D and C.
    fn check_factors(&mut self) -> [Vec<f64>; 2] {
        let ((n, m), b) = (self.sizes(), &self.blocks);
        let (mut dynamics, mut constraint) = (vec![0.0; n], vec![0.0; m]);
        self.evaluator.factorise(&self.x, WEIGHTS, &mut dynamics, &mut constraint).unwrap();
        let right = values(n + m, 0.1);
        let solution = |solve: &mut dyn FnMut(&mut [f64])| {
            let mut z = right.clone();
            solve(&mut z);
            z
        };
        let newton = solution(&mut |z| self.evaluator.solve(z));
        let transposed = solution(&mut |z| self.evaluator.solve_transposed(z));
        self.evaluator.linearise(&self.x, WEIGHTS).unwrap();
        for (kind, z, is_transposed) in [
            ("solve after factorise", newton, false),
            ("transposed solve after factorise", transposed, true),
            ("solve after linearise", solution(&mut |z| self.evaluator.solve(z)), false),
            ("transposed solve after linearise", solution(&mut |z| self.evaluator.solve_transposed(z)), true),
        ] {
            let (z_a, z_lambda) = z.split_at(n);
            let apply = if is_transposed { transposed_times } else { times };
            let mut k_z = combine(&[
                (WEIGHTS.acceleration, apply(&b.mass, z_a)),
                (WEIGHTS.position, apply(&b.inertia_by_position, z_a)),
                (WEIGHTS.position, apply(&b.constraint_force_by_position, z_a)),
                (-WEIGHTS.position, apply(&b.force_by_position, z_a)),
                (-WEIGHTS.velocity, apply(&b.force_by_velocity, z_a)),
                (1.0, transposed_times(&b.constraint_by_position, z_lambda)),
            ]);
            k_z.extend(times(&b.constraint_by_position, z_a));
            let size = z.iter().fold(0.0f64, |s, z| s.max(z.abs())) * 1e3;
            let error = k_z.iter().zip(&right).fold(0.0f64, |s, (k, r)| s.max((k - r).abs()));
            assert!(error <= 1e-13 * size.max(1.0), "{}: {error:e}", self.place(kind));
        }
        [dynamics, constraint]
    }

    /// Tangents, against the blocks.
    fn check_tangents(&mut self, dx: &StateVector) {
        let ((n, m), b) = (self.sizes(), &self.blocks);
        let (mut d_dynamics, mut d_constraint) = (vec![0.0; n], vec![0.0; m]);
        self.evaluator.push_forward(dx, &mut d_dynamics, &mut d_constraint);
        let expected = combine(&[
            (1.0, times(&b.mass, &dx.a)),
            (1.0, times(&b.inertia_by_position, &dx.q)),
            (1.0, times(&b.constraint_force_by_position, &dx.q)),
            (-1.0, times(&b.force_by_position, &dx.q)),
            (-1.0, times(&b.force_by_velocity, &dx.v)),
            (1.0, transposed_times(&b.constraint_by_position, &dx.lambda)),
            (1.0, times(&b.inertia_by_parameter, &dx.u)),
            (1.0, times(&b.constraint_force_by_parameter, &dx.u)),
            (-1.0, times(&b.force_by_parameter, &dx.u)),
        ]);
        assert_near(&self.place("tangent of the dynamics"), &d_dynamics, &expected);
        if m > 0 {
            let expected = combine(&[
                (1.0, times(&b.constraint_by_position, &dx.q)),
                (1.0, times(&b.constraint_by_parameter, &dx.u)),
            ]);
            assert_near(&self.place("tangent of the constraints"), &d_constraint, &expected);
        }
    }

    /// Cotangents, against the blocks, scaled.
    fn check_cotangents(&mut self) {
        let ((n, m), b) = (self.sizes(), &self.blocks);
        let (bar_d, bar_c) = (values(n, 8.0), values(m, 9.0));
        let mut bar = StateVector::zeros(self.signature);
        self.evaluator.pull_back(-2.0, &bar_d, &bar_c, &mut bar);
        let scaled = |parts: &[(f64, Vec<f64>)]| combine(parts).iter().map(|x| -2.0 * x).collect::<Vec<f64>>();
        let by_q = scaled(&[
            (1.0, transposed_times(&b.inertia_by_position, &bar_d)),
            (1.0, transposed_times(&b.constraint_force_by_position, &bar_d)),
            (-1.0, transposed_times(&b.force_by_position, &bar_d)),
            (1.0, transposed_times(&b.constraint_by_position, &bar_c)),
        ]);
        assert_near(&self.place("cotangent of q"), &bar.q, &by_q);
        assert_near(
            &self.place("cotangent of v"),
            &bar.v,
            &scaled(&[(-1.0, transposed_times(&b.force_by_velocity, &bar_d))]),
        );
        assert_near(&self.place("cotangent of a"), &bar.a, &scaled(&[(1.0, transposed_times(&b.mass, &bar_d))]));
        assert_near(
            &self.place("cotangent of lambda"),
            &bar.lambda,
            &scaled(&[(1.0, times(&b.constraint_by_position, &bar_d))]),
        );
        let by_u = scaled(&[
            (1.0, transposed_times(&b.inertia_by_parameter, &bar_d)),
            (1.0, transposed_times(&b.constraint_force_by_parameter, &bar_d)),
            (-1.0, transposed_times(&b.force_by_parameter, &bar_d)),
            (1.0, transposed_times(&b.constraint_by_parameter, &bar_c)),
        ]);
        assert_near(&self.place("cotangent of u"), &bar.u, &by_u);
    }

    /// <p, A x> = <Aᵀ p, x> for outputs and for the initial state.
    fn check_outputs_and_start(&mut self, dx: &StateVector) {
        let Point { t, q, v, a, lambda, w } = self.x;
        let (n, p, outputs) = (q.len(), dx.u.len(), self.signature.outputs.len());
        let output_point = OutputPoint { t, q, v, a, a_scheme: &values(n, 6.0), lambda, w };
        self.evaluator.linearise_output(&output_point);
        let (bar_y, mut dy) = (values(outputs, 3.0), vec![0.0; outputs]);
        let mut bar = StateVector::zeros(self.signature);
        self.evaluator.output_push_forward(dx, &mut dy);
        self.evaluator.output_pull_back(&bar_y, &mut bar);
        let size = all_parts(&bar).iter().fold(1.0f64, |s, x| s.max(x.abs()));
        let error = (dot(&bar_y, &dy) - dot(&all_parts(&bar), &all_parts(dx))).abs();
        assert!(error <= 1e-13 * size, "{}: {error:e}", self.place("outputs"));
        let (mut dq, mut dv, mut bar_u) = (vec![0.0; n], vec![0.0; n], vec![0.0; p]);
        self.evaluator.initial_push_forward(&dx.u, &mut dq, &mut dv);
        self.evaluator.initial_pull_back(&values(n, 1.0), &values(n, 2.0), &mut bar_u);
        let error = dot(&values(n, 1.0), &dq) + dot(&values(n, 2.0), &dv) - dot(&bar_u, &dx.u);
        assert!(
            error.abs() <= 1e-13 * (1.0 + dot(&bar_u, &bar_u).sqrt()),
            "{}: {error:e}",
            self.place("initial state")
        );
    }

    /// The same for time derivatives of the constraints.
    fn check_constraints(&mut self, dx: &StateVector) {
        let (n, m) = self.sizes();
        let bar_c = values(m, 9.0);
        let place = self.place("equations");
        for level in [Level::Position, Level::Velocity, Level::Acceleration] {
            let mut dc = vec![0.0; m];
            let mut bar = StateVector::zeros(self.signature);
            for forces in [true, false] {
                check_equations(&place, &mut *self.evaluator, &self.x, Equations { forces, level }, &self.blocks);
            }
            let _ =
                self.evaluator.linearise(&self.x, Weights { equations: Equations { forces: true, level }, ..WEIGHTS });
            let none = vec![0.0; n];
            self.evaluator.push_forward(dx, &mut none.clone(), &mut dc);
            self.evaluator.pull_back(-2.0, &none, &bar_c, &mut bar);
            let size = all_parts(&bar).iter().fold(1.0f64, |s, x| s.max(x.abs()));
            let error = (-2.0 * dot(&bar_c, &dc) - dot(&all_parts(&bar), &all_parts(dx))).abs();
            assert!(error <= 1e-13 * size, "{}: {level:?} {error:e}", self.place("constraints"));
        }
    }

    /// The residual is that of a factorisation, and its constraints those of level 0.
    fn check_values(&mut self, [dynamics, constraint]: [Vec<f64>; 2]) {
        let (n, m) = self.sizes();
        let (mut again, mut c_again, mut c) = (vec![0.0; n], vec![0.0; m], vec![0.0; m]);
        self.evaluator.residual(&self.x, Equations::MOTION, &mut again, &mut c_again);
        self.evaluator.constraint(Level::Position, &self.x, &mut c);
        assert_near(&self.place("residual"), &again, &dynamics);
        assert_near(&self.place("constraints of the residual"), &c_again, &constraint);
        assert_near(&self.place("constraints"), &c, &constraint);
    }
}

/// Every product of one evaluator at one point, after points elsewhere have been visited.
fn check_products(name: &str, system: &dyn System, u: &[f64], mode: Mode) {
    let signature = system.signature();
    let (n, m) = (signature.coordinates.len(), signature.constraints.len());
    let mut evaluator = system.evaluator_by(By { mode, ..By::PARAMETERS });
    evaluator.set_parameters(u);
    for salt in [0.4, 2.0, 3.7] {
        let (q, v, a, lambda) = (values(n, salt), values(n, salt + 1.0), values(n, salt + 2.0), values(m, salt + 3.0));
        let w = values(signature.inputs.len(), salt);
        let x = Point { t: 0.2 * salt, q: &q, v: &v, a: &a, lambda: &lambda, w: &w };
        let mut blocks = Blocks::zeros(signature);
        evaluator.blocks(&x, &mut blocks);
        let mut dx = StateVector::zeros(signature);
        for (k, part) in
            [&mut dx.q, &mut dx.v, &mut dx.a, &mut dx.a_scheme, &mut dx.lambda, &mut dx.u].into_iter().enumerate()
        {
            *part = values(part.len(), 5.0 + k as f64);
        }
        let name = format!("{name}, point {salt}");
        let mut trial = Trial { name, signature, evaluator: &mut *evaluator, x, blocks };
        let found = trial.check_factors();
        trial.check_tangents(&dx);
        trial.check_cotangents();
        trial.check_outputs_and_start(&dx);
        trial.check_constraints(&dx);
        trial.check_values(found);
    }
}

/// Protects the waist: products, factors and dense blocks are one and the same matrix, at any point and in any order.
#[test]
fn products_agree_with_the_dense_blocks() {
    fn check(name: &str, case: Case) {
        for mode in [Mode::Cheaper, Mode::Forward, Mode::Reverse] {
            check_products(&format!("{name}, {mode:?}"), &*case.system, &case.u, mode);
        }
    }
    for (name, case) in common::models() {
        // sizes of 1 for parameters and states alike, so that no entry hides another
        let u = (0..case.u.len()).map(|k| 0.8 + 0.3 * (k as f64).sin()).collect();
        check(name, Case { u, ..case });
    }
    check("bead", bead());
    check("guided", guided());
    check("branching", branching());
    check("wide", wide());
}

/// A spring that knows no compression, in series with a linear one.
#[derive(Clone)]
struct Root;

impl Model for Root {
    fn signature(&self) -> Signature {
        Signature::new("root").coordinates([("x", "m"), ("y", "m")]).parameters([Parameter::new("k", "N/m", 3.0)])
    }

    fn mass<D: Number>(&self, _q: &[D], _u: &[D], m: &mut Matrix<D>) {
        (m[(0, 0)], m[(1, 1)]) = (D::from(1.0), D::from(1.0));
    }

    fn force<D: Number>(&self, _t: D, q: &[D], _v: &[D], _w: &[D], u: &[D], force: &mut [D]) {
        let between = (q[1] - q[0]) * u[0];
        force[0] = between - q[0].sqrt() * q[0];
        force[1] = -between;
    }
}

/// Protects derivatives that are found once because they are the same everywhere: where an iteration has left the domain of what is beside
/// them they are no numbers, and are looked for again; other values of the parameters have others.
#[test]
fn constant_derivatives_are_found_where_forces_are_defined() {
    let system = Plain::new(Root).unwrap();
    let weights = Weights {
        acceleration: 1.0,
        position: 0.5,
        velocity: 0.2,
        state: 0.2,
        compliance: 0.0,
        equations: Equations::MOTION,
    };
    let zeros = [0.0; 2];
    let at = |q: &'static [f64; 2]| Point { t: 0.0, q, v: &zeros, a: &zeros, lambda: &[], w: &[] };
    let mut evaluator = system.evaluator();
    for k in [3.0, 7.0] {
        evaluator.set_parameters(&[k]);
        assert!(evaluator.factorise(&at(&[-1.0, 1.0]), weights, &mut [0.0; 2], &mut []).is_err());
        for linearises in [false, true] {
            let x = at(&[0.25, 1.0]);
            match linearises {
                true => evaluator.linearise(&x, weights).unwrap(),
                false => evaluator.factorise(&x, weights, &mut [0.0; 2], &mut []).unwrap(),
            }
            // the first spring is as stiff as 0.75 N/m there
            let mut b = [1.0 + 0.5 * (k + 0.75), -0.5 * k];
            evaluator.solve(&mut b);
            assert_near("K⁻¹ times its first column", &b, &[1.0, 0.0]);
        }
    }
}
