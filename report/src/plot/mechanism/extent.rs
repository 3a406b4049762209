//! What is common to all pictures of a motion: how far things reach, where the ground holds them, how large symbols may be.

use std::collections::HashMap;

use super::super::scene::Point;
use super::shape::{Location, Moment, Outline, Shape, across};
use super::stage::Path;
use super::view::Projection;
use costate::sketch::{GROUND, Part, Slider, Spot, Touch};

/// Support that holds something to the ground.
pub(super) struct Support {
    pub at: Location,
    /// Towards the ground, on paper.
    pub normal: Point,
    /// A joint, or the end of a spring.
    pub joint: bool,
    /// In front of the body, which would hide it.
    pub front: bool,
}

/// The smallest box around projected points, m.
#[derive(Clone, Copy)]
pub(super) struct Bounds {
    pub low: [f64; 2],
    pub high: [f64; 2],
}

impl Bounds {
    /// None yet.
    pub fn none() -> Self {
        Bounds { low: [f64::INFINITY; 2], high: [f64::NEG_INFINITY; 2] }
    }

    pub fn add(&mut self, point: [f64; 2], radius: f64) {
        if !(radius.is_finite() && point.iter().all(|x| x.is_finite())) {
            return;
        }
        for ((low, high), x) in self.low.iter_mut().zip(&mut self.high).zip(point) {
            *low = low.min(x - radius);
            *high = high.max(x + radius);
        }
    }

    /// Without any point, it is at the origin.
    pub fn found(self) -> Self {
        if self.low[0] > self.high[0] { Bounds { low: [0.0; 2], high: [0.0; 2] } } else { self }
    }

    pub fn size(&self) -> [f64; 2] {
        [self.high[0] - self.low[0], self.high[1] - self.low[1]]
    }
}

/// Ranges in which contacts and guides are used, along their lines from their points, and radii of planes around their points, m.
pub(super) fn ranges(shape: &Shape<'_>, moments: &[&Moment]) -> HashMap<usize, (f64, f64)> {
    let mut ranges = HashMap::new();
    for (index, part) in shape.sketch.parts.iter().enumerate() {
        let (spots, line, radius) = match part {
            Part::Guide { spots, line, .. } | Part::Axial { spots, line, .. } => (spots, line, 0.0),
            Part::Contact { spots, line, radius } => (spots, line, radius.evaluate(&shape.u)),
            Part::Plane { spots, normal, touch } => {
                let radius = if let Touch::Ball(radius) = touch { radius.evaluate(&shape.u) } else { 0.0 };
                let reach = moments.iter().map(|moment| {
                    let gap = shape.world(&spots[1], moment) - shape.world(&spots[0], moment);
                    shape.direction(normal, moment).cross(gap).length() + radius
                });
                let reach = reach.fold(0.0, f64::max);
                ranges.insert(index, (-reach, reach));
                continue;
            }
            _ => continue,
        };
        // a guide on the ground, and a slot, is as long as it is used; others on a body begin at their point
        let slot = matches!(part, Part::Guide { slider: Slider::Pin, .. }) && !shape.sketch.in_space;
        let unused = (f64::INFINITY, f64::NEG_INFINITY);
        let mut range = if slot || spots[0].member == GROUND { unused } else { (0.0, 0.0) };
        for moment in moments {
            let along = shape.direction(line, moment);
            let s = (shape.world(&spots[1], moment) - shape.world(&spots[0], moment)).dot(along);
            range = (range.0.min(s - radius), range.1.max(s + radius));
        }
        ranges.insert(index, range);
    }
    ranges
}

/// The largest magnitude of each force and torque, N and N m; zero for other parts.
pub(super) fn strongest(shape: &Shape<'_>, moments: &[&Moment]) -> Vec<f64> {
    let largest = |part: usize| moments.iter().map(|moment| moment.load(part).0.abs()).fold(0.0, f64::max);
    (0..shape.sketch.parts.len()).map(largest).collect()
}

/// The ends of the arrows of all forces.
pub(super) fn arrows(shape: &Shape<'_>, moment: &Moment, strongest: &[f64], reach: f64) -> Vec<(Location, Location)> {
    let arrow = |(index, part): (usize, &Part)| {
        let Part::Force { spots: [spot], .. } = part else { return None };
        let (amount, along) = moment.load(index);
        let (from, arrow) = (shape.world(spot, moment), along * (reach * amount / strongest.get(index)?));
        arrow.length().is_finite().then_some((from, from + arrow))
    };
    shape.sketch.parts.iter().enumerate().filter_map(arrow).collect()
}

