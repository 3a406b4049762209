//! `costate bench`: problems of the field whose answers are known (published, closed forms, independent computations), run and compared, as one page.

mod against;
mod closed_form;
mod docs;
mod figures;
mod problems;
mod records;

use costate::shown::rounded;
use costate_cli::clap::{self, Arg, ArgAction, ArgMatches, Command};
use costate_cli::registry::Registry;
use costate_cli::{ExitStatus, OwnCommand, say};
use costate_identify::table::table;
use costate_identify::{Error, Result};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The command `bench`.
#[derive(Debug, Clone, Copy)]
pub struct Bench;

/// What is known of a quantity.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Expected {
    /// A value, and how far off a result may be.
    Value(f64, f64),
    /// A bound.
    AtMost(f64),
    /// Nothing: it is told.
    Unknown,
}

/// A quantity, as it is known and here.
#[derive(Debug, Clone)]
struct Row {
    quantity: String,
    unit: &'static str,
    expected: Expected,
    here: f64,
    source: String,
}

impl Row {
    fn new(quantity: &str, unit: &'static str, expected: Expected, here: f64, source: &str) -> Self {
        Row { quantity: quantity.to_string(), unit, expected, here, source: source.to_string() }
    }

    /// Allows so many times what is allowed.
    fn allow(&mut self, factor: f64) {
        match &mut self.expected {
            Expected::Value(_, allowed) | Expected::AtMost(allowed) => *allowed *= factor,
            Expected::Unknown => {}
        }
    }

    /// True if it agrees; not a number never does.
    fn agrees(&self) -> bool {
        match self.expected {
            Expected::Value(value, allowed) => (self.here - value).abs() <= allowed,
            Expected::AtMost(bound) => self.here <= bound,
            Expected::Unknown => self.here.is_finite(),
        }
    }

    fn cells(&self) -> [String; 6] {
        let shown = |value: f64| {
            let text = match value.abs() {
                size if value == 0.0 || (1e-3..1e6).contains(&size) => format!("{value:.11}"),
                _ => return format!("{value:.8e}"),
            };
            text.trim_end_matches('0').trim_end_matches('.').to_string()
        };
        let name =
            if self.unit.is_empty() { self.quantity.clone() } else { format!("{} [{}]", self.quantity, self.unit) };
        let (known, here, off, allowed) = match self.expected {
            Expected::Value(value, allowed) => {
                let off = format!("{:.1e}", (self.here - value).abs());
                (shown(value), shown(self.here), off, format!("{allowed:.0e}"))
            }
            Expected::AtMost(bound) => {
                let bound = if bound < 1e-3 { format!("{bound:e}") } else { bound.to_string() };
                (format!("at most {bound}"), rounded(self.here, 4), "-".to_string(), "-".to_string())
            }
            Expected::Unknown => {
                let none = || "-".to_string();
                return [name, none(), rounded(self.here, 3), none(), none(), String::new()];
            }
        };
        let verdict = if self.agrees() { "agrees" } else { "OFF" };
        [name, known, here, off, allowed, verdict.to_string()]
    }

    fn json(&self) -> Value {
        let (known, allowed) = match self.expected {
            Expected::Value(value, allowed) => (json!({"value": value}), json!(allowed)),
            Expected::AtMost(bound) => (json!({"at_most": bound}), Value::Null),
            Expected::Unknown => (Value::Null, Value::Null),
        };
        json!({"quantity": self.quantity, "unit": self.unit, "known": known, "here": self.here, "allowed": allowed,
               "agrees": self.agrees(), "source": self.source})
    }
}

/// What a problem is run with.
struct Given<'a> {
    registry: &'a Registry,
    /// Files of records, by the problem's name.
    records: Vec<(&'static str, PathBuf)>,
}

impl Given<'_> {
    fn record(&self, name: &str) -> Result<&Path> {
        let found = self.records.iter().find(|(known, _)| *known == name);
        found.map(|(_, path)| path.as_path()).ok_or_else(|| {
            Error::invalid(format!("problem `{name}`"), "its record is not given", format!("give one: --{name} FILE"))
        })
    }
}

