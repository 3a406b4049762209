//! Experiments of several files with times of their own, and files of MATLAB.

use crate::run::{Place, value};
use std::fmt::Write;

/// An oscillator under a force that is sampled every 4 ms, run in steps of 1 ms: columns of what it does.
struct Truth {
    rows: Vec<Vec<f64>>,
    x: usize,
    a: usize,
}

fn force(t: f64) -> f64 {
    (3.0 * t).sin() + (17.0 * t).cos()
}

/// Rows of a file: a header, and lines made of places.
fn rows(header: &str, places: impl Iterator<Item = usize>, row: impl Fn(usize) -> Vec<f64>) -> String {
    let mut text = format!("{header}\n");
    for i in places {
        let cells: Vec<String> = row(i).into_iter().map(|x| x.to_string()).collect();
        writeln!(text, "{}", cells.join(",")).unwrap();
    }
    text
}

impl Truth {
    fn new(place: &Place) -> Self {
        let t = |i: usize| 4.0 * i as f64 / 1000.0;
        place.write("force.csv", rows("t,F", 0..501, |i| vec![t(i), force(t(i))]));
        place.good("simulate oscillator --data force.csv --substeps 4 --set c=33,d=0.5 --out truth");
        let table = place.read("truth/outputs.csv");
        let rows = table.lines().skip(1).map(|row| row.split(',').map(|cell| cell.parse().unwrap()).collect());
        let head: Vec<&str> = table.lines().next().unwrap().split(',').collect();
        let column = |name: &str| head.iter().position(|head| head.starts_with(name)).unwrap();
        Truth { rows: rows.collect(), x: column("x ["), a: column("a [") }
    }

    /// A column at every so many ms from the first one on.
    fn file(&self, header: &str, column: usize, (first, every): (usize, usize)) -> String {
        rows(header, (first..self.rows.len()).step_by(every), |i| vec![i as f64 / 1000.0, self.rows[i][column]])
    }
}

const PROBLEM: &str = "model = \"oscillator\"\n[data]\nfile = [\"force.csv\", \"x.csv\", \"a.csv\"]\n\
                       outputs.x = { deviation = 0.01 }\noutputs.a = { deviation = 1.0 }\n\
                       [integrator]\nsubsteps = 1\n[parameters]\nc = { start = 30.0 }\nd = { start = 0.4 }\n";

/// Of an output in `check.json`: samples, compared ones, missing ones.
fn counts(checked: &serde_json::Value, name: &str) -> [u64; 3] {
    let outputs = checked["experiments"][0]["outputs"].as_array().unwrap();
    let output = outputs.iter().find(|output| output["output"] == name).unwrap();
    ["samples", "compared", "missing"].map(|key| output[key].as_u64().unwrap())
}

