//! Constraints through the command: rules, problem files, results, and what is said of wrong ones.

use crate::run;
use run::{Place, Run, value};

/// `identify` with rules, which contain spaces.
fn run(place: &Place, arguments: &str, rules: &[&str]) -> Run {
    let mut command = place.command(arguments);
    rules.iter().for_each(|rule| _ = command.args(["--constraint", rule]));
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Run { code: output.status.code().unwrap_or(-1), out: text(output.stdout), err: text(output.stderr) }
}

const SHORT: &str = "identify cart_pole --end 1 --step 0.005";

// Protects what a person and a program read: values, limits, multipliers, in the text, in JSON, and in the history.
#[test]
fn rules_are_kept_and_reported() {
    let place = Place::new();
    let rules = ["m_cart + m_pole = 1.7", "peak a_x <= 30"];
    let done = run(&place, &format!("{SHORT} --json --out out"), &rules);
    assert_eq!(done.code, 0, "{}", done.err);
    let found: serde_json::Value = serde_json::from_str(&done.out).unwrap();
    assert!((value(&found, "m_cart") + value(&found, "m_pole") - 1.7).abs() < 1e-7, "{found}");
    let [total, peak] = found["constraints"].as_array().unwrap().as_slice() else { panic!("{found}") };
    assert_eq!((&total["name"], &total["unit"], &total["active"]), (&rules[0].into(), &"kg".into(), &true.into()));
    assert_eq!(
        (&peak["active"], &peak["violated"], &peak["lower"]),
        (&false.into(), &false.into(), &serde_json::Value::Null)
    );
    assert!(peak["time"].is_number() && total["cost_by_limit"].as_f64().unwrap() > 0.0, "{found}");
    assert!(done.err.contains("outer iteration 1, violation"), "{}", done.err);
    let history = place.read("out/history.csv");
    assert!(history.lines().next().unwrap().contains("outer_iteration,violation"), "{history}");

    let done = run(&place, SHORT, &rules);
    assert_eq!(done.code, 0);
    for part in [
        "multiplier",
        "= 1.7",
        "<= 30",
        "not active",
        "the constraints are met",
        "per unit by which the limit is raised",
    ] {
        assert!(done.out.contains(part), "`{part}` is missing in:\n{}", done.out);
    }
}

// Protects scripts: constraints that cannot be met are a result (exit code 1) that says which one.
#[test]
fn infeasible_rules_end_with_code_1() {
    let place = Place::new();
    let done = run(&place, SHORT, &["theta >= 0.7 until 0"]);
    assert_eq!(done.code, 1, "{}", done.err);
    for part in ["VIOLATED by 0.1", "NOT converged", "`theta >= 0.7 until 0` is violated by 0.1 rad at t = 0 s"] {
        assert!(done.out.contains(part), "`{part}` is missing in:\n{}", done.out);
    }
}

// Protects the person who mistypes a rule: exit code 2 and a sentence.
#[test]
fn wrong_rules_are_answered() {
    let place = Place::new();
    let cases: &[(&str, &[&str])] = &[
        ("m_cart + m_poel = 1.7", &["no parameter or output `m_poel` in model `cart_pole`", "did you mean `m_pole`?"]),
        ("m_cart", &["constraint `m_cart`", "no `=`, `<=` or `>=`", "write it as"]),
        ("peak m_cart <= 1", &["no output `m_cart`"]),
        ("m_cart + a_x <= 1", &["`a_x` is an output, which cannot be added up"]),
        ("theta0 <= 1", &["all that it names is fixed (`theta0` = 0.6)", "--free NAME"]),
        ("m_cart + m_pole <= -1", &["it wants -1 kg, but the bounds make it at least 2e-6 kg", "`m_cart` in ["]),
        ("m_cart <= nan", &["no parameter or output `nan`"]),
        ("a_x = 3", &["the same at every time", "at end"]),
        ("a_x <= 3 from 7", &["no time lies between 7 s and 1 s", "widen `from` and `until`"]),
        ("m_cart <= 3 at end", &["no output `m_cart`"]),
        ("-a_x + 1 <= ", &["a number or a name is missing"]),
    ];
    for (rule, parts) in cases {
        let done = run(&place, SHORT, &[rule]);
        assert_eq!((done.code, done.out.as_str()), (2, ""), "{rule}: {}", done.err);
        for part in *parts {
            assert!(done.err.contains(part), "{rule}: `{part}` is missing in: {}", done.err);
        }
    }
}

