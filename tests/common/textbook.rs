//! HHT as a textbook would program it, over any number: plain dense Newton, Gaussian elimination, derivatives by sending
//! dual numbers through the whole simulation. Shares no code with the engine but the models and the cost functions.
//!
//! Every equation to be solved is an [`Equation`] F(z, given) = 0. Newton's iteration runs in the number type itself with
//! the matrix ∂F/∂z of the real parts: once the real parts have converged, one more iteration makes the derivative parts
//! exact, whatever the type.

use super::Everything;
use costate::linearise::CostFunction;
use costate::{Matrix, Model, Number, Signature, State};
use num_dual::{Dual, Dual2, Dual64, HyperDual64};

/// A model's functions in numbers of one type, whatever the model is: what uses them is compiled once a type, not once a model.
pub trait Functions<T> {
    fn initial(&self, u: &[T], q: &mut [T], v: &mut [T]);
    fn mass(&self, q: &[T], u: &[T], mass: &mut Matrix<T>);
    fn force(&self, t: T, motion: [&[T]; 2], w: &[T], u: &[T], force: &mut [T]);
    fn output(&self, t: T, x: &State<'_, T>, u: &[T], y: &mut [T]);
    fn constraint(&self, t: T, q: &[T], u: &[T], c: &mut [T]);
    fn constraint_with_rate(&self, t: Dual<T>, q: &[Dual<T>], u: &[Dual<T>], c: &mut [Dual<T>]);
    fn constraint_with_rates(&self, t: Dual2<T>, q: &[Dual2<T>], u: &[Dual2<T>], c: &mut [Dual2<T>]);
}

impl<M: Model, T: Number> Functions<T> for M {
    fn initial(&self, u: &[T], q: &mut [T], v: &mut [T]) {
        Model::initial(self, u, q, v);
    }
    fn mass(&self, q: &[T], u: &[T], mass: &mut Matrix<T>) {
        Model::mass(self, q, u, mass);
    }
    fn force(&self, t: T, [q, v]: [&[T]; 2], w: &[T], u: &[T], force: &mut [T]) {
        Model::force(self, t, q, v, w, u, force);
    }
    fn output(&self, t: T, x: &State<'_, T>, u: &[T], y: &mut [T]) {
        Model::output(self, t, x, u, y);
    }
    fn constraint(&self, t: T, q: &[T], u: &[T], c: &mut [T]) {
        Model::constraint(self, t, q, u, c);
    }
    fn constraint_with_rate(&self, t: Dual<T>, q: &[Dual<T>], u: &[Dual<T>], c: &mut [Dual<T>]) {
        Model::constraint(self, t, q, u, c);
    }
    fn constraint_with_rates(&self, t: Dual2<T>, q: &[Dual2<T>], u: &[Dual2<T>], c: &mut [Dual2<T>]) {
        Model::constraint(self, t, q, u, c);
    }
}

/// Any model, in all numbers that are used here.
pub trait AnyModel: Functions<f64> + Functions<Dual64> + Functions<HyperDual64> + Send + Sync {}

impl<M: Model> AnyModel for M {}

/// A number that simulations run in.
pub trait Real: Number {
    fn of(model: &dyn AnyModel) -> &dyn Functions<Self>;
}

impl Real for f64 {
    fn of(model: &dyn AnyModel) -> &dyn Functions<Self> {
        model
    }
}

impl Real for Dual64 {
    fn of(model: &dyn AnyModel) -> &dyn Functions<Self> {
        model
    }
}

impl Real for HyperDual64 {
    fn of(model: &dyn AnyModel) -> &dyn Functions<Self> {
        model
    }
}

/// F(z, given) = 0, to be solved for z.
trait Equation {
    fn residual<T: Real>(&self, z: &[T], given: &[T]) -> Vec<T>;
}

/// Solves `matrix` x = `right`, by elimination with row pivoting.
// as printed in textbooks, with indices
#[allow(clippy::needless_range_loop, clippy::assign_op_pattern)]
fn eliminate<T: Real>(mut matrix: Vec<Vec<f64>>, mut right: Vec<T>) -> Vec<T> {
    let size = right.len();
    for k in 0..size {
        let pivot = (k..size).max_by(|&i, &j| matrix[i][k].abs().total_cmp(&matrix[j][k].abs())).unwrap();
        matrix.swap(k, pivot);
        right.swap(k, pivot);
        assert!(matrix[k][k] != 0.0, "the textbook's matrix is singular");
        for i in k + 1..size {
            let factor = matrix[i][k] / matrix[k][k];
            for j in k..size {
                matrix[i][j] -= factor * matrix[k][j];
            }
            right[i] = right[i] - right[k] * factor;
        }
    }
    for k in (0..size).rev() {
        for j in k + 1..size {
            right[k] = right[k] - right[j] * matrix[k][j];
        }
        right[k] /= matrix[k][k];
    }
    right
}

fn newton<E: Equation, T: Real>(equation: &E, mut z: Vec<T>, given: &[T]) -> Vec<T> {
    let constants: Vec<Dual64> = given.iter().map(|x| Dual64::from(x.re())).collect();
    let size = z.len();
    let mut extra = 3;
    for _ in 0..60 {
        let mut matrix = vec![vec![0.0; size]; size];
        for j in 0..size {
            let mut seeded: Vec<Dual64> = z.iter().map(|x| Dual64::from(x.re())).collect();
            seeded[j].eps = 1.0;
            let column = equation.residual(&seeded, &constants);
            for i in 0..size {
                matrix[i][j] = column[i].eps;
            }
        }
        let increment = eliminate(matrix, equation.residual(&z, given));
        let largest = z.iter().fold(0.0f64, |s, x| s.max(x.re().abs()));
        let change = increment.iter().fold(0.0f64, |s, x| s.max(x.re().abs()));
        for (z, dz) in z.iter_mut().zip(increment) {
            *z -= dz;
        }
        if change <= 1e-9 * largest || largest == 0.0 {
            extra -= 1;
        }
        if extra == 0 {
            return z;
        }
    }
    panic!("the textbook's Newton iteration does not converge");
}

/// Numbers that a model's functions take, cut out of one list.
fn cut<'a, T>(list: &mut &'a [T], count: usize) -> &'a [T] {
    let (head, tail) = list.split_at(count);
    *list = tail;
    head
}

