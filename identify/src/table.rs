//! Tables of text, as wide as a terminal.

/// Columns of a terminal that every one has.
const WIDTH: usize = 80;

/// Spaces between two columns.
const GAP: usize = 2;

/// The least width that words of the last column are broken to.
const NARROWEST: usize = 12;

/// Columns of text, padded; numbers stand right, words left. What is wider than 80 characters is broken: headers, then remarks in the last
/// column, then the table itself, into several with the first column in each.
pub fn table(header: &[&str], rows: &[Vec<String>]) -> String {
    table_within(WIDTH, header, rows)
}

/// Table as [`table`] writes it, for so many characters.
pub fn table_within(width: usize, header: &[&str], rows: &[Vec<String>]) -> String {
    let columns: Vec<Column<'_>> = (0..header.len()).map(|k| Column::new(header[k], rows, k)).collect();
    if total(columns.iter().map(Column::natural)) <= width {
        return print(&columns.iter().map(|column| (column, column.natural())).collect::<Vec<_>>());
    }
    let narrow: Vec<usize> = columns.iter().map(Column::narrow).collect();
    let mut blocks = Vec::new();
    let mut next = 1;
    while next < columns.len() || blocks.is_empty() {
        let mut block: Vec<(&Column<'_>, usize)> = columns.iter().zip(narrow.iter().copied()).take(1).collect();
        while let (Some(column), Some(own)) = (columns.get(next), narrow.get(next)) {
            let taken = total(block.iter().map(|(_, width)| *width)) + GAP;
            // remarks at the end may be broken
            let fitting = if taken + own <= width {
                *own
            } else if next + 1 == columns.len() && !column.right && taken + NARROWEST <= width {
                width - taken
            } else if block.len() > 1 {
                break;
            } else {
                *own
            };
            block.push((column, fitting));
            next += 1;
        }
        blocks.push(print(&block));
    }
    blocks.join("\n\n")
}

fn total(widths: impl Iterator<Item = usize>) -> usize {
    widths.map(|width| width + GAP).sum::<usize>().saturating_sub(GAP)
}

fn length(text: &str) -> usize {
    text.chars().count()
}

/// Lines of whole words, none longer than `width` unless a word is.
pub fn broken(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if length(line) + 1 + length(word) <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_string()),
        }
    }
    lines
}

/// Lines that a terminal holds: what is longer goes on, indented, on the next one.
pub fn folded(text: &str) -> String {
    const INDENT: usize = 2;
    let fold = |line: &str| {
        let own = line.len() - line.trim_start().len();
        if length(line) <= WIDTH || own + INDENT + NARROWEST > WIDTH {
            return line.to_string();
        }
        let indent = " ".repeat(own + INDENT);
        let lines = broken(line.trim_start(), WIDTH - own - INDENT);
        format!("{}{}", &line[..own], lines.join(&format!("\n{indent}")))
    };
    text.split('\n').map(fold).collect::<Vec<_>>().join("\n")
}

/// Help as wide as a terminal: what explains an option goes on below itself.
pub fn folded_help(text: &str) -> String {
    let fold = |line: &str| {
        let own = line.len() - line.trim_start().len();
        let gap = line[own..].find("  ").map(|gap| own + gap);
        let column = gap.map(|gap| line.len() - line[gap..].trim_start().len());
        match column {
            Some(column) if length(line) > WIDTH && column + NARROWEST <= WIDTH => {
                let lines = broken(&line[column..], WIDTH - column);
                format!("{}{}", &line[..column], lines.join(&format!("\n{}", " ".repeat(column))))
            }
            _ => folded(line),
        }
    };
    text.split('\n').map(fold).collect::<Vec<_>>().join("\n")
}

struct Column<'t> {
    header: &'t str,
    cells: Vec<&'t str>,
    right: bool,
}

