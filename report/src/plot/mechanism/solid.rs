//! Outlines of bodies: convex hulls, and the cuboid or cylinder that has a body's mass and inertia.

use super::shape::Location;
use costate::vector::{Pose, Vector};
use nalgebra::{Matrix3, SymmetricEigen};
use std::f64::consts::TAU;

/// A convex solid by its faces, in some axes, m.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Solid {
    pub faces: Vec<Face>,
}

/// Corners counterclockwise, as seen from outside.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Face {
    pub corners: Vec<Location>,
    pub lines: Lines,
}

/// Lines that are drawn of a face.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lines {
    /// No lines: the face is a piece of a round one.
    Nothing,
    Edges,
    /// Edges, and a line from the middle to the first corner, which shows how it turns.
    Marked,
}

/// Shape of a body without joints at two of its points.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Bulk {
    Solid(Solid),
    /// A ball of this radius.
    Ball(f64),
    /// A long and thin rod: both ends.
    Rod([Location; 2]),
}

impl Solid {
    /// A cuboid with half the lengths of its edges along three unit vectors.
    pub fn cuboid(center: Location, axes: [Location; 3], half: [f64; 3]) -> Self {
        let [x, y, z] = [0, 1, 2].map(|k| axes[k] * half[k]);
        let faces = [[x, y, z], [y, z, x], [z, x, y]].into_iter().flat_map(|[out, a, b]| {
            let face = |middle: Location, a: Location| Face {
                corners: vec![middle + a + b, middle - a + b, middle - a - b, middle + a - b],
                lines: Lines::Edges,
            };
            [face(center + out, a), face(center - out, -a)]
        });
        Solid { faces: faces.collect() }
    }

    /// A cylinder with half its length along a unit vector; `across` is one across it, to a mark on its ends.
    pub fn cylinder(center: Location, axis: Location, across: Location, radius: f64, half: f64, marked: bool) -> Self {
        const CORNERS: u32 = 72;
        let side = axis.cross(across);
        let face = |middle: Location, sign: f64| {
            let corner = |i: u32| {
                let (sin, cos) = (TAU * f64::from(i) / f64::from(CORNERS)).sin_cos();
                middle + across * (radius * cos) + side * (sign * radius * sin)
            };
            Face {
                corners: (0..CORNERS).map(corner).collect(),
                lines: if marked { Lines::Marked } else { Lines::Edges },
            }
        };
        let mut faces = vec![face(center + axis * half, 1.0), face(center - axis * half, -1.0)];
        let rim = &faces[0].corners;
        let down = axis * (-2.0 * half);
        let sides = rim.iter().zip(rim.iter().cycle().skip(1));
        let sides = sides.map(|(a, b)| Face { corners: vec![*b, *a, *a + down, *b + down], lines: Lines::Nothing });
        let sides: Vec<Face> = sides.collect();
        faces.extend(sides);
        Solid { faces }
    }

    /// All that is nearer than a radius to a line along a unit vector, between its ends; `across` is a unit vector across it.
    pub fn capsule([from, to]: [Location; 2], axis: Location, across: Location, radius: f64) -> Self {
        const CORNERS: u32 = 48;
        const RINGS: u32 = 6;
        let side = axis.cross(across);
        let ring = |center: Location, height: f64| -> Vec<Location> {
            let (up, out) = (axis * (radius * height.sin()), radius * height.cos());
            let corner = |i: u32| {
                let (sin, cos) = (TAU * f64::from(i) / f64::from(CORNERS)).sin_cos();
                center + up + across * (out * cos) + side * (out * sin)
            };
            (0..CORNERS).map(corner).collect()
        };
        // heights of rings over the equators, from pole to pole
        let turn = |k: u32| 0.25 * TAU * f64::from(k) / f64::from(RINGS);
        let below = (0..=RINGS).rev().map(|k| ring(from, -turn(k)));
        let rings: Vec<Vec<Location>> = below.chain((0..=RINGS).map(|k| ring(to, turn(k)))).collect();
        let faces = rings.windows(2).flat_map(|pair| {
            let (low, high) = (&pair[0], &pair[1]);
            (0..low.len()).map(move |i| {
                let next = (i + 1) % low.len();
                Face { corners: vec![low[i], low[next], high[next], high[i]], lines: Lines::Nothing }
            })
        });
        Solid { faces: faces.collect() }
    }

    /// Mean of all corners.
    pub fn middle(&self) -> Location {
        let sum = self.corners().fold(Location::zero(), |sum, corner| sum + corner);
        sum * (1.0 / self.corners().count().max(1) as f64)
    }

    /// Distance from a point inside to the surface along a vector, in lengths of the vector.
    pub fn exit(&self, inside: Location, vector: Location) -> f64 {
        let exits = self.faces.iter().filter_map(|Face { corners, .. }| {
            let normal = (corners[1] - corners[0]).cross(corners[2] - corners[1]);
            let speed = normal.dot(vector);
            (speed > 0.0).then(|| normal.dot(corners[0] - inside) / speed)
        });
        exits.fold(f64::INFINITY, f64::min)
    }