// Protects whoever logs with several devices: every output is compared at its own times, inputs follow theirs, nothing counts as missing, all files
// are told with their checksums, and the run can be repeated and validated.
#[test]
fn every_file_has_times_of_its_own() {
    let place = Place::new();
    let truth = Truth::new(&place);
    place.write("x.csv", truth.file("time [s],x [m]", truth.x, (1, 2))).write("problem.toml", PROBLEM);
    place.write("a.csv", truth.file("t,a", truth.a, (0, 12)));
    let run = place.good("identify problem.toml --out found --json");
    for part in [
        "force.csv: 501 samples from 0 s to 2 s, 0.004 s apart; inputs: F from `F` (linear); compared: none",
        "x.csv: 1000 samples from 0.001 s to 1.999 s, 0.002 s apart; inputs: none; compared: x with `x`",
        "a.csv: 167 samples from 0 s to 1.992 s, 0.012 s apart",
        "3 files: together 1501 times from 0 s to 2 s, 0.001 s to 0.002 s apart",
    ] {
        assert!(run.err.contains(part), "`{part}` is missing in {}", run.err);
    }
    assert!(!run.err.contains("missing") && !run.err.contains("nearly meet"), "{}", run.err);
    let found: serde_json::Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!((found["residuals"].as_u64(), found["steps"].as_u64()), (Some(1167), Some(1500)));
    assert!((value(&found, "c") - 33.0).abs() < 0.01 && (value(&found, "d") - 0.5).abs() < 0.01, "{found}");
    let files = found["input_files"].as_array().unwrap();
    let paths: Vec<&str> = files.iter().map(|file| file["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["problem.toml", "force.csv", "x.csv", "a.csv"]);
    // a line each for the outputs, at their own times
    let checked = place.json("check problem.toml --json", 0);
    assert_eq!(checked["input_files"][3]["sha256"], files[3]["sha256"]);
    assert_eq!(counts(&checked, "x"), [1000, 1000, 0]);
    assert_eq!(counts(&checked, "a"), [167, 167, 0]);
    let message = place.good("check problem.toml --out checked").out;
    assert!(
        message.contains("data a.csv: ") && message.contains(files[3]["sha256"].as_str().unwrap().get(..16).unwrap())
    );
    // the same from the command line, once more from the result, and of another day
    let run = place.run("identify oscillator --data force.csv,x.csv,a.csv --out again --max-iterations 1 --json");
    assert!(run.err.contains("3 files: together 1501 times"), "{}", run.err);
    assert!(place.good("identify --from found").out.contains("to the last bit"));
    let run = place.good("validate found --data force.csv,x.csv,a.csv --json");
    assert!(run.err.contains("x.csv is among the data that were fitted"), "{}", run.err);
    // inputs are known where their file is: the others are cut, unless something else is said
    place.write("force.csv", place.read("force.csv").lines().take(252).collect::<Vec<_>>().join("\n"));
    let run = place.good("check problem.toml --json");
    assert!(run.err.contains("x.csv: 500 samples before or after those times take part nowhere"), "{}", run.err);
    assert_eq!(serde_json::from_str::<serde_json::Value>(&run.out).unwrap()["steps"], 750);
}

// Protects filters, decimation and delays: they belong to the samples of one file, on whatever times the others are; derivatives are exact.
#[test]
fn filters_and_delays_belong_to_a_file() {
    let place = Place::new();
    let truth = Truth::new(&place);
    place.write("x.csv", truth.file("t,x", truth.x, (1, 2)));
    // times that fit no others, and a clock that is 1 ms late
    let late = rows("t,a", (0..1900).step_by(5), |i| vec![i as f64 / 1000.0 + 1.3e-3, truth.rows[i][truth.a]]);
    place.write("a.csv", late);
    let problem = PROBLEM
        .replace("x = { deviation", "x = { low_pass = 25.0, every = 20, deviation")
        .replace("a = { deviation", "a = { sensor = [\"delay\"], low_pass = 20.0, every = 9, deviation");
    place.write("problem.toml", problem);
    let found = place.json("identify problem.toml --json", 0);
    for (name, truth, allowed) in [("c", 33.0, 0.05), ("d", 0.5, 0.01), ("delay_a", 1.3e-3, 5e-5)] {
        assert!((value(&found, name) - truth).abs() < allowed, "{name}: {}", value(&found, name));
    }
    let checked = place.json("check problem.toml --json", 0);
    assert_eq!(counts(&checked, "x"), [1000, 50, 0]);
    // without those beyond which the delay and the filter lead
    assert_eq!(counts(&checked, "a"), [380, 39, 0]);
    assert!(place.good("check problem.toml --derivatives").out.contains("all agree"));
    // samples that a file itself lacks are missing, and nothing else
    let whole = place.read("x.csv");
    let line = |(k, line): (usize, &str)| if k == 7 { "0.013,\n".to_string() } else { format!("{line}\n") };
    place.write("x.csv", whole.lines().enumerate().map(line).collect::<String>());
    place.refused("check problem.toml", &["low-pass filter of 25 Hz", "the sample at 0.013 s is missing"]);
    place.write("problem.toml", PROBLEM.replace("x = { deviation", "x = { every = 20, deviation"));
    let checked = place.json("check problem.toml --json", 0);
    assert_eq!(counts(&checked, "x"), [1000, 50, 1]);
}

// Protects from mistakes with several files: a sentence each, with the file's name.
#[test]
fn wrong_sets_of_files_get_a_sentence() {
    let place = Place::new();
    let truth = Truth::new(&place);
    place.write("x.csv", truth.file("t,x", truth.x, (1, 2))).write("a.csv", truth.file("t,a", truth.a, (0, 4)));
    place.write("both.csv", truth.file("t,x", truth.x, (0, 4))).write("late.csv", "t,a\n7,1\n8,1\n");
    place.write("notime.csv", "s,a\n7,1\n8,1\n");
    let with = |from: &str, to: &str| {
        assert!(PROBLEM.contains(from), "{from}");
        place.write("problem.toml", PROBLEM.replace(from, to));
    };
    for (from, to, parts) in [
        ("\"a.csv\"", "\"a.csv\", \"both.csv\"", ["column `x`", "both x.csv and both.csv have it", "file = 4"]),
        ("x = { dev", "x = { file = 5, dev", ["column `x`", "there is no file 5 among 3", "from 1"]),
        ("x = { dev", "x = { file = 3, dev", ["a.csv", "no column `x`", "a"]),
        ("\"a.csv\"", "\"late.csv\"", ["late.csv", "no sample lies between 0 s and 2 s", "covers 7 s to 8 s"]),
        ("\"a.csv\"", "\"notime.csv\"", ["notime.csv", "no column is called `t` or `time`", "rename"]),
        ("\"a.csv\"", "\"x.csv\"", ["`file` in [data]", "`x.csv` is named twice", "once"]),
        ("outputs.x", "split = \"x\"\noutputs.x", ["split = \"x\"", "the experiment has 3 files", "leave out `split`"]),
        ("[param", "[cost]\nweights = \"trapezoid\"\n[param", ["weights", "times of its own", "leave it out"]),
        ("[\"force.csv\", \"x.csv\", \"a.csv\"]", "[]", ["`file` in [data]", "the list is empty", "at least one"]),
    ] {
        with(from, to);
        place.refused("identify problem.toml", &parts);
    }
    with("\"a.csv\"", "\"a.csv\", \"both.csv\"");
    place.write("problem.toml", place.read("problem.toml").replace("x = { dev", "x = { file = 4, dev"));
    assert!(place.good("check problem.toml --json").err.contains("both.csv: 501 samples"));
    // clocks that drift past each other make short steps, which are reported; times that are the same but for round-off make none
    let shifted = |by: f64| rows("t,a", (0..2001).step_by(4), |i| vec![i as f64 / 1000.0 + by, truth.rows[i][truth.a]]);
    for (by, is_told) in [(2e-5, true), (1e-6, false)] {
        with("start = 30.0", "start = 33.0");
        place.write("a.csv", shifted(by));
        let err = place.good("check problem.toml --json").err;
        assert_eq!(err.contains("where clocks nearly meet"), is_told, "{err}");
    }
}

/// A file of MATLAB (version 5, as `save` with `-v6` writes it) with these vectors.
fn matlab(vectors: &[(&str, Vec<f64>)]) -> Vec<u8> {
    let mut file = b"MATLAB 5.0 MAT-file".to_vec();
    file.resize(124, b' ');
    file.extend(b"\x00\x01IM");
    let words = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    for (name, values) in vectors {
        let mut own = words(&[6, 8, 6, 0, 5, 8, values.len() as u32, 1, 1, name.len() as u32]);
        own.extend(name.as_bytes());
        own.resize(own.len().next_multiple_of(8), 0);
        // short names stand in the tag
        if name.len() <= 4 {
            own.truncate(32);
            own.extend(words(&[(name.len() as u32) << 16 | 1]));
            own.extend(name.as_bytes());
            own.resize(40, 0);
        }
        own.extend(words(&[9, 8 * values.len() as u32]));
        own.extend(values.iter().flat_map(|x| x.to_le_bytes()));
        file.extend(words(&[14, own.len() as u32]));
        file.extend(own);
    }
    file
}

// Protects whoever measures with MATLAB: its files are data wherever CSV files are, with the same numbers, and with a checksum.
#[test]
fn files_of_matlab_are_records() {
    let place = Place::new();
    let truth = Truth::new(&place);
    let places = || (0..501).map(|i| 4 * i);
    let of = |column: usize| places().map(|i| truth.rows[i][column]).collect::<Vec<f64>>();
    let t: Vec<f64> = places().map(|i| i as f64 / 1000.0).collect();
    let f: Vec<f64> = t.iter().map(|t| force(*t)).collect();
    let csv = rows("t,F,x", 0..501, |i| vec![t[i], f[i], truth.rows[4 * i][truth.x]]);
    place.write("run.csv", csv);
    let x = of(truth.x);
    place.write("run.mat", matlab(&[("t", t.clone()), ("F", f.clone()), ("x", x.clone()), ("mass_kg", vec![2.0])]));
    let cost = |name: &str| place.json(&format!("identify oscillator --data {name} --json --substeps 4"), 0);
    let (of_csv, of_mat) = (cost("run.csv"), cost("run.mat"));
    assert_eq!(of_csv["parameters"], of_mat["parameters"]);
    assert_eq!(of_mat["input_files"][0]["sha256"].as_str().unwrap().len(), 64);
    let run = place.good("check oscillator --data run.mat --json");
    assert!(run.err.contains("run.mat: no columns are made of `mass_kg` (one number, 2)"), "{}", run.err);
    place.good("init oscillator --data run.mat --out begun.toml");
    assert!(place.read("begun.toml").contains("file = \"run.mat\""));
    place.good("simulate begun.toml --out simulated");
    // with others that are not of MATLAB, and times by the sampling time alone
    place.write("x.mat", matlab(&[("x", x), ("Ts", vec![4e-3])]));
    let run = place.good("identify oscillator --data force.csv,x.mat --json --substeps 4");
    assert!(run.err.contains("x.mat: there are no times: `t` goes from 0 in steps of 0.004 s"), "{}", run.err);
    let found: serde_json::Value = serde_json::from_str(&run.out).unwrap();
    assert!((value(&found, "c") - 33.0).abs() < 1e-6, "{found}");
    place.write("bare.mat", matlab(&[("F", f), ("v", of(truth.a))]));
    place.refused("check oscillator --data bare.mat", &["bare.mat", "`t` or `time`", "as a number `Ts`"]);
    place.write("hdf.mat", b"MATLAB 7.3 MAT-file, Platform: GLNXA64");
    place.refused("check oscillator --data hdf.mat", &["version 7.3 (HDF5)", "save('hdf.mat', 't', 'a1', '-v7')"]);
}
