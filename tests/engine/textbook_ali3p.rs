//! ALI3-P as Lopez Varela 2021 prints it, for the paper's five-bar: the inner iteration on the multipliers and the two projections, written down
//! by hand with 32 digits, so that the penalty times a position's round-off is nothing. Nothing of it is the engine's.

use crate::common;
use costate::scheme::{self, Scheme};
use costate::{Model, Simulation, TimeGrid, Trajectory};
use costate_models::five_bar::{FOLLOWING, FiveBar};
use std::ops::{Add, Div, Mul, Neg, Sub};
use std::sync::Arc;

/// The sum of two numbers, the second below the round-off of the first (Dekker 1971, Knuth's sum).
#[derive(Clone, Copy, PartialEq, Debug)]
struct Twofold(f64, f64);

impl Twofold {
    fn sum(a: f64, b: f64) -> Self {
        let s = a + b;
        let c = s - a;
        Twofold(s, (a - (s - c)) + (b - c))
    }
    fn size(self) -> f64 {
        self.0.abs()
    }
}

impl From<f64> for Twofold {
    fn from(value: f64) -> Self {
        Twofold(value, 0.0)
    }
}

impl Add for Twofold {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        let (high, low) = (Twofold::sum(self.0, other.0), Twofold::sum(self.1, other.1));
        let middle = Twofold::sum(high.0, high.1 + low.0);
        Twofold::sum(middle.0, middle.1 + low.1)
    }
}

impl Neg for Twofold {
    type Output = Self;
    fn neg(self) -> Self {
        Twofold(-self.0, -self.1)
    }
}

impl Sub for Twofold {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Mul for Twofold {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        let product = self.0 * other.0;
        let rest = self.0.mul_add(other.0, -product) + (self.0 * other.1 + self.1 * other.0);
        Twofold::sum(product, rest)
    }
}

impl Div for Twofold {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        let mut quotient = Twofold::from(self.0 / other.0);
        // each takes in as many digits again
        for _ in 0..2 {
            let rest = self - quotient * other;
            quotient = quotient + Twofold::from(rest.0 / other.0);
        }
        quotient
    }
}

type Matrix = Vec<Vec<Twofold>>;
const ZERO: Twofold = Twofold(0.0, 0.0);

fn of(value: f64) -> Twofold {
    value.into()
}

fn dot(a: &[Twofold], b: &[Twofold]) -> Twofold {
    a.iter().zip(b).fold(ZERO, |sum, (a, b)| sum + *a * *b)
}

fn multiply(m: &Matrix, x: &[Twofold]) -> Vec<Twofold> {
    m.iter().map(|row| dot(row, x)).collect()
}

/// Gauss with the largest pivot of each column.
fn solve(mut m: Matrix, mut r: Vec<Twofold>) -> Vec<Twofold> {
    let n = r.len();
    for k in 0..n {
        let pivot = (k..n).max_by(|a, b| m[*a][k].size().total_cmp(&m[*b][k].size())).unwrap();
        m.swap(k, pivot);
        r.swap(k, pivot);
        let (above, below) = m.split_at_mut(k + 1);
        let row = &above[k];
        for (other, right) in below.iter_mut().zip(k + 1..n) {
            let factor = other[k] / row[k];
            for (entry, own) in other[k..].iter_mut().zip(&row[k..]) {
                *entry = *entry - factor * *own;
            }
            r[right] = r[right] - factor * r[k];
        }
    }
    for k in (0..n).rev() {
        let above = (k + 1..n).fold(r[k], |sum, j| sum - m[k][j] * r[j]);
        r[k] = above / m[k][k];
    }
    r
}

/// M of uniform bars between the frame's A, the points 1, 2, 3 and the frame's B: a third of a bar's mass at either end, a sixth between.
fn mass() -> Matrix {
    let masses = [1.0, 1.2, 1.2, 1.0];
    let mut m = vec![vec![ZERO; 6]; 6];
    for axis in 0..2 {
        for point in 0..3 {
            m[2 * point + axis][2 * point + axis] = (of(masses[point]) + of(masses[point + 1])) / of(3.0);
        }
        for (first, second) in [(0, 1), (1, 2)] {
            let share = of(masses[first + 1]) / of(6.0);
            m[2 * first + axis][2 * second + axis] = share;
            m[2 * second + axis][2 * first + axis] = share;
        }
    }
    m
}

fn torque(t: f64, c: &[f64]) -> f64 {
    let w = std::f64::consts::PI;
    (1..=3).fold(c[0], |sum, j| {
        let angle = w * j as f64 * t;
        sum + c[2 * j - 1] * angle.cos() + c[2 * j] * angle.sin()
    })
}

