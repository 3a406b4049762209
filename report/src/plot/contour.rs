//! Lines of equal height over a grid, by marching squares.

use std::collections::HashMap;

/// An edge of the grid: along the first axis (0) or the second (1), from this point on.
type Edge = (u8, usize, usize);

/// A grid of heights: one row for each value of `y`.
pub(crate) struct Grid<'g> {
    pub x: &'g [f64],
    pub y: &'g [f64],
    pub rows: &'g [Vec<f64>],
}

impl Grid<'_> {
    /// The lines at this height: points joined as far as they go. Cells with a corner that is no number have none.
    pub fn lines(&self, height: f64) -> Vec<Vec<(f64, f64)>> {
        let mut next: HashMap<Edge, Vec<Edge>> = HashMap::new();
        for j in 0..self.y.len().saturating_sub(1) {
            for i in 0..self.x.len().saturating_sub(1) {
                for (a, b) in self.cell(i, j, height) {
                    next.entry(a).or_default().push(b);
                    next.entry(b).or_default().push(a);
                }
            }
        }
        let mut edges: Vec<Edge> = next.keys().copied().collect();
        // ends of open lines first, then whatever closes; always in the same order
        edges.sort_unstable_by_key(|edge| (next[edge].len(), *edge));
        let mut lines = Vec::new();
        for start in edges {
            while let Some(mut edge) = take(&mut next, start) {
                let mut line = vec![self.point(start, height), self.point(edge, height)];
                while let Some(following) = take(&mut next, edge) {
                    edge = following;
                    line.push(self.point(edge, height));
                }
                lines.push(line);
            }
        }
        lines
    }

    /// The pieces of lines within a cell, from edge to edge.
    fn cell(&self, i: usize, j: usize, height: f64) -> Vec<(Edge, Edge)> {
        let corners = [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)].map(|(i, j)| self.rows[j][i]);
        if corners.iter().any(|corner| !corner.is_finite()) {
            return Vec::new();
        }
        let edges: [Edge; 4] = [(0, i, j), (1, i + 1, j), (0, i, j + 1), (1, i, j)];
        let above = corners.map(|corner| corner > height);
        let crossed: Vec<usize> = (0..4).filter(|&k| above[k] != above[(k + 1) % 4]).collect();
        match crossed[..] {
            [a, b] => vec![(edges[a], edges[b])],
            [_, _, _, _] => {
                // a saddle: the middle says which corners belong together
                let middle = corners.iter().sum::<f64>() / 4.0 > height;
                match middle == above[0] {
                    true => vec![(edges[0], edges[1]), (edges[2], edges[3])],
                    false => vec![(edges[3], edges[0]), (edges[1], edges[2])],
                }
            }
            _ => Vec::new(),
        }
    }

    /// Point of an edge at this height.
    fn point(&self, (axis, i, j): Edge, height: f64) -> (f64, f64) {
        let (other_i, other_j) = if axis == 0 { (i + 1, j) } else { (i, j + 1) };
        let (from, to) = (self.rows[j][i], self.rows[other_j][other_i]);
        let part = (height - from) / (to - from);
        let between = |a: f64, b: f64| a + part * (b - a);
        (between(self.x[i], self.x[other_i]), between(self.y[j], self.y[other_j]))
    }
}

/// Takes away a piece that begins at an edge, and says where it leads.
fn take(next: &mut HashMap<Edge, Vec<Edge>>, edge: Edge) -> Option<Edge> {
    let other = next.get_mut(&edge)?.pop()?;
    if let Some(back) = next.get_mut(&other)
        && let Some(place) = back.iter().position(|own| *own == edge)
    {
        back.swap_remove(place);
    }
    Some(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Protects lines: of a paraboloid they are one closed ellipse each, at that height to the error of linear interpolation; a hole ends them.
    #[test]
    fn lines_of_a_bowl_are_ellipses() {
        let x: Vec<f64> = (0..81).map(|i| -2.0 + 0.05 * f64::from(i)).collect();
        let y: Vec<f64> = (0..41).map(|i| -1.0 + 0.05 * f64::from(i)).collect();
        let height = |x: f64, y: f64| x * x + 4.0 * y * y;
        let mut rows: Vec<Vec<f64>> = y.iter().map(|y| x.iter().map(|x| height(*x, *y)).collect()).collect();
        let lines = Grid { x: &x, y: &y, rows: &rows }.lines(1.7);
        assert_eq!(lines.len(), 1);
        assert_eq!(lines[0].first(), lines[0].last());
        // the second derivative, 8, times the square of a step, 0.05, over 8
        assert!(lines[0].iter().all(|(x, y)| (height(*x, *y) - 1.7).abs() < 2.6e-3), "{:?}", lines[0]);
        rows[20][66] = f64::NAN;
        let lines = Grid { x: &x, y: &y, rows: &rows }.lines(1.7);
        assert!(lines.len() == 1 && lines[0].first() != lines[0].last());
        assert!(Grid { x: &x, y: &y, rows: &rows }.lines(100.0).is_empty());
    }

    /// Protects saddles: two lines that do not cross.
    #[test]
    fn saddles_have_two_lines() {
        let side = [0.0, 1.0];
        let rows = [vec![1.0, 0.0], vec![0.0, 1.0]];
        for height in [0.4, 0.6] {
            let lines = Grid { x: &side, y: &side, rows: &rows }.lines(height);
            assert_eq!(lines.iter().map(Vec::len).collect::<Vec<_>>(), [2, 2]);
        }
    }
}
