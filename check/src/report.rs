//! What a comparison of derivatives found, as data and as a table.

use costate::Matrix;
use std::fmt;

/// Name of a block of derivatives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct BlockName {
    /// The paper's letters, e.g. `J_Q`.
    pub symbol: &'static str,
    /// Name in words, e.g. `force by position`.
    pub words: &'static str,
}

impl fmt::Display for BlockName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.symbol, self.words)
    }
}

/// One entry that differs at one point at least; the values are those of the point where it differs most.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Mismatch {
    /// Name of the block.
    pub block: BlockName,
    /// Name of the equation.
    pub row: String,
    /// Name of the variable.
    pub column: String,
    /// The value that is checked.
    pub checked: f64,
    /// The value that it is compared with.
    pub exact: f64,
    /// Difference over the larger of the two: 2 for a wrong sign, infinite if the checked value is not finite.
    pub relative_error: f64,
    /// Time of that point, s.
    pub time: f64,
    /// Number of that point, from 1.
    pub point: usize,
    /// Number of points where the entry differs.
    pub points: usize,
}

/// The result of a comparison. Its `Display` is an aligned table.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct JacobianReport {
    /// Name of the model.
    pub model: String,
    /// Entries that differ, worst first.
    pub mismatches: Vec<Mismatch>,
    /// Blocks that were compared and agree everywhere.
    pub agreeing: Vec<BlockName>,
    /// Blocks that nobody supplied.
    pub not_supplied: Vec<BlockName>,
    /// Entries compared at each point.
    pub entries: usize,
    /// Number of points.
    pub points: usize,
    /// Start of the random numbers.
    pub seed: u64,
    /// Largest relative difference that counts as agreement.
    pub tolerance: f64,
    /// Headings of the two values.
    pub headings: [&'static str; 2],
}

/// The result of [`super::check_products`].
pub type ProductReport = JacobianReport;

/// More lines help nobody; [`JacobianReport::mismatches`] has all.
const LINES: usize = 40;

impl JacobianReport {
    /// True if nothing differs, and also if nothing was supplied: look at [`JacobianReport::entries`].
    pub fn passed(&self) -> bool {
        self.mismatches.is_empty()
    }

    pub(super) fn new(
        model: &str,
        options: &super::CheckOptions,
        headings: [&'static str; 2],
        tallies: Vec<Tally>,
    ) -> Self {
        let mut report = JacobianReport {
            model: model.to_string(),
            mismatches: Vec::new(),
            agreeing: Vec::new(),
            not_supplied: Vec::new(),
            entries: 0,
            points: options.points,
            seed: options.seed,
            tolerance: options.tolerance,
            headings,
        };
        for tally in tallies {
            if tally.compared == 0 {
                report.not_supplied.push(tally.block);
                continue;
            }
            report.entries += tally.rows.len() * tally.columns.len();
            if tally.worst.iter().all(Option::is_none) {
                report.agreeing.push(tally.block);
            }
            report.mismatches.extend(tally.mismatches());
        }
        // stable: entries of the same error stay in the order of the blocks
        report.mismatches.sort_by(|a, b| b.relative_error.total_cmp(&a.relative_error));
        report
    }
}

impl fmt::Display for JacobianReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { model, mismatches, entries, points, seed, tolerance, headings, .. } = self;
        let verdict = match (mismatches.len(), entries) {
            (_, 0) => "nothing was compared".to_string(),
            (0, entries) => format!("all {entries} entries agree"),
            (1, entries) => format!("1 of {entries} entries differs"),
            (count, entries) => format!("{count} of {entries} entries differ"),
        };
        writeln!(f, "{model}: {verdict} (points {points}, seed {seed}, relative tolerance {tolerance:e})")?;
        if !mismatches.is_empty() {
            let [checked, exact] = headings.map(str::to_string);
            let head = ["block", "row", "column"].map(str::to_string);
            let tail = ["relative error", "worst at", "points"].map(str::to_string);
            let mut lines: Vec<Vec<String>> = vec![head.into_iter().chain([checked, exact]).chain(tail).collect()];
            lines.extend(mismatches.iter().take(LINES).map(|m| {
                vec![
                    m.block.to_string(),
                    m.row.clone(),
                    m.column.clone(),
                    format!("{:.8e}", m.checked),
                    format!("{:.8e}", m.exact),
                    format!("{:.1e}", m.relative_error),
                    format!("point {}, t = {:.3} s", m.point, m.time),
                    format!("{} of {points}", m.points),
                ]
            }));
            writeln!(f)?;
            write_table(f, &lines)?;
            if mismatches.len() > LINES {
                writeln!(f, "  ... and {} more", mismatches.len() - LINES)?;
            }
        }
        writeln!(f)?;
        for (what, blocks) in [("agree", &self.agreeing), ("not supplied", &self.not_supplied)] {
            write_list(f, what, blocks)?;
        }
        Ok(())
    }
}