/// Q: weights, and torques as couples of forces on the bars at the frame.
fn force(t: f64, q: &[Twofold]) -> Vec<Twofold> {
    let g = of(9.81);
    let mut force = vec![ZERO, of(-1.1) * g, ZERO, of(-1.2) * g, ZERO, of(-1.1) * g];
    let square = of(0.6) * of(0.6);
    let [a, b] = [torque(t, &FOLLOWING[..7]), torque(t, &FOLLOWING[7..])].map(|torque| of(torque) / square);
    force[0] = force[0] - a * q[1];
    force[1] = force[1] + a * q[0];
    force[4] = force[4] - b * q[5];
    force[5] = force[5] + b * (q[4] - of(1.0));
    force
}

/// The bars' vectors: ends as they are in q, and the frame's point.
fn bars(q: &[Twofold]) -> [[Twofold; 2]; 4] {
    [[q[0], q[1]], [q[2] - q[0], q[3] - q[1]], [q[4] - q[2], q[5] - q[3]], [q[4] - of(1.0), q[5]]]
}

/// Φ = (|bar|² - length²) / 2.
fn constraints(q: &[Twofold]) -> Vec<Twofold> {
    let square = |[x, y]: [Twofold; 2], length: f64| (x * x + y * y - of(length) * of(length)) * of(0.5);
    bars(q).into_iter().zip([0.6, 0.8, 0.8, 0.6]).map(|(bar, length)| square(bar, length)).collect()
}

/// Φ_q.
fn jacobian(q: &[Twofold]) -> Matrix {
    let mut rows = vec![vec![ZERO; 6]; 4];
    for (k, [x, y]) in bars(q).into_iter().enumerate() {
        let (start, end) = ([None, Some(0), Some(1), None][k], [0, 1, 2, 2][k]);
        (rows[k][2 * end], rows[k][2 * end + 1]) = (x, y);
        if let Some(start) = start {
            (rows[k][2 * start], rows[k][2 * start + 1]) = (-x, -y);
        }
    }
    rows
}

/// dΦ_q/dt v, the squares of the bars' relative velocities.
fn curvature(v: &[Twofold]) -> Vec<Twofold> {
    let relative = [[v[0], v[1]], [v[2] - v[0], v[3] - v[1]], [v[4] - v[2], v[5] - v[3]], [v[4], v[5]]];
    relative.into_iter().map(|[x, y]| x * x + y * y).collect()
}

fn transposed(rows: &Matrix, x: &[Twofold]) -> Vec<Twofold> {
    (0..6).map(|j| rows.iter().zip(x).fold(ZERO, |sum, (row, x)| sum + row[j] * *x)).collect()
}

/// M + factor Φ_qᵀ Φ_q.
fn stiffened(mass: &Matrix, rows: &Matrix, factor: Twofold) -> Matrix {
    let entry = |i: usize, j: usize| mass[i][j] + factor * rows.iter().fold(ZERO, |sum, row| sum + row[i] * row[j]);
    (0..6).map(|i| (0..6).map(|j| entry(i, j)).collect()).collect()
}

/// (M + ς Φ_qᵀ α Φ_q) x = M x* - ς Φ_qᵀ α right: eqs. (3), (4).
fn projected(mass: &Matrix, rows: &Matrix, factor: Twofold, x: &[Twofold], right: &[Twofold]) -> Vec<Twofold> {
    let push = transposed(rows, right);
    let load = multiply(mass, x).into_iter().zip(push).map(|(load, push)| load - factor * push).collect();
    solve(stiffened(mass, rows, factor), load)
}

