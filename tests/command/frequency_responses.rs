//! Measured frequency responses: records as analysers write them, fits, results and what is refused.

use crate::run::{Place, value};
use std::f64::consts::TAU;
use std::fmt::Write;

/// Accelerance of a mass of 1 kg on c = 70 N/m and d = 1.1 N s/m with two per cent of noise: frequency in Hz, real and imaginary part.
fn lines() -> Vec<[f64; 3]> {
    let mut seed = 12345u64;
    let mut uniform = || {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 11) as f64 / (1u64 << 53) as f64
    };
    // a sum of twelve is nearly normal
    let mut normal = || (0..12).map(|_| uniform()).sum::<f64>() - 6.0;
    let line = |k: i32| {
        let f = 0.05 * f64::from(k);
        let omega = TAU * f;
        let (re, im) = (70.0 - omega * omega, 1.1 * omega);
        let factor = -omega * omega / (re * re + im * im);
        let (re, im) = (factor * re, -factor * im);
        let deviation = 0.02 * re.hypot(im);
        [f, re + deviation * normal(), im + deviation * normal()]
    };
    (2..=80).map(line).collect()
}

fn table(header: &str, row: impl Fn([f64; 3]) -> Vec<f64>) -> String {
    lines().into_iter().fold(format!("{header}\n"), |mut text, line| {
        let cells: Vec<String> = row(line).into_iter().map(|x| format!("{x:.15e}")).collect();
        writeln!(text, "{}", cells.join(",")).unwrap();
        text
    })
}

fn problem(more: &str) -> String {
    format!(
        "model = \"oscillator\"\n[[response]]\nfile = \"record.csv\"\ninput = \"F\"\noutput = \"a\"\n{more}\n\
         [parameters]\nc = {{ start = 40.0 }}\nd = {{ start = 0.5 }}\n"
    )
}

const EXACT: &str = "relative_deviation = 0.02";

// Protects identification from frequency responses: one record as real and imaginary part, magnitude and phase, in degrees and radians, dB with and
// without a reference, Hz and rad/s, other units and names gives one result, within its standard errors of the truth, with table, figure and
// report; and the result is one of the schema.
#[test]
fn one_response_in_all_its_forms_gives_one_result() {
    let place = Place::new();
    let polar = |[f, re, im]: [f64; 3]| [f, re.hypot(im), im.atan2(re)];
    let forms = [
        ("f [Hz],re,im", "", Box::new(|line: [f64; 3]| line.to_vec()) as Box<dyn Fn([f64; 3]) -> Vec<f64>>),
        (
            "omega [rad/s],magnitude,phase [rad]",
            "",
            Box::new(move |line| {
                let [f, size, phase] = polar(line);
                vec![TAU * f, size, phase]
            }),
        ),
        (
            "Frequency (Hz),Magnitude (dB),Phase (deg)",
            "",
            Box::new(move |line| {
                let [f, size, phase] = polar(line);
                vec![f, 20.0 * size.log10(), phase.to_degrees() + 360.0]
            }),
        ),
        (
            "f_kHz,a/F [dB re 1 (mm/s^2)/N],phase [deg]",
            "magnitude = \"a/F\"",
            Box::new(move |line| {
                let [f, size, phase] = polar(line);
                vec![1e-3 * f, 20.0 * (1e3 * size).log10(), phase.to_degrees()]
            }),
        ),
        (
            "w,H,arg",
            "unit = \"g/N\"\nphase_unit = \"deg\"",
            Box::new(move |line| {
                let [f, size, phase] = polar(line);
                vec![TAU * f, size / 9.80665, phase.to_degrees()]
            }),
        ),
    ];
    let mut first: Option<[f64; 2]> = None;
    for (header, more, row) in &forms {
        place.write("record.csv", table(header, row));
        place.write("problem.toml", problem(&format!("{EXACT}\n{more}")));
        let run = place.good("identify problem.toml --out found --report");
        assert!(run.out.contains("frequency response") && run.out.contains("a/F"), "{}", run.out);
        let found: serde_json::Value = serde_json::from_str(&place.read("found/result.json")).unwrap();
        assert_eq!(found["converged"], true);
        let own = [value(&found, "c"), value(&found, "d")];
        for (k, (name, truth)) in [("c", 70.0), ("d", 1.1)].into_iter().enumerate() {
            let parameter = found["parameters"].as_array().unwrap().iter().find(|p| p["name"] == name).unwrap();
            let error = parameter["standard_error"].as_f64().unwrap();
            assert!(
                (own[k] - truth).abs() < 3.0 * error && error < 0.01 * truth,
                "{header}: {name} = {} +/- {error}",
                own[k]
            );
            let same = first.map_or(own[k], |first| first[k]);
            assert!((own[k] - same).abs() < 1e-9 * same, "{header}: {name} = {}, not {same}", own[k]);
        }
        first = first.or(Some(own));
        let response = &found["responses"][0];
        assert_eq!((response["name"].as_str(), response["unit"].as_str()), (Some("a/F"), Some("(m/s^2)/N")));
        assert_eq!(response["lines"].as_array().unwrap().len(), 79);
        let rms = response["rms"].as_f64().unwrap();
        assert!((0.8..1.2).contains(&rms), "{rms}");
        let files = place.files();
        assert!(files.iter().any(|name| name.ends_with("response_a_F.csv")), "{files:?}");
        assert!(place.read("found/report.html").contains("Measured frequency responses"));
    }
    let checked = place.good("check problem.toml").out;
    assert!(checked.contains("the data determine 2 directions of 2 free parameters"), "{checked}");
}

