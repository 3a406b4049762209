//! Records as people have them: gaps, slower channels, columns that nobody uses, cells that alone are needed.

use crate::run::{Place, Run, csv, times, value};
use std::fmt::Write;

/// A force that no line over a gap comes near to.
fn force(t: f64) -> f64 {
    5.0 * ((4.1 * t).sin() + (6.7 * t).sin() + (5.3 * t + 1.0).cos())
}

/// An oscillator with c = 33 N/m, d = 0.8 N s/m under a force, every 10 ms for 14 s: rows of t, F, x, v.
struct Truth(Vec<[f64; 4]>);

impl Truth {
    fn new(place: &Place) -> Self {
        place.write("whole.csv", csv("t,F", times(1401, 0.01), |t| vec![force(t)]));
        place.good("simulate oscillator --data whole.csv --substeps 4 --set c=33,d=0.8 --out truth");
        let text = place.read("truth/outputs.csv");
        let head: Vec<&str> = text.lines().next().unwrap().split(',').map(|name| name.trim_matches('"')).collect();
        let column = |name: &str| head.iter().position(|head| head.starts_with(name)).unwrap();
        let (x, v) = (column("x ["), column("v ["));
        let row = |(i, line): (usize, &str)| {
            let cells: Vec<&str> = line.split(',').collect();
            let t = i as f64 / 100.0;
            [t, force(t), cells[x].parse().unwrap(), cells[v].parse().unwrap()]
        };
        Truth(text.lines().skip(1).step_by(4).enumerate().map(row).collect())
    }

    /// The rows at which `kept` says so.
    fn record(&self, kept: impl Fn(f64) -> bool) -> String {
        let rows = self.0.iter().filter(|row| kept(row[0] + 1e-9));
        rows.fold("t,F,x,v\n".to_string(), |mut text, [t, force, x, v]| {
            writeln!(text, "{t},{force},{x},{v}").unwrap();
            text
        })
    }
}

/// The problem of record.csv with more lines of `[data]`, and of parameters.
fn problem(data: &str, parameters: &str) -> String {
    format!(
        "model = \"oscillator\"\n[data]\nfile = \"record.csv\"\noutputs.x = {{ deviation = 0.01 }}\n{data}[parameters]\n\
         c = {{ start = 30.0 }}\nd = {{ start = 0.5 }}\n{parameters}"
    )
}

const OWN_STARTS: &str = "x0 = { local = true, free = true, start_column = \"x\" }\nv0 = { local = true, free = true, start_column = \"v\" }\n";

fn found(run: &Run) -> serde_json::Value {
    serde_json::from_str(&run.out).unwrap()
}

#[track_caller]
fn assert_contains(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "`{part}` is missing in: {text}");
    }
}

// Protects results from an input that nobody has measured: a gap is refused by file, column, place and length, whatever command reads the
// record, and each way out that is named finds stiffness and damping, which a bridge of the gap does not.
#[test]
fn inputs_are_not_made_up_over_gaps() {
    let place = Place::new();
    let truth = Truth::new(&place);
    place.write("record.csv", truth.record(|t| !(6.005..10.995).contains(&t)));
    place.write("problem.toml", problem("", ""));
    let parts = [
        "record.csv: column `F`, which drives input `F`, has no sample from 6 s to 11 s (5 s), where 0.01 s is usual",
        "split = \"at-gaps\"",
        "until = 6, or from = 11",
        "max_gap = 5 in [data]",
    ];
    for command in ["identify problem.toml", "check problem.toml", "identify oscillator --data record.csv"] {
        place.refused(command, &parts);
    }
    place.refused("simulate oscillator --data record.csv", &parts[..1]);
    place.refused("gradient problem.toml", &parts);
    // bridged where somebody asks for it, and said
    place.write("problem.toml", problem("max_gap = 5.0\n", ""));
    let run = place.good("identify problem.toml --substeps 4 --json --report --out bridged");
    let page = place.read("bridged/report.html");
    assert_contains(&page, &["x: usually 0.01 s apart, at most 5 s, from 6 s to 11 s"]);
    assert_contains(
        &run.err,
        &["`F` has no sample from 6 s to 11 s (5 s): linear there, as max_gap = 5 s allows", "go on through it"],
    );
    let bridged = found(&run);
    assert!((value(&bridged, "c") - 33.0).abs() > 0.5, "the gap makes no difference: {bridged}");
    assert_eq!(bridged["steps"], 4 * 1400, "a step passes over the gap");
    // each way out; what is left are steps of 2.5 ms in the place of the truth's
    for (window, parameters) in [
        ("until = 6.0\n", ""),
        ("from = 11.0\n", OWN_STARTS),
        ("from = 7.0\n", OWN_STARTS),
        ("split = \"at-gaps\"\n", OWN_STARTS),
        ("split = \"at-gaps\"\nfrom = 1.0\nuntil = 13.0\n", OWN_STARTS),
    ] {
        place.write("problem.toml", problem(window, parameters));
        let run = place.good("identify problem.toml --substeps 4 --json");
        let found = found(&run);
        assert!((value(&found, "d") - 0.8).abs() < 1e-3 && (value(&found, "c") - 33.0).abs() < 1e-2, "{window}{found}");
        if window.starts_with("split") {
            assert_contains(
                &run.err,
                &["record.csv is cut where it has no samples: from 6 s to 11 s (5 s)", "2 experiments"],
            );
            assert!(found["parameters"].as_array().unwrap().iter().any(|p| p["name"] == "x0@record_2"), "{found}");
        }
        assert!(!run.err.contains("unevenly"), "{}", run.err);
    }
}

