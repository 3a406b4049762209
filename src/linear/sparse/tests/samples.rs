//! Matrices such as assemblies make.

use super::super::SparseLu;
use nalgebra::DMatrix;

/// A matrix as a list of entries; several at one place add up.
#[derive(Debug, Clone)]
pub struct Sample {
    pub size: usize,
    accelerations: usize,
    pub entries: Vec<(u32, u32, f64)>,
}

impl Sample {
    pub fn new(accelerations: usize, multipliers: usize) -> Self {
        Sample { size: accelerations + multipliers, accelerations, entries: Vec::new() }
    }

    pub fn add(&mut self, i: usize, j: usize, value: f64) {
        self.entries.push((i as u32, j as u32, value));
    }

    /// An entry of B, and its mirror in B^T.
    pub fn add_constraint(&mut self, row: usize, column: usize, value: f64) {
        self.add(self.accelerations + row, column, value);
        self.add(column, self.accelerations + row, value);
    }

    pub fn solver(&self) -> (SparseLu, Vec<u32>) {
        let places: Vec<(u32, u32)> = self.entries.iter().map(|&(i, j, _)| (i, j)).collect();
        SparseLu::new(self.size, self.accelerations, &places)
    }

    pub fn fill_in(&self, lu: &mut SparseLu, slots: &[u32]) {
        lu.values_mut().fill(0.0);
        for (&(_, _, value), &slot) in self.entries.iter().zip(slots) {
            lu.values_mut()[slot as usize] += value;
        }
    }

    pub fn dense(&self) -> DMatrix<f64> {
        let mut dense = DMatrix::zeros(self.size, self.size);
        self.entries.iter().for_each(|&(i, j, value)| dense[(i as usize, j as usize)] += value);
        dense
    }

    /// Largest residual of K x = b over |K| |x| + |b| in its row; of the transposed system if `transposed`.
    fn residual(&self, x: &[f64], b: &[f64], transposed: bool) -> f64 {
        let mut residual: Vec<f64> = b.to_vec();
        let mut size: Vec<f64> = b.iter().map(|b| b.abs()).collect();
        for &(i, j, value) in &self.entries {
            let (i, j) = if transposed { (j as usize, i as usize) } else { (i as usize, j as usize) };
            residual[i] -= value * x[j];
            size[i] += (value * x[j]).abs();
        }
        let largest = size.iter().fold(f64::MIN_POSITIVE, |a, &b| a.max(b));
        residual.iter().fold(0.0, |worst: f64, r| if r.is_nan() { f64::NAN } else { worst.max(r.abs() / largest) })
    }

    /// Residuals of both solves.
    pub fn residuals(&self, lu: &mut SparseLu) -> f64 {
        let b: Vec<f64> = (0..self.size).map(|i| (1.0 + 0.7 * i as f64).cos()).collect();
        let (mut x, mut y) = (b.clone(), b.clone());
        lu.solve(&mut x);
        lu.solve_transposed(&mut y);
        let (r, s) = (self.residual(&x, &b, false), self.residual(&y, &b, true));
        if r.is_nan() || s.is_nan() { f64::INFINITY } else { r.max(s) }
    }
}

