use super::{Counts, SparseLu};

/// A matrix as a list of entries; several at one place add up.
#[derive(Debug, Clone)]
struct Sample {
    size: usize,
    accelerations: usize,
    entries: Vec<(u32, u32, f64)>,
}

impl Sample {
    fn new(accelerations: usize, multipliers: usize) -> Self {
        Sample { size: accelerations + multipliers, accelerations, entries: Vec::new() }
    }

    fn add(&mut self, i: usize, j: usize, value: f64) {
        self.entries.push((i as u32, j as u32, value));
    }

    /// An entry of B, and its mirror in B^T.
    fn add_constraint(&mut self, row: usize, column: usize, value: f64) {
        self.add(self.accelerations + row, column, value);
        self.add(column, self.accelerations + row, value);
    }

    fn solver(&self) -> (SparseLu, Vec<u32>) {
        let places: Vec<(u32, u32)> = self.entries.iter().map(|&(i, j, _)| (i, j)).collect();
        SparseLu::new(self.size, self.accelerations, &places)
    }

    fn fill_in(&self, lu: &mut SparseLu, slots: &[u32]) {
        lu.values_mut().fill(0.0);
        for (&(_, _, value), &slot) in self.entries.iter().zip(slots) {
            lu.values_mut()[slot as usize] += value;
        }
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
    fn residuals(&self, lu: &mut SparseLu) -> f64 {
        let b: Vec<f64> = (0..self.size).map(|i| (1.0 + 0.7 * i as f64).cos()).collect();
        let (mut x, mut y) = (b.clone(), b.clone());
        lu.solve(&mut x);
        lu.solve_transposed(&mut y);
        let (r, s) = (self.residual(&x, &b, false), self.residual(&y, &b, true));
        if r.is_nan() || s.is_nan() { f64::INFINITY } else { r.max(s) }
    }
}

/// Numbers between -1 and 1 without any structure.
fn noise(k: usize) -> f64 {
    (((k as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 11) as f64 / (1u64 << 52) as f64).mul_add(1.0, -1.0)
}

/// A body with three coordinates: mass, mass, moment of inertia, and an unsymmetric contribution of forces.
fn add_body(sample: &mut Sample, body: usize, mass: f64, inertia: f64, unsymmetric: f64) {
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
fn chain(bodies: usize, time: f64, unsymmetric: f64) -> Sample {
    let mut sample = Sample::new(3 * bodies, 2 * bodies);
    let angle = |i: usize| 1.2 * (0.3 * i as f64 + 1.0).sin() * (time + 0.1 * i as f64).cos();
    for i in 0..bodies {
        add_body(&mut sample, i, 1.0 + 0.3 * noise(i), 0.08 + 0.02 * noise(i + 7), unsymmetric);
        add_hinge(&mut sample, 2 * i, i.checked_sub(1).map(|before| (before, angle(before))), (i, angle(i)));
    }
    sample
}

/// Bodies that hang from each other as in a heap: body i from (i - 1) / 2.
fn tree(bodies: usize) -> Sample {
    let mut sample = Sample::new(3 * bodies, 2 * bodies);
    for i in 0..bodies {
        add_body(&mut sample, i, 1.0, 0.1, 0.2);
        let before = i.checked_sub(1).map(|k| (k / 2, noise(k / 2)));
        add_hinge(&mut sample, 2 * i, before, (i, noise(i)));
    }
    sample
}

/// Protects correctness on the shapes that assemblies take, after fresh pivots and after a refactorisation, in both
/// solves; A is unsymmetric, since a symmetric one would hide a mistaken transposition.
#[test]
fn assemblies_of_all_shapes_have_small_residuals() {
    for (name, sample) in [
        ("chain", chain(40, 0.3, 0.2)),
        ("long chain", chain(3000, 0.3, 0.2)),
        ("tree", tree(60)),
        ("single", chain(1, 0.0, 0.5)),
    ] {
        let (mut lu, slots) = sample.solver();
        for turn in 0..2 {
            sample.fill_in(&mut lu, &slots);
            assert!(lu.factorise(), "{name}");
            let residual = sample.residuals(&mut lu);
            // round-off of a few operations on each entry; growth is at most ten
            assert!(residual < 1e-14, "{name}, turn {turn}: {residual:e}");
        }
        assert_eq!(lu.counts(), Counts { orders: 1, pivotings: 1 }, "{name}");
    }
}

/// Times, for the documentation: `cargo test --release -p costate --lib sparse::tests::times -- --ignored --nocapture`.
#[test]
#[ignore = "measures"]
fn times() {
    for bodies in [10, 100, 1000, 10_000] {
        let sample = chain(bodies, 0.3, 0.0);
        let (mut lu, slots) = sample.solver();
        sample.fill_in(&mut lu, &slots);
        let start = std::time::Instant::now();
        assert!(lu.factorise());
        let fresh = start.elapsed().as_secs_f64();
        let mut b: Vec<f64> = (0..sample.size).map(|i| (1.0 + 0.7 * i as f64).cos()).collect();
        let turns = 1_000_000 / bodies;
        let measure = |work: &mut dyn FnMut()| {
            let mut times: Vec<f64> = (0..9)
                .map(|_| {
                    let start = std::time::Instant::now();
                    (0..turns).for_each(|_| work());
                    start.elapsed().as_secs_f64() * 1e9 / (turns * bodies) as f64
                })
                .collect();
            times.sort_by(f64::total_cmp);
            times[4]
        };
        let factorisation = measure(&mut || assert!(lu.factorise()));
        let solve = measure(&mut || {
            b.iter_mut().for_each(|b| *b = 1.0);
            lu.solve(std::hint::black_box(&mut b));
        });
        let transposed = measure(&mut || {
            b.iter_mut().for_each(|b| *b = 1.0);
            lu.solve_transposed(std::hint::black_box(&mut b));
        });
        println!(
            "{bodies:6} bodies: {factorisation:6.1} ns a body to factorise, {solve:5.1} to solve, {transposed:5.1} \
             transposed; fresh {:.0}; fill {:.1} a body",
            fresh * 1e9 / bodies as f64,
            lu.fill() as f64 / bodies as f64,
        );
    }
}