// Protects whoever compares a column without any value: it is named, with the output and the file; and whoever lets a record end before it begins.
#[test]
fn columns_without_values_are_named() {
    let place = Place::new();
    let truth = Truth::new(&place);
    let whole = truth.record(|t| t < 2.0);
    let row = |line: &str| format!("{},\n", line.rsplit_once(',').unwrap().0);
    place.write(
        "record.csv",
        whole
            .lines()
            .map(|line| if line.starts_with('t') { format!("{line}\n") } else { row(line) })
            .collect::<String>(),
    );
    for command in ["identify oscillator --data record.csv", "check oscillator --data record.csv"] {
        let parts = [
            "record.csv: column `v`, which output `v` is compared with, has no value at its 200 samples",
            "leave it out",
        ];
        place.refused(command, &parts);
    }
    place.write("record.csv", whole);
    for split in ["", "split = \"at-gaps\"\n"] {
        place.write("problem.toml", problem(&format!("from = 1.5\nuntil = 0.5\n{split}"), OWN_STARTS));
        place.refused(
            "identify problem.toml",
            &["`until` = 0.5 s is not behind `from` = 1.5 s", "give an `until` that is larger"],
        );
    }
}

// Protects records whose gaps are rows of empty cells, whatever columns that nobody uses have there: they are cut like rows that are not there.
#[test]
fn rows_of_empty_cells_are_gaps() {
    let place = Place::new();
    let truth = Truth::new(&place);
    let whole = truth.record(|_| true);
    let row = |line: &str| {
        let t: f64 = line.split(',').next().and_then(|cell| cell.parse().ok()).unwrap_or(0.0);
        match (line.starts_with('t'), (6.005..10.995).contains(&t)) {
            (true, _) => format!("{line},battery\n"),
            (_, true) => format!("{t},,,,12.1\n"),
            (_, false) => format!("{line},12.0\n"),
        }
    };
    place.write("record.csv", whole.lines().map(row).collect::<String>());
    for columns in ["", "inputs.F = { column = \"F\" }\n"] {
        place.write("problem.toml", problem(&format!("split = \"at-gaps\"\n{columns}"), OWN_STARTS));
        let run = place.good("identify problem.toml --substeps 4 --json");
        let found = found(&run);
        assert!((value(&found, "d") - 0.8).abs() < 1e-3 && (value(&found, "c") - 33.0).abs() < 1e-2, "{found}");
        assert_contains(
            &run.err,
            &["record.csv is cut where it has no samples: from 6 s to 11 s (5 s)", "2 experiments"],
        );
    }
}