impl<'t> Column<'t> {
    fn new(header: &'t str, rows: &'t [Vec<String>], k: usize) -> Self {
        let cells: Vec<&str> = rows.iter().map(|row| row[k].as_str()).collect();
        let is_number = |text: &str| text.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '+');
        let right = !cells.is_empty() && cells.iter().all(|cell| is_number(cell));
        Column { header, cells, right }
    }

    fn widest_cell(&self) -> usize {
        self.cells.iter().map(|cell| length(cell)).max().unwrap_or(0)
    }

    /// The width without any break.
    fn natural(&self) -> usize {
        self.widest_cell().max(length(self.header))
    }

    /// The width with breaks in the header.
    fn narrow(&self) -> usize {
        self.header.split(' ').map(length).fold(self.widest_cell(), usize::max)
    }
}

/// Columns with their widths.
fn print(columns: &[(&Column<'_>, usize)]) -> String {
    let headers: Vec<Vec<String>> = columns.iter().map(|(column, width)| broken(column.header, *width)).collect();
    let height = headers.iter().map(Vec::len).max().unwrap_or(0);
    let mut lines = Vec::new();
    for i in 0..height {
        // headers stand on the first row
        let part =
            |lines: &Vec<String>| (i + lines.len()).checked_sub(height).map_or(String::new(), |k| lines[k].clone());
        lines.push(line(columns, &headers.iter().map(part).collect::<Vec<_>>()));
    }
    let count = columns.first().map_or(0, |(column, _)| column.cells.len());
    for row in 0..count {
        let cells: Vec<Vec<String>> = columns
            .iter()
            .map(|(column, width)| match column.cells[row] {
                cell if length(cell) <= *width => vec![cell.to_string()],
                cell => broken(cell, *width),
            })
            .collect();
        for i in 0..cells.iter().map(Vec::len).max().unwrap_or(0) {
            let part = |lines: &Vec<String>| lines.get(i).cloned().unwrap_or_default();
            lines.push(line(columns, &cells.iter().map(part).collect::<Vec<_>>()));
        }
    }
    lines.join("\n")
}

fn line(columns: &[(&Column<'_>, usize)], parts: &[String]) -> String {
    let padded = columns.iter().zip(parts).map(|((column, width), part)| {
        let fill = " ".repeat(width.saturating_sub(length(part)));
        if column.right { format!("{fill}{part}") } else { format!("{part}{fill}") }
    });
    padded.collect::<Vec<_>>().join(&" ".repeat(GAP)).trim_end().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(rows: &[&[&str]]) -> Vec<Vec<String>> {
        rows.iter().map(|row| row.iter().map(|cell| cell.to_string()).collect()).collect()
    }

    /// Protects sentences on terminals: no word is broken, tables and short lines stay as they are.
    #[test]
    fn long_lines_are_folded() {
        let table = "name  value\nc         1";
        assert_eq!(folded(table), table);
        let long = format!("  note: {}", "word ".repeat(30).trim_end());
        let lines = folded(&long);
        assert!(
            lines.lines().all(|line| line.chars().count() <= WIDTH)
                && lines.lines().nth(1).unwrap().starts_with("    word")
        );
        assert_eq!(lines.split_whitespace().collect::<Vec<_>>(), long.split_whitespace().collect::<Vec<_>>());
        let path = "x".repeat(100);
        assert_eq!(folded(&path), path);
    }

    /// Protects terminals of 80 characters: headers give way first, then remarks, then the table; nothing is lost or cut.
    #[test]
    fn wide_tables_are_broken() {
        let short = table(&["name", "value"], &rows(&[&["c", "1"], &["d_E", "-20"]]));
        assert_eq!(short, "name  value\nc         1\nd_E     -20");
        let header = ["name", "a rather long header", "status"];
        let narrow = |width: usize| table_within(width, &header, &rows(&[&["c", "12345", "free, at its start"]]));
        assert_eq!(narrow(46), "name  a rather long header  status\nc                    12345  free, at its start");
        let lines = [
            "           a",
            "      rather",
            "        long",
            "name  header  status",
            "c      12345  free, at its start",
        ];
        assert_eq!(narrow(34), lines.join("\n"));
        let broken = narrow(28);
        assert!(broken.ends_with("c      12345  free, at its\n              start"), "{broken}");
        let wide = table_within(20, &["", "k1", "k2", "k3"], &rows(&[&["k1", "1.5e3", "2.5e3", "-3.5e3"]]));
        assert_eq!(wide, "       k1     k2\nk1  1.5e3  2.5e3\n\n        k3\nk1  -3.5e3");
    }
}