/// A model with the sizes of its lists.
pub struct Mechanics<'m> {
    model: &'m dyn AnyModel,
    n: usize,
    m: usize,
    outputs: usize,
}

impl<'m> Mechanics<'m> {
    pub fn new(model: &'m dyn AnyModel, signature: &Signature) -> Self {
        let (n, m) = (signature.coordinates.len(), signature.constraints.len());
        Mechanics { model, n, m, outputs: signature.outputs.len() }
    }

    fn inertia<T: Real>(&self, q: &[T], u: &[T], a: &[T]) -> Vec<T> {
        let mut mass = Matrix::filled(self.n, self.n, T::from(0.0));
        T::of(self.model).mass(q, u, &mut mass);
        (0..self.n).map(|i| (0..self.n).fold(T::from(0.0), |sum, j| sum + mass[(i, j)] * a[j])).collect()
    }

    fn constraint<T: Real>(&self, t: f64, q: &[T], u: &[T]) -> Vec<T> {
        let mut c = vec![T::from(0.0); self.m];
        T::of(self.model).constraint(T::from(t), q, u, &mut c);
        c
    }

    /// C_qᵀ λ by duals around whatever the numbers are.
    fn constraint_force<T: Real>(&self, t: f64, q: &[T], u: &[T], lambda: &[T]) -> Vec<T> {
        let constant = |x: &T| Dual::new(*x, T::from(0.0));
        let u: Vec<_> = u.iter().map(constant).collect();
        (0..self.n)
            .map(|j| {
                let mut q: Vec<_> = q.iter().map(constant).collect();
                q[j].eps = T::from(1.0);
                let mut c = vec![constant(&T::from(0.0)); self.m];
                T::of(self.model).constraint_with_rate(Dual::from(t), &q, &u, &mut c);
                c.iter().zip(lambda).fold(T::from(0.0), |sum, (c, lambda)| sum + c.eps * *lambda)
            })
            .collect()
    }

