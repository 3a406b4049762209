//! Matrices as coloured cells with their values.

use super::layout::{CAP_HEIGHT, FRAME_WIDTH, GAP, LINE_HEIGHT, MARGIN, TICK_SIZE};
use super::scene::{Anchor, Color, Item, Scene};
use super::text;

/// A square matrix of values from -1 to 1 with a name for each row and column.
#[derive(Debug, Clone)]
pub(super) struct HeatMap {
    pub names: Vec<String>,
    pub values: Vec<Vec<f64>>,
}

/// The colour of a value from -1 (blue) by 0 (nearly white) to 1 (orange): the ends can be told apart with the common
/// colour-vision deficiencies, and are light enough for black letters. No value at all is grey.
fn color(value: f64) -> Color {
    const LOW: [f64; 3] = [90.0, 160.0, 215.0];
    const HIGH: [f64; 3] = [235.0, 145.0, 60.0];
    const MIDDLE: [f64; 3] = [250.0, 250.0, 250.0];
    if !value.is_finite() {
        return Color::GRID;
    }
    let end = if value < 0.0 { LOW } else { HIGH };
    let part = value.abs().min(1.0);
    let [red, green, blue] = [0, 1, 2].map(|k| (MIDDLE[k] + part * (end[k] - MIDDLE[k])).round() as u8);
    Color(red, green, blue)
}

impl HeatMap {
    /// Cells as large as the width allows, with a scale of colours at the right.
    pub fn scene(&self, paper: f64) -> Scene {
        const MOST: f64 = 14.0;
        const SCALE: f64 = 3.0;
        let count = self.names.len() as f64;
        let widest = self.names.iter().map(|name| text::width(&text::clean(name), TICK_SIZE)).fold(0.0, f64::max);
        let left = MARGIN + widest + GAP;
        let numbers = text::width("−1.0", TICK_SIZE);
        let right = 2.0 * GAP + SCALE + GAP + numbers + MARGIN;
        // names stand at every cell of up to this many; the paper grows where it must
        const NAMED: f64 = 60.0;
        let least = 1.1 * TICK_SIZE * (NAMED / count).min(1.0);
        let cell = ((paper - left - right) / count).clamp(least, MOST);
        let digits = [2, 1].into_iter().find(|d| text::width(&shown(-0.88, *d), TICK_SIZE) <= 0.92 * cell);
        let width = left + count * cell + right;
        let mut scene = Scene { width, height: 0.0, items: Vec::new() };
        let top = MARGIN;
        let side = count * cell;
        for (i, row) in self.values.iter().enumerate() {
            let y = top + i as f64 * cell;
            let baseline = y + 0.5 * (cell + CAP_HEIGHT * TICK_SIZE);
            if cell >= TICK_SIZE {
                let name = text::clean(&self.names[i]);
                scene.text((left - GAP, baseline), &name, TICK_SIZE, Anchor::End);
            }
            for (j, value) in row.iter().enumerate() {
                let x = left + j as f64 * cell;
                let corners = vec![(x, y), (x + cell, y), (x + cell, y + cell), (x, y + cell)];
                scene.items.push(Item::Polygon { points: corners, color: color(*value) });
                if let Some(digits) = digits {
                    scene.text((x + 0.5 * cell, baseline), &shown(*value, digits), TICK_SIZE, Anchor::Middle);
                }
            }
        }
        // white lines between cells, and a frame
        for i in 1..self.names.len() {
            let at = i as f64 * cell;
            scene.line((left, top + at), (left + side, top + at), FRAME_WIDTH, Color::WHITE);
            scene.line((left + at, top), (left + at, top + side), FRAME_WIDTH, Color::WHITE);
        }
        frame(&mut scene, left, top, side, side);
        self.scale(&mut scene, left + side + 2.0 * GAP, top, SCALE, side);
        let bottom = self.names_below(&mut scene, left, top + side, cell);
        scene.height = ((bottom + MARGIN) * 10.0).ceil() / 10.0;
        scene.width = (width * 10.0).ceil() / 10.0;
        let (w, h) = (scene.width, scene.height);
        let paper = vec![(0.0, 0.0), (w, 0.0), (w, h), (0.0, h)];
        scene.items.insert(0, Item::Polygon { points: paper, color: Color::WHITE });
        scene
    }

