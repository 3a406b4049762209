//! All five equations, hand-derived Jacobians, and a generic LU with partial pivoting: what a careful programmer writes
//! who wants to be able to change the model. Full Newton, a fresh matrix in every iteration; factors at the solution are
//! kept for the sweep back.

use super::*;

const ARMS: [f64; 4] = [0.0, TRACK_ARM + DECOUPLER_ARM, -DECOUPLER_ARM, -TRACK_ARM];
const MASS: [f64; 4] = [LOAD, 0.0, DECOUPLER, TRACK];

type Square<const N: usize> = [[f64; N]; N];

/// LU factors with the row that was exchanged at each column.
#[derive(Clone, Copy)]
struct Factors {
    lu: Square<5>,
    exchanged: [usize; 5],
}

impl Factors {
    fn of(mut a: Square<5>) -> Self {
        let mut exchanged = [0; 5];
        for k in 0..5 {
            let mut p = k;
            for i in k + 1..5 {
                if a[i][k].abs() > a[p][k].abs() {
                    p = i;
                }
            }
            if p != k {
                a.swap(k, p);
            }
            exchanged[k] = p;
            let inverse = 1.0 / a[k][k];
            for i in k + 1..5 {
                let factor = a[i][k] * inverse;
                a[i][k] = factor;
                for j in k + 1..5 {
                    a[i][j] -= factor * a[k][j];
                }
            }
        }
        Factors { lu: a, exchanged }
    }

    fn solve(&self, b: &mut [f64; 5]) {
        for k in 0..5 {
            b.swap(k, self.exchanged[k]);
        }
        for i in 1..5 {
            for j in 0..i {
                b[i] -= self.lu[i][j] * b[j];
            }
        }
        for i in (0..5).rev() {
            for j in i + 1..5 {
                b[i] -= self.lu[i][j] * b[j];
            }
            b[i] /= self.lu[i][i];
        }
    }

    fn solve_transposed(&self, b: &mut [f64; 5]) {
        for i in 0..5 {
            for j in 0..i {
                b[i] -= self.lu[j][i] * b[j];
            }
            b[i] /= self.lu[i][i];
        }
        for i in (0..5).rev() {
            for j in i + 1..5 {
                b[i] -= self.lu[j][i] * b[j];
            }
        }
        for k in (0..5).rev() {
            b.swap(k, self.exchanged[k]);
        }
    }
}

/// What the sweep back needs of one time.
#[derive(Clone, Copy)]
struct Record {
    q: [f64; 4],
    v: [f64; 4],
    factors: Factors,
}

pub struct Dense<'a> {
    job: Job<'a>,
    k: Newmark,
    acceleration: Vec<f64>,
    records: Vec<Record>,
    /// Newton iterations of the last run.
    pub iterations: usize,
}

/// g = C_qᵀ λ - Q.
fn unbalanced(q: &[f64; 4], v: &[f64; 4], lambda: f64, force: f64, u: &[f64; 4]) -> [f64; 4] {
    let chamber = CHAMBER_STIFFNESS * (q[0] - q[1]);
    [
        (u[0] + u[1] * q[0] * q[0]) * q[0] + u[2] * v[0] + chamber - force - LOAD * GRAVITY,
        ARMS[1] * lambda - chamber,
        DECOUPLER_STIFFNESS * q[2] + DECOUPLER_DAMPING * v[2] + ARMS[2] * lambda,
        (TRACK_DAMPING + u[3] * v[3] * v[3]) * v[3] + ARMS[3] * lambda,
    ]
}

/// dg/dq and dg/dv.
fn stiffness_and_damping(q: &[f64; 4], v: &[f64; 4], u: &[f64; 4]) -> (Square<4>, Square<4>) {
    let (mut stiffness, mut damping) = ([[0.0; 4]; 4], [[0.0; 4]; 4]);
    stiffness[0][0] = u[0] + 3.0 * u[1] * q[0] * q[0] + CHAMBER_STIFFNESS;
    stiffness[0][1] = -CHAMBER_STIFFNESS;
    stiffness[1][0] = -CHAMBER_STIFFNESS;
    stiffness[1][1] = CHAMBER_STIFFNESS;
    stiffness[2][2] = DECOUPLER_STIFFNESS;
    damping[0][0] = u[2];
    damping[2][2] = DECOUPLER_DAMPING;
    damping[3][3] = TRACK_DAMPING + 3.0 * u[3] * v[3] * v[3];
    (stiffness, damping)
}

impl<'a> Dense<'a> {
    pub fn new(job: Job<'a>) -> Self {
        let zero = Record { q: [0.0; 4], v: [0.0; 4], factors: Factors { lu: [[0.0; 5]; 5], exchanged: [0; 5] } };
        let (acceleration, records) = (vec![0.0; job.steps() + 1], vec![zero; job.steps() + 1]);
        Dense { job, k: Newmark::new(job.alpha, job.h), acceleration, records, iterations: 0 }
    }