/// q, v, a and the multipliers λ* + ς α d²Φ/dt² at each time, with the penalty α.
fn textbook(start: [Vec<f64>; 2], times: &[f64], h: f64, alpha: f64) -> Vec<[Vec<f64>; 4]> {
    let (mass, h, alpha) = (mass(), of(h), of(alpha));
    let quarter = h * h * of(0.25);
    let [mut q, mut v] = start.map(|x| x.into_iter().map(of).collect::<Vec<_>>());
    // consistent accelerations at the start
    let (rows, bent) = (jacobian(&q), curvature(&v));
    let mut whole = vec![vec![ZERO; 10]; 10];
    for i in 0..6 {
        whole[i][..6].copy_from_slice(&mass[i]);
        for k in 0..4 {
            (whole[i][6 + k], whole[6 + k][i]) = (rows[k][i], rows[k][i]);
        }
    }
    let solved = solve(whole, force(times[0], &q).into_iter().chain(bent.into_iter().map(|c| -c)).collect());
    let (mut a, mut lambda) = (solved[..6].to_vec(), solved[6..].to_vec());
    let plain = |x: &[Twofold]| x.iter().map(|x| x.0 + x.1).collect::<Vec<f64>>();
    let mut all = vec![[plain(&q), plain(&v), plain(&a), plain(&lambda)]];
    for &t in &times[1..] {
        let (before, mut free) = ([q.clone(), v.clone(), a.clone()], a.clone());
        let [q_0, v_0, a_0] = &before;
        // eqs. (1), (2)
        for iteration in 0.. {
            assert!(iteration < 2000, "the paper's iteration does not end at t = {t} s");
            q = (0..6).map(|j| q_0[j] + h * v_0[j] + quarter * (a_0[j] + free[j])).collect();
            let (rows, phi) = (jacobian(&q), constraints(&q));
            let held: Vec<Twofold> = lambda.iter().zip(&phi).map(|(lambda, phi)| *lambda + alpha * *phi).collect();
            let (inertia, push, q_force) = (multiply(&mass, &free), transposed(&rows, &held), force(t, &q));
            let residual: Vec<Twofold> = (0..6).map(|j| inertia[j] + push[j] - q_force[j]).collect();
            let largest = residual.iter().fold(0.0f64, |most, r| most.max(r.size()));
            if largest < 1e-20 {
                lambda = held;
                if phi.iter().all(|phi| phi.size() < 1e-25) {
                    break;
                }
            }
            let change = solve(stiffened(&mass, &rows, quarter * alpha), residual);
            free = free.iter().zip(change).map(|(a, change)| *a - change).collect();
        }
        let rows = jacobian(&q);
        let star: Vec<Twofold> = (0..6).map(|j| v_0[j] + h * of(0.5) * (a_0[j] + free[j])).collect();
        // Φ_t = 0
        v = projected(&mass, &rows, quarter * alpha, &star, &[ZERO; 4]);
        let bent = curvature(&v);
        a = projected(&mass, &rows, quarter * alpha, &free, &bent);
        let turned = multiply(&rows, &a).into_iter().zip(bent).map(|(c, bent)| c + bent);
        let multipliers: Vec<Twofold> =
            lambda.iter().zip(turned).map(|(lambda, c)| *lambda + quarter * alpha * c).collect();
        all.push([plain(&q), plain(&v), plain(&a), plain(&multipliers)]);
    }
    all
}

fn run(penalty: Option<f64>, h: f64, steps: usize) -> Trajectory {
    let settings: Vec<(String, f64)> = penalty.map(|alpha| ("penalty".to_string(), alpha)).into_iter().collect();
    let scheme: Arc<dyn Scheme> = scheme::by_name("ali3p", &settings).unwrap();
    let system = common::ready("five_bar");
    let grid = TimeGrid::steps(0.0, h, steps).unwrap();
    Simulation::new(system, scheme, grid, Vec::new()).unwrap().run(&FOLLOWING).unwrap()
}

/// Protects the scheme's name: with any penalty it is the one that the paper prints, in q, v, a and the multipliers as reported. What is left are a
/// position's round-off over h²/4 in a and λ, 1e-16 over 2e-6 s² and more, which the projections take away but for the part that they leave.
#[test]
fn the_five_bar_follows_the_paper() {
    let [mut q, mut v] = [vec![0.0; 6], vec![0.0; 6]];
    FiveBar.initial(&FOLLOWING, &mut q, &mut v);
    for (h, steps, penalty) in [(1e-2, 40, 1e5), (2.5e-3, 60, 1e7), (5e-3, 60, 1e9), (5e-3, 60, 1e12)] {
        let (run, exact) = (run(Some(penalty), h, steps), run(None, h, steps));
        let paper = textbook([q.clone(), v.clone()], run.times(), h, penalty);
        let (mut apart, mut sizes, mut left) = ([0.0f64; 4], [0.0f64; 4], [0.0f64; 4]);
        for (i, paper) in paper.iter().enumerate() {
            let [x, y] = [run.state(i), exact.state(i)];
            for (kind, (x, y)) in [(x.q, y.q), (x.v, y.v), (x.a, y.a), (x.lambda, y.lambda)].into_iter().enumerate() {
                for ((x, y), paper) in x.iter().zip(y).zip(&paper[kind]) {
                    apart[kind] = apart[kind].max((x - paper).abs());
                    left[kind] = left[kind].max((x - y).abs());
                    sizes[kind] = sizes[kind].max(paper.abs());
                }
            }
        }
        println!("{penalty:e}: {apart:?}, sizes {sizes:?}, the penalty alone {left:?}");
        for kind in 0..4 {
            let name = ["q", "v", "a", "lambda"][kind];
            assert!(apart[kind] < 1e-10 * sizes[kind].max(1.0), "{penalty:e}, {name}: {:.1e}", apart[kind]);
        }
        // what is compared is to be seen
        assert!(penalty > 1e7 || left[2] > 1e-5, "{penalty:e}: {left:?}");
    }
}
