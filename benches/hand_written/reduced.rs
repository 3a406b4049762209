//! Close to what the machine can do. The massless piston and the multiplier follow algebraically from the other three
//! coordinates, which leaves an ordinary differential equation whose chamber is one spring along (1, -r, -s); the
//! decoupler is linear and eliminated once for all steps. Newton's iteration has two unknowns and one division. It starts
//! from extrapolated accelerations and stops at a relative increment of 1e-6, what is left being its square.
//!
//! Nobody would write this for a model that may change; it shows what generality costs.

use super::*;

/// Share of the decoupler's and of the track's motion in the piston's.
const DECOUPLER_SHARE: f64 = DECOUPLER_ARM / (TRACK_ARM + DECOUPLER_ARM);
const TRACK_SHARE: f64 = TRACK_ARM / (TRACK_ARM + DECOUPLER_ARM);

/// What the sweep back needs of one time.
#[derive(Clone, Copy, Default)]
struct Record {
    x_load: f64,
    v_load: f64,
    v_track: f64,
}

/// Newton's matrix for (load, decoupler, track) without what changes from point to point, the decoupler eliminated.
#[derive(Clone, Copy)]
struct Eliminated {
    inverse_decoupler: f64,
    /// Entries (load, decoupler) and (decoupler, track) divided by that of the decoupler.
    load: f64,
    track: f64,
    load_load: f64,
    load_track: f64,
    track_track: f64,
}

impl Eliminated {
    fn new(k: &Newmark, u: &[f64; 4]) -> Self {
        let chamber = k.q_by_new * CHAMBER_STIFFNESS;
        let (r, s) = (DECOUPLER_SHARE, TRACK_SHARE);
        let own = k.mix_new * DECOUPLER + k.q_by_new * DECOUPLER_STIFFNESS + k.v_by_new * DECOUPLER_DAMPING;
        let inverse_decoupler = 1.0 / (own + chamber * r * r);
        let (load, track) = (-chamber * r * inverse_decoupler, chamber * r * s * inverse_decoupler);
        Eliminated {
            inverse_decoupler,
            load,
            track,
            load_load: k.mix_new * LOAD + k.q_by_new * u[0] + k.v_by_new * u[2] + chamber + load * chamber * r,
            load_track: -chamber * s + track * chamber * r,
            track_track: k.mix_new * TRACK + k.v_by_new * TRACK_DAMPING + chamber * s * s - track * chamber * r * s,
        }
    }
}

pub struct Reduced<'a> {
    job: Job<'a>,
    k: Newmark,
    acceleration: Vec<f64>,
    records: Vec<Record>,
    /// Newton iterations of the last run.
    pub iterations: usize,
}