// Protects fits that know magnitudes alone, logarithms from far away, deviations from coherence, and windows of frequencies.
#[test]
fn magnitudes_logarithms_and_coherence_do() {
    let place = Place::new();
    place.write("record.csv", table("f [Hz],mag,coherence", |[f, re, im]| vec![f, re.hypot(im), 0.96]));
    // (1 - γ²)/(2 n γ²) = 0.02² for n = 52.083
    for more in
        [EXACT, "coherence = \"coherence\"\naverages = 52.0833333333", "relative_deviation = 0.02\ncompare = \"level\""]
    {
        place.write("problem.toml", problem(&format!("{more}\nfrom = 0.3\nuntil = 3.5")));
        let found = place.json("identify problem.toml --json", 0);
        assert_eq!(found["responses"][0]["lines"].as_array().unwrap().len(), 65);
        assert!((value(&found, "c") - 70.0).abs() < 1.0 && (value(&found, "d") - 1.1).abs() < 0.05, "{more}: {found}");
    }
    place.write("record.csv", table("f [Hz],re,im", |line| line.to_vec()));
    let far = problem(&format!("{EXACT}\ncompare = \"logarithm\"")).replace("start = 40.0", "start = 4.0");
    place.write("problem.toml", far);
    let found = place.json("identify problem.toml --json", 0);
    assert!((value(&found, "c") - 70.0).abs() < 1.0, "{found}");
}

// Protects people from deviations that are not those of the record: the warning names the response and the factor.
#[test]
fn deviations_that_are_none_are_told() {
    let place = Place::new();
    place.write("record.csv", table("f [Hz],re,im", |line| line.to_vec()));
    place.write("problem.toml", problem("relative_deviation = 0.002"));
    let run = place.run("identify problem.toml");
    let said = run.out + &run.err;
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("`a/F` is missed by") && said.contains("standard errors are too small"), "{said}");
}

