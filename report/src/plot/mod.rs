//! Printable figures as SVG and PNG.
//!
//! A [`Figure`] has a width on paper and one or more [`Panel`]s, stacked; a panel has two [`Axis`] and any number of
//! [`Series`]. Legends stand above the panels, where they hide no data; colours can be told apart with the common
//! colour-vision deficiencies, and dashes or markers without colours. Standard figures of identification are ready-made:
//! [`input`], [`trajectory`], [`outputs`], [`comparison`], [`errors`], [`cost_history`], [`parameters`], [`convergence`], and those of
//! statistics: [`correlation`], [`residuals`], [`ellipses`], [`correlograms`]; of spectra: [`spectrum()`], [`campbell`]. Pictures of mechanisms are in [`mechanism`].
//!
//! ```
//! use costate_report::plot::{Axis, Figure, Panel, Series};
//!
//! # fn main() -> costate_identify::Result<()> {
//! let time: Vec<f64> = (0..=200).map(|i| 0.01 * f64::from(i)).collect();
//! let decay: Vec<f64> = time.iter().map(|t| (-2.0 * t).exp() * (20.0 * t).cos()).collect();
//! let figure = Figure::column().panel(
//!     Panel::new(Axis::linear("time [s]"), Axis::linear("deflection [mm]"))
//!         .series(Series::line(&time, &decay).label("simulated"))
//!         .reference_line(0.0, ""),
//! );
//! let svg = figure.to_svg()?;
//! # assert!(svg.starts_with("<svg "));
//! # Ok(())
//! # }
//! ```
//!
//! Texts are plain Unicode, superscripts included (`m/s²`). The shipped font covers Latin, Greek, and mathematical signs;
//! other scripts appear in SVG if the viewer has a font for them, but not in PNG.

use plotters::backend::DrawingBackend;
use plotters::coord::Shift;
use plotters::drawing::DrawingArea;
use std::path::Path;

use costate_data::files::write_atomically;
use costate_identify::{Error, Result};

mod axis;
mod contour;
mod correlogram;
mod decimate;
mod heat_map;
mod layout;
pub mod mechanism;
mod render;
mod scene;
mod series;
mod spectrum;
mod standard;
mod statistics;
mod text;

pub use axis::{Axis, Scale};
pub(crate) use contour::Grid;
pub use correlogram::correlograms;
pub use scene::Color;
pub use series::{Dash, Marker, Series};
pub use spectrum::{Curve, Order, campbell, spectrum};
pub(crate) use standard::guides;
pub use standard::{
    MOST_SIGNALS, Signal, comparison, convergence, cost_history, cost_history_in_stages, errors, input, outputs,
    parameters, trajectory,
};
pub use statistics::{DependsOn, Ellipse, correlation, dependence, ellipses, residuals};
pub(crate) use text::escaped;

/// A diagram: two axes and what is drawn between them.
#[derive(Debug, Clone)]
pub struct Panel {
    title: String,
    x: Axis,
    y: Axis,
    series: Vec<Series>,
    lines: Vec<series::ReferenceLine>,
}

impl Panel {
    /// An empty panel.
    pub fn new(x: Axis, y: Axis) -> Self {
        Panel { title: String::new(), x, y, series: Vec::new(), lines: Vec::new() }
    }

    /// Adds a title above the panel.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }

    /// Adds a series, drawn on top of those before.
    pub fn series(mut self, mut series: Series) -> Self {
        series.thin(&self.x, &self.y);
        self.series.push(series);
        self
    }

    /// Adds a horizontal line across the panel, below all series; the axis is extended to show it. Without a label it is
    /// not listed in the legend.
    pub fn reference_line(mut self, value: f64, label: impl Into<String>) -> Self {
        self.lines.push(series::ReferenceLine { value, label: label.into() });
        self
    }

    /// The x axis, for changing its label, scale or limits.
    pub fn x_axis_mut(&mut self) -> &mut Axis {
        &mut self.x
    }

    /// The y axis, for changing its label, scale or limits.
    pub fn y_axis_mut(&mut self) -> &mut Axis {
        &mut self.y
    }

    /// Name of the panel in messages.
    fn name(&self, index: usize) -> String {
        let label = [&self.title, &self.y.label].into_iter().find(|text| !text.is_empty());
        label.map_or(format!("panel {}", index + 1), |label| format!("the panel `{label}`"))
    }
}

/// A figure for print: its size on paper and its panels, from top to bottom.
#[derive(Debug, Clone)]
pub struct Figure {
    width: f64,
    panel_height: Option<f64>,
    panels: Vec<Panel>,
    shared_x: bool,
    shared_y: bool,
    legend: Legend,
    columns: usize,
    drawn: Option<Drawn>,
}

/// Place of the legend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Legend {
    /// Above their panel.
    OfEach,
    /// Above all panels.
    Shared,
    /// Nowhere in this part of a figure: above it, they are.
    Above,
}

/// Contents of a figure in the place of panels.
#[derive(Debug, Clone)]
enum Drawn {
    Map(heat_map::HeatMap),
    Scene(scene::Scene),
}