// Protects the limit: five of the usual intervals are interpolated, one more is not; gaps before and behind the run do not matter, of several
// all are reported, and a key allows what it says and no more.
#[test]
fn gaps_are_told_by_their_lengths_and_places() {
    let place = Place::new();
    let row = |t: f64| vec![force(t), 0.1 * t.cos()];
    let write = |kept: &dyn Fn(usize) -> bool| {
        let kept = (0..400).filter(|i| kept(*i)).map(|i| i as f64 / 100.0);
        place.write("record.csv", csv("t,F,x", kept, row));
    };
    let check = |more: &str| {
        place.write("problem.toml", problem(more, ""));
        place.run("check problem.toml --json")
    };
    write(&|i| !(200..204).contains(&i));
    let run = check("");
    assert!(run.code < 2 && !run.err.contains("has no sample"), "{}", run.err);
    assert_contains(&run.err, &["unevenly spaced: usually 0.01 s apart, at most 0.05 s, from 1.99 s to 2.04 s"]);
    let largest = &found(&run)["experiments"][0]["largest_interval"];
    assert_eq!((largest["from"].as_f64(), largest["until"].as_f64()), (Some(1.99), Some(2.04)));
    write(&|i| !(200..205).contains(&i));
    place.refused("check problem.toml", &["no sample from 1.99 s to 2.05 s (0.06 s), where 0.01 s is usual"]);
    // at both ends and in the middle
    write(&|i| !(1..100).contains(&i) && !(200..250).contains(&i) && !(300..399).contains(&i));
    let all = ["from 0 s to 1 s (1 s), from 1.99 s to 2.5 s (0.51 s), from 2.99 s to 3.99 s (1 s)"];
    place.refused("check problem.toml", &all);
    for (window, is_good) in [
        ("from = 1.0\nuntil = 1.99\n", true),
        ("from = 0.5\nuntil = 2.2\n", true),
        ("from = 2.5\nuntil = 2.99\n", true),
        ("from = 1.0\nuntil = 2.99\n", false),
        ("max_gap = 0.5\nfrom = 1.0\nuntil = 2.99\n", false),
        ("max_gap = 0.51\nfrom = 1.0\nuntil = 2.99\n", true),
        ("max_gap = 0.99\n", false),
        ("max_gap = 1\n", true),
        ("max_gap = inf\n", true),
    ] {
        let run = check(window);
        assert_eq!(run.code < 2, is_good, "{window}{}", run.err);
        assert_eq!(run.err.contains("has no sample"), !is_good || window.starts_with("max"), "{window}{}", run.err);
    }
    let run = check("split = \"at-gaps\"\n");
    assert_contains(
        &run.err,
        &["samples alone between two gaps are left out: 0 s, 3.99 s", "2 experiments, the first as above"],
    );
    place.write("problem.toml", problem("max_gap = 0\n", ""));
    place.refused("check problem.toml", &["problem.toml, line 5", "`max_gap` in [data]", "it is 0", "above 0"]);
    // what is held is made up as well
    let held = check("interpolation = \"zero-order\"\n");
    assert_eq!(held.code, 2, "{}", held.err);
    // of files of several clocks, `split` is no way out
    place.write("v.csv", csv("t,v", times(400, 0.01), |t| vec![0.1 * t.sin()]));
    place.refused("check oscillator --data record.csv,v.csv", &["[[experiment]] with name = \"before\", until = 0"]);
    // a candidate ends before it, and so does a run
    let candidate = "[[candidate]]\nname = \"next\"\nfile = \"record.csv\"\noutputs = { x = 0.01 }\n";
    place.write("design.toml", format!("model = \"oscillator\"\n{candidate}"));
    place.refused("design design.toml", &["candidate", "no sample from 0 s to 1 s (1 s)", "end = 0 of a candidate"]);
    place.write("design.toml", format!("model = \"oscillator\"\n{candidate}max_gap = 1.0\n"));
    assert!(place.run("design design.toml").code < 2);
}

