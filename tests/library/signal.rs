//! Signals: exact at samples, of the promised order between them, held beyond them, and sure of what they cover.

use costate::{Interpolation, Signal};
use proptest::prelude::*;

const ALL: [Interpolation; 3] = [Interpolation::ZeroOrder, Interpolation::Linear, Interpolation::Cubic];

/// n increasing times with quite uneven intervals, from 0 to about n h.
fn uneven(n: usize, h: f64) -> Vec<f64> {
    (0..n).map(|k| h * (k as f64 + 0.6 * (2.3 * k as f64).sin().abs())).collect()
}

fn sample(times: &[f64], function: impl Fn(f64) -> f64, interpolation: Interpolation) -> Signal {
    let values: Vec<f64> = times.iter().map(|t| function(*t)).collect();
    Signal::sampled(times, &values, interpolation).unwrap()
}

#[track_caller]
fn refused(result: costate::Result<Signal>, parts: &[&str]) {
    let message = result.expect_err("should be refused").to_string();
    for part in parts {
        assert!(message.contains(part), "`{part}` is missing in: {message}");
    }
}

// Protects constants and functions, which are known at all times.
#[test]
fn constants_and_functions() {
    let constant = Signal::constant(2.5);
    let function = Signal::function(|t| t * t);
    assert_eq!((constant.value(-1e9), function.value(3.0)), (2.5, 9.0));
    for signal in [constant, function] {
        assert!(signal.range().is_none() && signal.covers(-1e9, 1e9).is_ok());
        let mut out = [0.0; 2];
        signal.fill(&[3.0, 1.0], &mut out).unwrap();
        assert_eq!(out, [signal.value(3.0), signal.value(1.0)]);
    }
}

// Protects that signals can be shared between threads and printed.
#[test]
fn signals_are_shared_and_printed() {
    fn shared<T: Clone + Send + Sync + 'static>(_: &T) {}
    let signal = Signal::sampled(&[0.0, 1.0], &[0.0, 1.0], Interpolation::Linear).unwrap();
    shared(&signal);
    assert_eq!(signal.clone().value(0.5), 0.5);
    assert_eq!(format!("{signal:?}"), "Signal::sampled(2 samples from 0.0 s to 1.0 s, linear)");
    assert_eq!(format!("{:?}", Signal::constant(1.0)), "Signal::constant(1.0)");
    assert_eq!(format!("{:?}", Signal::function(|t| t)), "Signal::function(..)");
}

// Protects interpolation as such: bit-exact at the samples, whatever the method and the grid.
#[test]
fn samples_are_met_exactly() {
    for times in [uneven(50, 0.1), (0..50).map(|k| 0.1 * k as f64).collect()] {
        for interpolation in ALL {
            let signal = sample(&times, f64::cos, interpolation);
            for t in &times {
                assert_eq!(signal.value(*t), t.cos(), "{interpolation} at {t}");
            }
        }
    }
}

// Protects zero-order hold at t = k h, however k h is rounded, and the hold until the next sample.
#[test]
fn zero_order_hold_gives_the_sample_at_its_time() {
    // Printed decimals as samples, products and sums as times of the simulation: all differ in the last bits.
    let h = 1.6384e-3;
    let times: Vec<f64> = (0..20_000).map(|k| format!("{:.7}", k as f64 * h).parse().unwrap()).collect();
    let values: Vec<f64> = (0..20_000).map(f64::from).collect();
    let signal = Signal::sampled(&times, &values, Interpolation::ZeroOrder).unwrap();
    let mut sum = 0.0;
    for k in 0..20_000 {
        let product = k as f64 * h;
        for t in [product, product - 9e-5 * h, (k as f64 * 8.0) * (h / 8.0), sum] {
            assert_eq!(signal.value(t), k as f64, "at {t}");
        }
        assert_eq!(signal.value(product + 0.999 * h), k as f64);
        sum += h;
    }
    // Far from t = 0, where t itself is resolved to 1e-7 of a step only.
    let far = Signal::sampled_evenly(1e6, 1e-3, &values, Interpolation::ZeroOrder).unwrap();
    for k in 0..20_000 {
        assert_eq!(far.value((1_000_000_000 + k) as f64 * 1e-3), k as f64);
    }
    // Neighbouring floating-point numbers as times: snapping must not skip samples.
    let times = [1.0, 1.0f64.next_up(), 1.0f64.next_up().next_up()];
    let tight = Signal::sampled(&times, &[1.0, 2.0, 3.0], Interpolation::ZeroOrder).unwrap();
    assert_eq!(times.map(|t| tight.value(t)), [1.0, 2.0, 3.0]);
}

