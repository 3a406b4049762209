//! Values that a series repeats far outside all others.

/// A value is far from the others where the gap to them is so many times what these reach from their median.
const FAR: f64 = 5.0;
/// A larger part of the samples is no exception.
const MOST: f64 = 0.3;
/// More different values are a motion.
const KINDS: usize = 3;

/// Values that are repeated far outside all others, each with its distance from these.
pub fn repeated_far_outside(values: &[f64]) -> Vec<(f64, f64)> {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let Some(last) = sorted.len().checked_sub(1) else { return Vec::new() };
    let [low, median, high] = [0.25, 0.5, 0.75].map(|part| sorted[(part * last as f64).round() as usize]);
    let mut groups: Vec<(f64, usize)> = Vec::new();
    for value in &sorted {
        match groups.last_mut() {
            Some((own, count)) if own == value => *count += 1,
            _ => groups.push((*value, 1)),
        }
    }
    let above: Vec<(f64, usize)> = groups.iter().copied().filter(|group| group.0 > median).collect();
    let below: Vec<(f64, usize)> = groups.iter().rev().copied().filter(|group| group.0 < median).collect();
    // what is usual on the other side is so on this one
    let sides = [(above, median - low), (below, high - median)];
    sides.iter().flat_map(|(side, usual)| outside(side, (median, *usual), (sorted.len(), groups.len()))).collect()
}

/// The same on one side of the median, of values with their counts that are ordered outwards, among so many samples with so many values.
fn outside(side: &[(f64, usize)], (median, usual): (f64, f64), (samples, kinds): (usize, usize)) -> Vec<(f64, f64)> {
    // more groups than these beyond it are no exceptions, whatever they are
    let nearer = side.len().saturating_sub(KINDS + 1);
    let mut reach = side[..nearer].iter().fold(usual, |reach, (value, _)| reach.max((value - median).abs()));
    for (k, &(value, count)) in side.iter().enumerate().skip(nearer) {
        let (beyond, off) = (&side[k..], (value - median).abs());
        let repeated: Vec<f64> = beyond.iter().filter(|group| group.1 > 1).map(|group| group.0).collect();
        let is_seldom = beyond.iter().map(|group| group.1).sum::<usize>() as f64 <= MOST * samples as f64;
        let is_apart = off - reach > FAR * reach && (reach > 0.0 || kinds == 2);
        if is_apart && count > 1 && is_seldom && repeated.len() <= KINDS && beyond.len() <= repeated.len() + 1 {
            return repeated.into_iter().map(|value| (value, (value - median).abs() - reach)).collect();
        }
        reach = reach.max(off);
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(values: &[f64]) -> Vec<f64> {
        repeated_far_outside(values).into_iter().map(|(value, _)| value).collect()
    }

    /// Protects the person whose logger writes a number where it has none: whichever it is, on one side or on both, beside a motion or a rest, it is found.
    #[test]
    fn what_loggers_write_for_nothing_is_found() {
        let motion: Vec<f64> = (0..200).map(|i| 0.3 + (0.1 * f64::from(i)).sin()).collect();
        for sentinels in [&[9999.0][..], &[-999.25], &[65535.0, 32767.0], &[-9999.0, 9999.0], &[1e30]] {
            let mut values = motion.clone();
            for (k, i) in (20..46).step_by(2).enumerate() {
                values[i] = sentinels[k % sentinels.len()];
            }
            let (mut own, mut sentinels) = (found(&values), sentinels.to_vec());
            own.sort_by(f64::total_cmp);
            sentinels.sort_by(f64::total_cmp);
            assert_eq!(own, sentinels);
            // a single spike between them hides none
            values[77] = 20.0;
            assert_eq!(found(&values).len(), sentinels.len(), "{sentinels:?}");
        }
        let rest: Vec<f64> = (0..100).map(|i| if i % 10 == 3 { -1.0 } else { 0.0 }).collect();
        assert_eq!(found(&rest), [-1.0]);
    }

    /// Protects motions from being taken for that: peaks, levels of a converter, relays, steps and single spikes are none.
    #[test]
    fn motions_are_no_sentinels() {
        let of = |value: &dyn Fn(f64) -> f64| found(&(0..400).map(|i| value(0.05 * f64::from(i))).collect::<Vec<_>>());
        let none: Vec<f64> = Vec::new();
        assert_eq!(of(&|t| (3.0 * t).sin() * (-0.3 * t).exp()), none);
        assert_eq!(of(&|t| (20.0 * (3.0 * t).sin() * (-2.0 * t).exp()).round()), none);
        assert_eq!(of(&|t| if t < 10.0 { 0.0 } else { 1.0 }), none);
        assert_eq!(of(&|t| (100.0 * (3.0 * t).sin()).clamp(-30.0, 30.0)), none);
        assert_eq!(of(&|t| if t == 2.0 { 1e9 } else { t.sin() }), none);
        assert_eq!(found(&[]), none);
        assert_eq!(found(&[1.0, 1.0]), none);
    }
}
