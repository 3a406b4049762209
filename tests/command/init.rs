//! `costate init`: what it writes is what the model has, for all models; and it maps what it can.

use crate::run;
use costate::Error;
use costate_identify::problem_file;
use costate_identify::registry::Registry;
use costate_identify::specification::Specification;
use run::{Place, csv, times};
use std::path::Path;

fn registry() -> Registry {
    costate_models::registry().unwrap()
}

// Protects whoever begins with `init`: for every model, the file gives the problem that the model has by default, to the last bit.
#[test]
fn the_file_gives_the_default_problem_of_every_model() {
    let (place, registry) = (Place::new(), registry());
    for entry in registry.entries() {
        let name = entry.name();
        place.good(&format!("init {name}"));
        let read = problem_file::read(&place.path(&format!("{name}.toml"))).unwrap();
        let (written, own) = (read.build(&registry).unwrap(), Specification::of(name).build(&registry).unwrap());
        assert_eq!(written.parameters, own.parameters, "{name}");
        assert_eq!(written.start, own.start, "{name}");
        let [a, b] = [&written, &own].map(|problem| {
            let simulation = &problem.first().simulation;
            assert_eq!(simulation.start_state(), own.first().simulation.start_state(), "{name}");
            assert_eq!(simulation.grid().times(), own.first().simulation.grid().times(), "{name}");
            problem.gradient().unwrap().cost(&problem.start).unwrap().to_bits()
        });
        assert_eq!(a, b, "{name}");
    }
}

/// The text of a section, with its comments, up to the next one.
fn section<'t>(text: &'t str, header: &str) -> &'t str {
    let begins = |mark: &str| text.find(&format!("\n{mark}{header}\n")).map(|end| end + 1);
    let begin = begins("").or_else(|| begins("# ")).unwrap_or_else(|| panic!("{header} is not in\n{text}"));
    let rest = &text[begin..];
    rest.find("\n\n").map_or(rest, |end| &rest[..end])
}

/// Headers of all sections of a problem file.
const SECTIONS: [&str; 10] = [
    "[data]",
    "[[experiment]]",
    "[integrator]",
    "[cost]",
    "[parameters]",
    "[[constraint]]",
    "[optimiser]",
    "[control]",
    "[[control.signal]]",
    "[[control.goal]]",
];

// Protects the examples in the table of keys: every line that is reported is one that the parser understands.
#[test]
fn every_line_that_is_told_is_understood() {
    let place = Place::new();
    place.good("init oscillator");
    let text = place.read("oscillator.toml");
    let parse = |header: &str, line: &str| {
        let text = format!("model = \"oscillator\"\n{header}\n{line}\n");
        problem_file::parse(&text, Path::new("p.toml"))
    };
    for header in SECTIONS {
        let lines = section(&text, header).lines().skip(1);
        for line in lines.filter_map(|line| line.strip_prefix("# ")).filter(|line| line.contains(" = ")) {
            let understood = parse(header, line);
            let unknown = understood.as_ref().err().and_then(|error| error.engine());
            let is_unknown = matches!(unknown, Some(Error::UnknownName { kind: "key", .. }));
            let wrong = understood.err().map(|error| error.to_string()).unwrap_or_default();
            assert!(!is_unknown && !wrong.contains("not TOML"), "{header} {line}: {wrong}");
        }
    }
}

/// The oscillator's record with headers that only look like the model's.
fn record(place: &Place, name: &str, header: &str, end: usize) {
    let row = |t: f64| vec![(3.0 * t).sin(), 0.1 * (6.0 * t).cos(), -3.6 * (6.0 * t).cos()];
    place.write(name, csv(header, times(end, 0.01), row));
}