    /// C_qᵀ λ - Q.
    fn static_force<T: Real>(&self, t: f64, q: &[T], v: &[T], lambda: &[T], w: &[f64], u: &[T]) -> Vec<T> {
        let mut force = vec![T::from(0.0); self.n];
        let w: Vec<T> = w.iter().map(|&w| T::from(w)).collect();
        T::of(self.model).force(T::from(t), [q, v], &w, u, &mut force);
        self.constraint_force(t, q, u, lambda).into_iter().zip(force).map(|(c, f)| c - f).collect()
    }

    /// C, dC/dt, d²C/dt² along q + v s + a s²/2.
    pub fn along_motion<T: Real>(&self, t: f64, q: &[T], v: &[T], a: &[T], u: &[T]) -> [Vec<T>; 3] {
        let zero = T::from(0.0);
        let q: Vec<_> = (0..self.n).map(|j| Dual2::new(q[j], v[j], a[j])).collect();
        let u: Vec<_> = u.iter().map(|&u| Dual2::new(u, zero, zero)).collect();
        let mut c = vec![Dual2::new(zero, zero, zero); self.m];
        T::of(self.model).constraint_with_rates(Dual2::new(T::from(t), T::from(1.0), zero), &q, &u, &mut c);
        [c.iter().map(|c| c.re).collect(), c.iter().map(|c| c.v1).collect(), c.iter().map(|c| c.v2).collect()]
    }
}

/// M a + C_qᵀ λ = Q, d²C/dt² = 0 for z = (a, λ); given (q, v, u).
struct StartAcceleration<'e> {
    mechanics: &'e Mechanics<'e>,
    t: f64,
    w: &'e [f64],
}

impl Equation for StartAcceleration<'_> {
    fn residual<T: Real>(&self, z: &[T], mut u: &[T]) -> Vec<T> {
        let n = self.mechanics.n;
        let (q, v) = (cut(&mut u, n), cut(&mut u, n));
        let (a, lambda) = z.split_at(n);
        let mut r = self.mechanics.static_force(self.t, q, v, lambda, self.w, u);
        r.iter_mut().zip(self.mechanics.inertia(q, u, a)).for_each(|(r, i)| *r += i);
        let [_, _, c] = self.mechanics.along_motion(self.t, q, v, a, u);
        r.extend(c);
        r
    }
}

/// M (x - x_m) + C_qᵀ ν = 0 and C = 0 (positions) or dC/dt = 0 (velocities), for z = (x, ν).
struct Projection<'e> {
    mechanics: &'e Mechanics<'e>,
    t: f64,
    /// Given (q_m, u) if true, else (q, v_m, u).
    of_position: bool,
}

impl Equation for Projection<'_> {
    fn residual<T: Real>(&self, z: &[T], mut u: &[T]) -> Vec<T> {
        let n = self.mechanics.n;
        let (x, nu) = z.split_at(n);
        let q = if self.of_position { x } else { cut(&mut u, n) };
        let model_value = cut(&mut u, n);
        let change: Vec<T> = x.iter().zip(model_value).map(|(x, m)| *x - *m).collect();
        let mut r = self.mechanics.inertia(q, u, &change);
        let force = self.mechanics.constraint_force(self.t, q, u, nu);
        r.iter_mut().zip(force).for_each(|(r, c)| *r += c);
        let zeros = vec![T::from(0.0); n];
        let [position, velocity, _] =
            self.mechanics.along_motion(self.t, q, if self.of_position { &zeros } else { x }, &zeros, u);
        r.extend(if self.of_position { position } else { velocity });
        r
    }
}

