//! Figures: valid files, all kinds of data, sentences where nothing can be drawn.

mod standard;

use costate_identify::Error;
use std::path::PathBuf;

use costate_report::plot::{self, Axis, Color, Figure, Marker, Panel, Series};

/// A folder of its own for each test, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("costate-plot-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.0).unwrap();
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Walks through the tags of an XML text; panics unless they are balanced, texts are escaped, and no number is NaN.
fn assert_well_formed(svg: &str) {
    let mut open = Vec::new();
    let mut rest = svg;
    while let Some(start) = rest.find('<') {
        let text = &rest[..start];
        assert!(!text.contains('>'), "unescaped text: {text}");
        for (at, _) in text.match_indices('&') {
            assert!(text[at..].contains(';'), "a lone ampersand: {text}");
        }
        let end = start + rest[start..].find('>').expect("every tag ends");
        let tag = &rest[start + 1..end];
        assert_eq!(tag.matches('"').count() % 2, 0, "quotes are balanced in <{tag}>");
        assert!(!tag.contains("NaN") && !tag.contains("inf"), "a coordinate is not finite in <{tag}>");
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "closing tags match");
        } else if !tag.ends_with('/') {
            open.push(tag.split_whitespace().next().unwrap());
        }
        rest = &rest[end + 1..];
    }
    assert!(open.is_empty(), "all tags are closed: {open:?}");
    assert!(svg.starts_with("<svg ") && svg.trim_end().ends_with("</svg>"));
}

fn axes() -> Panel {
    Panel::new(Axis::linear("time [s]"), Axis::linear("y [m]"))
}

fn drawn(panel: Panel) -> String {
    let svg = Figure::column().panel(panel).to_svg().unwrap();
    assert_well_formed(&svg);
    svg
}

fn ramp(count: usize) -> Vec<f64> {
    (0..count).map(|i| i as f64 / (count.max(2) - 1) as f64).collect()
}

/// Protects SVG files: valid XML, size in mm, labels with awkward characters, superscripts, the font list.
#[test]
fn svg_is_well_formed_and_has_its_printed_size() {
    let panel =
        axes().title("<a> & \"b\"\nc").series(Series::line(&[0.0, 1.0], &[0.0, 3e-7]).label("a<b & 'c' [m/s²]"));
    let svg = drawn(panel);
    assert!(svg.contains("width=\"88mm\""));
    assert!(svg.contains("&lt;a&gt; &amp; &quot;b&quot; c"));
    assert!(svg.contains("font-family=\"DejaVu Sans, Verdana, Helvetica, sans-serif\""));
    assert!(svg.contains(">−9</text>"), "the common exponent is raised");
}

/// Protects PNG files: signature, 88 mm at 300 dpi, and the resolution that makes them print at this size.
#[test]
fn png_has_signature_size_and_resolution() {
    let png = Figure::column().panel(axes().series(Series::line(&[0.0, 1.0], &[0.0, 1.0]))).to_png().unwrap();
    assert_eq!(png[..8], *b"\x89PNG\r\n\x1a\n");
    assert_eq!(u32::from_be_bytes(png[16..20].try_into().unwrap()), 1039);
    let resolution = png.windows(4).position(|w| w == b"pHYs").expect("the resolution is stated") + 4;
    assert_eq!(u32::from_be_bytes(png[resolution..resolution + 4].try_into().unwrap()), 11_811);
}

/// Red, green and blue of each pixel of the bitmap.
fn pixels(panel: Panel) -> Vec<u8> {
    let bytes = Figure::column().panel_height(40.0).panel(panel).to_png().unwrap();
    let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut pixels).unwrap();
    pixels
}

/// Protects areas between lines: as large on paper as they are, up to a gap, and in small files for a million points.
#[test]
fn areas_are_filled() {
    let filled = |upper: &dyn Fn(f64) -> f64| {
        let x = ramp(300_000);
        let area = Series::area(&x, &vec![0.0; x.len()], &x.iter().map(|x| upper(*x)).collect::<Vec<f64>>());
        let axes = axes().series(Series::line(&[0.0, 1.0], &[0.0, 1.0]).width(0.1));
        let panel = axes.series(area.color(Color(10, 200, 30)).label("area"));
        let svg = drawn(panel.clone());
        // the area, its sample in the legend
        assert!(svg.matches("<polygon").count() >= 2 && svg.len() < 60_000, "{} bytes", svg.len());
        pixels(panel).chunks_exact(3).filter(|pixel| *pixel == [10, 200, 30]).count() as f64
    };
    let full = filled(&|_| 1.0);
    // lines of the grid and the sample in the legend are in none, and in all
    for (part, upper) in [(0.5, &(|x| x) as &dyn Fn(f64) -> f64), (0.5, &|x| if x < 0.5 { 1.0 } else { f64::NAN })] {
        let found = filled(upper) / full;
        assert!((found - part).abs() < 0.03, "{found}");
    }
}