// Protects runs without an input record: steps go on through a gap of outputs as they do elsewhere, the samples on both sides of it are not
// taken for neighbours, and filters and spectra name it.
#[test]
fn gaps_of_outputs_are_stepped_through() {
    let place = Place::new();
    place.good("simulate oscillator --end 8 --step 0.01 --set c=33,d=0.3 --out truth");
    let text = place.read("truth/outputs.csv");
    let kept = |(i, _): &(usize, &str)| *i == 0 || !(202..502).contains(i);
    let record: Vec<&str> = text.lines().enumerate().filter(kept).map(|(_, line)| line).collect();
    place.write("record.csv", record.join("\n"));
    let data = "inputs = {}\n";
    place.write("problem.toml", problem(data, ""));
    let run = place.good("identify problem.toml --substeps 1 --out found --json");
    assert_contains(
        &run.err,
        &["there are no samples from 2 s to 5.01 s (3.01 s): time steps as between the others go on"],
    );
    let result = found(&run);
    assert_eq!(result["steps"], 800);
    // the steps are those of the truth, so only its printed digits are left
    assert!((value(&result, "d") - 0.3).abs() < 1e-9 && (value(&result, "c") - 33.0).abs() < 1e-9, "{result}");
    // with noise, residuals are tested; this one's numbers are as good as random
    let text = place.read("record.csv");
    let head: Vec<&str> = text.lines().next().unwrap().split(',').collect();
    let x = head.iter().position(|head| head.trim_matches('"').starts_with("x [")).unwrap();
    let noisy = text.lines().skip(1).enumerate().map(|(i, line)| {
        let cells: Vec<&str> = line.split(',').collect();
        let noise = 1e-3 * ((i * i % 1009) as f64 / 1009.0 - 0.5);
        format!("{},{}", cells[0], cells[x].parse::<f64>().unwrap() + noise)
    });
    place.write("record.csv", format!("t,x\n{}\n", noisy.collect::<Vec<_>>().join("\n")));
    let result = place.json("identify problem.toml --substeps 1 --json", 0);
    let tests = &result["residual_tests"][0];
    let judgement = tests["judgement"].as_str().unwrap();
    assert!(judgement.contains("no samples from 2 s to 5.01 s: those on both sides"), "{judgement}");
    assert_eq!((tests["is_even"].as_bool(), tests["largest_interval"]["until"].as_f64()), (Some(true), Some(5.01)));
    assert!((tests["step"].as_f64().unwrap() - 0.01).abs() < 1e-12, "{tests}");
    let parts = ["low-pass filter of 20 Hz", "from 2 s to 5.01 s is 3.01 s, where 0.01 s is usual", "`from`, `until`"];
    place.write("problem.toml", problem(data, "").replace("deviation = 0.01", "low_pass = 20.0"));
    place.refused("identify problem.toml", &parts);
    place.write("problem.toml", problem(data, "").replace("deviation = 0.01", "spectrum = { frequencies = [1.0] }"));
    place.refused("identify problem.toml", &["the spectrum", parts[1], parts[2]]);
}

