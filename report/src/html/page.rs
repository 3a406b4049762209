//! Pieces of a page. Whatever comes from a result is escaped here, and nowhere else.

use super::super::{number, printed, rounded};
pub(super) use crate::plot::escaped;
use serde_json::{Map, Value};

/// The sign that stands for a missing value.
const NOTHING: &str = "–";

/// A cell of a table, ready for HTML.
#[derive(Debug, Clone)]
pub(super) struct Cell {
    html: String,
    class: &'static str,
}

impl Cell {
    /// A short text, in one line.
    pub fn text(text: impl AsRef<str>) -> Self {
        Cell { html: escaped(text.as_ref()), class: "" }
    }

    /// A text that may take several lines.
    pub fn sentence(text: impl AsRef<str>) -> Self {
        Cell { class: "text", ..Cell::text(text) }
    }

    /// A checksum.
    pub fn sum(text: impl AsRef<str>) -> Self {
        Cell { class: "sum", ..Cell::text(text) }
    }

    /// A number with seven digits, and all of them where the pointer rests; whatever else is there, as text.
    pub fn number(value: &Value) -> Self {
        match value.as_f64() {
            Some(x) if value.is_f64() => Cell {
                html: format!("<span title=\"{}\">{}</span>", escaped(&value.to_string()), number(x)),
                class: "n",
            },
            _ => Cell { html: escaped(&text(value)), class: "n" },
        }
    }

    /// A number with three digits, and all of them where the pointer rests.
    pub fn short(value: &Value) -> Self {
        Cell::rounded(value, 3)
    }

    /// A number with so many digits, and all of them where the pointer rests.
    pub fn rounded(value: &Value, digits: usize) -> Self {
        match value.as_f64().filter(|_| value.is_f64()) {
            Some(x) => Cell {
                html: format!("<span title=\"{}\">{}</span>", escaped(&value.to_string()), rounded(x, digits)),
                class: "n",
            },
            None => Cell::number(value),
        }
    }

    /// A unit, with raised powers.
    pub fn unit(value: &Value) -> Self {
        Cell::text(unit(value))
    }

    /// A value of unknown kind.
    pub fn of(value: &Value) -> Self {
        if value.is_number() { Cell::number(value) } else { Cell::sentence(text(value)) }
    }
}

/// A unit, with raised powers.
pub(super) fn unit(value: &Value) -> String {
    printed(value.as_str().unwrap_or_default())
}

/// Any value in words.
pub(super) fn text(value: &Value) -> String {
    match value {
        Value::Null => NOTHING.to_string(),
        Value::Bool(yes) => if *yes { "yes" } else { "no" }.to_string(),
        Value::Number(x) => x.as_f64().filter(|_| x.is_f64()).map_or_else(|| x.to_string(), number),
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(text).collect::<Vec<_>>().join(", "),
        Value::Object(values) => {
            let values = values.iter().filter(|(_, value)| !value.is_null());
            values.map(|(key, value)| format!("{}: {}", words(key), text(value))).collect::<Vec<_>>().join(", ")
        }
    }
}

/// A sentence in HTML: what stands between backticks is code.
pub(super) fn marked(text: &str) -> String {
    let escaped = escaped(text);
    let mut html = String::with_capacity(escaped.len());
    let mut rest = escaped.as_str();
    while let Some((before, (code, after))) =
        rest.split_once('`').and_then(|(before, rest)| Some((before, rest.split_once('`')?)))
    {
        html.push_str(&format!("{before}<code>{code}</code>"));
        rest = after;
    }
    html + rest
}

/// A key as words.
pub(super) fn words(key: &str) -> String {
    key.replace('_', " ")
}

