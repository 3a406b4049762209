//! What the command line does with records of measurements, usable and not.

use crate::run;
use run::{Place, csv, times, value};

fn force(t: f64) -> f64 {
    (3.0 * t).sin()
}

/// A record of `count` samples that the oscillator can be compared with.
fn record(count: usize, step: f64) -> String {
    csv("t,F,x", times(count, step), |t| vec![force(t), 0.1 * (6.0 * t).cos()])
}

const IDENTIFY: &str = "identify oscillator --max-iterations 2 --json --data";

// Protects against every way a file can be no record: path, line, what is wrong there, and what to do.
#[test]
fn unusable_records_are_refused_by_line() {
    let place = Place::new();
    let rows = |rows: &str| format!("t,F,x\n0,1,0.1\n0.01,1,0.1\n{rows}0.04,1,0.1\n");
    place.write("folder/file", "");
    let cases: [(&str, String, &[&str]); 16] = [
        ("empty.csv", String::new(), &["the file is empty", "give a file with a header line"]),
        ("header.csv", "t,F,x\n".into(), &["line 1", "ends after its header", "rows of numbers"]),
        ("one.csv", "t,F,x\n0,1,0.1\n".into(), &["there is one sample only", "give at least two"]),
        ("text.csv", rows("0.02,lost,0.1\n"), &["line 4", "`lost` in column `F` is not a number", "remove the row"]),
        ("nan.csv", rows("0.02,NaN,0.1\n"), &["line 4", "the cell of column `F` is empty or NaN", "remove the row"]),
        ("late.csv", rows(",1,0.1\n"), &["line 4", "the cell of column `t` is empty", "remove the row"]),
        ("infinite.csv", rows("0.02,1,inf\n"), &["line 4", "`inf` in column `x` is not a finite number"]),
        ("hole.csv", rows("0.02,,0.1\n"), &["line 4", "the cell of column `F` is empty", "write its value"]),
        ("short.csv", rows("0.02,1\n"), &["line 4", "2 cells", "header names 3 columns", "complete the row"]),
        ("back.csv", rows("0.005,1,0.1\n"), &["line 4", "0.005 s comes after 0.01 s", "sort the rows by time"]),
        ("twice.csv", rows("0.01,1,0.1\n"), &["line 4", "the time 0.01 s is repeated", "remove the repeated row"]),
        ("bare.csv", "0,1,2\n1,2,3\n".into(), &["line 1", "header is missing", "names the columns"]),
        ("same.csv", "t,x,x\n0,1,2\n1,2,3\n".into(), &["line 1", "columns 2 and 3 are both named `x`", "rename"]),
        ("notime.csv", "F,x\n0,1\n1,2\n".into(), &["no column is called `t` or `time`", "F, x", "rename"]),
        ("nothing.csv", "t,F,y\n0,1,2\n1,2,3\n".into(), &["`a`, `x`, `v`", "there are: `t`, `F`, `y`", "map it"]),
        ("unit.csv", "t,x [N]\n0,1\n1,2\n".into(), &["`x [N]` is in `N`, where `x` is in `m`", "convert"]),
    ];
    for (name, text, parts) in cases {
        place.write(name, text).refused(&format!("{IDENTIFY} {name}"), &[parts, &[name]].concat());
    }
    place.write("latin.csv", b"t,x\n0,1\n1,2 \xb5m\n");
    place.refused(
        &format!("{IDENTIFY} latin.csv"),
        &["latin.csv, line 3", "0xB5, is not UTF-8", "save the file as UTF-8"],
    );
    place.refused(&format!("{IDENTIFY} folder"), &["cannot read folder: it is a folder", "the path of a file in it"]);
    place.refused(&format!("{IDENTIFY} absent.csv"), &["cannot read absent.csv", "check the path (looked for `"]);
}

// Protects headers as loggers write them: what can only be the time is it.
#[test]
fn times_have_many_names() {
    let place = Place::new();
    for header in ["Time (s),F,x", "TIME [s],F,x", "T,F,x", "time,F,x"] {
        place.write("record.csv", record(41, 0.01).replacen("t,F,x", header, 1));
        place.good("simulate oscillator --data record.csv --out simulated");
    }
}