/// Protects bitmaps from losing lines or letters: both leave dark pixels where they belong.
#[test]
fn png_shows_line_and_label() {
    let line = axes().series(Series::line(&[0.0, 1.0], &[0.0, 1.0]));
    let full = pixels(line.clone());
    let blue = full.chunks_exact(3).filter(|p| *p == [0, 114, 178]).count();
    assert!(blue > 2000, "{blue} pixels of the line");
    let mut unlabelled = line;
    *unlabelled.y_axis_mut() = Axis::linear("");
    let dark = |pixels: &[u8]| pixels.chunks_exact(3).filter(|p| p[0] < 100 && p[2] < 100).count();
    assert!(dark(&full) > dark(&pixels(unlabelled)) + 200, "the label of the axis is drawn");
}

/// Protects long simulations: a million points become a small file that still shows the one peak.
#[test]
fn a_million_points_stay_small_and_keep_the_peak() {
    let time = ramp(1_000_000);
    let mut values: Vec<f64> = time.iter().map(|t| (1e5 * t).sin()).collect();
    values[654_321] = 9.0;
    for series in [Series::line(&time, &values), Series::points(&time, &values), Series::step(&time, &values)] {
        let svg = drawn(axes().series(series));
        assert!(svg.len() < 1_000_000, "{} bytes", svg.len());
        // At 50 pixels a mm: the frame begins at 2.5 mm, the peak lies 5 % of its height below; no x is that small.
        let series = svg.lines().filter(|line| line.contains("#0072B2"));
        let numbers =
            |line: &str| -> Vec<f64> { line.split(['"', ',', ' ']).filter_map(|word| word.parse().ok()).collect() };
        assert!(series.flat_map(numbers).any(|y| (200.0..300.0).contains(&y)), "the peak is drawn");
    }
}

/// Protects figures from data that a simulation may well produce: gaps, zeros, constants, single points, nothing.
#[test]
fn all_kinds_of_data_are_drawn() {
    let x = ramp(5);
    let values: [&[f64]; 7] = [
        &[1.0, f64::NAN, 2.0, f64::INFINITY, 1.0],
        &[0.0; 5],
        &[3.0; 5],
        &[1.0, -1e308, 1e308, 1e306, -1e306],
        &[5e-324, 1e-320, 0.0, -0.0, 1e-310],
        &[1.0, 1.0 + 1e-15, 1.0, 1.0 + 4e-16, 1.0],
        &[1e6, 1e6 + 1e-7, 1e6, 1e6, 1e6],
    ];
    for values in values {
        drawn(axes().series(Series::line(&x, values).label("line")).series(Series::step(&x, values)));
        drawn(axes().series(Series::points(&x, values).label("points")));
        drawn(axes().series(Series::line(&x[..1], &values[..1]).marker(Marker::Cross)));
        let log = Panel::new(Axis::log("x"), Axis::log("y")).series(Series::line(&[1.0, 10.0], &[1e-9, 1.0]));
        drawn(log.series(Series::line(&x, values).markers()).reference_line(0.0, "zero"));
    }
    drawn(axes().series(Series::line(&x, &x)).series(Series::line(&[], &[]).label("empty")).reference_line(0.5, ""));
}

/// Protects logarithmic axes: zeros and negative values are left out, not drawn at some invented place.
#[test]
fn log_axes_leave_out_what_is_not_positive() {
    let log = || Panel::new(Axis::linear("n"), Axis::log("cost"));
    let circles = |panel: Panel| drawn(panel).matches("<circle").count();
    let points = |values: &[f64]| Series::points(&ramp(values.len()), values).marker(Marker::Circle);
    assert_eq!(circles(log().series(points(&[1.0, 0.0, 0.1, -5.0, f64::NAN, 0.01]))), 3);
    assert!(Figure::column().panel(log().series(points(&[0.0, -1.0]))).to_svg().is_err());
}

/// Protects a panel without data among others, e.g. of a failed simulation: the figure is drawn and says so.
#[test]
fn a_panel_without_data_says_so() {
    let empty = axes().series(Series::line(&[0.0, 1.0], &[f64::NAN, f64::NAN]));
    let zeros = Panel::new(Axis::linear("n"), Axis::log("y")).series(Series::line(&[0.0, 1.0], &[0.0, 0.0]));
    let figure = Figure::wide().panel(axes().series(Series::line(&[0.0, 1.0], &[0.0, 1.0]))).panel(empty).panel(zeros);
    let svg = figure.share_x().to_svg().unwrap();
    assert_well_formed(&svg);
    assert!(svg.contains("no data") && svg.contains("no positive values"));
}

