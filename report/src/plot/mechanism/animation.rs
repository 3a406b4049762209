//! Animations as GIF: one palette for all frames, and of each frame only what has changed.

use gif::{DisposalMethod, Encoder, Frame, Repeat};

use super::super::render::{failed, pixels};
use super::super::scene::Color;
use super::shape::Moment;
use super::stage::Content;
use super::symbols::{FILLS, FIXED, INK, LOAD, PATHS};
use super::{Picture, span, title};
use costate::TimeGrid;
use costate_identify::{Error, Result};

/// Settings of an animation: frames a second and speed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Animation {
    /// Frames a second, at most 50: browsers slow down what is faster.
    pub frames_per_second: f64,
    /// Simulated seconds a second; none: 1, or what makes the animation last some seconds where that is too short or
    /// too long.
    pub speed: Option<f64>,
}

impl Default for Animation {
    fn default() -> Self {
        Animation { frames_per_second: 25.0, speed: None }
    }
}

/// Frames of an animation at most: beyond this, files get too large to be shown.
const MOST_FRAMES: usize = 1500;

/// Size of the paper at most, mm, and pixels a millimetre.
const PAPER: (f64, f64) = (110.0, 95.0);
const SCALE: f64 = 5.5;

impl Animation {
    /// The speed for a grid.
    pub fn speed(&self, grid: &TimeGrid) -> f64 {
        let (first, last) = span(grid);
        let length = last - first;
        self.speed.unwrap_or_else(|| match length {
            short if short < 2.0 => simple(short / 3.0),
            long if long > 30.0 => simple(long / 10.0),
            _ => 1.0,
        })
    }

    /// The times of all frames, s.
    ///
    /// # Errors
    /// Frames a second or a speed that cannot be, fewer than two frames, or more than 1500.
    pub fn times(&self, grid: &TimeGrid) -> Result<Vec<f64>> {
        let rate = self.frames_per_second;
        if !(rate > 0.0 && rate <= 50.0) {
            let problem = format!("{rate} is not above 0 and at most 50, which is what browsers show");
            return Err(Error::invalid("the frames a second of the animation", problem, "take 25"));
        }
        let speed = self.speed(grid);
        if !(speed > 0.0 && speed.is_finite()) {
            let problem = format!("{speed} is not positive");
            return Err(Error::invalid("the speed of the animation", problem, "take 1, or 0.1 for slow motion"));
        }
        let (first, last) = span(grid);
        // with some room for round-off in whole numbers of frames
        let count = (last - first) * rate / speed * (1.0 + 1e-12) + 1e-9;
        let refuse = |problem: String, remedy: &str| Err(Error::invalid("the animation", problem, remedy));
        if count >= MOST_FRAMES as f64 {
            let problem = format!("{:.0} frames are more than {MOST_FRAMES}", count.floor() + 1.0);
            return refuse(problem, "take fewer frames a second, a higher speed, or an earlier end");
        }
        if count < 1.0 {
            let problem = format!("the {} s from start to end have one frame only", last - first);
            return refuse(problem, "take more frames a second, or a lower speed");
        }
        Ok((0..=count as usize).map(|i| (first + i as f64 * speed / rate).min(last)).collect())
    }
}

/// 1, 2 or 5 times a power of ten, not above `value`, or only by round-off.
pub(super) fn simple(value: f64) -> f64 {
    let power = 10f64.powi(value.log10().floor() as i32);
    let digit = [5.0, 2.0].into_iter().find(|digit| *digit <= value / power * (1.0 + 1e-9));
    digit.unwrap_or(1.0) * power
}