// Protects problem files: every key, and the sentences on wrong ones.
#[test]
fn problem_files_carry_constraints() {
    let place = Place::new();
    let head = "model = \"cart_pole\"\n[integrator]\nend = 1.0\nstep = 0.005\n";
    let good = r#"
[[constraint]]
name = "total mass"
sum = { m_cart = 1.0, m_pole = 1.0 }
equals = 1.7
unit = "kg"

[[constraint]]
output = "a_x"
at_most = 30.0
at_least = -30.0
from = 0.1
until = 0.9

[[constraint]]
output = "x"
at_most = 3.0
time = "end"

[[constraint]]
name = "order"
rule = "m_pole <= m_cart"

[optimiser]
constraint_tolerance = 1e-7
penalty = 10.0
"#;
    place.write("problem.toml", format!("{head}{good}"));
    let found = place.json("identify problem.toml --json", 0);
    let constraints = found["constraints"].as_array().unwrap();
    let names: Vec<&str> = constraints.iter().map(|c| c["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["total mass", "a_x", "x", "order"]);
    assert_eq!(constraints[2]["time"], 1.0);
    let cases: &[(&str, &[&str])] = &[
        ("sum = { m_cart = 1 }", &["line 5: [constraint.1]", "it has no limit", "add `equals`"]),
        ("at_most = 3", &["it must name one of `rule`, `sum` and `output`"]),
        ("sum = { m_cart = 1 }\noutput = \"x\"\nat_most = 3", &["give just one of them"]),
        ("sum = { m_crt = 1 }\nat_most = 3", &["no parameter `m_crt`", "did you mean `m_cart`?"]),
        ("output = \"xx\"\nat_most = 3", &["no output `xx`"]),
        ("output = \"x\"\nat_most = 3\nunit = \"mm\"", &["`x` is in m, not in mm", "convert the limit"]),
        ("output = \"x\"\nequals = 3", &["the same at every time"]),
        ("output = \"x\"\nat_most = 3\ntime = \"start\"", &["no time `start` in [constraint.1]"]),
        ("output = \"x\"\nat_most = 3\ntime = \"end\"\nfrom = 1", &["`time` in [constraint.1]", "contradicts"]),
        ("output = \"x\"\nat_most = 3\nat_least = 4", &["no value lies between 4 and 3"]),
        ("sum = { m_cart = 1 }\nequals = 3\nat_most = 4", &["`equals` in [constraint.1]", "leaves no room"]),
        ("sum = { m_cart = 1 }\nat_most = 4\ntime = \"end\"", &["parameters do not depend on time"]),
        ("rule = \"m_cart <= 3\"\nat_most = 4", &["`at_most` in [constraint.1]", "the rule says it already"]),
        ("rule = \"m_cart\"", &["no `=`, `<=` or `>=`"]),
        ("sums = { m_cart = 1 }\nat_most = 4", &["no key `sums` in [constraint.1]", "did you mean `sum`?"]),
    ];
    for (text, parts) in cases {
        place.write("problem.toml", format!("{head}[[constraint]]\n{text}\n"));
        place.refused("identify problem.toml --json", parts);
    }
    place.write("problem.toml", "model = \"cart_pole\"\n[constraint]\nsum = { m_cart = 1 }\n");
    place
        .refused("identify problem.toml --json", &["line 2: `constraint`: ", "not a list of tables", "[[constraint]]"]);
    place.write(
        "problem.toml",
        format!("{head}[optimiser]\nconstraint_tolerance = 0\n[[constraint]]\nrule = \"m_cart <= 3\""),
    );
    place.refused("identify problem.toml --json", &["`constraint_tolerance`: it is 0"]);
}

// Protects the example that the documents quote.
#[test]
fn the_example_runs() {
    let place = Place::new();
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/constrained.toml");
    let found = place.json(&format!("identify {file} --json"), 0);
    assert_eq!(found["constraints"].as_array().unwrap().len(), 3);
    assert!(found["constraints"].as_array().unwrap().iter().all(|c| c["violated"] == false), "{found}");
    assert_eq!(found["constraints"][2]["active"], true, "the acceleration's limit acts, as the file says");
}