impl Figure {
    /// A figure as wide as one column of a journal, 88 mm.
    pub fn column() -> Self {
        Figure {
            width: 88.0,
            panel_height: None,
            panels: Vec::new(),
            shared_x: false,
            shared_y: false,
            legend: Legend::OfEach,
            columns: 1,
            drawn: None,
        }
    }

    /// A figure as wide as a page, 180 mm.
    pub fn wide() -> Self {
        Figure::column().width(180.0)
    }

    /// Sets the width on paper in mm; at least 40, at most 1000.
    pub fn width(mut self, millimetres: f64) -> Self {
        self.width = millimetres;
        self
    }

    /// Sets the height of the area between the axes of each panel in mm; at least 8, at most 1000.
    pub fn panel_height(mut self, millimetres: f64) -> Self {
        self.panel_height = Some(millimetres);
        self
    }

    /// Adds a panel below the others.
    pub fn panel(mut self, panel: Panel) -> Self {
        self.panels.push(panel);
        self
    }

    /// Gives all panels the same range of x, labelled below the last panel only.
    pub fn share_x(mut self) -> Self {
        self.shared_x = true;
        self
    }

    /// Gives all panels the same range of y.
    pub fn share_y(mut self) -> Self {
        self.shared_y = true;
        self
    }

    /// Lists the series once, above all panels: those of the first panel, which the others repeat; of panels side by side also what others have besides.
    pub fn share_legend(mut self) -> Self {
        self.legend = Legend::Shared;
        self
    }

    /// Lays the panels out in rows of this many, each with its own labels, or with those of x below the columns only if panels
    /// [share it](Figure::share_x).
    pub fn columns(mut self, count: usize) -> Self {
        self.columns = count.max(1);
        self
    }

    /// The panels, for changing them.
    pub fn panels_mut(&mut self) -> &mut [Panel] {
        &mut self.panels
    }

    /// The figure as the text of an SVG file.
    ///
    /// # Errors
    ///
    /// If there is nothing to draw at all, lengths of x and y differ, or sizes or limits are unusable. A panel without
    /// data among others is drawn empty and says so.
    pub fn to_svg(&self) -> Result<String> {
        render::svg(&layout::scene(self)?)
    }

    /// The figure as the bytes of a PNG file with 300 dpi.
    ///
    /// # Errors
    ///
    /// As for [`Figure::to_svg`].
    pub fn to_png(&self) -> Result<Vec<u8>> {
        render::png(&layout::scene(self)?)
    }

    /// Draws the figure on any drawing area of plotters, a part of a bitmap, a canvas or a window: as large as fits into its upper left, on the area's own
    /// background, with letters of the shipped font.
    ///
    /// ```
    /// use costate_report::plot::{Axis, Figure, Panel, Series};
    /// use plotters::prelude::{BitMapBackend, IntoDrawingArea, WHITE};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let panel = Panel::new(Axis::linear("time [s]"), Axis::linear("x [m]"));
    /// let figure = Figure::column().panel(panel.series(Series::line(&[0.0, 1.0], &[2.0, 3.0])));
    /// let mut pixels = vec![0; 3 * 800 * 400];
    /// let area = BitMapBackend::with_buffer(&mut pixels, (800, 400)).into_drawing_area();
    /// area.fill(&WHITE)?;
    /// let halves = area.split_evenly((1, 2));
    /// figure.draw_on(&halves[1])?;
    /// area.present()?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`Figure::to_svg`], and what the area's backend says.
    pub fn draw_on<B: DrawingBackend>(&self, area: &DrawingArea<B, Shift>) -> Result<()> {
        render::on_area(&layout::scene(self)?, area)
    }

    /// Writes the figure as SVG, for print and for the web. An existing file is replaced at once, when all is written.
    ///
    /// # Errors
    ///
    /// As for [`Figure::to_svg`], and if the file cannot be written.
    pub fn write_svg(&self, path: impl AsRef<Path>) -> Result<()> {
        Ok(write_atomically(path.as_ref(), self.to_svg()?.as_bytes())?)
    }

    /// Writes the figure as PNG with 300 dpi. An existing file is replaced at once, when all is written.
    ///
    /// # Errors
    ///
    /// As for [`Figure::to_svg`], and if the file cannot be written.
    pub fn write_png(&self, path: impl AsRef<Path>) -> Result<()> {
        Ok(write_atomically(path.as_ref(), &self.to_png()?)?)
    }

    /// Refuses what cannot be drawn.
    fn check(&self) -> Result<()> {
        let size = |what: &str, value: f64, low: f64, high: f64| {
            if (low..=high).contains(&value) {
                return Ok(());
            }
            let problem = format!("{value} mm is not between {low} and {high} mm");
            Err(Error::invalid(format!("the {what} of the figure"), problem, "choose a printable size"))
        };
        size("width", self.width, 40.0, 1000.0)?;
        size("panel height", self.panel_height.unwrap_or(30.0), 8.0, 1000.0)?;
        for (index, panel) in self.panels.iter().enumerate() {
            for series in &panel.series {
                if series.x.len() != series.y.len() {
                    return Err(Error::invalid(
                        format!("the series `{}` of {}", series.label, panel.name(index)),
                        format!("it has {} values of x but {} of y", series.x.len(), series.y.len()),
                        "give one y for each x",
                    ));
                }
            }
        }
        Ok(())
    }
}