/// One state, in the numbers that the simulation runs in.
#[derive(Clone)]
pub struct Full<T> {
    pub q: Vec<T>,
    pub v: Vec<T>,
    pub a: Vec<T>,
    pub a_scheme: Vec<T>,
    pub lambda: Vec<T>,
    /// C_qᵀ λ - Q
    g: Vec<T>,
}

/// Lauss 2018, eqs. (12)-(15), for z = (a_i, λ_i); given (q, v, a, a_scheme, g of the step before, u).
struct Step<'e> {
    mechanics: &'e Mechanics<'e>,
    alpha: f64,
    literal: bool,
    t: f64,
    h: f64,
    w: &'e [f64],
}

impl Step<'_> {
    fn state<T: Real>(&self, z: &[T], given: &mut &[T]) -> (Full<T>, Vec<T>) {
        let (alpha, h, n) = (self.alpha, self.h, self.mechanics.n);
        let beta = (1.0 - alpha).powi(2) / 4.0;
        let gamma = (1.0 - 2.0 * alpha) / 2.0;
        let [q0, v0, c0, a0, g0] = std::array::from_fn(|_| cut(given, n));
        let (a, lambda) = z.split_at(n);
        let q = (0..n)
            .map(|j| q0[j] + v0[j] * h + (a0[j] * (1.0 - 2.0 * beta) + a[j] * (2.0 * beta)) * (h * h / 2.0))
            .collect();
        let v = (0..n).map(|j| v0[j] + (a0[j] * (1.0 - gamma) + a[j] * gamma) * h).collect();
        let consistent = (0..n).map(|j| (a[j] + c0[j] * alpha) / (1.0 + alpha)).collect();
        let state = Full { q, v, a: consistent, a_scheme: a.to_vec(), lambda: lambda.to_vec(), g: Vec::new() };
        (state, g0.to_vec())
    }
}

impl Equation for Step<'_> {
    fn residual<T: Real>(&self, z: &[T], mut given: &[T]) -> Vec<T> {
        let (x, g_before) = self.state(z, &mut given);
        let (u, n) = (given, self.mechanics.n);
        let g = self.mechanics.static_force(self.t, &x.q, &x.v, &x.lambda, self.w, u);
        let beta = (1.0 - self.alpha).powi(2) / 4.0;
        let mut r: Vec<T> = if self.literal {
            let inertia = self.mechanics.inertia(&x.q, u, &x.a_scheme);
            let (c1, c2) = (1.0 / (1.0 + self.alpha), self.alpha / (1.0 + self.alpha));
            (0..n).map(|j| inertia[j] * c1 + g[j] - g_before[j] * c2).collect()
        } else {
            let inertia = self.mechanics.inertia(&x.q, u, &x.a);
            (0..n).map(|j| inertia[j] + g[j]).collect()
        };
        let c = self.mechanics.constraint(self.t, &x.q, u);
        r.extend(c.into_iter().map(|c| c / (beta * self.h * self.h)));
        r
    }
}

/// What is simulated.
pub struct Textbook<'m> {
    pub mechanics: Mechanics<'m>,
    pub alpha: f64,
    pub literal: bool,
    pub project: bool,
    pub times: Vec<f64>,
    /// Steps h_1 ... h_N.
    pub steps: Vec<f64>,
    pub signals: Vec<fn(f64) -> f64>,
}

