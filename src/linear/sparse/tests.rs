mod samples;

use super::{Counts, SparseLu};
use nalgebra::DVector;
use proptest::prelude::*;
use samples::{Sample, add_body, chain, factorised, four_bars, noise, random, tree, turning_frames};

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
fn singular_matrices_are_reported() {
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

proptest! {
    /// Protects both solves and the answer on singular matrices against dense LU: whatever dense LU solves to some digits is
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
                    // below 1e-10 in all but a few of a hundred thousand matrices; masses nine decades apart let frozen pivots grow further
                    // than new ones (4e-10), 2.2e-8 was the worst of 600,000
                    prop_assert!(residual < 1e-7, "{residual:e}");
                }
            }
        }
    }
}