/// What a problem gives.
struct Found {
    rows: Vec<Row>,
    /// Figures of a paper.
    figures: Vec<figures::Named>,
}

impl From<Vec<Row>> for Found {
    fn from(rows: Vec<Row>) -> Self {
        Found { rows, figures: Vec::new() }
    }
}

/// A problem, by its name on the command line.
struct Problem {
    name: &'static str,
    title: &'static str,
    /// The record that it needs, which is not part of costate, and who has it.
    record: Option<&'static str>,
    run: fn(&Given<'_>) -> Result<Found>,
}

impl Problem {
    /// How to have it run, where it needs a record.
    fn how(&self) -> String {
        self.record.map_or_else(String::new, |record| format!("`costate bench --{} FILE` ({record})", self.name))
    }
}

/// A problem that has been run.
struct Done {
    title: &'static str,
    name: &'static str,
    /// Arguments that run it alone.
    asked: String,
    found: Result<Found>,
    seconds: f64,
}

impl Done {
    fn is_good(&self) -> bool {
        self.found.as_ref().is_ok_and(|found| found.rows.iter().all(Row::agrees))
    }
}

const HEADER: [&str; 6] = ["quantity", "known", "here", "off by", "allowed", ""];

/// Sources, each once.
fn sources(rows: &[Row]) -> Vec<&str> {
    let mut all: Vec<&str> = Vec::new();
    rows.iter().for_each(|row| {
        if !all.contains(&row.source.as_str()) {
            all.push(&row.source);
        }
    });
    all
}

fn text(done: &Done) -> String {
    let mut text = format!("{} ({:.1} s)\n", done.title, done.seconds);
    match &done.found {
        Ok(Found { rows, .. }) => {
            // what is allowed stands in the page
            let narrow = |[name, known, here, off, _, verdict]: [String; 6]| vec![name, known, here, off, verdict];
            let cells: Vec<_> = rows.iter().map(Row::cells).map(narrow).collect();
            text += &table(&["quantity", "known", "here", "off by", ""], &cells);
            for source in sources(rows) {
                let _ = write!(text, "\n  by: {source}");
            }
        }
        Err(error) => {
            let _ = write!(text, "FAILED: {error}");
        }
    }
    text + "\n"
}

/// The page.
fn page(all: &[Done], left_out: &[String]) -> String {
    let off = all.iter().filter(|done| !done.is_good()).count();
    let mut page = format!(
        "# What is known, and what costate finds\n\nMade by `costate bench`: problems: {}, {}. What is off stands here as loudly as what agrees.\n",
        all.len(),
        if off == 0 { "all agree".to_string() } else { format!("OFF: {off}") }
    );
    for done in all {
        let _ = write!(page, "\n## {}\n\n", done.title);
        match &done.found {
            Ok(Found { rows, .. }) => {
                let _ = writeln!(page, "| {} |\n|---|---|---|---|---|---|", HEADER.join(" | "));
                for row in rows {
                    let _ = writeln!(page, "| {} |", row.cells().join(" | "));
                }
                for source in sources(rows) {
                    let _ = write!(page, "\nBy: {source}.\n");
                }
            }
            Err(error) => {
                let _ = writeln!(page, "FAILED: {error}");
            }
        }
        let _ = writeln!(page, "\nIt took {:.1} s: `costate bench {}`.", done.seconds, done.asked);
    }
    if !left_out.is_empty() {
        page += "\n## Not run\n\n";
        left_out.iter().for_each(|what| page += &format!("- {what}\n"));
    }
    page
}

fn document(all: &[Done]) -> Value {
    let one = |done: &Done| {
        let (rows, failure) = match &done.found {
            Ok(found) => (found.rows.iter().map(Row::json).collect::<Vec<_>>(), Value::Null),
            Err(error) => (Vec::new(), json!(error.to_string())),
        };
        json!({"name": done.name, "title": done.title, "seconds": done.seconds, "agrees": done.is_good(), "rows": rows, "failure": failure})
    };
    json!({"agrees": all.iter().all(Done::is_good), "problems": all.iter().map(one).collect::<Vec<_>>()})
}

fn make(folder: &Path, option: &str) -> Result<()> {
    let remedy = format!("give another folder: {option} FOLDER");
    std::fs::create_dir_all(folder).map_err(|error| Error::file(folder, None, error.to_string(), remedy))
}

fn write(path: &Path, text: &str) -> Result<()> {
    std::fs::write(path, text)
        .map_err(|error| Error::file(path, None, error.to_string(), "give another folder: --out FOLDER"))
}

impl OwnCommand for Bench {
    fn arguments(&self) -> Command {
        let names: Vec<&str> = problems::ALL.iter().map(|problem| problem.name).collect();
        let of_record = |problem: &Problem| {
            let record = problem.record?;
            let argument = Arg::new(problem.name).long(problem.name).value_name("FILE");
            Some(argument.value_parser(clap::value_parser!(PathBuf)).help(format!("A measured record: {record}")))
        };
        Command::new("bench")
            .args(problems::ALL.iter().filter_map(of_record))
            .arg(
                Arg::new("figures")
                    .long("figures")
                    .value_name("FOLDER")
                    .value_parser(clap::value_parser!(PathBuf))
                    .help("Draw the papers' figures of what is run, too, named by paper and number"),
            )
            .about("Run problems whose answers are known, and compare")
            .arg(
                Arg::new("problem")
                    .num_args(0..)
                    .action(ArgAction::Append)
                    .help(format!("Some of {}; otherwise all", names.join(", "))),
            )
            .arg(
                Arg::new("docs")
                    .long("docs")
                    .value_name("PATH")
                    .num_args(1..)
                    .value_parser(clap::value_parser!(PathBuf))
                    .help("Hold numbers in these pages against the commands that they name, and run no problem"),
            )
            .arg(
                Arg::new("quick")
                    .long("quick")
                    .action(ArgAction::SetTrue)
                    .requires("docs")
                    .help("Of those, leave out commands of cargo"),
            )
            .arg(
                Arg::new("against")
                    .long("against")
                    .value_name("TOOLS")
                    .value_delimiter(',')
                    .help("Have other tools do the same, where Python has them: scipy, casadi, exudyn"),
            )
            .arg(
                Arg::new("python")
                    .long("python")
                    .value_name("PROGRAM")
                    .default_value("python3")
                    .help("The Python that has them"),
            )
            .arg(
                Arg::new("allowed")
                    .long("allowed")
                    .value_name("FACTOR")
                    .default_value("1")
                    .value_parser(clap::value_parser!(f64))
                    .help("Allow so many times what is allowed"),
            )
            .arg(
                Arg::new("out")
                    .long("out")
                    .value_name("FOLDER")
                    .default_value("out/bench")
                    .help("Folder of bench.md and bench.json"),
            )
            .arg(
                Arg::new("json")
                    .long("json")
                    .action(ArgAction::SetTrue)
                    .help("Print the results as JSON, and nothing else"),
            )
    }