    /// Names of the columns: level where all fit, else upright. Returns where they end.
    fn names_below(&self, scene: &mut Scene, left: f64, bottom: f64, cell: f64) -> f64 {
        let names: Vec<String> = self.names.iter().map(|name| text::clean(name)).collect();
        let widest = names.iter().map(|name| text::width(name, TICK_SIZE)).fold(0.0, f64::max);
        let level = widest <= 0.95 * cell;
        for (j, name) in names.iter().enumerate().filter(|_| cell >= TICK_SIZE) {
            let middle = left + (j as f64 + 0.5) * cell;
            if level {
                scene.text((middle, bottom + GAP + CAP_HEIGHT * TICK_SIZE), name, TICK_SIZE, Anchor::Middle);
            } else {
                let at = (middle + 0.5 * CAP_HEIGHT * TICK_SIZE, bottom + GAP + 0.5 * text::width(name, TICK_SIZE));
                scene.upward_text(at, name, TICK_SIZE);
            }
        }
        bottom + GAP + if level { TICK_SIZE * LINE_HEIGHT } else { widest }
    }

    /// Which colour means which value.
    fn scale(&self, scene: &mut Scene, left: f64, top: f64, width: f64, height: f64) {
        const STEPS: usize = 64;
        for i in 0..STEPS {
            let part = |i: usize| i as f64 / STEPS as f64;
            let (above, below) = (top + height * part(i), top + height * part(i + 1));
            let corners = vec![(left, above), (left + width, above), (left + width, below), (left, below)];
            let value = 1.0 - 2.0 * (part(i) + 0.5 / STEPS as f64);
            scene.items.push(Item::Polygon { points: corners, color: color(value) });
        }
        frame(scene, left, top, width, height);
        for value in [-1.0, 0.0, 1.0] {
            let middle = top + height * 0.5 * (1.0 - value);
            // the outer numbers stay within the height of the cells
            let baseline = middle + CAP_HEIGHT * TICK_SIZE * 0.5 * (1.0 + value);
            scene.text((left + width + GAP, baseline), &shown(value, 1), TICK_SIZE, Anchor::Start);
        }
    }
}

fn frame(scene: &mut Scene, left: f64, top: f64, width: f64, height: f64) {
    let (right, bottom) = (left + width, top + height);
    let corners = vec![(left, top), (right, top), (right, bottom), (left, bottom), (left, top)];
    scene.path(corners, FRAME_WIDTH, Color::BLACK, &[]);
}

/// A value in its cell; nothing known is a dash.
fn shown(value: f64, digits: usize) -> String {
    if !value.is_finite() {
        return "–".into();
    }
    let text = format!("{value:.digits$}");
    // no sign at what is rounded to zero
    let zero = text.trim_start_matches('-').chars().all(|c| c == '0' || c == '.');
    if zero { text.trim_start_matches('-').into() } else { text.replace('-', "−") }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Protects cells from misleading texts, and letters from dark grounds.
    #[test]
    fn values_and_colours_of_cells() {
        assert_eq!(shown(-0.004, 2), "0.00");
        assert_eq!(shown(-0.936, 2), "−0.94");
        assert_eq!(shown(f64::NAN, 2), "–");
        for value in [-1.0, -0.5, 0.0, 0.5, 1.0, f64::NAN] {
            let Color(r, g, b) = color(value);
            assert!(0.3 * f64::from(r) + 0.59 * f64::from(g) + 0.11 * f64::from(b) > 130.0, "{value}");
        }
    }
}