// Protects whoever states a response wrongly: what is missing, unknown or in no unit is said with the key and the remedy.
#[test]
fn responses_that_cannot_be_read_are_refused() {
    let place = Place::new();
    let polar = |header: &str| table(header, |[f, re, im]| vec![f, re.hypot(im), im.atan2(re)]);
    for (header, more, parts) in [
        ("f [Hz],mag,phase", EXACT, ["nothing says whether `phase` is in degrees or radians", "phase_unit = \"deg\""]),
        ("f [Hz],mag,phase [rad]", "", ["nothing says how exact it is", "relative_deviation = 0.05"]),
        ("f [Hz],mag [m],phase [rad]", EXACT, ["`mag [m]` is in `m`", "(m/s^2)/N"]),
        ("f [m],mag,phase [rad]", EXACT, ["`f [m]` is in `m`", "frequency_unit"]),
        ("x,mag,phase [rad]", EXACT, ["no column of frequencies", "frequency = \"COLUMN\""]),
        ("f [Hz],y,z", EXACT, ["no column of a response", "magnitude = \"COLUMN\""]),
        (
            "f [Hz],mag,phase [rad]",
            "relative_deviation = 0.02\nfrom = 50.0",
            ["none of its frequencies takes part (they go from 0.1 Hz to 4 Hz)", "give a lower `from`"],
        ),
        (
            "f [Hz],mag,phase [rad]",
            "relative_deviation = 0.02\nfrom = 3.0\nuntil = 1.0",
            ["`until` = 1 Hz is not behind `from` = 3 Hz", "give an `until` that is larger"],
        ),
        ("f [Hz],mag,phase [rad]", "relative_deviation = 0.02\ncoherence = \"mag\"", ["`averages`", "averages = 50"]),
        ("f [Hz],mag,phase [rad]", "relative_deviation = -1", ["`relative_deviation`", "above 0"]),
        (
            "f [Hz],mag,phase [rad]",
            "relative_deviation = 0.02\ncompare = \"complexx\"",
            ["complexx", "did you mean `complex`?"],
        ),
        ("f [Hz],mag [dB re 1 m/N],phase [rad]", EXACT, ["in dB with respect to `m/N`", "dB re UNIT"]),
    ] {
        place.write("record.csv", polar(header));
        place.write("problem.toml", problem(more));
        place.refused("identify problem.toml", &parts);
        // what a response does not take is no remedy
        assert!(!place.run("identify problem.toml").err.contains("`scale`"), "{header}");
    }
    place.write("record.csv", polar("f [Hz],mag,phase [rad]"));
    for (from, to, parts) in [
        ("input = \"F\"", "input = \"G\"", ["there is no input `G`", "problem.toml"]),
        ("output = \"a\"\n", "", ["`output` in [response.1]", "name the output"]),
        ("record.csv", "recrd.csv", ["recrd.csv", "problem.toml"]),
    ] {
        place.write("problem.toml", problem(EXACT).replace(from, to));
        place.refused("identify problem.toml", &parts[..1]);
    }
    // at rest, nothing holds a motor's shaft
    place.write("record.csv", "f,mag\n0,1\n1,0.1\n");
    let motor =
        problem(EXACT).replace("oscillator", "dc_motor").replace("\"F\"", "\"voltage\"").replace("\"a\"", "\"angle\"");
    place.write("problem.toml", motor.split("[parameters]").next().unwrap());
    place.refused("identify problem.toml", &["nothing holds the model at rest against a constant input", "0 Hz"]);
}