// Protects the way from a record to a fit: names, likeness and units find columns, what was guessed says so, and the file runs as it is, from
// any folder.
#[test]
fn a_record_is_mapped_and_the_file_runs() {
    let place = Place::new();
    record(&place, "data/run 1.csv", "Time [s],f [N],X,acc [m/s^2]", 101);
    std::fs::create_dir_all(place.path("fits")).unwrap();
    let said = place.run("init oscillator --out fits/p.toml --data data/run");
    assert_eq!((said.code, said.err.contains("cannot read")), (2, true), "{}", said.err);
    let mut command = place.command("init oscillator --out fits/p.toml --data");
    let run = Place::end(command.arg("data/run 1.csv"));
    assert_eq!(run.code, 0, "{}{}", run.out, run.err);
    let text = place.read("fits/p.toml");
    for part in [
        "file = \"../data/run 1.csv\"",
        "time = \"Time [s]\"",
        "inputs.F = { column = \"f [N]\", interpolation = \"linear\" }",
        "outputs.a = { column = \"acc [m/s^2]\", deviation = \"estimated\" }",
        "by its unit alone: is it?",
        "outputs.x = { column = \"X\", deviation = \"estimated\" }",
        "by its likeness: is it?",
        "no column for output v [m/s]; no column is left",
        "from = 0.0",
        "until = 1.0",
        "# substeps = 1",
        "`identify` chooses the time steps; those of the built-in problem are",
        "weights = \"unit\"",
        "101 samples from 0 s to 1 s, 0.01 s apart",
        "c = { start = 25.0, lower = 0.0, free = true }",
        "N/m; nominal 40",
        "m = { start = 1.0, lower = 1e-6, free = false }",
    ] {
        assert!(text.contains(part), "`{part}` is missing in\n{text}");
    }
    let found = place.json("identify fits/p.toml --json --max-iterations 3", 1);
    assert_eq!(found["experiments"][0]["outputs"].as_array().unwrap().len(), 2);
    // the unit of times is that of their header
    record(&place, "ms.csv", "t_ms,F,x,a", 101);
    place.good("init oscillator --out ms.toml --data ms.csv");
    let text = place.read("ms.toml");
    let time = text.lines().find(|line| line.starts_with("time = ")).unwrap();
    assert!(time.starts_with("time = \"t_ms\"") && !time.contains('#'), "{time}");
    // nothing is lost, unless it is asked for
    place.write("oscillator.toml", "mine");
    place.refused("init oscillator", &["oscillator.toml: it is there already", "--force"]);
    assert_eq!(place.read("oscillator.toml"), "mine");
    place.good("init oscillator --force");
    assert!(place.read("oscillator.toml").contains("model = \"oscillator\""));
    place.refused("init oscillator --out p.txt", &["ends in .toml"]);
}

// Protects several records: an experiment each, with a name of its own, and those for validation reported as such.
#[test]
fn several_records_are_experiments() {
    let place = Place::new();
    record(&place, "a/run.csv", "t,F,x,a", 101);
    record(&place, "b/run.csv", "t,F,x,a", 51);
    record(&place, "c.csv", "t,force [N],x [m],a", 81);
    place.good("init oscillator --data a/run.csv --data b/run.csv --validation c.csv");
    let text = place.read("oscillator.toml");
    for part in ["name = \"run\"", "name = \"run_2\"", "validation = true", "column = \"force [N]\""] {
        assert!(text.contains(part), "`{part}` is missing in\n{text}");
    }
    let (problem, _) =
        problem_file::read(&place.path("oscillator.toml")).unwrap().build_with_notes(&registry()).unwrap();
    let names: Vec<(&str, usize)> =
        problem.all().map(|experiment| (&*experiment.name, experiment.simulation.grid().count())).collect();
    assert_eq!(names, [("run", 100), ("run_2", 50), ("c", 80)]);
    assert_eq!(problem.validation.len(), 1);
    place.refused("init oscillator --out o.toml --validation c.csv", &["no record that could be fitted"]);
}

// Protects against a file that looks ready: what is missing is said, in the file and on the terminal, with the columns that there are; a
// unit that is another one is not taken.
#[test]
fn what_cannot_be_mapped_is_said() {
    let place = Place::new();
    record(&place, "r.csv", "t,F,left,a [N]", 21);
    let run = place.run("init oscillator --data r.csv");
    assert_eq!(run.code, 1, "{}{}", run.out, run.err);
    let text = place.read("oscillator.toml");
    let flat = text.replace("\n#   ", " ");
    for part in ["is in `N`", "other columns: left, a [N]", "no column for output x [m]"] {
        assert!(flat.contains(part), "`{part}` is missing in\n{text}");
    }
    assert!(run.err.contains("cannot be run as it is"), "{}", run.err);
}