// Protects straight lines, and that equal values stay equal between samples.
#[test]
fn linear_interpolation_is_exact_for_lines() {
    let signal = sample(&uneven(20, 0.1), |t| 3.0 - 2.0 * t, Interpolation::Linear);
    let constant = sample(&uneven(20, 0.1), |_| 0.1, Interpolation::Linear);
    for k in 0..200 {
        let t = 0.009 * k as f64;
        assert!((signal.value(t) - (3.0 - 2.0 * t)).abs() < 1e-14);
        assert_eq!(constant.value(t), 0.1);
    }
}

// Protects the end conditions: only not-a-knot reproduces cubic polynomials, from 4 samples on, on any grid.
#[test]
fn cubic_splines_are_exact_for_cubic_polynomials() {
    let cubic = |t: f64| 1.0 - 2.0 * t + 3.0 * t * t - 0.5 * t * t * t;
    for n in [4, 5, 6, 7, 40] {
        for times in [uneven(n, 0.3), (0..n).map(|k| 0.3 * k as f64).collect()] {
            let signal = sample(&times, cubic, Interpolation::Cubic);
            let (start, end) = signal.range().unwrap();
            for k in 0..=997 {
                let t = start + (end - start) * k as f64 / 997.0;
                let error = (signal.value(t) - cubic(t)).abs();
                assert!(error < 1e-13 * (1.0 + t.powi(3)), "n = {n}: {error:e} at {t}");
            }
        }
    }
}

// Protects the order of convergence, 4 up to the ends, for even and uneven sampling.
#[test]
fn cubic_splines_converge_with_order_four() {
    for even in [true, false] {
        let errors = [100usize, 200, 400].map(|n| {
            let h = 6.0 / n as f64;
            // The same smooth deformation at every n, so that refinement keeps the shape of the grid.
            let time = |k: usize| k as f64 * h + if even { 0.0 } else { 0.3 * (k as f64 * h).sin() };
            let times: Vec<f64> = (0..=n).map(time).collect();
            let signal = sample(&times, |t| (2.0 * t).sin(), Interpolation::Cubic);
            let at = |k: usize| times[n] * k as f64 / 9973.0;
            (0..=9973).map(|k| (signal.value(at(k)) - (2.0 * at(k)).sin()).abs()).fold(0.0, f64::max)
        });
        for pair in errors.windows(2) {
            let order = (pair[0] / pair[1]).log2();
            assert!((3.9..4.3).contains(&order), "order {order}, errors {errors:?}");
        }
    }
}

// Protects w' and w'' from jumps at samples: each side is a cubic, whose derivatives four of its values give exactly.
#[test]
fn cubic_splines_are_twice_continuously_differentiable() {
    let times = uneven(30, 0.1);
    let signal = sample(&times, |t| (7.0 * t).sin() + if t > 1.5 { 1.0 } else { 0.0 }, Interpolation::Cubic);
    for k in 1..times.len() - 1 {
        let derivatives = |toward: f64| {
            let d = (toward - times[k]) / 4.0;
            let [a, b, c, e] = [0.0, 1.0, 2.0, 3.0].map(|j| signal.value(times[k] + j * d));
            [(-11.0 * a + 18.0 * b - 9.0 * c + 2.0 * e) / (6.0 * d), (2.0 * a - 5.0 * b + 4.0 * c - e) / (d * d)]
        };
        let (left, right) = (derivatives(times[k - 1]), derivatives(times[k + 1]));
        assert!((left[0] - right[0]).abs() < 1e-9, "first derivative at {}: {left:?} {right:?}", times[k]);
        assert!((left[1] - right[1]).abs() < 1e-7, "second derivative at {}: {left:?} {right:?}", times[k]);
    }
}