/// The entries of a list, none if it is no list.
pub(super) fn entries(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// The body of a page on its way.
#[derive(Debug, Default)]
pub(super) struct Page {
    html: String,
    in_section: bool,
}

impl Page {
    /// Begins a section with a heading; the one before ends.
    pub fn section(&mut self, heading: &str) {
        if std::mem::replace(&mut self.in_section, true) {
            self.raw("</section>\n");
        }
        self.raw(&format!("<section>\n<h2>{}</h2>\n", escaped(heading)));
    }

    /// Adds HTML as it is.
    pub fn raw(&mut self, html: &str) {
        self.html.push_str(html);
    }

    /// Adds an element that holds a text; what stands between backticks in it is code.
    pub fn element(&mut self, name: &str, class: &str, text: &str) {
        let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
        self.raw(&format!("<{name}{class}>{}</{name}>\n", marked(text)));
    }

    /// A paragraph.
    pub fn paragraph(&mut self, text: &str) {
        self.element("p", "", text);
    }

    /// A list of sentences; nothing for none.
    pub fn list(&mut self, class: &str, items: &[String]) {
        if items.is_empty() {
            return;
        }
        self.raw("<ul>\n");
        items.iter().for_each(|item| self.element("li", class, item));
        self.raw("</ul>\n");
    }

    /// Names and what they stand for.
    pub fn pairs<S: AsRef<str>>(&mut self, pairs: &[(S, String)]) {
        if pairs.is_empty() {
            return;
        }
        self.raw("<dl>\n");
        for (name, value) in pairs {
            self.element("dt", "", name.as_ref());
            self.element("dd", "", value);
        }
        self.raw("</dl>\n");
    }

    /// A table that scrolls in its box; columns of which no cell shows anything are left out.
    pub fn table(&mut self, header: &[&str], rows: &[Vec<Cell>]) {
        let is_said = |cell: &Cell| !cell.html.is_empty() && cell.html != NOTHING;
        let is_shown = |k: usize| rows.iter().filter_map(|row| row.get(k)).any(is_said);
        let columns: Vec<usize> = (0..header.len()).filter(|&k| is_shown(k)).collect();
        if columns.is_empty() {
            return;
        }
        let class = |class: &str| if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
        self.raw("<div class=\"box\" tabindex=\"0\">\n<table>\n<thead>\n<tr>");
        for &k in &columns {
            let is_number = rows.iter().any(|row| row.get(k).is_some_and(|cell| cell.class == "n"));
            self.raw(&format!("<th{}>{}</th>", class(if is_number { "n" } else { "" }), escaped(header[k])));
        }
        self.raw("</tr>\n</thead>\n<tbody>\n");
        for row in rows {
            self.raw("<tr>");
            for cell in columns.iter().filter_map(|&k| row.get(k)) {
                self.raw(&format!("<td{}>{}</td>", class(cell.class), cell.html));
            }
            self.raw("</tr>\n");
        }
        self.raw("</tbody>\n</table>\n</div>\n");
    }

    /// Whatever a part of the result holds: a table where its entries are alike, else names and values.
    pub fn anything(&mut self, value: &Value) {
        match value {
            Value::Array(values) if values.iter().all(Value::is_object) => {
                let rows: Vec<(String, &Map<String, Value>)> =
                    values.iter().filter_map(|value| Some((String::new(), value.as_object()?))).collect();
                self.alike(&rows);
            }
            Value::Object(values) => {
                let (groups, single): (Vec<_>, Vec<_>) = values.iter().partition(|(_, value)| is_group(value));
                self.pairs(&single.iter().map(|(key, value)| (words(key), text(value))).collect::<Vec<_>>());
                let maps: Option<Vec<(String, &Map<String, Value>)>> =
                    groups.iter().map(|(key, value)| Some((words(key), value.as_object()?))).collect();
                match maps {
                    Some(maps) if maps.iter().all(|(_, map)| !map.values().any(is_group)) => self.alike(&maps),
                    _ => groups.iter().for_each(|(key, value)| {
                        self.element("h3", "", &words(key));
                        self.anything(value);
                    }),
                }
            }
            Value::Null => {}
            other => self.paragraph(&text(other)),
        }
    }

    /// Rows of a table with a column for each key.
    fn alike(&mut self, rows: &[(String, &Map<String, Value>)]) {
        let mut keys: Vec<&String> = Vec::new();
        for key in rows.iter().flat_map(|(_, map)| map.keys()) {
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        // whose row it is comes first
        keys.sort_by_key(|key| !["name", "output", "experiment", "parameter"].contains(&key.as_str()));
        let names: Vec<String> = keys.iter().map(|key| words(key)).collect();
        let header: Vec<&str> = std::iter::once("").chain(names.iter().map(String::as_str)).collect();
        let row = |(name, map): &(String, &Map<String, Value>)| {
            let cells = keys.iter().map(|key| Cell::of(map.get(key.as_str()).unwrap_or(&Value::Null)));
            std::iter::once(Cell::text(name)).chain(cells).collect::<Vec<_>>()
        };
        self.table(&header, &rows.iter().map(row).collect::<Vec<_>>());
    }

    /// The body as text.
    pub fn finish(mut self) -> String {
        if self.in_section {
            self.raw("</section>\n");
        }
        self.html
    }
}

/// True if a value wants a table or a heading of its own.
fn is_group(value: &Value) -> bool {
    match value {
        Value::Object(values) => !values.is_empty(),
        Value::Array(values) => !values.is_empty() && values.iter().all(Value::is_object),
        _ => false,
    }
}