pub(super) fn bounds(
    shape: &Shape<'_>,
    moments: &[&Moment],
    paths: &[Path],
    ranges: &HashMap<usize, (f64, f64)>,
    projection: &Projection,
) -> Bounds {
    let mut bounds = Bounds::none();
    let mut add = |point: Location, radius: f64| bounds.add(projection.at(point), radius);
    for moment in moments {
        for (index, part) in shape.sketch.parts.iter().enumerate() {
            for spot in part.spots() {
                add(shape.world(spot, moment), 0.0);
            }
            let (from, to) = ranges.get(&index).copied().unwrap_or_default();
            match part {
                Part::Contact { spots, radius, .. } => {
                    add(shape.world(&spots[1], moment), radius.evaluate(&shape.u).abs());
                }
                Part::Guide { spots, line, .. } | Part::Axial { spots, line, .. } => {
                    let (foot, along) = (shape.world(&spots[0], moment), shape.direction(line, moment));
                    [from, to].into_iter().for_each(|s| add(foot + along * s, 0.0));
                }
                Part::Plane { spots, normal, touch } => {
                    let (foot, normal) = (shape.world(&spots[0], moment), shape.direction(normal, moment));
                    let across = across(normal, moment.pose(spots[0].member));
                    square(foot, normal, across, to).into_iter().for_each(|corner| add(corner, 0.0));
                    if let Touch::Ball(radius) = touch {
                        add(shape.world(&spots[1], moment), radius.evaluate(&shape.u).abs());
                    }
                }
                Part::Support { .. } => shape.support(part, moment).iter().for_each(|[support, ..]| add(*support, 0.0)),
                Part::Gears { members, ratio } => {
                    let wheels = wheels(shape, *members, ratio.evaluate(&shape.u), moment);
                    wheels.into_iter().flatten().for_each(|(center, radius)| add(center, radius));
                }
                _ => {}
            }
        }
        for (member, outline) in shape.outlines.iter().enumerate() {
            if member == GROUND && !matches!(outline, Outline::Made(_)) {
                continue;
            }
            let pose = moment.pose(member);
            let radius = if let Outline::Disc(_, radius) = outline { *radius } else { 0.0 };
            outline.points().into_iter().for_each(|point| add(pose.point(point), radius));
            shape.stems[member].iter().for_each(|stem| add(pose.point(stem.at), 0.0));
            if matches!(outline, Outline::Dot | Outline::Block) {
                add(shape.center(member, moment), 0.0);
            }
        }
    }
    let last = moments.iter().map(|moment| moment.t).fold(f64::NEG_INFINITY, f64::max);
    for (_, point) in paths.iter().flat_map(|path| path.iter().take_while(|(t, _)| *t <= last)) {
        add(*point, 0.0);
    }
    bounds.found()
}

/// The corners of a square around a point in a plane, m; with an edge along a vector in it.
pub(super) fn square(middle: Location, normal: Location, across: Location, half: f64) -> [Location; 4] {
    let (x, y) = (across * half, normal.cross(across) * half);
    [middle + x + y, middle - x + y, middle - x - y, middle + x - y]
}

/// Pitch circles of gears whose axles are both on the ground and that mesh outside.
pub(super) fn wheels(
    shape: &Shape<'_>,
    [a, b]: [usize; 2],
    ratio: f64,
    moment: &Moment,
) -> Option<[(Location, f64); 2]> {
    let (first, second) = (shape.axle(a, moment)?, shape.axle(b, moment)?);
    let distance = (second - first).length();
    // the second turns `ratio` times as far: its radius is the smaller one for a large ratio
    let radius = distance * ratio.abs() / (1.0 + ratio.abs());
    (ratio < 0.0 && distance > 0.0).then_some([(first, radius), (second, distance - radius)])
}

/// Which members have a joint within a distance (m) of their centre of mass.
pub(super) fn jointed(shape: &Shape<'_>, near: f64) -> Vec<bool> {
    let mut jointed = vec![false; shape.centers.len()];
    for part in &shape.sketch.parts {
        for spot in part.spots().iter().filter(|_| part.is_joint()) {
            if let Some(center) = shape.centers.get(spot.member) {
                jointed[spot.member] |= (spot.at(&shape.u) - *center).length() < near;
            }
        }
    }
    jointed
}

