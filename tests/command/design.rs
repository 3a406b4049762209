//! `costate design`: which experiment next.

use super::run::Place;
use serde_json::Value;

const PROBLEM: &str = "\
model = \"oscillator\"
[data]
file = \"record.csv\"
outputs.a = { deviation = 0.02 }
[parameters]
c = { start = 40.0 }
d = { start = 0.8 }
";

/// A place with a record of half a swing, and a force that swings.
fn place() -> Place {
    let place = Place::new();
    let line = |i: usize, values: String| format!("{},{values}\n", 0.02 * i as f64);
    let record: String = (0..51).map(|i| line(i, format!("0,{}", (0.13 * i as f64).cos()))).collect();
    let force: String = (0..201).map(|i| line(i, format!("{}", 3.0 * (0.126 * i as f64).sin()))).collect();
    place.write("record.csv", format!("t,F,a\n{record}")).write("force.csv", format!("t,F\n{force}"));
    place
}

fn numbers(value: &Value, names: [&str; 2]) -> [f64; 2] {
    names.map(|name| value["standard_errors"][name].as_f64().unwrap())
}

/// Protects the numbers: information adds up, so that the same experiment once more shrinks all errors by √2, a candidate with two sensors has the
/// information of each and of what is known, errors fall over the end time to those of the whole; the volume ratio is that of determinants; inputs,
/// values and sensors of candidates matter.
#[test]
fn candidates_are_ranked_by_what_they_add() {
    let place = place();
    let candidates = "
[[candidate]]
name = \"again\"
file = \"record.csv\"
outputs = { a = 0.02 }
[[candidate]]
name = \"shaken\"
file = \"force.csv\"
outputs = { a = 0.02, x = 1e-4 }
[[candidate]]
name = \"position\"
like = \"record\"
outputs = { x = 1e-4 }
[[candidate]]
name = \"far\"
end = 1.0
sampling = 0.02
outputs = { a = 0.02 }
parameters = { x0 = 0.4 }
";
    place.write("p.toml", format!("{PROBLEM}{candidates}"));
    let run = place.run("design p.toml --out next");
    assert_eq!(run.code, 0, "{}{}", run.out, run.err);
    let found: Value = serde_json::from_str(&place.read("next/design.json")).unwrap();
    assert_eq!(found["candidates"][0]["name"], "shaken", "{found:#}");
    let candidate =
        |name: &str| found["candidates"].as_array().unwrap().iter().find(|own| own["name"] == name).unwrap().clone();
    let before = numbers(&found["before"], ["c", "d"]);
    let again = candidate("again");
    for (before, after) in before.iter().zip(numbers(&again["after"], ["c", "d"])) {
        assert!((before / after - 2f64.sqrt()).abs() < 1e-9, "{before} {after}");
    }
    assert!((again["volume_ratio"].as_f64().unwrap() - 0.5).abs() < 1e-9);
    let (far, shaken, position) = (candidate("far"), candidate("shaken"), candidate("position"));
    assert!(numbers(&far["after"], ["c", "d"])[0] < numbers(&again["after"], ["c", "d"])[0]);
    assert_eq!((again["samples"].as_u64(), shaken["samples"].as_u64()), (Some(51), Some(402)));
    assert_eq!((position["samples"].as_u64(), position["like"].as_str()), (Some(51), Some("record")));
    // by information matrices alone, D is the fourth root of 1/det F beside sizes, and F of both sensors is that of each less what is known
    let mean = |value: &Value| value["D"].as_f64().unwrap();
    let alone = shaken["sensors"].as_array().unwrap();
    assert!(alone.len() == 2 && alone.iter().all(|own| mean(&own["after"]) > mean(&shaken["after"])));
    let durations = shaken["durations"].as_array().unwrap();
    let means: Vec<f64> = durations.iter().map(|own| mean(&own["after"])).collect();
    assert!(means.windows(2).all(|pair| pair[1] <= pair[0]), "{means:?}");
    assert!((means[means.len() - 1] / mean(&shaken["after"]) - 1.0).abs() < 1e-12);
    assert!(mean(&found["before"]) > means[0]);
    assert!(run.out.contains("shrinks the error of") && run.out.contains("one sensor alone"), "{}", run.out);
    assert!(place.read("next/design.csv").starts_with("end of shaken [s],c with shaken [N/m],d with shaken"));
    assert!(place.read("next/design.svg").contains("end of the experiment"));
}