    fn run(&self, registry: &Registry, arguments: &ArgMatches) -> Result<ExitStatus> {
        if let Some(paths) = arguments.get_many::<PathBuf>("docs") {
            let named = problems::ALL.iter().filter(|problem| problem.record.is_some());
            let records: Vec<_> = named.map(|problem| (problem.name, arguments.get_one(problem.name))).collect();
            let good = docs::check(&paths.collect::<Vec<_>>(), arguments.get_flag("quick"), &records, &say)?;
            return Ok(if good { ExitStatus::Success } else { ExitStatus::Failure });
        }
        let known = || problems::ALL.iter().map(|problem| problem.name);
        let asked: Vec<&String> = arguments.get_many("problem").into_iter().flatten().collect();
        if let Some(stranger) = asked.iter().find(|name| !known().any(|known| known == name.as_str())) {
            return Err(Error::unknown("problem", stranger, "", known()));
        }
        let mut peers: Vec<&String> = arguments.get_many("against").into_iter().flatten().collect();
        peers.dedup();
        let known = || against::PEERS.iter().map(|peer| peer.name);
        if let Some(stranger) = peers.iter().find(|name| !known().any(|known| known == name.as_str())) {
            return Err(Error::unknown("tool", stranger, "", known()));
        }
        // clap has a default
        let python = arguments.get_one::<String>("python").map_or("python3", String::as_str);
        let is_quiet = arguments.get_flag("json");
        // clap has a default
        let factor = *arguments.get_one::<f64>("allowed").unwrap_or(&1.0);
        if !(factor.is_finite() && factor > 0.0) {
            return Err(Error::invalid("--allowed", format!("it is {factor}"), "give a positive number"));
        }
        let file = |problem: &Problem| {
            // only these have such an argument
            problem.record?;
            Some((problem.name, arguments.get_one::<PathBuf>(problem.name)?.clone()))
        };
        let given = Given { registry, records: problems::ALL.iter().filter_map(file).collect() };
        let drawn = arguments.get_one::<PathBuf>("figures");
        drawn.map_or(Ok(()), |folder| make(folder, "--figures"))?;
        let told = |done: &Done| {
            if !is_quiet {
                say(&text(done));
            }
        };
        let (mut all, mut left_out) = (Vec::new(), Vec::new());
        for problem in &problems::ALL {
            if !asked.is_empty() && !asked.iter().any(|name| *name == problem.name) {
                continue;
            }
            if asked.is_empty() && problem.record.is_some() && given.record(problem.name).is_err() {
                left_out.push(format!("{}: {}", problem.title, problem.how()));
                continue;
            }
            if problem.record.is_some() {
                given.record(problem.name)?;
            }
            let begun = Instant::now();
            let mut found = (problem.run)(&given);
            found.iter_mut().flat_map(|found| &mut found.rows).for_each(|row| row.allow(factor));
            let asked = match problem.record {
                Some(_) => format!("{0} --{0} FILE", problem.name),
                None => problem.name.to_string(),
            };
            let seconds = begun.elapsed().as_secs_f64();
            let done = Done { title: problem.title, name: problem.name, asked, found, seconds };
            if let (Some(folder), Ok(found)) = (drawn, &done.found) {
                for (name, figure) in &found.figures {
                    figure.write_svg(folder.join(format!("{name}.svg")))?;
                }
            }
            told(&done);
            all.push(done);
        }
        for name in &peers {
            // only these are asked for
            let Some(peer) = against::PEERS.iter().find(|peer| peer.name == name.as_str()) else { continue };
            let begun = Instant::now();
            match peer.run(&given, python) {
                against::Answer::Absent(reason) => left_out.push(format!("{}: {reason}", peer.title)),
                against::Answer::Compared(found) => {
                    let seconds = begun.elapsed().as_secs_f64();
                    let asked = format!("--against {}", peer.name);
                    let done = Done { title: peer.title, name: peer.name, asked, found, seconds };
                    told(&done);
                    all.push(done);
                }
            }
        }
        // clap has a default
        let folder = arguments.get_one::<String>("out").map_or_else(PathBuf::new, PathBuf::from);
        make(&folder, "--out")?;
        let document = format!("{:#}\n", document(&all));
        write(&folder.join("bench.md"), &page(&all, &left_out))?;
        write(&folder.join("bench.json"), &document)?;
        let off = all.iter().filter(|done| !done.is_good()).count();
        if is_quiet {
            say(document.trim_end());
        } else {
            let verdict = if off == 0 { "all agree".to_string() } else { format!("OFF: {off}") };
            left_out.iter().for_each(|what| say(&format!("not run: {what}")));
            say(&format!("problems: {}, {verdict}\nwritten to {}: bench.md, bench.json", all.len(), folder.display()));
        }
        Ok(if off == 0 { ExitStatus::Success } else { ExitStatus::Failure })
    }
}