/// Numbers between -1 and 1 without any structure.
pub fn noise(k: usize) -> f64 {
    (((k as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 11) as f64 / (1u64 << 52) as f64).mul_add(1.0, -1.0)
}

/// A body with three coordinates: mass, mass, moment of inertia, and an unsymmetric contribution of forces.
pub fn add_body(sample: &mut Sample, body: usize, mass: f64, inertia: f64, unsymmetric: f64) {
    let k = 3 * body;
    for (place, value) in [mass, mass, inertia].into_iter().enumerate() {
        sample.add(k + place, k + place, value);
    }
    sample.add(k + 2, k, unsymmetric * mass);
    sample.add(k + 1, k + 2, -0.4 * unsymmetric * mass);
}

/// A revolute joint between a point of one body (half a length ahead) and one of another (half a length behind).
fn add_hinge(sample: &mut Sample, row: usize, before: Option<(usize, f64)>, behind: (usize, f64)) {
    for (sign, body) in [(-1.0, before), (1.0, Some(behind))] {
        if let Some((body, angle)) = body {
            let (sine, cosine) = (0.5 * angle.sin(), 0.5 * angle.cos());
            sample.add_constraint(row, 3 * body, sign);
            sample.add_constraint(row + 1, 3 * body + 1, sign);
            sample.add_constraint(row, 3 * body + 2, sine);
            sample.add_constraint(row + 1, 3 * body + 2, -cosine);
        }
    }
}

/// A chain of planar pendulums from a fixed point; `unsymmetric` adds forces that depend on other coordinates.
pub fn chain(bodies: usize, time: f64, unsymmetric: f64) -> Sample {
    let mut sample = Sample::new(3 * bodies, 2 * bodies);
    let angle = |i: usize| 1.2 * (0.3 * i as f64 + 1.0).sin() * (time + 0.1 * i as f64).cos();
    for i in 0..bodies {
        add_body(&mut sample, i, 1.0 + 0.3 * noise(i), 0.08 + 0.02 * noise(i + 7), unsymmetric);
        add_hinge(&mut sample, 2 * i, i.checked_sub(1).map(|before| (before, angle(before))), (i, angle(i)));
    }
    sample
}

/// Bodies that hang from each other as in a heap: body i from (i - 1) / 2.
pub fn tree(bodies: usize) -> Sample {
    let mut sample = Sample::new(3 * bodies, 2 * bodies);
    for i in 0..bodies {
        add_body(&mut sample, i, 1.0, 0.1, 0.2);
        let before = i.checked_sub(1).map(|k| (k / 2, noise(k / 2)));
        add_hinge(&mut sample, 2 * i, before, (i, noise(i)));
    }
    sample
}

/// A square grid of pin joints, a little out of square, with a bar along each edge: `side` x `side` four-bar loops. Each bar is a
/// body with hinges at its ends; the hinges of a pin hold its other bars to its first one.
pub fn four_bars(side: usize) -> Sample {
    let pins = side + 1;
    let place = |pin: usize| {
        let (x, y) = ((pin % pins) as f64, (pin / pins) as f64);
        [x + 0.1 * noise(2 * pin), y + 0.1 * noise(2 * pin + 1)]
    };
    let along = (0..pins * pins).filter(|pin| pin % pins < side).map(|pin| (pin, pin + 1));
    let bars: Vec<(usize, usize)> = along.chain((0..pins * side).map(|pin| (pin, pin + pins))).collect();
    let mut at_pin: Vec<Vec<usize>> = vec![Vec::new(); pins * pins];
    for (bar, &(a, b)) in bars.iter().enumerate() {
        at_pin[a].push(bar);
        at_pin[b].push(bar);
    }
    let mut sample = Sample::new(3 * bars.len(), at_pin.iter().map(|bars| 2 * (bars.len() - 1)).sum());
    (0..bars.len()).for_each(|bar| add_body(&mut sample, bar, 1.0, 0.1, 0.2));
    let mut row = 0;
    for (pin, at_pin) in at_pin.iter().enumerate() {
        let arm = |bar: usize| {
            let (a, b) = (place(bars[bar].0), place(bars[bar].1));
            [place(pin)[0] - 0.5 * (a[0] + b[0]), place(pin)[1] - 0.5 * (a[1] + b[1])]
        };
        for &other in &at_pin[1..] {
            for (sign, bar) in [(-1.0, at_pin[0]), (1.0, other)] {
                let arm = arm(bar);
                sample.add_constraint(row, 3 * bar, sign);
                sample.add_constraint(row, 3 * bar + 2, -sign * arm[1]);
                sample.add_constraint(row + 1, 3 * bar + 1, sign);
                sample.add_constraint(row + 1, 3 * bar + 2, sign * arm[0]);
            }
            row += 2;
        }
    }
    sample
}

/// Massive points, each with a massless frame that slides on it along turning axes: the rows are (cos, sin) and (-sin, cos) of
/// the frame's coordinates, so that each entry vanishes now and then.
pub fn turning_frames(frames: usize, time: f64) -> Sample {
    let mut sample = Sample::new(4 * frames, 2 * frames);
    for i in 0..frames {
        let (sine, cosine) = (time + 0.37 * i as f64).sin_cos();
        let (frame, point) = (4 * i, 4 * i + 2);
        sample.add(point, point, 1.0);
        sample.add(point + 1, point + 1, 2.0);
        sample.add(point, point + 1, 0.3);
        for (row, direction) in [[cosine, sine], [-sine, cosine]].into_iter().enumerate() {
            for (k, entry) in direction.into_iter().enumerate() {
                sample.add_constraint(2 * i + row, frame + k, entry);
                sample.add_constraint(2 * i + row, point + k, -0.5 * entry + 0.2);
                if i > 0 {
                    sample.add_constraint(2 * i + row, point - 4 + k, -0.4);
                }
            }
        }
    }
    sample
}

pub fn factorised(sample: &Sample) -> Option<SparseLu> {
    let (mut lu, slots) = sample.solver();
    sample.fill_in(&mut lu, &slots);
    lu.factorise().then_some(lu)
}

/// A random saddle point matrix: `kinds` says which accelerations have mass.
pub fn random(accelerations: usize, multipliers: usize, kinds: &[u8], seed: u32, density: f64) -> Sample {
    let mut sample = Sample::new(accelerations, multipliers);
    let mut next = 1000 * seed as usize;
    let mut number = || {
        next += 1;
        noise(next)
    };
    for i in 0..accelerations {
        let mass = [0.0, 1.0, 1e3, 1e-6][usize::from(kinds[i % kinds.len()] % 4)];
        sample.add(i, i, mass * (1.5 + number()));
        for j in 0..accelerations {
            if number().abs() < 0.5 * density {
                sample.add(i, j, 0.3 * mass * number());
            }
        }
        for row in 0..multipliers {
            if number().abs() < density {
                sample.add_constraint(row, i, number());
            }
        }
    }
    sample
}