    pub fn cost(&mut self, u: &[f64; 4]) -> f64 {
        self.forward::<false>(u);
        self.job.cost(&self.acceleration)
    }

    pub fn cost_and_gradient(&mut self, u: &[f64; 4], gradient: &mut [f64; 4]) -> f64 {
        self.forward::<true>(u);
        *gradient = self.sweep(u);
        self.job.cost(&self.acceleration)
    }

    fn matrix(&self, q: &[f64; 4], v: &[f64; 4], u: &[f64; 4]) -> Square<5> {
        let (stiffness, damping) = stiffness_and_damping(q, v, u);
        let mut matrix = [[0.0; 5]; 5];
        for i in 0..4 {
            for j in 0..4 {
                matrix[i][j] = self.k.q_by_new * stiffness[i][j] + self.k.v_by_new * damping[i][j];
            }
            matrix[i][i] += self.k.mix_new * MASS[i];
            matrix[i][4] = ARMS[i];
            matrix[4][i] = ARMS[i];
        }
        matrix
    }

    fn forward<const STORE: bool>(&mut self, u: &[f64; 4]) {
        let k = self.k;
        let (mut q, mut v) = ([0.0; 4], [0.0; 4]);
        let mut a = [GRAVITY + self.job.force[0] / LOAD, 0.0, 0.0, 0.0];
        let (mut consistent, mut lambda) = (a, 0.0);
        self.acceleration[0] = a[0];
        self.iterations = 0;
        for i in 1..=self.job.steps() {
            let (mut q_base, mut v_base, mut c_base) = ([0.0; 4], [0.0; 4], [0.0; 4]);
            for j in 0..4 {
                q_base[j] = q[j] + k.h * v[j] + k.q_by_old * a[j];
                v_base[j] = v[j] + k.v_by_old * a[j];
                c_base[j] = k.mix_old * consistent[j];
            }
            for _ in 0..25 {
                for j in 0..4 {
                    q[j] = q_base[j] + k.q_by_new * a[j];
                    v[j] = v_base[j] + k.v_by_new * a[j];
                }
                let g = unbalanced(&q, &v, lambda, self.job.force[i], u);
                let mut r = [0.0; 5];
                for j in 0..4 {
                    r[j] = MASS[j] * (k.mix_new * a[j] + c_base[j]) + g[j];
                    r[4] += ARMS[j] * q[j];
                }
                r[4] /= k.q_by_new;
                Factors::of(self.matrix(&q, &v, u)).solve(&mut r);
                let (mut change, mut size) = (0.0, 1e-3);
                for j in 0..4 {
                    a[j] -= r[j];
                    change += r[j].abs();
                    size += a[j].abs();
                }
                lambda -= r[4];
                self.iterations += 1;
                if change <= 1e-10 * size && r[4].abs() <= 1e-8 * (lambda.abs() + 1e-3) {
                    break;
                }
            }
            for j in 0..4 {
                q[j] = q_base[j] + k.q_by_new * a[j];
                v[j] = v_base[j] + k.v_by_new * a[j];
                consistent[j] = k.mix_new * a[j] + c_base[j];
            }
            self.acceleration[i] = a[0];
            if STORE {
                self.records[i] = Record { q, v, factors: Factors::of(self.matrix(&q, &v, u)) };
            }
        }
    }

    fn sweep(&self, u: &[f64; 4]) -> [f64; 4] {
        let k = self.k;
        let mut gradient = [0.0; 4];
        // cotangents of positions, velocities, the scheme's and the consistent accelerations
        let (mut q_bar, mut v_bar, mut a_bar, mut c_bar) = ([0.0; 4], [0.0; 4], [0.0; 4], [0.0; 4]);
        for i in (1..=self.job.steps()).rev() {
            let Record { q, v, factors } = &self.records[i];
            if i < self.job.steps() {
                a_bar[0] += k.h * (self.acceleration[i] - self.job.reference[i]);
            }
            let mut p = [0.0; 5];
            for j in 0..4 {
                p[j] = a_bar[j] + k.q_by_new * q_bar[j] + k.v_by_new * v_bar[j] + k.mix_new * c_bar[j];
            }
            factors.solve_transposed(&mut p);
            let mu = p[4] / k.q_by_new;
            let (stiffness, damping) = stiffness_and_damping(q, v, u);
            for j in 0..4 {
                q_bar[j] -= ARMS[j] * mu;
                for i in 0..4 {
                    q_bar[j] -= stiffness[i][j] * p[i];
                    v_bar[j] -= damping[i][j] * p[i];
                }
                c_bar[j] = k.mix_old * (c_bar[j] - MASS[j] * p[j]);
                a_bar[j] = k.q_by_old * q_bar[j] + k.v_by_old * v_bar[j];
                v_bar[j] += k.h * q_bar[j];
            }
            gradient[0] -= q[0] * p[0];
            gradient[1] -= q[0] * q[0] * q[0] * p[0];
            gradient[2] -= v[0] * p[0];
            gradient[3] -= v[3] * v[3] * v[3] * p[3];
        }
        gradient
    }
}