// Protects results from records that are not what they are taken for: phases that turn from line to line are explained by nothing, and are no success; a unit that contradicts a
// header, two ways to say one response, and deviations that are no numbers are refused; lines that hardly rise above noise are reported.
#[test]
fn records_that_are_taken_for_something_else_are_told() {
    let place = Place::new();
    let polar = |[f, re, im]: [f64; 3]| [f, re.hypot(im), im.atan2(re)];
    // the record in dB re 1 um/s² and newton, in a column that does not say so
    let micro = |line: [f64; 3]| {
        let [f, size, phase] = polar(line);
        vec![f, 20.0 * (1e6 * size).log10(), phase]
    };
    let turning = |line: [f64; 3]| {
        let [f, size, _] = polar(line);
        // by the golden section, from line to line
        vec![f, size, TAU * 0.618_033_988_749_895 * (f / 0.05).round()]
    };
    place.write("record.csv", table("f [Hz],magnitude,phase [rad]", turning));
    place.write("problem.toml", problem(EXACT));
    let run = place.run("identify problem.toml --out found");
    assert_eq!(run.code, 1, "{}", run.out);
    let message = run.out.clone() + &run.err;
    assert!(message.contains("less than 1 % of") && message.contains("the sign of its phases"), "{message}");
    let both = |line: [f64; 3]| [line.to_vec(), polar(line)[1..].to_vec()].concat();
    for (header, more, row, parts) in [
        (
            "f [Hz],mag [dB],phase [rad]",
            "unit = \"(mm/s^2)/N\"\nrelative_deviation = 0.02",
            Box::new(micro) as Box<dyn Fn([f64; 3]) -> Vec<f64>>,
            &["column `mag [dB]` is in dB", "leave `unit` out"][..],
        ),
        (
            "f [Hz],re,im,mag,phase [rad]",
            EXACT,
            Box::new(both),
            &["it has `re` and `im`, and `mag`, too", "real = \"re\""],
        ),
        ("f [Hz],re,im", "deviation = 1e-200", Box::new(|line| line.to_vec()), &["a deviation of 1e-200"]),
    ] {
        place.write("record.csv", table(header, row));
        place.write("problem.toml", problem(more));
        let run = place.run("identify problem.toml --out found");
        assert_eq!(run.code, 2, "{header}: {}", run.out);
        parts.iter().for_each(|part| assert!(run.err.contains(part), "{header}: {}", run.err));
    }
    place.write("record.csv", table("f [Hz],re,im", |line| line.to_vec()));
    place.write("problem.toml", problem("relative_deviation = 0.3"));
    let run = place.run("identify problem.toml --out found");
    assert!(run.err.contains("compare = \"logarithm\" is not biased so"), "{}", run.err);
}

// Protects the person whose record has phases of the other sign, or whose frequencies are rad/s in a column that is taken for Hz: what is explained in part only is told with
// the reading that would be explained, and by how much; a record that is read rightly is accused of nothing.
#[test]
fn readings_that_would_fit_better_are_told() {
    let place = Place::new();
    // receptances: an accelerance of a known mass is the same at all scales of time
    for (header, factor, sign, told) in [
        ("f [Hz],re,im", 1.0, -1.0, Some("the phases fit better with the opposite sign")),
        ("f [Hz],re,im", TAU, 1.0, Some("the frequencies fit better as rad/s (frequency_unit = \"rad/s\")")),
        ("omega,re,im", 1.0, 1.0, Some("the frequencies fit better as Hz (frequency_unit = \"Hz\")")),
        ("f [Hz],re,im", 1.0, 1.0, None),
    ] {
        let row = |[f, re, im]: [f64; 3]| {
            let omega = TAU * f;
            vec![factor * f, -re / (omega * omega), -sign * im / (omega * omega)]
        };
        place.write("record.csv", table(header, row));
        place.write("problem.toml", problem(EXACT).replace("output = \"a\"", "output = \"x\""));
        let run = place.run("identify problem.toml --out found");
        match told {
            Some(told) => assert!(run.out.contains(told) && run.out.contains(" instead of "), "{header}: {}", run.out),
            None => assert!(!run.out.contains("fit better"), "{}", run.out),
        }
    }
}

// Protects whoever asks for what a response cannot give: a method by second derivatives is refused before its first run; a line at 0 Hz of a model whose state
// has no value of its own at rest is not blamed on a spring; and `check` tells of responses.
#[test]
fn responses_are_told_before_the_run() {
    let place = Place::new();
    place.write("record.csv", table("f [Hz],re,im", |line| line.to_vec()));
    place.write("problem.toml", problem(EXACT));
    place.refused("identify problem.toml --method newton-tr", &["method `newton-tr`", "take lm or bfgs"]);
    let check = place.good("check problem.toml").out;
    assert!(check.contains("frequency response") && check.contains("a/F") && check.contains("79"), "{check}");
    let found = place.json("check problem.toml --json", 0);
    assert_eq!(found["responses"][0]["lines"].as_array().unwrap().len(), 79);
    place.write("record.csv", "f,mag\n0,1\n1,0.1\n");
    place.write("problem.toml", "model = \"bouc_wen\"\n[[response]]\nfile = \"record.csv\"\ninput = \"F\"\noutput = \"x\"\nrelative_deviation = 0.02\n");
    place.refused("identify problem.toml", &["any value of `z`", "rate of a state does not bring it back", "0 Hz"]);
}