/// Protects errors that are infinite so far: what a candidate determines is said, and so is what stays undetermined, by name; errors that are
/// infinite are null. Without a record nothing has been measured.
#[test]
fn what_is_not_determined_is_named() {
    let place = place();
    let problem = "\
model = \"oscillator\"
[parameters]
m = { free = true }
x0 = { start = 0.0 }
[[candidate]]
name = \"pushed\"
outputs = { a = 0.02 }
[[candidate]]
name = \"let go\"
file = \"still.csv\"
outputs = { x = 1e-4 }
parameters = { x0 = 0.2 }
";
    let still: String = (0..101).map(|i| format!("{},0\n", 0.02 * f64::from(i))).collect();
    place.write("p.toml", problem).write("still.csv", format!("t,F\n{still}"));
    let run = place.run("design p.toml --criterion a");
    assert_eq!(run.code, 0, "{}{}", run.out, run.err);
    assert!(run.out.contains("`pushed` determines `m` (+/- "), "{}", run.out);
    // without a force only the ratios c/m and d/m show
    assert!(run.out.contains("with `let go`, `m`, `c`, `d` stay undetermined"), "{}", run.out);
    assert!(run.err.contains("nothing has been measured"), "{}", run.err);
    let found: Value = serde_json::from_str(&place.read("out/p_design/design.json")).unwrap();
    assert_eq!((&found["criterion"], &found["candidates"][0]["name"]), (&Value::from("A"), &Value::from("pushed")));
    assert!(found["before"]["D"].is_null() && found["candidates"][1]["after"]["standard_errors"]["m"].is_null());
}

/// Protects the words on what cannot be compared, each with its line and what to do.
#[test]
fn what_cannot_be_compared_is_said() {
    let place = place();
    let one = "[[candidate]]\nname = \"one\"\n";
    for (text, part) in [
        (PROBLEM.to_string(), "add [[candidate]] tables"),
        (format!("{PROBLEM}[[candidate]]\noutputs = {{ a = 0.02 }}\n"), "give the candidate a name"),
        (format!("{PROBLEM}{one}"), "outputs = { NAME = 0.001 }"),
        (format!("{PROBLEM}{one}outputs = {{ b = 0.02 }}\n"), "there is no output `b`"),
        (format!("{PROBLEM}{one}outputs = {{ a = 0.0 }}\n"), "standard deviation is 0"),
        (format!("{PROBLEM}{one}outputs = {{ a = 0.02 }}\nsampling = 0.03\n"), "no whole number of 0.03 s"),
        (format!("{PROBLEM}{one}outputs = {{ a = 0.02 }}\nlike = \"recrd\"\n"), "`record`"),
        (format!("{PROBLEM}{one}outputs = {{ a = 0.02 }}\nlike = \"record\"\nend = 2.0\n"), "which says all of that"),
        (format!("{PROBLEM}{one}outputs = {{ a = 0.02 }}\nparameters = {{ c = 3.0 }}\n"), "it is to be identified"),
        (format!("{PROBLEM}{one}outputs = {{ a = 0.02 }}\ninterpolation = \"cubic\"\n"), "add: file ="),
        (format!("{PROBLEM}{one}outputs = {{ a = 0.02 }}\n{one}outputs = {{ x = 1.0 }}\n"), "two of this name"),
        (PROBLEM.replace("outputs.a = { deviation = 0.02 }", "") + one + "outputs = { a = 0.02 }\n", "is not known"),
        (
            PROBLEM.replace("40.0", "40.0, fixed = true").replace("0.8", "0.8, fixed = true")
                + one
                + "outputs = { a = 0.02 }\n",
            "no parameter is free",
        ),
    ] {
        place.write("p.toml", &text);
        let run = place.run("design p.toml");
        assert!(run.code == 2 && run.err.contains(part), "{text}: {} {}", run.code, run.err);
    }
    let run = place.run("design p.toml --criterion G");
    assert!(run.code == 2 && run.err.contains("there is no criterion `G`"), "{}", run.err);
}