/// Blocks in lines of moderate length.
fn write_list(f: &mut fmt::Formatter<'_>, what: &str, blocks: &[BlockName]) -> fmt::Result {
    let head = |first: bool| format!("  {:<14}", if first { format!("{what}:") } else { String::new() });
    let mut line = head(true);
    for (k, block) in blocks.iter().enumerate() {
        let separator = if k + 1 < blocks.len() { "," } else { "" };
        let item = format!("{} ({}){separator}", block.symbol, block.words);
        if line.chars().count() + item.chars().count() > 80 {
            writeln!(f, "{}", line.trim_end())?;
            line = head(false);
        }
        line.push_str(&item);
        line.push(' ');
    }
    if blocks.is_empty() { Ok(()) } else { writeln!(f, "{}", line.trim_end()) }
}

/// Columns 3 to 5 hold numbers and are aligned to the right.
fn write_table(f: &mut fmt::Formatter<'_>, lines: &[Vec<String>]) -> fmt::Result {
    let columns = lines.first().map_or(0, Vec::len);
    let width = |k: usize| lines.iter().map(|line| line[k].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    for line in lines {
        let mut text = String::new();
        for (k, cell) in line.iter().enumerate() {
            let gap = " ".repeat(widths[k] - cell.chars().count());
            let cell = if (3..=5).contains(&k) { format!("{gap}{cell}") } else { format!("{cell}{gap}") };
            text.push_str("  ");
            text.push_str(&cell);
        }
        writeln!(f, "{}", text.trim_end())?;
    }
    Ok(())
}

/// A difference below this part of its equation's terms is round-off.
const ROUND_OFF: f64 = 1e-13;

/// Time and point of a comparison.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub time: f64,
    /// Number of the point, from 1.
    pub point: usize,
}

#[derive(Debug, Clone)]
struct Worst {
    checked: f64,
    exact: f64,
    relative_error: f64,
    place: Place,
    points: usize,
}

/// Collects the comparisons of one block at all points.
#[derive(Debug, Clone)]
pub(super) struct Tally {
    block: BlockName,
    rows: Vec<String>,
    columns: Vec<String>,
    worst: Vec<Option<Worst>>,
    compared: usize,
    tolerance: f64,
}

impl Tally {
    pub(super) fn new(block: BlockName, rows: Vec<String>, columns: Vec<String>, tolerance: f64) -> Self {
        let worst = vec![None; rows.len() * columns.len()];
        Tally { block, rows, columns, worst, compared: 0, tolerance }
    }

    /// Compares one point. `terms`: the size of each row's equation; `sizes`: of each column's variable.
    pub(super) fn compare(
        &mut self,
        checked: &Matrix<f64>,
        exact: &Matrix<f64>,
        terms: &[f64],
        sizes: &[f64],
        place: Place,
    ) {
        self.compared += 1;
        for (i, &terms) in terms.iter().enumerate() {
            for (j, &size) in sizes.iter().enumerate() {
                self.compare_entry(i, j, checked[(i, j)], exact[(i, j)], ROUND_OFF * terms / size, place);
            }
        }
    }

    fn compare_entry(&mut self, i: usize, j: usize, checked: f64, exact: f64, round_off: f64, place: Place) {
        let difference = (checked - exact).abs();
        let relative_error = if !checked.is_finite() {
            f64::INFINITY
        } else if difference <= round_off {
            return;
        } else {
            difference / checked.abs().max(exact.abs())
        };
        if relative_error <= self.tolerance {
            return;
        }
        let slot = &mut self.worst[i * self.columns.len() + j];
        let points = 1 + slot.as_ref().map_or(0, |worst| worst.points);
        match slot {
            Some(worst) if worst.relative_error >= relative_error => worst.points = points,
            _ => *slot = Some(Worst { checked, exact, relative_error, place, points }),
        }
    }

    fn mismatches(self) -> Vec<Mismatch> {
        let Tally { block, rows, columns, worst, .. } = self;
        let places = rows.iter().flat_map(|row| columns.iter().map(move |column| (row, column)));
        let found = places.zip(&worst).filter_map(|(names, worst)| worst.as_ref().map(|worst| (names, worst)));
        found
            .map(|((row, column), worst)| Mismatch {
                block,
                row: row.clone(),
                column: column.clone(),
                checked: worst.checked,
                exact: worst.exact,
                relative_error: worst.relative_error,
                time: worst.place.time,
                point: worst.place.point,
                points: worst.points,
            })
            .collect()
    }
}