// Protects sampling: substeps and `end` must agree with it; a step that does not divide it is taken, and what that means is said.
#[test]
fn steps_and_ends_must_fit_the_samples() {
    let place = Place::new();
    place.write("even.csv", record(101, 0.01));
    place.write("uneven.csv", csv("t,F,x", [0.0, 0.01, 0.03, 0.04, 0.05, 0.07], |t| vec![force(t), 0.1]));
    for (arguments, parts) in [
        ("even.csv --step -1", ["the time step: -1 s is not positive", "give a step > 0"]),
        ("even.csv --step 0.005 --substeps 3", ["0.005 s is 2 substeps", "give only one of them"]),
        ("even.csv --substeps 0", ["substeps: there are 0 between two samples", "use at least 1"]),
        ("even.csv --substeps 99999999999", ["99999999999 steps between two of 101 samples", "use fewer"]),
        (
            "even.csv --end 2",
            ["even.csv: the record ends before the simulation: at 1 s against 2 s", "leave out `end`"],
        ),
        ("even.csv --end 0.5", ["the record goes on after the simulation: at 1 s against 0.5 s", "leave out `end`"]),
    ] {
        place.refused(&format!("{IDENTIFY} {arguments}"), &parts);
    }
    place.write("three.csv", record(3, 0.01));
    let parts = ["three.csv: column `F` for input `F`", "needs 4 samples, there are 3", "choose `linear`"];
    place.refused(&format!("{IDENTIFY} three.csv --interpolation cubic"), &parts);
    let uneven = place.json(&format!("{IDENTIFY} uneven.csv --substeps 3"), 1);
    assert_eq!(uneven["steps"], 15);
    assert_eq!(place.json(&format!("{IDENTIFY} even.csv --step 0.005 --end 1"), 1)["steps"], 200);
    // steps that meet all samples, though they do not divide the sampling
    assert!(!place.run(&format!("{IDENTIFY} uneven.csv --step 0.005")).err.contains("error"));
    for (arguments, said) in [
        (
            "even.csv --step 0.004",
            "250 steps of 0.004 s pass over samples, which are read between their ends; of `F` they see",
        ),
        ("even.csv --step 0.02", "50 steps of 0.02 s pass over samples"),
        ("uneven.csv --step 0.0075", "10 steps of 0.007 s pass over samples"),
    ] {
        let out = place.run(&format!("{IDENTIFY} {arguments}"));
        assert!(out.err.contains(said) && !out.err.contains("uneven steps"), "{}", out.err);
    }
    // behind a jump of a held input, between the ends of a step, accelerations are not known
    let behind = format!("{IDENTIFY} even.csv --interpolation zero-order --step 0.02");
    place
        .refused(&behind, &["its step of 0.02 s from 0.02 s on passes over 0.03 s, behind a jump", "give a tolerance"]);
}

// Protects whoever names no scheme: on uneven times, constrained mechanisms are integrated by one that stands them.
#[test]
fn uneven_records_of_constrained_mechanisms_are_integrated() {
    let place = Place::new();
    let uneven = (0..150).map(|i| 5e-3 * f64::from(i) + if i % 2 == 1 { 3e-3 } else { 0.0 });
    place.write("record.csv", csv("t,a_x", uneven, |_| vec![0.0]));
    let run = place.good("simulate pendulum --data record.csv");
    assert!(run.err.contains("generalized-alpha") && run.err.contains("taking i2p"), "{}", run.err);
    assert!(run.out.contains("i2p with spectral_radius"), "{}", run.out);
}

// Protects files from other programs: a byte-order mark, Windows line ends and units in the header change nothing.
#[test]
fn varieties_of_text_give_the_same_result() {
    let place = Place::new();
    let plain = record(101, 0.01);
    place.write("plain.csv", &plain);
    place.write("mark.csv", format!("\u{feff}{plain}"));
    place.write("windows.csv", plain.replace('\n', "\r\n"));
    place.write("units.csv", plain.replacen("t,F,x", "time [s],F [N],x [m]", 1));
    let cost = |name: &str| place.json(&format!("{IDENTIFY} {name}"), 1)["cost"].as_f64().unwrap();
    let expected = cost("plain.csv");
    for name in ["mark.csv", "windows.csv", "units.csv"] {
        assert_eq!(cost(name).to_bits(), expected.to_bits(), "{name}");
    }
}

// Protects against an input that silently keeps the model's own signal: it is refused, with the columns left over, and what
// is used is always said.
#[test]
fn an_input_without_a_column_is_refused() {
    let place = Place::new();
    place.write("named.csv", record(101, 0.01).replacen("t,F,x", "t,Force,x", 1));
    let run = place.run(&format!("{IDENTIFY} named.csv"));
    assert_eq!(run.code, 2, "{}", run.err);
    assert!(run.err.contains("no column drives input `F` (other columns: `Force`)"), "{}", run.err);
    place.write("full.csv", record(101, 0.01));
    let run = place.run(&format!("{IDENTIFY} full.csv"));
    assert!(run.err.contains("inputs: F from `F` (linear); compared: x with `x`"), "{}", run.err);
}

// Protects what the command writes: its own outputs.csv is a record that it reads, and the parameters come back from it.
#[test]
fn a_written_simulation_is_a_record() {
    let place = Place::new();
    place.good("simulate oscillator --set c=33,d=0.5 --out truth");
    assert!(place.read("truth/outputs.csv").starts_with("time [s],a [m/s^2],x [m],v [m/s],F [N]\n"));
    let found = place.json("identify oscillator --data truth/outputs.csv --json", 0);
    assert!((value(&found, "c") - 33.0).abs() < 1e-6, "{found}");
    assert!((value(&found, "d") - 0.5).abs() < 1e-6, "{found}");
}