/// Protects users from panics and riddles: what cannot be drawn is refused with a sentence and a remedy.
#[test]
fn unusable_figures_are_refused_with_a_sentence() {
    let message = |figure: Figure| figure.to_svg().unwrap_err().to_string();
    assert!(message(Figure::column()).contains("no data that can be drawn; give at least one finite value"));
    assert!(message(Figure::column().panel(axes().series(Series::line(&[], &[])))).contains("no data"));
    let uneven = Series::line(&[0.0, 1.0], &[1.0]).label("force");
    assert!(message(Figure::column().panel(axes().series(uneven))).contains("`force` of the panel `y [m]`"));
    let line = || axes().series(Series::line(&[0.0, 1.0], &[0.0, 1.0]));
    assert!(message(Figure::column().width(f64::NAN).panel(line())).contains("not between 40 and 1000 mm"));
    let mut limited = line();
    *limited.y_axis_mut() = Axis::linear("y [m]").lower_limit(2.0).upper_limit(1.0);
    assert!(message(Figure::column().panel(limited)).contains("limits 2 to 1"));
}

/// Protects existing files and folders: a failed write is an error with a remedy and leaves nothing half-written.
#[test]
fn unwritable_paths_are_errors_and_leave_nothing_behind() {
    let folder = Folder::new("unwritable");
    let figure = Figure::column().panel(axes().series(Series::line(&[0.0, 1.0], &[0.0, 1.0])));
    let missing = figure.write_svg(folder.0.join("no/such/folder.svg")).unwrap_err();
    assert!(matches!(&missing, Error::Data(costate_data::Error::Io { action: "write", .. })));
    assert!(missing.to_string().contains("create the folder"));
    // A folder of that name cannot be replaced by a file: the last step, renaming, fails.
    std::fs::create_dir(folder.0.join("taken.png")).unwrap();
    assert!(matches!(figure.write_png(folder.0.join("taken.png")), Err(Error::Data(costate_data::Error::Io { .. }))));
    assert!(matches!(figure.write_svg(folder.0.join("..")), Err(Error::Data(costate_data::Error::Io { .. }))));
    assert_eq!(folder.files(), ["taken.png"]);
}

/// Protects the replacement of files: the new content is there, and no temporary file remains.
#[test]
fn files_are_replaced() {
    let folder = Folder::new("replaced");
    let path = folder.0.join("figure.svg");
    std::fs::write(&path, "old").unwrap();
    Figure::column().panel(axes().series(Series::line(&[0.0, 1.0], &[0.0, 1.0]))).write_svg(&path).unwrap();
    assert_well_formed(&std::fs::read_to_string(&path).unwrap());
    assert_eq!(folder.files(), ["figure.svg"]);
}

/// Sizes of all letters, pt.
fn letters(svg: &str) -> Vec<f64> {
    let sizes = svg.split("font-size=\"").skip(1).filter_map(|rest| rest.split('"').next()?.parse::<f64>().ok());
    // a unit is a fiftieth of a millimetre
    sizes.map(|size| size / 50.0 / 0.352_778).collect()
}

/// Protects readers of printed figures: no letter is smaller than 6 points, superscripts included, and no figure is so high that it
/// must be shrunk to fit on a page.
#[test]
fn type_is_never_below_six_points() -> costate_identify::Result<()> {
    let time = ramp(300);
    let values: Vec<f64> = time.iter().map(|t| 1e-7 * (9.0 * t).sin()).collect();
    let long = "angular velocity of the crank relative to the frame of the engine";
    let names: Vec<String> = (0..plot::MOST_SIGNALS).map(|k| format!("{long} {k}")).collect();
    let mut figures = Vec::new();
    for count in [1, 5, 8, 9, 16, 17, plot::MOST_SIGNALS] {
        let signals: Vec<plot::Signal> = (0..count).map(|k| (&names[k][60..], "m/s²", values.as_slice())).collect();
        figures.push(plot::trajectory(&time, &signals)?);
    }
    figures.push(plot::trajectory(&time, &[(long, "rad/s²", &values), (long, "rad/s²", &values)])?);
    figures.push(plot::errors(long, "m/s²", &time, &[("start", &time), ("end", &values)])?);
    figures.push(plot::cost_history(&[1.0, 1e-9])?);
    figures.push(plot::residuals(long, "m/s²", ("frequency [Hz]", &time, false), &values)?);
    let short: Vec<&str> = names.iter().map(|name| &name[61..]).collect();
    figures.push(plot::correlation(&short, &vec![vec![0.5; short.len()]; short.len()])?);
    let (x, y) = (vec![0.0, 1e-7, 0.0, -1e-7, 0.0], vec![-1.0, 0.0, 1.0, 0.0, -1.0]);
    let pair = || plot::Ellipse { x: (long, "m/s²".into()), y: ("m", "1".into()), outline: (&x, &y) };
    figures.push(plot::ellipses(&[pair(), pair(), pair(), pair(), pair(), pair()])?);
    for figure in figures {
        let svg = figure.to_svg()?;
        assert_well_formed(&svg);
        let smallest = letters(&svg).into_iter().fold(f64::INFINITY, f64::min);
        assert!((6.0..9.0).contains(&smallest), "{smallest} pt in {}", &svg[..80]);
        let height =
            svg.split("height=\"").nth(1).and_then(|rest| rest.split("mm").next()?.parse::<f64>().ok()).unwrap();
        assert!(height <= 240.0, "{height} mm");
    }
    Ok(())
}