// Protects inputs that are logged more slowly than outputs, in one file: they are interpolated or held as they say, which is reported, and the run is
// where they are known.
#[test]
fn slower_channels_drive_inputs() {
    let place = Place::new();
    let truth = Truth::new(&place);
    let lines = |every: usize, first: usize, last: usize| {
        truth.0[..601].iter().enumerate().fold("t,F,x\n".to_string(), |mut text, (i, [t, force, x, _])| {
            let is_there = i % every == 0 && (first..=last).contains(&i);
            let force = if is_there { force.to_string() } else { String::new() };
            writeln!(text, "{t},{force},{x}").unwrap();
            text
        })
    };
    place.write("problem.toml", problem("interpolation = \"cubic\"\n", ""));
    place.write("record.csv", lines(5, 0, 600));
    let run = place.good("identify problem.toml --substeps 4 --json");
    assert_contains(&run.err, &["`F` has 121 of 601 samples, 0.05 s apart: cubic between them"]);
    // the truth was driven by lines over 10 ms, which lower amplitudes by (ω h)²/12, 4e-4 at most
    assert!((value(&found(&run), "d") - 0.8).abs() < 5e-3, "{}", run.out);
    for (interpolation, end) in [("linear", 5.8), ("zero-order", 5.9)] {
        place.write("problem.toml", problem(&format!("interpolation = \"{interpolation}\"\n"), ""));
        place.write("record.csv", lines(10, 20, 589));
        let run = place.run("check problem.toml --json");
        let said = format!(
            "0.1 s apart: {interpolation} between them; the run begins with its first value, at 0.2 s, and values at the start are values at that time; \
             the run ends"
        );
        assert_contains(&run.err, &["`F` has 57 of 601 samples", &said]);
        let experiment = &found(&run)["experiments"][0];
        assert!((experiment["from"].as_f64().unwrap() - 0.2).abs() < 1e-9, "{experiment}");
        assert!((experiment["until"].as_f64().unwrap() - end).abs() < 1e-9, "{experiment}");
    }
    place.write("problem.toml", problem("from = 0.1\n", ""));
    place.refused(
        "check problem.toml",
        &["column `F`", "has its first value at 0.2 s, and the run begins at 0.1 s", "`from` = 0.2"],
    );
    place.write("problem.toml", problem("until = 6.0\n", ""));
    place.refused("check problem.toml", &["has its last value at 5.8 s, and the run ends at 6 s", "`until` = 5.8"]);
    // a gap of the slow channel is one of its own intervals, and rows go on through it
    let text = lines(5, 0, 600);
    let gap = |(i, line): (usize, &str)| match line.split(',').collect::<Vec<_>>()[..] {
        [t, _, x] if (202..320).contains(&i) => format!("{t},,{x}"),
        _ => line.to_string(),
    };
    place.write("record.csv", text.lines().enumerate().map(gap).collect::<Vec<_>>().join("\n"));
    place.write("problem.toml", problem("", ""));
    let parts = [
        "no sample from 2 s to 3.2 s (1.2 s), where 0.05 s is usual",
        "name = \"before\", until = 2 and",
        "from = 3.2",
    ];
    place.refused("check problem.toml", &parts);
    // holes of a channel that is as fast as its file are refused, unless gaps are allowed
    place.write("record.csv", text.replacen(",,", ",0,", 10_000).replacen("0.02,0,", "0.02,,", 1));
    place.refused("check problem.toml", &["record.csv, line 4", "the cell of column `F` is empty", "write its value"]);
    place.write("problem.toml", problem("max_gap = 0.02\n", ""));
    assert_contains(&place.run("check problem.toml --json").err, &["`F` has 600 of 601 samples"]);
}

// Protects files as loggers and spreadsheets write them: what nobody uses may be anything, is named once, and is an error with its line as soon as
// it is used.
#[test]
fn columns_that_nobody_uses_may_hold_anything() {
    let place = Place::new();
    let row = |i: usize| {
        let t = i as f64 / 100.0;
        (t, force(t), 0.1 * t.cos())
    };
    let write = |header: &str, line: &dyn Fn(usize, f64, f64, f64) -> String| {
        let lines = (0..60).map(&row).enumerate().map(|(i, (t, force, x))| line(i, t, force, x));
        place.write("record.csv", format!("{header}\n{}\n", lines.collect::<Vec<_>>().join("\n")));
    };
    let check = || {
        let run = place.run("check oscillator --data record.csv --json");
        assert!(run.code < 2, "{}", run.err);
        assert_eq!(found(&run)["experiments"][0]["samples"], 60);
        run.err
    };
    write("t,state,F,when,x,ok,left", &|i, t, force, x| {
        let (state, left) = (if i < 2 { "3" } else { "RUN" }, if i == 5 { "lost" } else { "7" });
        format!("{t},{state},{force},2024-05-01 12:00:00,{x},TRUE,{left}")
    });
    let err = check();
    let left = "what are no columns of numbers are left out: `state` (`RUN` in line 4), `when` (`2024-05-01 12:00:00` in line 2), `ok` (`TRUE` in \
                line 2), `left` (`lost` in line 7)";
    assert_contains(&err, &[left]);
    assert_eq!(err.matches("left out").count(), 1, "{err}");
    for (column, line) in [("state", "line 4: `RUN`"), ("left", "line 7: `lost`")] {
        place.write("problem.toml", problem(&format!("inputs.F = {{ column = \"{column}\" }}\n"), ""));
        place.refused("check problem.toml", &[&format!("record.csv, {line} in column `{column}` is not a number")]);
    }
    // an index, with and without a name for nothing; separators at the ends of lines
    write(",t,F,x", &|i, t, force, x| format!("{i},{t},{force},{x}"));
    assert_contains(&check(), &["what is no column of numbers is left out: column 1 (without a name)"]);
    for (header, end) in [("t,F,x,", ","), ("t,F,x,", ""), ("t,F,x", ","), ("t,F,x,,", ",,"), ("t,F,x", ",,")] {
        write(header, &|_, t, force, x| format!("{t},{force},{x}{end}"));
        assert!(!check().contains("left out"), "{header} {end}");
    }
    // dates with points do not make decimal commas doubtful
    let comma = |x: f64| x.to_string().replace('.', ",");
    write("when;t;F;x;", &|_, t, force, x| format!("01.05.2024;{};{};{};", comma(t), comma(force), comma(x)));
    assert_contains(&check(), &["`when` (`01.05.2024` in line 2)"]);
    // what is too much is still refused
    write("t,F,x", &|i, t, force, x| format!("{i},{t},{force},{x}"));
    place
        .refused("check oscillator --data record.csv", &["4 cells", "header names 3 columns", "that of an index, too"]);
    write("t,F,x,", &|_, t, force, x| format!("{t},{force},{x},,5"));
    place.refused("check oscillator --data record.csv", &["line 2", "5 cells"]);
}