/// Which solids have a smaller one inside at the start: as in gimbals, it is drawn, and only the edges of what is around it.
pub(super) fn hollow(shape: &Shape<'_>, moments: &[&Moment]) -> Vec<bool> {
    let Some(moment) = moments.first() else { return Vec::new() };
    let size = |outline: &Outline| match outline {
        Outline::Solid(solid) => {
            // from one corner to the others; a solid has faces
            let start = solid.faces[0].corners[0];
            solid.corners().map(|corner| (corner - start).length()).fold(0.0, f64::max)
        }
        Outline::Disc(_, radius) => 2.0 * radius,
        _ => f64::INFINITY,
    };
    let sizes: Vec<f64> = shape.outlines.iter().map(size).collect();
    let around = |(member, outline): (usize, &Outline)| {
        let Outline::Solid(solid) = outline else { return false };
        let (pose, center) = (moment.pose(member), shape.centers[member]);
        (0..sizes.len()).any(|other| {
            let there = pose.rotation.turn_back(shape.center(other, moment) - pose.origin);
            sizes[other] < sizes[member] && solid.exit(center, there - center) > 1.0
        })
    };
    shape.outlines.iter().enumerate().map(around).collect()
}

/// A typical length of bodies and ropes, or else of rods and springs, m: the median.
pub(super) fn typical(shape: &Shape<'_>, moments: &[&Moment]) -> f64 {
    let Some(moment) = moments.first() else { return f64::INFINITY };
    let length = |points: &[Location]| {
        let pairs = points.iter().flat_map(|a| points.iter().map(move |b| (*a - *b).length()));
        pairs.fold(0.0, f64::max)
    };
    let bodies = shape.outlines.iter().filter_map(|outline| match outline {
        Outline::Bar(_) | Outline::Plate(_) | Outline::Solid(_) => Some(length(&outline.points())),
        Outline::Made(_) => {
            // of many points, the diagonal of the box around them
            let points = outline.points();
            let most = |k: usize, sign: f64| points.iter().map(|p| sign * p.0[k]).fold(f64::NEG_INFINITY, f64::max);
            Some((0..3).map(|k| (most(k, 1.0) + most(k, -1.0)).powi(2)).sum::<f64>().sqrt())
        }
        Outline::Disc(_, radius) => Some(2.0 * radius),
        Outline::Block | Outline::Dot => None,
    });
    let between = |wanted: fn(&Part) -> bool| {
        let parts = shape.sketch.parts.iter().filter(move |part| wanted(part));
        parts.map(|part| length(&part.spots().iter().map(|spot| shape.world(spot, moment)).collect::<Vec<_>>()))
    };
    let mut lengths: Vec<f64> = bodies.chain(between(|part| matches!(part, Part::Rope(_)))).collect();
    if lengths.is_empty() {
        lengths = between(|part| matches!(part, Part::Rod(_) | Part::Strut { .. })).collect();
    }
    lengths.sort_by(f64::total_cmp);
    lengths.get(lengths.len() / 2).copied().unwrap_or(f64::INFINITY)
}

/// Everything that is fixed to the ground at a point; joints go before springs at the same place.
pub(super) fn supports(shape: &Shape<'_>, moments: &[&Moment], projection: &Projection) -> Vec<Support> {
    let mean = |from: Location, to: &dyn Fn(&Moment) -> Location| {
        let sum = moments.iter().fold(Location::zero(), |sum, moment| sum + (to(moment) - from));
        let [x, y] = projection.at(sum);
        (x, -y)
    };
    let mut supports: Vec<Support> = Vec::new();
    for part in &shape.sketch.parts {
        let (spots, joint) = match part {
            Part::Pin(spots) | Part::Rod(spots) => (spots, true),
            Part::Hinge { spots, .. } | Part::Universal { spots, .. } => (spots, true),
            Part::Strut { spots, .. } | Part::Weld(spots) | Part::Bushing(spots) | Part::Rope(spots) => (spots, false),
            _ => continue,
        };
        let Some(fixed) = spots.iter().position(|spot| spot.member == GROUND) else { continue };
        let (ground, other): (&Spot, &Spot) = (&spots[fixed], &spots[1 - fixed]);
        let Some(at) = moments.first().map(|moment| shape.world(ground, moment)) else { continue };
        let (x, y) = match part {
            Part::Pin(_) | Part::Hinge { .. } | Part::Universal { .. } => {
                mean(at, &|moment| shape.center(other.member, moment))
            }
            _ => mean(at, &|moment| shape.world(other, moment)),
        };
        let normal = match joint {
            // what hangs is held from above
            true if y > 0.2 * x.hypot(y) => (0.0, -1.0),
            false if x.abs() > y.abs() => (-x.signum(), 0.0),
            false if y > 0.0 => (0.0, -1.0),
            _ => (0.0, 1.0),
        };
        let front =
            matches!(shape.outlines.get(other.member), Some(Outline::Disc(..) | Outline::Solid(_) | Outline::Made(_)));
        let same = supports.iter_mut().find(|support| support.at == at);
        match same {
            Some(support) if joint && !support.joint => *support = Support { at, normal, joint, front },
            Some(_) => {}
            None => supports.push(Support { at, normal, joint, front }),
        }
    }
    supports
}