/// Protects figures of several panels from saying the same four times: a shared legend stands once above all of them, in rows or in one column,
/// and is as wide as the figure.
#[test]
fn a_shared_legend_stands_once() -> costate_identify::Result<()> {
    let names = ["one scheme", "another scheme", "a third scheme", "a fourth scheme"];
    let figure = |columns: usize| {
        let panel = || {
            let panel = Panel::new(Axis::linear("x"), Axis::linear("y"));
            names.iter().fold(panel, |panel, name| panel.series(Series::line(&[0.0, 1.0], &[0.0, 1.0]).label(*name)))
        };
        (0..4).fold(Figure::wide().columns(columns), |figure, _| figure.panel(panel()))
    };
    let count = |svg: &str| svg.matches(">one scheme</text>").count();
    for columns in [1, 2] {
        let (each, shared) = (figure(columns).to_svg()?, figure(columns).share_legend().to_svg()?);
        assert_well_formed(&shared);
        assert_eq!((count(&each), count(&shared)), (4, 1), "{columns} columns");
        // all in one row
        let heights = names.map(|name| {
            let text = shared.lines().find(|line| line.contains(&format!(">{name}</text>"))).unwrap();
            text.split("y=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap().to_string()
        });
        assert!(heights.iter().all(|height| *height == heights[0]), "{columns} columns: {heights:?}");
        let both = figure(columns).share_x().share_legend().to_svg()?;
        assert_eq!(count(&both), 1, "{columns} columns, a shared axis");
    }
    // what other panels have besides is listed, too
    let mut figure = figure(2).share_legend();
    let more = Series::line(&[0.0, 1.0], &[1.0, 0.0]).label("one more");
    figure.panels_mut()[2] = figure.panels_mut()[2].clone().series(more);
    assert_eq!(figure.to_svg()?.matches(">one more</text>").count(), 1);
    Ok(())
}

/// Protects figures on drawing areas of others: a figure in the right half of a bitmap leaves the left one alone, fills its own from its upper left, and looks like
/// its PNG: about as much ink.
#[test]
fn figures_draw_themselves_on_any_area() {
    use plotters::prelude::{BitMapBackend, IntoDrawingArea, WHITE};
    let x: Vec<f64> = (0..100).map(|i| 0.1 * f64::from(i)).collect();
    let y: Vec<f64> = x.iter().map(|x| x.sin()).collect();
    let panel = Panel::new(Axis::linear("time [s]"), Axis::linear("x [m]")).series(Series::line(&x, &y).label("sine"));
    let figure = Figure::column().panel(panel);
    let (width, height) = (1600usize, 700usize);
    let mut pixels = vec![0; 3 * width * height];
    {
        let area = BitMapBackend::with_buffer(&mut pixels, (width as u32, height as u32)).into_drawing_area();
        area.fill(&WHITE).unwrap();
        figure.draw_on(&area.split_evenly((1, 2))[1]).unwrap();
        area.present().unwrap();
    }
    let ink = |columns: std::ops::Range<usize>| -> f64 {
        let dark = (0..height).flat_map(|row| columns.clone().map(move |column| (row, column)));
        dark.map(|(row, column)| 1.0 - f64::from(pixels[3 * (row * width + column)]) / 255.0).sum()
    };
    assert_eq!(ink(0..width / 2), 0.0);
    assert!(ink(width / 2..3 * width / 4) > 100.0 && ink(3 * width / 4..width) > 100.0);
    let png = figure.to_png().unwrap();
    let mut reader = png::Decoder::new(std::io::Cursor::new(png)).read_info().unwrap();
    let mut own = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut own).unwrap();
    let whole: f64 = own.chunks(3).map(|rgb| 1.0 - f64::from(rgb[0]) / 255.0).sum();
    let part = |ink: f64, width: f64| ink / (width * width);
    let ratio = part(ink(width / 2..width), width as f64 / 2.0) / part(whole, f64::from(info.width));
    // one is drawn four times as large and shrunk, which thins edges
    assert!((0.7..1.4).contains(&ratio), "{ratio}");
}
