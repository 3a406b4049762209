//! The figures of a folder within the page: those that were written for it are part of the page, others are shown as pictures.

use super::page::{Page, entries, escaped};
use costate_data::files;
use costate_identify::Result;
use serde_json::Value;
use std::path::Path;

/// Bytes of figures that a page holds, so that it can be sent by mail.
const MOST_BYTES: usize = 1_700_000;

/// Paper in units of figures (50 a millimetre) beyond which one takes the page's width.
const COLUMN: f64 = 5000.0;

/// Attributes that stand in each SVG file, and once in the page's style.
const FONT: &str = "font-family=\"DejaVu Sans, Verdana, Helvetica, sans-serif\" ";
const XMLNS: &str = "xmlns=\"http://www.w3.org/2000/svg\" ";

struct Figure {
    name: String,
    svg: String,
}

impl Figure {
    /// True if its file is called so, or begins so where a star ends it.
    fn is_called(&self, start: &str) -> bool {
        let name = self.name.trim_end_matches(".svg");
        start.strip_suffix('*').map_or(name == start, |start| name.starts_with(start))
    }
}

/// Figures that wait for their place.
pub(super) struct Figures {
    waiting: Vec<Figure>,
    bytes: usize,
    /// Files that found no room.
    left_out: Vec<String>,
}

impl Figures {
    /// Reads the figures that a result calls its own, or else all of its folder, and a picture of the mechanism.
    pub fn read(result: &Value, folder: &Path) -> Result<Self> {
        let mut names: Vec<String> = match result.get("files") {
            Some(files) => entries(files).iter().filter_map(|name| name.as_str().map(str::to_string)).collect(),
            None => std::fs::read_dir(folder)
                .map(|files| files.flatten().map(|file| file.file_name().to_string_lossy().into_owned()).collect())
                .unwrap_or_default(),
        };
        names.push("mechanism.svg".to_string());
        // nothing outside of the folder, and nothing twice
        names.retain(|name| name.ends_with(".svg") && !name.starts_with('.') && !name.contains(['/', '\\']));
        names.sort();
        names.dedup();
        let mut waiting = Vec::new();
        // what was removed by hand is not missed
        for name in names.into_iter().filter(|name| folder.join(name).is_file()) {
            let svg = String::from_utf8_lossy(&files::read(&folder.join(&name))?).into_owned();
            waiting.push(Figure { name, svg });
        }
        Ok(Figures { waiting, bytes: 0, left_out: Vec::new() })
    }

    /// Shows the figures whose files are called so, or begin so: each with its caption, of the rest of its name.
    pub fn show(&mut self, page: &mut Page, starts: &[(&str, &str)]) {
        let mut html = String::new();
        for (start, caption) in starts {
            let (meant, rest) =
                std::mem::take(&mut self.waiting).into_iter().partition(|figure| figure.is_called(start));
            self.waiting = rest;
            let meant: Vec<Figure> = meant;
            for Figure { name, svg } in meant {
                let own = name.trim_end_matches(".svg").trim_start_matches(start.trim_end_matches('*'));
                let figure = figure(&svg, &caption.replace("{}", own), &name);
                if self.bytes + figure.len() > MOST_BYTES {
                    self.left_out.push(name);
                    continue;
                }
                self.bytes += figure.len();
                html.push_str(&figure);
            }
        }
        if !html.is_empty() {
            page.raw(&format!("<div class=\"figures\">\n{html}</div>\n"));
        }
    }

    /// Shows figures as [`Figures::show`] does, under a heading of their own, if there are any.
    pub fn show_in(&mut self, page: &mut Page, heading: &str, starts: &[(&str, &str)]) {
        let is_there = |figure: &Figure| starts.iter().any(|(start, _)| figure.is_called(start));
        if self.waiting.iter().any(is_there) {
            page.section(heading);
            self.show(page, starts);
        }
    }

    /// Shows what is left.
    pub fn rest(&mut self, page: &mut Page) {
        if !self.waiting.is_empty() {
            page.section("Further figures");
            self.show(page, &[("*", "{}")]);
        }
        if !self.left_out.is_empty() {
            let names = self.left_out.join(", ");
            page.paragraph(&format!("For want of room, these figures are in the folder alone: {names}."));
        }
    }
}

fn figure(svg: &str, caption: &str, name: &str) -> String {
    let label = escaped(caption);
    let (picture, width) = match drawn_here(svg) {
        Some(width) => (inline(svg, &label), width),
        None => (format!("<img src=\"{}\" alt=\"{label}\">", data_address(svg)), 0.0),
    };
    let class = if width > COLUMN { " class=\"page\"" } else { "" };
    format!(
        "<figure{class}>\n<label class=\"zoom\"><input type=\"checkbox\" aria-label=\"enlarge {}\">{picture}</label>\n\
         <figcaption>{label}</figcaption>\n</figure>\n",
        escaped(name)
    )
}

/// The width of a figure of this library, which has no names that could clash with those of others and nothing but shapes and texts;
/// none of others, whatever they hold.
fn drawn_here(svg: &str) -> Option<f64> {
    const SHAPES: [&str; 6] = ["svg", "polygon", "polyline", "circle", "text", "rect"];
    let tags = svg.split('<').skip(1).map(|tag| tag.trim_start_matches('/'));
    let mut names = tags.map(|tag| tag.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default());
    let is_ours = svg.starts_with("<svg width=\"") && svg.contains(XMLNS) && names.all(|name| SHAPES.contains(&name));
    let has_names =
        [" id=", " on", " href=", " style="].iter().any(|part| attributes(svg).any(|tag| tag.contains(part)));
    let view = svg.split("viewBox=\"0 0 ").nth(1)?;
    let width = view.split(' ').next()?.parse().ok()?;
    (is_ours && !has_names).then_some(width)
}

/// Text in tags, without what is quoted there.
fn attributes(svg: &str) -> impl Iterator<Item = String> {
    let tags = svg.split('<').skip(1).map(|tag| tag.split('>').next().unwrap_or_default());
    tags.map(|tag| tag.split('"').step_by(2).collect::<String>())
}

fn inline(svg: &str, label: &str) -> String {
    let body = svg.trim_end().replace(FONT, "").replacen(XMLNS, "", 1);
    // the page says how large it is
    let view = body.find("viewBox=").unwrap_or(4);
    format!("<svg role=\"img\" aria-label=\"{label}\" {}", &body[view..])
}

/// A picture as an address that holds it.
fn data_address(svg: &str) -> String {
    let mut address = "data:image/svg+xml,".to_string();
    for byte in svg.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' => address.push(char::from(byte)),
            other => address.push_str(&format!("%{other:02X}")),
        }
    }
    address
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Protects readers from what others put into a folder: scripts run in no picture, and names do not clash.
    #[test]
    fn foreign_drawings_are_pictures() {
        let ours = format!(
            "<svg width=\"88mm\" height=\"9mm\" viewBox=\"0 0 4400 450\" {XMLNS}>\n<text x=\"1\">a on=b</text></svg>"
        );
        assert_eq!(drawn_here(&ours), Some(4400.0));
        for (part, other) in
            [("</svg>", "<script>1</script></svg>"), ("x=\"1\"", "onclick=\"1\""), ("x=\"1\"", "id=\"a\"")]
        {
            let foreign = ours.replace(part, other);
            assert_eq!(drawn_here(&foreign), None, "{foreign}");
            assert!(!figure(&foreign, "a", "b").contains("<svg"));
        }
    }
}
