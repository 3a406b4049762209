//! Thinning of long series: what cannot be seen at the printed size is left out, peaks are kept.

use std::collections::HashSet;

use super::scene::Point;

/// The points of one line that lie in the same column: the first, the lowest, the highest and the last, by position.
struct Column {
    index: i64,
    points: [(usize, Point); 4],
}

impl Column {
    fn new(index: i64, at: usize, point: Point) -> Self {
        Column { index, points: [(at, point); 4] }
    }

    fn add(&mut self, at: usize, point: Point) {
        let [_, lowest, highest, last] = &mut self.points;
        if point.1 < lowest.1.1 {
            *lowest = (at, point);
        }
        if point.1 > highest.1.1 {
            *highest = (at, point);
        }
        *last = (at, point);
    }

    fn flush(mut self, line: &mut Vec<Point>) {
        self.points.sort_by_key(|(at, _)| *at);
        let mut previous = None;
        for (at, point) in self.points {
            if previous != Some(at) {
                line.push(point);
            }
            previous = Some(at);
        }
    }
}

/// Splits points into lines at those that are not finite, and keeps of each run through a column of width `column` its
/// first, lowest, highest and last point. For x that increases or decreases, at most four points a column remain.
pub(super) fn lines(points: impl Iterator<Item = Point>, column: f64) -> Vec<Vec<Point>> {
    let mut lines = Vec::new();
    let mut line = Vec::new();
    let mut current: Option<Column> = None;
    for (at, point) in points.enumerate() {
        if !(point.0.is_finite() && point.1.is_finite()) {
            if let Some(column) = current.take() {
                column.flush(&mut line);
                lines.push(std::mem::take(&mut line));
            }
            continue;
        }
        let index = (point.0 / column).floor() as i64;
        match &mut current {
            Some(column) if column.index == index => column.add(at, point),
            _ => {
                if let Some(column) = current.replace(Column::new(index, at, point)) {
                    column.flush(&mut line);
                }
            }
        }
    }
    if let Some(column) = current {
        column.flush(&mut line);
        lines.push(line);
    }
    lines
}

/// Keeps one of the points that share a square cell, with cells as fine as `cell` or as coarse as leaves at most `limit`
/// points; the lowest and highest of each column of twenty finest cells are kept in any case.
pub(super) fn cloud(points: &[Point], cell: f64, limit: usize) -> Vec<Point> {
    let thin = |cell: f64| -> Vec<Point> {
        let mut seen = HashSet::new();
        let keep = |p: &&Point| seen.insert(((p.0 / cell).floor() as i64, (p.1 / cell).floor() as i64));
        points.iter().filter(keep).copied().collect()
    };
    let mut size = cell;
    let mut kept = thin(size);
    if kept.len() <= limit {
        return kept;
    }
    while kept.len() > limit {
        size *= 1.5;
        kept = thin(size);
    }
    let mut by_column = points.to_vec();
    let column = |p: &Point| (p.0 / (20.0 * cell)).floor() as i64;
    by_column.sort_by_key(column);
    for chunk in by_column.chunk_by(|a, b| column(a) == column(b)) {
        kept.extend(chunk.iter().min_by(|a, b| a.1.total_cmp(&b.1)));
        kept.extend(chunk.iter().max_by(|a, b| a.1.total_cmp(&b.1)));
    }
    kept
}

/// The parts of a line inside of a rectangle, given by two opposite corners (smaller coordinates first).
pub(super) fn clip(line: &[Point], low: Point, high: Point) -> Vec<Vec<Point>> {
    let mut parts: Vec<Vec<Point>> = Vec::new();
    for pair in line.windows(2) {
        let (a, b) = (pair[0], pair[1]);
        let Some((start, end)) = clip_segment(a, b, low, high) else { continue };
        let from = (a.0 + start * (b.0 - a.0), a.1 + start * (b.1 - a.1));
        let to = (a.0 + end * (b.0 - a.0), a.1 + end * (b.1 - a.1));
        match parts.last_mut() {
            Some(part) if start == 0.0 && part.last() == Some(&a) => part.push(to),
            _ => parts.push(vec![from, to]),
        }
    }
    parts
}

/// Liang and Barsky: which fractions of a segment lie inside.
fn clip_segment(a: Point, b: Point, low: Point, high: Point) -> Option<(f64, f64)> {
    let (mut start, mut end) = (0.0_f64, 1.0_f64);
    for (from, step, low, high) in [(a.0, b.0 - a.0, low.0, high.0), (a.1, b.1 - a.1, low.1, high.1)] {
        if step == 0.0 {
            if from < low || from > high {
                return None;
            }
            continue;
        }
        let (s, e) = ((low - from) / step, (high - from) / step);
        start = start.max(s.min(e));
        end = end.min(s.max(e));
    }
    (start <= end).then_some((start, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Protects peaks: a single sample out of a million that sticks out must survive, and the rest must get small.
    #[test]
    fn decimation_keeps_extremes_and_is_small() {
        let n = 1_000_000;
        let y = |i: usize| match i {
            123_457 => 50.0,
            765_431 => -40.0,
            _ => (i as f64 * 0.37).sin(),
        };
        let thinned = lines((0..n).map(|i| (80.0 * i as f64 / n as f64, y(i))), 0.1);
        assert_eq!(thinned.len(), 1);
        assert!(thinned[0].len() <= 4 * 801);
        assert!(thinned[0].iter().any(|p| p.1 == 50.0) && thinned[0].iter().any(|p| p.1 == -40.0));
        assert_eq!(thinned[0].first().map(|p| p.1), Some(y(0)));
        assert_eq!(thinned[0].last().map(|p| p.1), Some(y(n - 1)));
        assert!(thinned[0].windows(2).all(|w| w[0].0 <= w[1].0), "the order must stay");
    }

    /// Protects gaps: values that are not finite must not be bridged.
    #[test]
    fn lines_break_where_values_are_missing() {
        let points = [(0.0, 1.0), (1.0, 2.0), (2.0, f64::NAN), (3.0, 1.0), (4.0, f64::INFINITY), (5.0, 0.0)];
        let split = lines(points.into_iter(), 0.1);
        assert_eq!(split, vec![vec![(0.0, 1.0), (1.0, 2.0)], vec![(3.0, 1.0)], vec![(5.0, 0.0)]]);
    }

    /// Protects outliers in clouds of points that are too many to print.
    #[test]
    fn clouds_keep_their_outliers() {
        let mut points: Vec<Point> =
            (0..200_000).map(|i| ((i as f64 * 0.618).fract() * 80.0, (i as f64 * 0.7548).fract() * 40.0)).collect();
        points.push((33.3, -20.0));
        let kept = cloud(&points, 0.1, 3000);
        assert!(kept.len() < 3200 && kept.contains(&(33.3, -20.0)));
    }

    /// Protects the frame: lines end at it and come back where they belong.
    #[test]
    fn clipping_ends_at_the_frame() {
        let parts = clip(&[(-1.0, 0.5), (0.5, 0.5), (0.5, 2.0), (0.75, 2.0), (0.75, 0.0)], (0.0, 0.0), (1.0, 1.0));
        assert_eq!(parts, vec![vec![(0.0, 0.5), (0.5, 0.5), (0.5, 1.0)], vec![(0.75, 1.0), (0.75, 0.0)]]);
    }
}
