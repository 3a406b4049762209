//! What tells directions and lengths where axes are not along the edges of the paper: a triad and a scale bar.

use super::super::layout::{CAP_HEIGHT, FRAME_WIDTH, GAP, TICK_SIZE};
use super::super::scene::{Anchor, Color, Point, Scene};
use super::view::Projection;
use costate::vector::Vector;

/// Height of both, mm.
pub(super) const HEIGHT: f64 = 10.5;

/// Length of a triad's axis that is not foreshortened, and of its name's distance from its end, mm.
const AXIS: f64 = 5.0;
const BEYOND: f64 = 1.5;

/// The world's axes, such that their left upper corner is at a point. One that leads towards the viewer is a dot in a ring, one
/// that leads away a cross.
pub(super) fn axes(scene: &mut Scene, projection: &Projection, (left, top): Point) {
    let axes = [([1.0, 0.0, 0.0], "x"), ([0.0, 1.0, 0.0], "y"), ([0.0, 0.0, 1.0], "z")];
    let seen = axes.map(|(axis, name)| (projection.at(Vector(axis)), projection.near(Vector(axis)), name));
    // room for a name around each end
    let room = 0.5 * TICK_SIZE;
    let ends = seen.map(|([x, y], ..)| [x, y].map(|s| s * (AXIS + BEYOND)));
    let lowest = |k: usize| ends.iter().map(|end| end[k]).fold(0.0, f64::min) - room;
    let highest = ends.iter().map(|end| end[1]).fold(0.0, f64::max) + room;
    let spare = 0.5 * (HEIGHT - (highest - lowest(1))).max(0.0);
    let origin = (left - lowest(0), top + spare + highest);
    // what leads away is drawn first
    let mut order = [0, 1, 2];
    order.sort_by(|a, b| seen[*a].1.total_cmp(&seen[*b].1));
    for ([x, y], near, name) in order.map(|k| seen[k]) {
        let length = x.hypot(y);
        let end = (origin.0 + AXIS * x, origin.1 - AXIS * y);
        let mut beyond = (BEYOND * x, -BEYOND * y);
        if length < 0.15 {
            let radius = 0.75;
            super::symbols::ring(scene, origin, radius, FRAME_WIDTH, Color::BLACK);
            if near > 0.0 {
                scene.items.push(super::super::scene::Item::Disc { centre: origin, radius: 0.3, color: Color::BLACK });
            } else {
                let part = radius * 0.5f64.sqrt();
                for side in [part, -part] {
                    scene.line(
                        (origin.0 - part, origin.1 - side),
                        (origin.0 + part, origin.1 + side),
                        FRAME_WIDTH,
                        Color::BLACK,
                    );
                }
            }
            beyond = (-BEYOND - 0.3, BEYOND);
        } else {
            let (x, y) = (x / length, -y / length);
            let head = |s: f64, n: f64| (end.0 - s * x - n * y, end.1 - s * y + n * x);
            scene.line(origin, end, 1.25 * FRAME_WIDTH, Color::BLACK);
            let size = 1.1f64.min(0.5 * AXIS * length);
            for n in [0.4 * size, -0.4 * size] {
                scene.line(head(size, n), end, 1.25 * FRAME_WIDTH, Color::BLACK);
            }
            // a name keeps its distance where its axis is short
            beyond = (beyond.0 / length, beyond.1 / length);
        }
        let baseline = end.1 + beyond.1 + 0.35 * CAP_HEIGHT * TICK_SIZE;
        scene.text((end.0 + beyond.0, baseline), name, TICK_SIZE, Anchor::Middle);
    }
}

/// A round length, such that its right upper corner is at a point; `scale` in mm/m, below a panel of a width, mm.
pub(super) fn bar(scene: &mut Scene, scale: f64, width: f64, (right, top): Point) {
    let Some(length) = round(0.35 * width.min(80.0) / scale) else { return };
    let (half, middle) = (0.8, top + 0.5 * HEIGHT + 0.5 * TICK_SIZE);
    let left = right - length * scale;
    scene.line((left, middle), (right, middle), 2.0 * FRAME_WIDTH, Color::BLACK);
    for end in [left, right] {
        scene.line((end, middle - half), (end, middle + half), 2.0 * FRAME_WIDTH, Color::BLACK);
    }
    scene.text((0.5 * (left + right), middle - half - GAP), &with_unit(length), TICK_SIZE, Anchor::Middle);
}

/// 1, 2 or 5 times a power of ten, not above a length; none, if there is no such number.
fn round(length: f64) -> Option<f64> {
    if !(length > 0.0 && length.is_finite()) {
        return None;
    }
    let power = 10f64.powi(length.log10().floor() as i32);
    let digit = [5.0, 2.0].into_iter().find(|digit| digit * power <= length).unwrap_or(1.0);
    let round = digit * power;
    (round.is_finite() && round > 0.0).then_some(round)
}

/// A length with its unit.
fn with_unit(length: f64) -> String {
    let (number, unit) = match length {
        tiny if tiny < 0.5e-3 => (tiny * 1e6, "µm"),
        small if small < 0.5e-1 => (small * 1e3, "mm"),
        large if large > 0.5e4 => (large * 1e-3, "km"),
        other => (other, "m"),
    };
    // one digit shows it; round-off does not
    format!("{} {unit}", format!("{number:.1}").trim_end_matches(".0"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Protects scale bars: their length is a number that is read at a glance.
    #[test]
    fn bars_have_round_lengths() {
        for (length, expected) in [(0.7, "0.5 m"), (0.21, "0.2 m"), (0.0351, "20 mm"), (1.0, "1 m"), (9999.0, "5000 m")]
        {
            assert_eq!(with_unit(round(length).unwrap()), expected);
        }
        assert_eq!(with_unit(round(3e4).unwrap()), "20 km");
        assert_eq!(with_unit(round(2.5e-4).unwrap()), "200 µm");
        assert_eq!([0.0, f64::NAN, f64::INFINITY, -1.0].map(round), [None; 4]);
    }
}