impl Picture<'_> {
    /// The motion as the bytes of a GIF file that plays for ever. `progress` is called with the number of finished frames.
    ///
    /// # Errors
    /// As [`Animation::times`]; if there is no motion.
    pub fn animation(&self, animation: &Animation, progress: &mut dyn FnMut(usize)) -> Result<Vec<u8>> {
        let grid = self.simulation.grid();
        let times = animation.times(grid)?;
        self.check(&times, MOST_FRAMES, "frames")?;
        let moments = times.iter().map(|t| self.moment(*t)).collect::<Result<Vec<Moment>>>()?;
        let (rate, speed) = (animation.frames_per_second, animation.speed(grid));
        let decimals = (rate / speed).log10().ceil().clamp(0.0, 9.0) as usize;
        let hint = self.remark() + &if speed == 1.0 { String::new() } else { format!("   ({speed} × real time)") };
        let title = |moment: &Moment| title(moment.t, decimals) + &hint;
        self.encode(&moments, &title, Pace { frames_per_second: rate, last_stays: true }, progress)
    }

    /// Moments, two at least, one a frame, as the bytes of a file.
    pub(super) fn encode(
        &self,
        moments: &[Moment],
        title: &dyn Fn(&Moment) -> String,
        pace: Pace,
        progress: &mut dyn FnMut(usize),
    ) -> Result<Vec<u8>> {
        let all: Vec<&Moment> = moments.iter().collect();
        let stage = self.stage(&all, 1, PAPER)?;
        let palette = Palette::new();
        let draw = |moment: &Moment| {
            let content = Content { title: title(moment), moments: vec![moment] };
            pixels(&stage.scene(&[content]), SCALE)
        };
        let mut next = draw(&moments[0])?; // there are two at least
        let (width, height) = (next.width as u16, next.height as u16); // the paper bounds them
        let mut bytes = Vec::new();
        let mut encoder = Encoder::new(&mut bytes, width, height, &palette.bytes()).map_err(failed)?;
        encoder.set_repeat(Repeat::Infinite).map_err(failed)?;
        // in hundredths of a second, such that they add up; the last frame may stay for a while
        let hundredths = |i: usize| (i as f64 * 100.0 / pace.frames_per_second).round() as u64;
        let mut shown: Vec<u8> = Vec::new();
        for i in 0..moments.len() {
            let indices = palette.indices(&next.rgb);
            let mut frame = palette.changes(&shown, &indices, width, height);
            let last = i + 1 == moments.len();
            let stays = last && pace.last_stays;
            frame.delay =
                if stays { 100 } else { u16::try_from(hundredths(i + 1) - hundredths(i)).unwrap_or(u16::MAX) };
            encoder.write_frame(&frame).map_err(failed)?;
            shown = indices;
            progress(i + 1);
            if !last {
                next = draw(&moments[i + 1])?;
            }
        }
        drop(encoder); // writes the end
        Ok(bytes)
    }
}

/// Timing of frames: their rate, and whether the last one stays.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pace {
    pub frames_per_second: f64,
    pub last_stays: bool,
}

/// Drawings have few colours; where they meet, edges are blends of two.
struct Palette {
    colors: Vec<Color>,
    /// The nearest colour to each of 32 x 32 x 32.
    nearest: Vec<u8>,
}

impl Palette {
    fn new() -> Self {
        let mut bases = vec![Color::WHITE, Color::BLACK, INK, FIXED];
        bases.extend(FILLS.into_iter().chain(PATHS).chain([LOAD]));
        let mut colors = bases.clone();
        for (i, a) in bases.iter().enumerate() {
            for b in &bases[i + 1..] {
                // letters and lines on white paper are most of what there is
                let steps = if *a == Color::WHITE { 6 } else { 3 };
                colors.extend((1..steps).map(|step| a.mixed(*b, f64::from(step) / f64::from(steps))));
            }
        }
        colors.truncate(255);
        let level = |index: usize, shift: usize| (((index >> shift) & 31) * 255 / 31) as i32;
        let distance = |color: &Color, index: usize| {
            let Color(r, g, b) = *color;
            let part = |c: u8, shift: usize| (i32::from(c) - level(index, shift)).pow(2);
            part(r, 10) + part(g, 5) + part(b, 0)
        };
        let nearest = |index: usize| {
            // there are some, at most 255
            (0..colors.len()).min_by_key(|k| distance(&colors[*k], index)).unwrap_or(0) as u8
        };
        let nearest = (0..1 << 15).map(nearest).collect();
        Palette { colors, nearest }
    }