impl Textbook<'_> {
    /// Runs in numbers of type T and shows every state to `visit`.
    pub fn run<T: Real>(&self, u: &[T], mut visit: impl FnMut(usize, &Full<T>, &[f64])) {
        let mechanics = &self.mechanics;
        let zeros = vec![T::from(0.0); mechanics.n];
        let no_force = vec![T::from(0.0); mechanics.m];
        let (mut q, mut v) = (zeros.clone(), zeros.clone());
        T::of(mechanics.model).initial(u, &mut q, &mut v);
        let t = self.times[0];
        let inputs = |t: f64| self.signals.iter().map(|w| w(t)).collect::<Vec<f64>>();
        if self.project {
            let projection = Projection { mechanics, t, of_position: true };
            q = newton(&projection, [&q, &no_force[..]].concat(), &[&q, u].concat())[..mechanics.n].to_vec();
            let projection = Projection { mechanics, t, of_position: false };
            v = newton(&projection, [&v, &no_force[..]].concat(), &[&q, &v, u].concat())[..mechanics.n].to_vec();
        }
        let w = inputs(t);
        let equation = StartAcceleration { mechanics, t, w: &w };
        let z = newton(&equation, [&zeros[..], &no_force].concat(), &[&q, &v, u].concat());
        let (a, lambda) = z.split_at(mechanics.n);
        let g = mechanics.static_force(t, &q, &v, lambda, &w, u);
        let mut x = Full { q, v, a: a.to_vec(), a_scheme: a.to_vec(), lambda: lambda.to_vec(), g };
        visit(0, &x, &w);
        for (i, &h) in self.steps.iter().enumerate() {
            let t = self.times[i + 1];
            let w = inputs(t);
            let step = Step { mechanics, alpha: self.alpha, literal: self.literal, t, h, w: &w };
            let given = [&x.q, &x.v, &x.a, &x.a_scheme, &x.g, u].concat();
            let z = newton(&step, [&x.a_scheme[..], &x.lambda].concat(), &given);
            x = step.state(&z, &mut &given[..]).0;
            x.g = mechanics.static_force(t, &x.q, &x.v, &x.lambda, &w, u);
            visit(i + 1, &x, &w);
        }
    }

    /// Σ η_i g + S in numbers of type T, with one weight a time.
    pub fn cost<T: Real>(&self, u: &[T], cost: &Everything, weights: &[f64]) -> T {
        let mut total = T::from(0.0);
        let last = self.steps.len();
        self.run(u, |i, x, w| {
            let w: Vec<T> = w.iter().map(|&w| T::from(w)).collect();
            let state = State { q: &x.q, v: &x.v, a: &x.a, a_scheme: &x.a_scheme, lambda: &x.lambda, w: &w };
            let mut y = vec![T::from(0.0); self.mechanics.outputs];
            T::of(self.mechanics.model).output(T::from(self.times[i]), &state, u, &mut y);
            total += cost.running(self.times[i], &state, &y, u) * weights[i];
            if i == last {
                total += cost.terminal(self.times[i], &state, &y, u);
            }
        });
        total
    }

    /// Second derivative of the cost by parameters `j` and `k`.
    pub fn second_derivative(&self, u: &[f64], [j, k]: [usize; 2], cost: &Everything, weights: &[f64]) -> f64 {
        let unit = |i: usize, at: usize| if i == at { 1.0 } else { 0.0 };
        let u = u.iter().enumerate().map(|(i, &u)| HyperDual64::new(u, unit(i, j), unit(i, k), 0.0));
        self.cost(&u.collect::<Vec<_>>(), cost, weights).eps1eps2
    }

    /// Cost and gradient, one parameter after another.
    pub fn gradient(&self, u: &[f64], cost: &Everything, weights: &[f64]) -> (f64, Vec<f64>) {
        let mut value = 0.0;
        let gradient = (0..u.len())
            .map(|k| {
                let mut u: Vec<Dual64> = u.iter().map(|&u| Dual64::from(u)).collect();
                u[k].eps = 1.0;
                let total = self.cost(&u, cost, weights);
                value = total.re;
                total.eps
            })
            .collect();
        (value, gradient)
    }
}