// Protects long records: a million rows are read, simulated and differentiated.
#[test]
fn a_million_rows_work() {
    let place = Place::new();
    let mut text = String::from("t,F,x\n");
    for i in 0..1_000_000 {
        use std::fmt::Write;
        writeln!(text, "{}e-3,{},0.0{}", i, i % 7, i % 10).unwrap();
    }
    place.write("long.csv", text);
    let found = place.json("identify oscillator --data long.csv --max-iterations 1 --fix d --json", 1);
    assert_eq!(found["steps"], 999_999);
}

// Protects from runs that never begin: what has no end is refused, and what is piped in is read.
#[cfg(unix)]
#[test]
fn devices_and_named_pipes_are_refused() {
    let place = Place::new();
    let made =
        std::process::Command::new("mkfifo").args([place.path("pipe"), place.path("pipe.toml")]).status().unwrap();
    assert!(made.success());
    let parts = ["it is no ordinary file, but a device or a pipe, which may never end", "pipe it into `/dev/stdin`"];
    for arguments in [
        format!("{IDENTIFY} /dev/zero"),
        format!("{IDENTIFY} pipe"),
        "simulate oscillator --data pipe".into(),
        "identify pipe.toml".into(),
        "gradient pipe.toml".into(),
    ] {
        place.refused(&arguments, &parts);
    }
    std::fs::create_dir(place.path("folder.toml")).unwrap();
    place.refused("identify folder.toml", &["cannot read folder.toml: it is a folder"]);
    let run =
        Place::end(place.command(&format!("{IDENTIFY} /dev/stdin")).stdin(std::fs::File::open("/dev/zero").unwrap()));
    assert_eq!(run.code, 2, "{}", run.err);
    assert!(run.err.contains("cannot read /dev/stdin: it is no ordinary file"), "{}", run.err);
    // piped in, and redirected
    place.write("record.csv", record(101, 0.01)).write("names.csv", record(101, 0.01).replacen("t,F,x", "t,F,y", 1));
    let expected = place.json(&format!("{IDENTIFY} record.csv"), 1)["cost"].clone();
    for (arguments, file, found) in [
        (format!("{IDENTIFY} /dev/stdin"), "record.csv", true),
        (format!("{IDENTIFY} /dev/fd/0"), "record.csv", true),
        (format!("{IDENTIFY} /dev/stdin"), "names.csv", false),
    ] {
        let mut cat = std::process::Command::new("cat");
        let mut cat = cat.arg(place.path(file)).stdout(std::process::Stdio::piped()).spawn().unwrap();
        let run = Place::end(place.command(&arguments).stdin(cat.stdout.take().unwrap()));
        cat.wait().unwrap();
        if found {
            let result: serde_json::Value = serde_json::from_str(&run.out).unwrap_or_else(|_| panic!("{}", run.err));
            assert_eq!(result["cost"], expected);
        } else {
            assert!(run.err.contains("there are: `t`, `F`, `y`"), "{}", run.err);
        }
        let file = std::fs::File::open(place.path(file)).unwrap();
        assert_eq!(Place::end(place.command(&arguments).stdin(file)).code, run.code);
    }
}

// Protects records whose inputs are sampled faster than their outputs, and sensors that drop out: samples that are not there count nowhere.
#[test]
fn outputs_may_lack_samples() {
    let place = Place::new();
    place.good("simulate oscillator --end 1 --set c=33,d=0.5 --out once");
    let text = place.read("once/outputs.csv");
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').map(|name| name.trim_matches('"')).collect();
    let x = header.iter().position(|name| name.starts_with("x [")).unwrap();
    let rows = |kept: &dyn Fn(usize) -> bool, empty: &str| {
        let row = |(i, line): (usize, &str)| {
            let cells = line.split(',').enumerate().map(|(k, cell)| if k == x && !kept(i) { empty } else { cell });
            cells.collect::<Vec<_>>().join(",")
        };
        let all = text.lines().skip(1).enumerate().map(row).collect::<Vec<_>>().join("\n");
        format!("{}\n{all}\n", text.lines().next().unwrap())
    };
    let problem = "model = \"oscillator\"\n[data]\nfile = \"holes.csv\"\noutputs.x = {}\n[cost]\nnoise = \"given\"\n";
    place.write("problem.toml", problem);
    for empty in ["", "NaN", "NA"] {
        place.write("holes.csv", rows(&|i| i % 5 == 0, empty));
        let run = place.good("identify problem.toml --json");
        assert!(run.err.contains("80 of 101 samples of `x [m]` are missing"), "{}", run.err);
        let found: serde_json::Value = serde_json::from_str(&run.out).unwrap();
        assert_eq!(found["residuals"], 21);
        let c = found["parameters"].as_array().unwrap().iter().find(|p| p["name"] == "c").unwrap();
        assert!((c["value"].as_f64().unwrap() - 33.0).abs() < 1e-5, "{found}");
    }
    place.write("holes.csv", rows(&|_| false, ""));
    place.refused(
        "identify problem.toml",
        &["column `x [m]`, which output `x` is compared with, has no value at its 101 samples"],
    );
}
