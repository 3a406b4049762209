//! What all commands have in common: how much they say, JSON, names of options, and what shells and manuals want.

use crate::run;
use run::Place;
use serde_json::Value;

// Protects logs of scripts: `-q` leaves errors alone on standard error, `-v` tells every evaluation; results are the same.
#[test]
fn commands_are_as_loud_as_asked() {
    let place = Place::new();
    let plain = place.good("identify oscillator --noise-level 0.01 --out a");
    let quiet = place.good("identify oscillator --noise-level 0.01 --out a -q");
    let loud = place.good("-v identify oscillator --noise-level 0.01 --out a");
    assert!(plain.err.contains("iteration    1: cost ") && plain.err.contains("is added to `a`"), "{}", plain.err);
    assert!(!plain.err.contains("evaluation    1"), "{}", plain.err);
    assert_eq!(quiet.err, "");
    assert!(loud.err.contains("evaluation    1: cost ") && loud.err.contains("; c = 2.5"), "{}", loud.err);
    let table = |text: &str| text.split("\n\n").next().map(str::to_string);
    assert!(table(&plain.out) == table(&quiet.out) && table(&plain.out) == table(&loud.out));
    let evaluations = loud.err.lines().filter(|line| line.starts_with("evaluation ")).count();
    let written: Value = serde_json::from_str(&place.read("a/result.json")).unwrap();
    assert_eq!(written["evaluations"].as_u64(), Some(evaluations as u64));
    for arguments in [
        "simulate oscillator --quiet",
        "gradient oscillator -q",
        "hessian oscillator -q",
        "models -q",
        "check oscillator -q",
    ] {
        assert_eq!(place.good(arguments).err, "", "{arguments}");
    }
    place.refused("simulate nothing -q", &["no model `nothing`"]);
    assert_eq!(place.run("models -q -v").code, 2);
}

// Protects terminals of 80 columns: no help is wider, and the models are a line each.
#[test]
fn help_and_overview_are_as_wide_as_a_terminal() {
    let place = Place::new();
    let names = "simulate gradient hessian identifiability identify validate report check init control animate draw models \
                 completions man";
    let helps = names.split_whitespace().map(|name| format!("{name} --help"));
    for arguments in helps.chain(["--help".to_string(), "models".to_string()]) {
        let text = place.good(&arguments).out;
        let wide = text.lines().find(|line| line.chars().count() > 80);
        assert_eq!(wide, None, "{arguments}");
    }
    let (names, overview) = (place.good("models --names").out, place.good("models").out);
    assert_eq!(overview.lines().count(), names.lines().count() + 1, "{overview}");
    let completions = place.good("completions bash").out;
    assert!(names.lines().all(|name| completions.contains(name)), "models are missing in {completions}");
}

// Protects programs that call: every command that has a result prints it as one document, and with it alone writes nothing.
#[test]
fn results_are_json_for_programs() {
    let place = Place::new();
    for arguments in [
        "models --json",
        "models oscillator --json",
        "simulate oscillator --json",
        "gradient oscillator --json",
        "hessian oscillator --json",
        "check oscillator --json",
        "identifiability oscillator --json",
        "identify oscillator --json",
    ] {
        let document = place.json(arguments, 0);
        assert!(document.is_object() || document.is_array(), "{arguments}");
    }
    assert!(place.files().is_empty(), "{:?}", place.files());
    let models = place.json("models --json", 0);
    let oscillator = models.as_array().unwrap().iter().find(|model| model["model"] == "oscillator").unwrap().clone();
    assert_eq!(
        (&oscillator["parameters"][1]["name"], &oscillator["parameters"][1]["start"]),
        (&"c".into(), &25.0.into())
    );
    assert!(oscillator["parameters"][1]["upper"].is_null());
    let printed = place.json("simulate oscillator --json --out s", 0);
    let mut written: Value = serde_json::from_str(&place.read("s/simulation.json")).unwrap();
    written.as_object_mut().unwrap().remove("files");
    assert_eq!(written, printed);
}

// Protects one word for one thing: values of parameters are `--set`, or `--start`, in every command.
#[test]
fn values_are_set_in_one_way() {
    let place = Place::new();
    let cost = |arguments: &str| place.json(arguments, 0)["cost"].as_f64().unwrap().to_bits();
    let expected = cost("gradient oscillator --at c=31,d=0.5 --json");
    for option in ["--set c=31,d=0.5", "--start c=31,d=0.5", "--set c=31 --set d=0.5", "--set c=31 --at d=0.5"] {
        assert_eq!(cost(&format!("gradient oscillator {option} --json")), expected, "{option}");
    }
    let started = place.json("identify oscillator --set c=31,d=0.5 --json", 0);
    assert_eq!(started["start_cost"].as_f64().unwrap().to_bits(), expected);
    for option in ["--set c=31", "--start c=31"] {
        let set = place.json(&format!("simulate oscillator {option} --json"), 0);
        assert_eq!(run::value(&set, "c"), 31.0);
        place.good(&format!("identifiability oscillator {option}"));
        place.good(&format!("check oscillator {option}"));
    }
    place.good("draw pendulum_chain --times 0 --out picture");
    place.refused("simulate oscillator --set q=1", &["no parameter `q`"]);
    place.refused("check oscillator --set c", &["--set c: there is no `=`"]);
}

// Protects shells and readers of manuals: each has every command.
#[test]
fn shells_and_manuals_know_the_commands() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = place.good(&format!("completions {shell}")).out;
        for word in ["identify", "identifiability", "validation", "initial-state"] {
            assert!(script.contains(word), "`{word}` is missing for {shell}");
        }
    }
    assert_eq!(place.run("completions dos").code, 2);
    place.good("man manual");
    let names = place.files();
    for name in ["costate.1", "costate-identify.1", "costate-init.1", "costate-check.1", "costate-control.1"] {
        assert!(names.contains(&format!("manual/{name}")), "{name} is missing in {names:?}");
    }
    let page = place.read("manual/costate-identify.1");
    assert!(page.contains("max\\-evaluations") && page.contains("costate\\-identify"), "{page}");
}