    pub fn corners(&self) -> impl Iterator<Item = Location> + '_ {
        self.faces.iter().flat_map(|face| face.corners.iter().copied())
    }

    /// Fixed to a body, in the world.
    pub fn placed(&self, pose: &Pose<f64>) -> Self {
        let placed = |face: &Face| Face {
            corners: face.corners.iter().map(|corner| pose.point(*corner)).collect(),
            lines: face.lines,
        };
        Solid { faces: self.faces.iter().map(placed).collect() }
    }
}

/// The uniform solid of a mass (kg) and an inertia about its centre (I_11, I_22, I_33, I_12, I_13, I_23, kg m²): a cylinder where
/// two principal moments are equal, a ball where all are, else a cuboid. None, if it has no extent.
pub(super) fn of_inertia(center: Location, mass: f64, entries: [f64; 6]) -> Option<Bulk> {
    const EQUAL: f64 = 1e-6;
    const THIN: f64 = 0.1;
    if !(mass > 0.0 && mass.is_finite() && entries.iter().all(|entry| entry.is_finite())) {
        return None;
    }
    let [xx, yy, zz, xy, xz, yz] = entries;
    let eigen = SymmetricEigen::new(Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz));
    let moments = [0, 1, 2].map(|k| eigen.eigenvalues[k]);
    let [x, y, _] = [0, 1, 2].map(|k| Vector(eigen.eigenvectors.column(k).into_owned().into()));
    let axes = [x, y, x.cross(y)];
    let largest = moments.into_iter().fold(0.0, f64::max);
    if largest.is_nan() || largest <= 0.0 {
        return None;
    }
    let root = |square: f64| square.max(0.0).sqrt();
    let equal = |a: usize, b: usize| (moments[a] - moments[b]).abs() < EQUAL * largest;
    if equal(0, 1) && equal(1, 2) {
        return Some(Bulk::Ball(root(2.5 * largest / mass)));
    }
    let round = (0..3).find(|&k| equal((k + 1) % 3, (k + 2) % 3));
    let Some(k) = round else {
        // a uniform cuboid with half edges a, b, c has I_1 = m (b² + c²) / 3
        let total: f64 = moments.iter().sum();
        let half = moments.map(|moment| root(1.5 * (total - 2.0 * moment) / mass));
        return Some(Bulk::Solid(Solid::cuboid(center, axes, half)));
    };
    // a uniform cylinder has m r² / 2 about its axis and m (r² / 4 + l² / 12) across
    let (axis, across) = (axes[k], axes[(k + 1) % 3]);
    let radius = root(2.0 * moments[k] / mass);
    let half = 0.5 * root(12.0 * moments[(k + 1) % 3] / mass - 3.0 * radius * radius);
    Some(if radius < THIN * half {
        Bulk::Rod([center - axis * half, center + axis * half])
    } else {
        Bulk::Solid(Solid::cylinder(center, axis, across, radius, half, true))
    })
}