// Protects simulations that run past their data: values are held, and `covers` says what is missing.
#[test]
fn ends_are_held_and_coverage_is_known() {
    for interpolation in ALL {
        let signal = Signal::sampled_evenly(1.0, 0.1, &[5.0, 1.0, 2.0, 3.0, 7.0], interpolation).unwrap();
        let (start, end) = signal.range().unwrap();
        assert_eq!([f64::NEG_INFINITY, 0.0, start, end, 9.0].map(|t| signal.value(t)), [5.0, 5.0, 5.0, 7.0, 7.0]);
        assert!(signal.value(f64::NAN).is_nan());
        signal.covers(start, end).unwrap();
        signal.covers(1.0 - 1e-12, 1.4 + 1e-12).unwrap();
        let message = |from, to| signal.covers(from, to).unwrap_err().to_string();
        assert!(message(1.0, 2.0).contains("from 1.4 s to 2 s"), "{}", message(1.0, 2.0));
        assert!(message(0.5, 1.2).contains("from 0.5 s to 1 s"), "{}", message(0.5, 1.2));
        assert!(message(0.5, 2.0).contains("from 0.5 s to 1 s and 1.4 s to 2 s"), "{}", message(0.5, 2.0));
        assert!(message(3.0, 4.0).contains("nothing is known from 3 s to 4 s"), "{}", message(3.0, 4.0));
        assert!(message(2.0, 1.0).contains("not a range"));
        assert!(message(f64::NAN, 1.0).contains("not a range"));
    }
}

// Protects names in problem files and on the command line.
#[test]
fn interpolations_have_names() {
    assert_eq!("zoh".parse(), Ok(Interpolation::ZeroOrder));
    for interpolation in ALL {
        assert_eq!(interpolation.to_string().parse(), Ok(interpolation));
    }
    assert_eq!(Interpolation::NAMES.map(|name| name.parse::<Interpolation>().is_ok()), [true; 4]);
    let error = "cubik".parse::<Interpolation>().unwrap_err().to_string();
    assert!(error.contains("`cubik`") && error.contains("did you mean `cubic`?"), "{error}");
}

