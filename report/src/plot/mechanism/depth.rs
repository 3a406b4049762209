//! Lines that go from far to near, in pieces: what is in front of one piece may be behind the next.

use super::super::scene::Point;
use super::shape::Location;

/// Points on the way from `a` to `b`, both included, such that one is nearer than the one before by no more than `step`; `near`
/// are those of the ends.
pub(super) fn subdivided([a, b]: [Location; 2], near: [f64; 2], step: f64) -> Vec<Location> {
    const MOST: f64 = 200.0;
    // of what is not a number, one
    let count = ((near[1] - near[0]).abs() / step).ceil().clamp(1.0, MOST) as u32;
    // what is not finite is not divided
    let count = count.max(1);
    (0..=count).map(|i| if i == count { b } else { a + (b - a) * (f64::from(i) / f64::from(count)) }).collect()
}

/// Points and how near they are, in lines that are not much deeper than `step`, with their mean nearness; each begins where the
/// one before has ended.
pub(super) fn runs(points: &[(Point, f64)], step: f64) -> Vec<(Vec<Point>, f64)> {
    let mut runs = Vec::new();
    let mut run: Vec<(Point, f64)> = Vec::new();
    let mut finish = |run: &[(Point, f64)]| {
        let mean = run.iter().map(|(_, near)| near).sum::<f64>() / run.len() as f64;
        runs.push((run.iter().map(|(point, _)| *point).collect(), mean));
    };
    for &next in points {
        if run.len() > 1 && run.iter().any(|(_, near)| (near - next.1).abs() > step) {
            finish(&run);
            run.drain(..run.len() - 1);
        }
        run.push(next);
    }
    if run.len() > 1 {
        finish(&run);
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;
    use costate::vector::Vector;

    /// Protects lines: they come in one piece where they are equally near, and without gaps where they are not.
    #[test]
    fn pieces_hang_together() {
        let ends = [Vector([0.0, 0.0, 0.0]), Vector([1.0, 2.0, 0.0])];
        assert_eq!(subdivided(ends, [0.0, 0.0], 0.1), ends);
        assert_eq!(subdivided(ends, [f64::NAN, 0.0], 0.1), ends);
        let points = subdivided(ends, [3.0, 2.0], 0.25);
        assert_eq!(points.len(), 5);
        assert_eq!(points[1], Vector([0.25, 0.5, 0.0]));
        let level: Vec<(Point, f64)> = (0..9).map(|i| ((f64::from(i), 0.0), 7.0)).collect();
        assert_eq!(runs(&level, 0.1), [(level.iter().map(|(point, _)| *point).collect(), 7.0)]);
        let rising: Vec<(Point, f64)> = (0..9).map(|i| ((f64::from(i), 0.0), f64::from(i))).collect();
        let pieces = runs(&rising, 2.5);
        assert_eq!(pieces.iter().map(|(line, _)| line.len()).collect::<Vec<_>>(), [3, 3, 3, 3]);
        assert!(pieces.windows(2).all(|pair| pair[0].0.last() == pair[1].0.first() && pair[0].1 < pair[1].1));
        assert!(runs(&rising[..1], 1.0).is_empty());
    }
}