/// The convex hull, without points that are the same or on its edges to round-off (Andrew 1979).
pub(super) fn hull(mut points: Vec<[f64; 2]>) -> Vec<[f64; 2]> {
    points.sort_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
    let size = points.iter().flatten().fold(0.0f64, |size, x| size.max(x.abs()));
    let near = 1e-9 * size;
    points.dedup_by(|a, b| (a[0] - b[0]).abs() <= near && (a[1] - b[1]).abs() <= near);
    if points.len() < 3 {
        return points;
    }
    let turn = |a: [f64; 2], b: [f64; 2], c: [f64; 2]| (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
    let chain = |points: &mut dyn Iterator<Item = [f64; 2]>| {
        let mut chain: Vec<[f64; 2]> = Vec::new();
        for point in points {
            while let [.., a, b] = chain[..]
                && turn(a, b, point) <= near * size
            {
                chain.pop();
            }
            chain.push(point);
        }
        chain.pop();
        chain
    };
    let mut hull = chain(&mut points.iter().copied());
    hull.extend(chain(&mut points.iter().rev().copied()));
    hull
}

/// The farthest two of some points, if all the others are on the line between them to round-off.
pub(super) fn line(points: &[Location]) -> Option<[Location; 2]> {
    let farthest =
        |from: Location| points.iter().copied().max_by(|a, b| (*a - from).length().total_cmp(&(*b - from).length()));
    let start = farthest(*points.first()?)?;
    let end = farthest(start)?;
    let along = (end - start).unit();
    let beside = |point: &Location| along.cross(*point - start).length();
    points.iter().all(|point| beside(point) <= 1e-6 * (end - start).length()).then_some([start, end])
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORIGIN: Location = Vector([0.0; 3]);

    /// The largest and smallest coordinate of all corners.
    fn extent(bulk: Option<Bulk>, k: usize) -> [f64; 2] {
        let Some(Bulk::Solid(solid)) = bulk else { panic!("{bulk:?} is no solid") };
        let ends = solid.corners().map(|corner| corner.0[k]);
        ends.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], x| [low.min(x), high.max(x)])
    }

    fn assert_near(seen: [f64; 2], expected: [f64; 2]) {
        assert!((0..2).all(|k| (seen[k] - expected[k]).abs() < 1e-12), "{seen:?} {expected:?}");
    }

    /// Protects bodies of space: the solid is the one that has the given inertia, where its centre of mass is.
    #[test]
    fn solids_have_the_inertia_that_is_given() {
        // edges of 0.2, 0.4, 0.6 m
        let (mass, [a, b, c]) = (3.0, [0.2, 0.4, 0.6f64]);
        let moment = |a: f64, b: f64| mass * (a * a + b * b) / 12.0;
        let entries = [moment(b, c), moment(a, c), moment(a, b), 0.0, 0.0, 0.0];
        for (k, edge) in [a, b, c].into_iter().enumerate() {
            let solid = of_inertia(Vector([1.0, 0.0, 0.0]), mass, entries);
            let middle = if k == 0 { 1.0 } else { 0.0 };
            assert_near(extent(solid, k), [middle - 0.5 * edge, middle + 0.5 * edge]);
        }
        // the same, turned by a right angle about z
        let entries = [entries[1], entries[0], entries[2], 0.0, 0.0, 0.0];
        assert_near(extent(of_inertia(ORIGIN, mass, entries), 0), [-0.2, 0.2]);
        // a cylinder about y, r = 0.5 m, l = 0.3 m
        let (across, about) = (mass * (0.25 / 4.0 + 0.09 / 12.0), mass * 0.125);
        let cylinder = || of_inertia(ORIGIN, mass, [across, about, across, 0.0, 0.0, 0.0]);
        assert_near(extent(cylinder(), 1), [-0.15, 0.15]);
        assert_near(extent(cylinder(), 0), [-0.5, 0.5]);
        // a thin rod along z, and a disc without thickness
        let rod = of_inertia(ORIGIN, 12.0, [1.0, 1.0, 0.0, 0.0, 0.0, 0.0]);
        let Some(Bulk::Rod([start, end])) = rod else { panic!("{rod:?}") };
        assert!(((end - start).length() - 1.0).abs() < 1e-12 && (end - start).0[0].abs() < 1e-12);
        assert_near(extent(of_inertia(ORIGIN, 4.0, [1.0, 1.0, 2.0, 0.0, 0.0, 0.0]), 2), [0.0, 0.0]);
        assert_eq!(of_inertia(ORIGIN, 10.0, [1.0, 1.0, 1.0, 0.0, 0.0, 0.0]), Some(Bulk::Ball(0.5)));
    }

    /// Protects from what has no extent, and from a search for principal axes that does not end.
    #[test]
    fn what_has_no_extent_has_no_solid() {
        for (mass, entry) in [(0.0, 1.0), (1.0, 0.0), (f64::NAN, 1.0), (1.0, f64::NAN), (1.0, f64::INFINITY)] {
            assert_eq!(of_inertia(ORIGIN, mass, [entry; 6]), None, "{mass} {entry}");
        }
    }

    /// Protects the choice of faces that are seen: all of them wind counterclockwise from outside.
    #[test]
    fn faces_wind_around_their_outside() {
        let [x, y, z] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].map(Vector);
        let cuboid = Solid::cuboid(ORIGIN, [x, y, z], [1.0, 2.0, 3.0]);
        assert_eq!(cuboid.faces.len(), 6);
        for solid in [cuboid, Solid::cylinder(ORIGIN, z, x, 0.5, 2.0, true)] {
            for Face { corners, .. } in &solid.faces {
                let normal = (corners[1] - corners[0]).cross(corners[2] - corners[1]);
                assert!(normal.dot(corners[0]) > 0.0, "{corners:?}");
            }
        }
    }

    /// Protects what leads out of a solid: it begins at the surface.
    #[test]
    fn ways_out_end_at_the_surface() {
        let [x, y, z] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].map(Vector);
        let cuboid = Solid::cuboid(x, [x, y, z], [1.0, 2.0, 3.0]);
        assert!((cuboid.exit(x, y * 8.0) - 0.25).abs() < 1e-15);
        assert!((cuboid.exit(x, (x + z) * 0.5) - 2.0).abs() < 1e-15);
        let cylinder = Solid::cylinder(ORIGIN, z, x, 0.5, 2.0, false);
        assert!((cylinder.exit(ORIGIN, -z) - 2.0).abs() < 1e-15);
        // 72 corners: 0.1 % less than round
        assert!((cylinder.exit(ORIGIN, y) - 0.5).abs() < 1e-3 && (cylinder.exit(ORIGIN, x + z) - 0.5).abs() < 1e-3);
    }

    /// Protects bars: points on a line are told from others.
    #[test]
    fn points_on_a_line_are_a_bar() {
        let points = [[0.1, 0.2, 0.3], [0.2, 0.4, 0.6], [-0.1, -0.2, -0.3]].map(Vector);
        assert_eq!(line(&points), Some([points[2], points[1]]));
        assert_eq!(line(&[points[0], points[1], Vector([0.0, 0.1, 0.0])]), None);
        assert_eq!(line(&[]), None);
    }
}