// Protects starts that are taken from a record: one cell is enough, and if it is not the first one, it is said which it is.
#[test]
fn a_start_needs_one_cell() {
    let place = Place::new();
    let write = |cell: &dyn Fn(usize) -> &'static str| {
        let row = |i: usize| {
            let t = i as f64 / 100.0;
            format!("{t},{},{},{}", force(t), 0.1 * t.cos(), cell(i))
        };
        place.write("record.csv", format!("t,F,x,begin\n{}\n", (0..60).map(row).collect::<Vec<_>>().join("\n")));
    };
    let parameters = "x0 = { local = true, free = true, start_column = \"begin\" }\n";
    let start = |data: &str| {
        place.write("problem.toml", problem(data, parameters));
        let run = place.run("check problem.toml --json");
        let checked = found(&run);
        let all = checked["gradient"].as_array().unwrap();
        let x0 = all.iter().find(|p| p["name"].as_str().unwrap().starts_with("x0")).unwrap();
        (x0["start"].as_f64().unwrap(), run.err)
    };
    write(&|i| if i == 0 { "0.25" } else { "" });
    let (value, err) = start("");
    assert!(value == 0.25 && !err.contains("starts from the sample"), "{value} {err}");
    write(&|i| if i == 0 { "0.25" } else { "n/a" });
    assert_eq!(start("").0, 0.25);
    write(&|i| ["", "", "", "0.5", "0.75"].get(i).copied().unwrap_or(""));
    let (value, err) = start("");
    assert_eq!(value, 0.5);
    assert_contains(
        &err,
        &[
            "`x0` of experiment `record` starts from the sample of `begin` at 0.03 s, the first that it has in record.csv",
        ],
    );
    assert_eq!(start("from = 0.04\n").0, 0.75);
    place.write("problem.toml", problem("from = 0.05\n", parameters));
    place.refused("check problem.toml", &["column `begin` has no value from 0.05 s to 0.59 s", "start = .."]);
}