    /// The colours as a file holds them; the one behind the last means "as before".
    fn bytes(&self) -> Vec<u8> {
        self.colors.iter().chain([&Color::WHITE]).flat_map(|color| [color.0, color.1, color.2]).collect()
    }

    /// The places of the colours of pixels.
    fn indices(&self, rgb: &[u8]) -> Vec<u8> {
        let index = |rgb: &[u8]| {
            let [r, g, b] = [rgb[0], rgb[1], rgb[2]].map(|level| usize::from(level >> 3));
            self.nearest[r << 10 | g << 5 | b]
        };
        rgb.chunks_exact(3).map(index).collect()
    }

    /// The smallest rectangle that changes, and in it only what does.
    fn changes(&self, shown: &[u8], next: &[u8], width: u16, height: u16) -> Frame<'static> {
        let whole = Frame { width, height, dispose: DisposalMethod::Keep, ..Frame::default() };
        if shown.len() != next.len() {
            return Frame { buffer: next.to_vec().into(), ..whole };
        }
        let wide = usize::from(width);
        let changed = (0..next.len()).filter(|i| shown[*i] != next[*i]);
        // left, top, right, bottom; one pixel if nothing changes
        let mut area: Option<[usize; 4]> = None;
        for i in changed {
            let (x, y) = (i % wide, i / wide);
            let [left, top, right, bottom] = area.unwrap_or([x, y, x, y]);
            area = Some([left.min(x), top.min(y), right.max(x), bottom.max(y)]);
        }
        let [left, top, right, bottom] = area.unwrap_or_default();
        let same = self.colors.len() as u8; // at most 255
        let rows = (top..=bottom).flat_map(|y| (left..=right).map(move |x| y * wide + x));
        let buffer: Vec<u8> = rows.map(|i| if shown[i] == next[i] { same } else { next[i] }).collect();
        Frame {
            left: left as u16,
            top: top as u16,
            width: (right - left + 1) as u16,
            height: (bottom - top + 1) as u16,
            transparent: Some(same),
            buffer: buffer.into(),
            ..whole
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Protects colours: those of the drawing are shown exactly, to the five bits that are told apart.
    #[test]
    fn the_palette_has_the_colours_of_the_drawing() {
        let palette = Palette::new();
        assert!(palette.colors.len() <= 255);
        for color in [Color::WHITE, Color::BLACK, INK, FIXED, LOAD].into_iter().chain(FILLS).chain(PATHS) {
            let index = palette.indices(&[color.0, color.1, color.2])[0];
            let Color(r, g, b) = palette.colors[usize::from(index)];
            for (shown, wanted) in [(r, color.0), (g, color.1), (b, color.2)] {
                assert!(shown.abs_diff(wanted) <= 8, "{color:?} is shown as {r}, {g}, {b}");
            }
        }
    }

    /// Protects file sizes and pictures: what has not changed is left out, and what has is there.
    #[test]
    fn frames_hold_what_has_changed() {
        let palette = Palette::new();
        let mut next = vec![0u8; 12];
        (next[5], next[10]) = (1, 2);
        let frame = palette.changes(&[0; 12], &next, 4, 3);
        assert_eq!((frame.left, frame.top, frame.width, frame.height), (1, 1, 2, 2));
        let same = palette.colors.len() as u8;
        assert_eq!(frame.buffer.as_ref(), [1, same, same, 2]);
        let still = palette.changes(&next, &next, 4, 3);
        assert_eq!((still.width, still.height, still.buffer.as_ref()), (1, 1, &[same][..]));
    }

    /// Protects the speed that is chosen: a simple number.
    #[test]
    fn speeds_are_simple_numbers() {
        for (value, expected) in [(0.35 / 3.0, 0.1), (0.5, 0.5), (0.499, 0.2), (7.0, 5.0), (10.0, 10.0)] {
            assert!((simple(value) / expected - 1.0).abs() < 1e-12, "{value}: {}", simple(value));
        }
    }
}