// Protects against samples that define no signal.
#[test]
fn unusable_samples_are_refused() {
    for interpolation in ALL {
        let sampled = |times: &[f64], values: &[f64]| Signal::sampled(times, values, interpolation);
        refused(sampled(&[0.0, 1.0], &[1.0]), &["2 times and 1 values", "one value for each"]);
        refused(sampled(&[], &[]), &["samples, there are 0", "give more"]);
        refused(sampled(&[0.0], &[1.0]), &["samples, there are 1"]);
        let four = [0.0, 1.0, 2.0, 3.0];
        refused(sampled(&four, &[0.0, f64::NAN, 0.0, 0.0]), &["t = 1 s (row 2) is NaN", "correct"]);
        refused(sampled(&[0.0, 1.0, 1.0, 2.0], &four), &["row 3", "repeated"]);
        refused(sampled(&[0.0, 2.0, 1.0, 3.0], &four), &["row 3", "1 s comes after 2 s", "sort"]);
        refused(sampled(&[0.0, f64::INFINITY, 1.0, 3.0], &four), &["row 2", "inf"]);
        refused(Signal::sampled_evenly(0.0, 0.0, &four, interpolation), &["step is 0 s", "positive"]);
        refused(Signal::sampled_evenly(1.0, 1e-30, &four, interpolation), &["repeated"]);
    }
    refused(Signal::sampled(&[0.0, 1.0, 2.0], &[0.0; 3], Interpolation::Cubic), &["needs 4 samples", "`linear`"]);
    refused(Signal::sampled(&[0.0, 1.0], &[-1e308, 1e308], Interpolation::Linear), &["overflows", "units"]);
    let tight = [0.0, 5e-324, 1e-323, 1.5e-323];
    refused(Signal::sampled(&tight, &[0.0, 1.0, 0.0, 1.0], Interpolation::Cubic), &["overflows"]);
    let short = Signal::constant(1.0).fill(&[0.0, 1.0], &mut [0.0]).unwrap_err().to_string();
    assert!(short.contains("2 times and room for 1"), "{short}");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    // Protects the fast paths: the division on nearly even times, the search on uneven ones and the walk of `fill` find
    // the interval that a plain scan finds, whatever the times, in any order.
    #[test]
    fn every_way_to_the_interval_is_the_same(
        intervals in prop::collection::vec(0.01f64..1.0, 3..60),
        evenness in prop::sample::select(vec![0.0, 0.2, 1.0]),
        mut at in prop::collection::vec(-0.1f64..1.1, 1..40),
        sorted: bool,
    ) {
        let mut times = vec![-3.0];
        for interval in &intervals {
            times.push(times[times.len() - 1] + 1.0 + evenness * (interval - 1.0));
        }
        let span = times[times.len() - 1] + 3.0;
        at.iter_mut().for_each(|t| *t = -3.0 + *t * span);
        at.extend(&times);
        if sorted {
            at.sort_by(f64::total_cmp);
        }
        let numbers: Vec<f64> = (0..times.len()).map(|k| k as f64).collect();
        for interpolation in ALL {
            let signal = Signal::sampled(&times, &numbers, interpolation).unwrap();
            let mut filled = vec![0.0; at.len()];
            signal.fill(&at, &mut filled).unwrap();
            for (t, filled) in at.iter().zip(filled) {
                prop_assert_eq!(signal.value(*t).to_bits(), filled.to_bits());
                let scan = times.iter().rposition(|sample| sample <= t).unwrap_or(0) as f64;
                let value = signal.value(*t);
                match interpolation {
                    Interpolation::ZeroOrder => prop_assert!(value == scan || value == signal.value(t + 2e-4)),
                    Interpolation::Linear => prop_assert!(scan <= value && value <= scan + 1.0),
                    Interpolation::Cubic => prop_assert!(value.is_finite()),
                }
            }
        }
    }

    // Protects every caller: whatever the samples, there is a signal with finite values or an error.
    #[test]
    fn no_samples_panic(samples in prop::collection::vec((any::<f64>(), any::<f64>()), 0..8), t: f64) {
        let (mut times, values): (Vec<f64>, Vec<f64>) = samples.into_iter().unzip();
        times.sort_by(f64::total_cmp);
        for interpolation in ALL {
            if let Ok(signal) = Signal::sampled(&times, &values, interpolation) {
                let _ = (signal.value(t), signal.covers(t, t), format!("{signal:?}"));
                prop_assert_eq!(signal.value(times[0]).to_bits(), values[0].to_bits());
            }
        }
    }
}

// Protects signals that switch: each applies from its time on, before it the one before, whoever asks; and what is wrong is reported.
#[test]
fn signals_switch() {
    let ramp = sample(&[0.5, 0.75, 1.0], |t| t, Interpolation::Linear);
    let push =
        Signal::switched(Signal::constant(-1.0), vec![(0.5, ramp.clone()), (1.0, Signal::function(|t| -t))]).unwrap();
    let times = [0.0, 0.4999, 0.5, 0.6, 0.9999, 1.0, 2.0];
    let mut values = [0.0; 7];
    push.fill(&times, &mut values).unwrap();
    assert_eq!(values, times.map(|t| push.value(t)));
    assert_eq!((values[1], values[2], values[5]), (-1.0, 0.5, -1.0));
    // the samples of the ramp are known while it applies
    assert!(push.covers(0.0, 2.0).is_ok());
    let longer = Signal::switched(Signal::constant(0.0), vec![(0.4, ramp)]).unwrap();
    let missing = longer.covers(0.0, 1.2).unwrap_err().to_string();
    assert!(missing.contains("from 0.4 s to 0.5 s and 1 s to 1.2 s"), "{missing}");
    for (times, words) in [([0.5, 0.5], "at 0.5 s, and then at 0.5 s"), ([0.2, f64::NAN], "at NaN s")] {
        let then = times.map(|t| (t, Signal::constant(0.0))).to_vec();
        let error = Signal::switched(Signal::constant(0.0), then).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
}