// Protects from remedies that speak of what nobody has said, and from a next step that cannot be taken.
#[test]
fn remedies_are_about_what_was_said() {
    let place = Place::new();
    place.write("a.csv", csv("t,F", times(50, 0.01), |t| vec![force(t)]));
    place.write("b.csv", csv("t,x", (500..550).map(|i| i as f64 / 100.0), |t| vec![t.cos()]));
    let run = place.run("check oscillator --data a.csv,b.csv");
    assert_contains(&run.err, &["no sample lies between 0 s and 0.49 s", "all clocks count from one moment"]);
    assert!(run.code == 2 && !run.err.contains("widen"), "{}", run.err);
    place.write("record.csv", csv("t,F,x", times(50, 0.01), |t| vec![force(t), t.cos()]));
    for (window, remedy) in [
        ("from = 1.0\n", "give an earlier `from`"),
        ("until = -1.0\n", "give a later `until`"),
        ("from = 0.101\nuntil = 0.109\n", "widen `from` and `until`"),
    ] {
        place.write("problem.toml", problem(window, ""));
        place.refused("check problem.toml", &["fewer than two samples lie", remedy]);
    }
    // a gap is known to `init`, which does not send on to `check`
    place.write(
        "gap.csv",
        csv("t,F,x", (0..99).filter(|i| !(20..60).contains(i)).map(|i| i as f64 / 100.0), |t| vec![force(t), t]),
    );
    let run = place.run("init oscillator --data gap.csv");
    assert_eq!(run.code, 1, "{}{}", run.out, run.err);
    assert!(run.out.contains("written to oscillator.toml") && !run.out.contains("next:"), "{}", run.out);
    assert_contains(
        &run.err,
        &["cannot be run as it is", "no sample from 0.19 s to 0.6 s", "then costate check oscillator.toml"],
    );
    let text = place.read("oscillator.toml").replace("\n#   ", " ");
    assert_contains(&text, &["unevenly spaced: usually 0.01 s apart, at most 0.41 s, from 0.19 s to 0.6 s"]);
    // nothing moves: no error is so many times a largest value of zero, or of round-off
    for (set, force) in [("x0=0,v0=0", 0.0), ("c=33,x0=0.1,v0=0", 3.3), ("c=33,x0=1e-9,v0=0", 33e-9)] {
        place.write("still.csv", csv("t,F", times(101, 0.01), |_| vec![force]));
        let run = place.good(&format!("simulate oscillator --data still.csv --set {set}"));
        let line = run.out.lines().find(|line| line.starts_with("estimated time-step error: ")).unwrap();
        assert!(!line.contains("largest value, ") && !line.contains("times the") && !line.ends_with(": "), "{line}");
    }
}

// Protects control from a path that nobody has written: a gap of what is to be followed is refused as that of an input is, `max_gap` allows it, and a path
// that is slower than its file is one of its own samples.
#[test]
fn paths_are_not_made_up_over_gaps() {
    let place = Place::new();
    let path = |kept: &dyn Fn(usize) -> bool| {
        csv("t,x", (0..101).filter(|i| kept(*i)).map(|i| i as f64 / 100.0), |t| vec![0.1 * t * t])
    };
    let control = |more: &str| {
        format!(
            "model = \"oscillator\"\n[integrator]\nend = 1.0\n[[control.signal]]\ninput = \"F\"\nsize = 1.0\nintervals = 5\n\
             [[control.goal]]\noutput = \"x\"\nfollow = \"path.csv\"\n{more}"
        )
    };
    place.write("path.csv", path(&|i| !(20..60).contains(&i)));
    place.write("control.toml", control(""));
    place.refused(
        "control control.toml",
        &[
            // the line that names the record
            "control.toml, line 10: path.csv: column `x`, which output `x` is to follow, has no sample from 0.19 s to 0.6 s (0.41 s), where 0.01 s is usual",
            "max_gap = 0.41 in [[control.goal]]",
        ],
    );
    place.write("control.toml", control("max_gap = 0.41\n"));
    let run = place.run("control control.toml --max-iterations 2");
    assert_contains(
        &run.err,
        &[
            "`x` has no sample from 0.19 s to 0.6 s (0.41 s): linear there, as max_gap = 0.41 s allows",
            "at most 0.41 s",
        ],
    );
    // five intervals are a line, and beyond the run there is none
    place.write("path.csv", path(&|i| !(20..24).contains(&i)));
    place.write("control.toml", control(""));
    let run = place.run("control control.toml --max-iterations 2");
    assert!(!run.err.contains("has no sample"), "{}", run.err);
    // another column is faster
    let rows = (0..101).fold("t,x,other\n".to_string(), |mut text, i| {
        let t = f64::from(i) / 100.0;
        let x = if i % 10 == 0 { format!("{}", 0.1 * t * t) } else { String::new() };
        writeln!(text, "{t},{x},{i}").unwrap();
        text
    });
    place.write("path.csv", rows);
    let run = place.run("control control.toml --max-iterations 2");
    assert_contains(&run.err, &["`x` has 11 of 101 samples, 0.1 s apart: linear between them"]);
    place.write("control.toml", control("").replace("follow = \"path.csv\"", "reach = 0.1\nmax_gap = 1.0"));
    place.refused("control control.toml", &["`max_gap`", "there is no record to follow"]);
}