impl<'a> Reduced<'a> {
    pub fn new(job: Job<'a>) -> Self {
        let (acceleration, records) = (vec![0.0; job.steps() + 1], vec![Record::default(); job.steps() + 1]);
        Reduced { job, k: Newmark::new(job.alpha, job.h), acceleration, records, iterations: 0 }
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

    fn forward<const STORE: bool>(&mut self, u: &[f64; 4]) {
        let (k, e) = (self.k, Eliminated::new(&self.k, u));
        let (r, s) = (DECOUPLER_SHARE, TRACK_SHARE);
        // each triple: load, decoupler, track
        let (mut q, mut v) = ([0.0; 3], [0.0; 3]);
        let mut a = [GRAVITY + self.job.force[0] / LOAD, 0.0, 0.0];
        let mut consistent = a;
        let (mut load_before, mut track_before) = (a[0], a[2]);
        self.acceleration[0] = a[0];
        self.iterations = 0;
        for i in 1..=self.job.steps() {
            let mut c = [0.0; 3];
            for j in 0..3 {
                q[j] += k.h * v[j] + k.q_by_old * a[j];
                v[j] += k.v_by_old * a[j];
                c[j] = k.mix_old * consistent[j];
            }
            // residuals for accelerations of zero, without the two cubic terms
            let chamber = CHAMBER_STIFFNESS * (q[0] - r * q[1] - s * q[2]);
            let at_load = LOAD * (c[0] - GRAVITY) + u[0] * q[0] + u[2] * v[0] + chamber - self.job.force[i];
            let at_decoupler = DECOUPLER * c[1] + DECOUPLER_STIFFNESS * q[1] + DECOUPLER_DAMPING * v[1] - r * chamber;
            let at_track = TRACK * c[2] + TRACK_DAMPING * v[2] - s * chamber;
            let (at_load, at_track) = (at_load - e.load * at_decoupler, at_track - e.track * at_decoupler);
            let (mut load, mut track) = (2.0 * a[0] - load_before, 2.0 * a[2] - track_before);
            (load_before, track_before) = (a[0], a[2]);
            for _ in 0..25 {
                let (x, w) = (q[0] + k.q_by_new * load, v[2] + k.v_by_new * track);
                let r_load = e.load_load * load + e.load_track * track + at_load + u[1] * x * x * x;
                let r_track = e.load_track * load + e.track_track * track + at_track + u[3] * w * w * w;
                let (one, two) = self.diagonal(&e, x, w, u);
                let inverse = 1.0 / (one * two - e.load_track * e.load_track);
                let d_load = (two * r_load - e.load_track * r_track) * inverse;
                let d_track = (one * r_track - e.load_track * r_load) * inverse;
                load -= d_load;
                track -= d_track;
                self.iterations += 1;
                if d_load.abs() + d_track.abs() <= 1e-6 * (load.abs() + track.abs() + 1e-3) {
                    break;
                }
            }
            a = [load, -at_decoupler * e.inverse_decoupler - e.load * load - e.track * track, track];
            for j in 0..3 {
                q[j] += k.q_by_new * a[j];
                v[j] += k.v_by_new * a[j];
                consistent[j] = k.mix_new * a[j] + c[j];
            }
            self.acceleration[i] = a[0];
            if STORE {
                self.records[i] = Record { x_load: q[0], v_load: v[0], v_track: v[2] };
            }
        }
    }

    /// The two diagonal entries of Newton's matrix.
    #[inline]
    fn diagonal(&self, e: &Eliminated, x_load: f64, v_track: f64, u: &[f64; 4]) -> (f64, f64) {
        (
            e.load_load + 3.0 * self.k.q_by_new * u[1] * x_load * x_load,
            e.track_track + 3.0 * self.k.v_by_new * u[3] * v_track * v_track,
        )
    }

    fn sweep(&self, u: &[f64; 4]) -> [f64; 4] {
        let (k, e) = (self.k, Eliminated::new(&self.k, u));
        let (r, s) = (DECOUPLER_SHARE, TRACK_SHARE);
        let mut gradient = [0.0; 4];
        let (mut q_bar, mut v_bar, mut a_bar, mut c_bar) = ([0.0; 3], [0.0; 3], [0.0; 3], [0.0; 3]);
        for i in (1..=self.job.steps()).rev() {
            let Record { x_load, v_load, v_track } = self.records[i];
            // does not wait for the recursion
            let (one, two) = self.diagonal(&e, x_load, v_track, u);
            let inverse = 1.0 / (one * two - e.load_track * e.load_track);
            if i < self.job.steps() {
                a_bar[0] += k.h * (self.acceleration[i] - self.job.reference[i]);
            }
            let mut b = [0.0; 3];
            for j in 0..3 {
                b[j] = a_bar[j] + k.q_by_new * q_bar[j] + k.v_by_new * v_bar[j] + k.mix_new * c_bar[j];
            }
            let (at_load, at_track) = (b[0] - e.load * b[1], b[2] - e.track * b[1]);
            let load = (two * at_load - e.load_track * at_track) * inverse;
            let track = (one * at_track - e.load_track * at_load) * inverse;
            let p = [load, b[1] * e.inverse_decoupler - e.load * load - e.track * track, track];
            let chamber = CHAMBER_STIFFNESS * (p[0] - r * p[1] - s * p[2]);
            q_bar[0] -= (u[0] + 3.0 * u[1] * x_load * x_load) * p[0] + chamber;
            q_bar[1] -= DECOUPLER_STIFFNESS * p[1] - r * chamber;
            q_bar[2] += s * chamber;
            v_bar[0] -= u[2] * p[0];
            v_bar[1] -= DECOUPLER_DAMPING * p[1];
            v_bar[2] -= (TRACK_DAMPING + 3.0 * u[3] * v_track * v_track) * p[2];
            for (j, mass) in [LOAD, DECOUPLER, TRACK].into_iter().enumerate() {
                c_bar[j] = k.mix_old * (c_bar[j] - mass * p[j]);
                a_bar[j] = k.q_by_old * q_bar[j] + k.v_by_old * v_bar[j];
                v_bar[j] += k.h * q_bar[j];
            }
            gradient[0] -= x_load * p[0];
            gradient[1] -= x_load * x_load * x_load * p[0];
            gradient[2] -= v_load * p[0];
            gradient[3] -= v_track * v_track * v_track * p[2];
        }
        gradient
    }
}
