use super::{Counts, SparseLu};
use nalgebra::{DMatrix, DVector};
use proptest::prelude::*;

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

    fn dense(&self) -> DMatrix<f64> {
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

/// A square grid of pin joints, a little out of square, with a bar along each edge: `side` x `side` four-bar loops. Each bar is a
/// body with hinges at its ends; the hinges of a pin hold its other bars to its first one.
fn four_bars(side: usize) -> Sample {
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
fn turning_frames(frames: usize, time: f64) -> Sample {
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

fn factorised(sample: &Sample) -> Option<SparseLu> {
    let (mut lu, slots) = sample.solver();
    sample.fill_in(&mut lu, &slots);
    lu.factorise().then_some(lu)
}

/// Protects correctness on the shapes that assemblies take, after fresh pivots and after a refactorisation, in both
/// solves; A is unsymmetric, since a symmetric one would hide a mistaken transposition.
#[test]
fn assemblies_of_all_shapes_have_small_residuals() {
    let mut unconstrained = Sample::new(9, 0);
    (0..3).for_each(|i| add_body(&mut unconstrained, i, 2.0, 0.1, 0.7));
    let mut scalar = Sample::new(1, 0);
    scalar.add(0, 0, -3.0);
    for (name, sample) in [
        ("chain", chain(40, 0.3, 0.2)),
        ("long chain", chain(3000, 0.3, 0.2)),
        ("tree", tree(60)),
        ("closed loops", four_bars(6)),
        ("massless frames", turning_frames(12, 0.1)),
        ("single body", chain(1, 0.0, 0.5)),
        ("no constraints", unconstrained),
        ("one unknown", scalar),
        ("nothing", Sample::new(0, 0)),
    ] {
        let (mut lu, slots) = sample.solver();
        for turn in 0..2 {
            sample.fill_in(&mut lu, &slots);
            assert!(lu.factorise(), "{name}");
            let residual = sample.residuals(&mut lu);
            // round-off of some operations on each entry; few multipliers exceed ten
            assert!(residual < 1e-13, "{name}, turn {turn}: {residual:e}");
        }
        assert_eq!(lu.counts(), Counts { orders: 1, pivotings: 1 }, "{name}");
    }
}

/// Protects the choice of new pivots when the designated ones vanish: it happens, is rare, and keeps the residuals small all
/// the way. Multipliers may grow to a thousand, which costs three digits.
#[test]
fn vanishing_pivots_are_replaced() {
    let (frames, steps) = (8, 1500);
    let (mut lu, slots) = turning_frames(frames, 0.0).solver();
    for step in 0..steps {
        let sample = turning_frames(frames, 2.0 * std::f64::consts::PI * f64::from(step) / f64::from(steps));
        sample.fill_in(&mut lu, &slots);
        assert!(lu.factorise(), "step {step}");
        let residual = sample.residuals(&mut lu);
        assert!(residual < 1e-12, "step {step}: {residual:e}");
    }
    let counts = lu.counts();
    // in a turn each frame's entries vanish four times, at different times
    assert!((5..=8 * frames).contains(&counts.pivotings), "{counts:?}");
}

/// Protects the speed of simulations: a swinging chain keeps its first order and pivots for good.
#[test]
fn smooth_motions_keep_their_pivots() {
    let (mut lu, slots) = chain(30, 0.0, 0.1).solver();
    for step in 0..400 {
        let sample = chain(30, 0.05 * f64::from(step), 0.1);
        sample.fill_in(&mut lu, &slots);
        assert!(lu.factorise());
        assert!(sample.residuals(&mut lu) < 1e-13, "step {step}");
    }
    assert_eq!(lu.counts(), Counts { orders: 1, pivotings: 1 });
}

/// Protects reproducibility: after `forget_order` factors are those of a fresh solver, bit for bit, whatever came before; the
/// order is not computed again if the matching is the same.
#[test]
fn earlier_matrices_leave_no_trace() {
    let sample = turning_frames(5, 0.2);
    let Some(mut fresh) = factorised(&sample) else { panic!("regular") };
    let (mut lu, slots) = sample.solver();
    for time in [1.5, 0.2] {
        lu.forget_order();
        turning_frames(5, time).fill_in(&mut lu, &slots);
        assert!(lu.factorise());
    }
    let b: Vec<f64> = (0..sample.size).map(noise).collect();
    let (mut x, mut y) = (b.clone(), b);
    lu.solve(&mut x);
    fresh.solve(&mut y);
    assert_eq!(x, y);
    lu.forget_order();
    assert!(lu.factorise());
    assert_eq!(lu.counts(), Counts { orders: 2, pivotings: 3 });
}

/// Protects time and memory: fill must be linear in the size for chains and trees, and nearly so for closed loops.
///
/// A body of a chain has 5 pivots, and twice 13 entries beside them (it comes with 21 entries in all). In the grid a cut across
/// one row of 30 four-bars goes through 31 bars, so the last pivots are full blocks of about 4 x 31 unknowns; nested
/// dissection of a plane graph then makes about 31/4 x 961 log2(961) = 74 000 entries for one unknown a pin, and each pin
/// has 11.5 here, most of which are gone before (bars between two pins): 440 000 were measured, and twice as many with a
/// strict choice of pivots.
#[test]
fn fill_is_bounded() {
    for (name, sample, bound) in
        [("chain", chain(1000, 0.3, 0.2), 32_000), ("tree", tree(1000), 36_000), ("grid", four_bars(30), 460_000)]
    {
        let Some(mut lu) = factorised(&sample) else { panic!("{name} is regular") };
        assert!(lu.fill() < bound, "{name}: {}", lu.fill());
        let residual = sample.residuals(&mut lu);
        assert!(residual < 1e-12, "{name}: {residual:e}");
    }
}

/// Protects the message about redundant constraints: it must come for repeated and for dependent rows, for too many
/// rows, for coordinates that nothing holds, and for numbers that are none; and a good matrix must be accepted afterwards.
#[test]
fn singular_matrices_are_told() {
    let mut repeated = chain(6, 0.3, 0.2);
    let last = repeated.entries.clone();
    repeated.size += 1;
    for &(i, j, value) in &last {
        // a copy of the last row of B, and of its mirror
        if i as usize == repeated.size - 2 {
            repeated.entries.push((i + 1, j, value));
            repeated.entries.push((j, i + 1, value));
        }
    }
    assert!(factorised(&repeated).is_none(), "repeated row");

    let mut loops = chain(30, 0.3, 0.2);
    let mut held = Sample::new(90, 63);
    held.entries = loops.entries.clone();
    // one end held by three rows: two say all that can be said about its two coordinates
    for (row, [x, y]) in [[1.0, 0.0], [0.3, 0.7], [-0.5, 0.4]].into_iter().enumerate() {
        held.add_constraint(60 + row, 87, x);
        held.add_constraint(60 + row, 88, y);
    }
    assert!(factorised(&held).is_none(), "three rows for two coordinates");

    let mut crowded = Sample::new(1, 2);
    crowded.add(0, 0, 1.0);
    crowded.add_constraint(0, 0, 1.0);
    crowded.add_constraint(1, 0, 2.0);
    assert!(factorised(&crowded).is_none(), "more rows than coordinates");

    let mut loose = Sample::new(2, 1);
    loose.add(0, 0, 1.0);
    loose.add(1, 1, 0.0);
    loose.add_constraint(0, 0, 1.0);
    assert!(factorised(&loose).is_none(), "a massless coordinate that nothing holds");

    let (mut lu, slots) = loops.solver();
    for spoiled in [f64::NAN, f64::INFINITY] {
        for entry in [0, 7, loops.entries.len() - 1] {
            loops.fill_in(&mut lu, &slots);
            assert!(lu.factorise(), "regular");
            let good = std::mem::replace(&mut loops.entries[entry].2, spoiled);
            loops.fill_in(&mut lu, &slots);
            assert!(!lu.factorise(), "{spoiled} in entry {entry}");
            let mut b = vec![1.0; loops.size];
            lu.solve(&mut b);
            assert!(b.iter().all(|b| b.is_nan()), "no factors, no solution");
            loops.entries[entry].2 = good;
        }
    }
}

/// Protects models in any units: light bodies beside heavy ones, and rows and columns scaled over many decades, are not
/// singular, and their solutions are as good as in good units.
#[test]
fn bad_units_are_not_singular() {
    // a weightless bead between two bodies, and one that hangs on a single row
    let mut beads = Sample::new(5, 3);
    [1.0, 1e-15, 1.0, 1e-15, 1e-15].into_iter().enumerate().for_each(|(i, mass)| beads.add(i, i, mass));
    for (row, [i, j]) in [[0, 1], [1, 2], [3, 4]].into_iter().enumerate() {
        beads.add_constraint(row, i, 0.6);
        beads.add_constraint(row, j, -0.8);
    }
    let Some(mut lu) = factorised(&beads) else { panic!("light bodies are not massless") };
    assert!(beads.residuals(&mut lu) < 1e-13);

    let mut scaled = chain(20, 0.3, 0.2);
    let factor = |i: u32| 2f64.powi((7 * i as i32 % 41) - 20);
    scaled.entries.iter_mut().for_each(|(i, j, value)| *value *= factor(*i) * factor(*j));
    let original = chain(20, 0.3, 0.2);
    let (Some(mut lu), Some(mut expected)) = (factorised(&scaled), factorised(&original)) else {
        panic!("scaling does not make singular")
    };
    let b: Vec<f64> = (0..original.size).map(noise).collect();
    let mut x: Vec<f64> = (0..).zip(&b).map(|(i, b)| b * factor(i)).collect();
    let mut y = b;
    lu.solve(&mut x);
    expected.solve(&mut y);
    let size = y.iter().fold(0.0f64, |size, y| size.max(y.abs()));
    for ((i, x), y) in (0..).zip(&x).zip(&y) {
        // condition of the chain in good units: about 1e3
        assert!((x * factor(i) - y).abs() < 1e-12 * size, "unknown {i}");
    }
}

/// Protects the interface to assembly: entries at one place share a slot, in whatever order they come.
#[test]
fn duplicates_share_a_slot() {
    let entries = [(1, 1), (0, 0), (1, 1), (0, 1), (0, 0), (1, 0)];
    let (mut lu, slots) = SparseLu::new(2, 2, &entries);
    assert_eq!(lu.values().len(), 4);
    assert!(slots[0] == slots[2] && slots[1] == slots[4]);
    for (&slot, value) in slots.iter().zip([1.0, 2.0, 3.0, 5.0, 4.0, -7.0]) {
        lu.values_mut()[slot as usize] += value;
    }
    assert!(lu.factorise());
    // [6 5; -7 4] and its transposed
    let (mut x, mut y) = ([11.0, -3.0], [-1.0, 9.0]);
    lu.solve(&mut x);
    lu.solve_transposed(&mut y);
    assert!(x.iter().chain(&y).all(|x| (x - 1.0).abs() < 1e-15), "{x:?} {y:?}");
}

/// A random saddle point matrix: `kinds` says which accelerations have mass.
fn random(accelerations: usize, multipliers: usize, kinds: &[u8], seed: u32, density: f64) -> Sample {
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

proptest! {
    /// Protects both solves and the verdict on singular matrices against dense LU: whatever dense LU solves to some digits is
    /// solved at least as well.
    #[test]
    fn random_matrices_agree_with_dense_factors(
        accelerations in 1usize..14,
        share in 0.0f64..1.0,
        kinds in prop::collection::vec(0u8..9, 14),
        seed in 0u32..100_000,
        density in 0.15f64..1.0,
    ) {
        let sample = random(accelerations, (share * accelerations as f64) as usize, &kinds, seed, density);
        let dense = sample.dense();
        let singular_values = dense.clone().singular_values();
        let smallest = singular_values.min();
        let condition = if smallest > 0.0 { singular_values.max() / smallest } else { f64::INFINITY };
        match factorised(&sample) {
            Some(mut lu) => {
                // typically 1e-16; pivots of a tenth of the largest candidate, among masses nine decades apart, let a few
                // entries grow: 4e-10 was the worst of some hundred thousand matrices
                if condition < 1e12 {
                    let residual = sample.residuals(&mut lu);
                    prop_assert!(residual < 1e-8, "{residual:e}");
                }
                let b = DVector::from_fn(sample.size, |i, _| (1.0 + 0.7 * i as f64).cos());
                if let Some(expected) = dense.lu().solve(&b) && condition < 1e8 {
                    let mut x: Vec<f64> = b.iter().copied().collect();
                    lu.solve(&mut x);
                    let difference = (DVector::from_vec(x) - &expected).norm() / expected.norm();
                    prop_assert!(difference < 1e-12 * condition.max(1e2), "{difference:e} at condition {condition:e}");
                }
            }
            None => prop_assert!(condition > 1e11, "called singular at condition {condition:e}"),
        }
    }

    /// Protects frozen pivots: values that change at random keep residuals small, be it by growth limits or by new pivots.
    #[test]
    fn changing_values_keep_residuals_small(
        accelerations in 2usize..14,
        share in 0.2f64..0.8,
        kinds in prop::collection::vec(0u8..9, 14),
        seed in 0u32..100_000,
        changes in prop::collection::vec(-1.0f64..1.0, 20),
    ) {
        let multipliers = (share * accelerations as f64) as usize;
        let first = random(accelerations, multipliers, &kinds, seed, 0.6);
        let (mut lu, slots) = first.solver();
        for &change in &changes {
            let mut sample = first.clone();
            let n = accelerations as u32;
            for (i, j, value) in &mut sample.entries {
                // the same change for an entry of B and for its mirror
                let (low, high) = if (*i < n) == (*j < n) { (*i, *j) } else { (*i.min(j), *i.max(j)) };
                *value *= 1.0 + change * noise((low * 31 + high) as usize);
            }
            sample.fill_in(&mut lu, &slots);
            if lu.factorise() {
                let singular_values = sample.dense().singular_values();
                if singular_values.max() < 1e10 * singular_values.min() {
                    let residual = sample.residuals(&mut lu);
                    prop_assert!(residual < 1e-10, "{residual:e}");
                }
            }
        }
    }
}
