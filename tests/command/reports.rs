//! `identify --report` and `report`: one page that holds everything, whatever names there are, and what is refused.

use crate::run;
use run::{Place, csv, times};
use serde_json::{Value, json};

/// Elements that have no end.
const VOID: [&str; 4] = ["input", "meta", "img", "br"];

/// Names of the tags of a page; fails where tags do not balance, or attributes lack their quotes.
#[track_caller]
fn tags(html: &str) -> Vec<String> {
    let mut rest = html.strip_prefix("<!DOCTYPE html>\n").expect("a page begins with its kind");
    let (mut open, mut names): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    while let Some((text, tag)) = rest.split_once('<') {
        assert!(!text.contains('>'), "a text with `>`: {text}");
        // a `>` within quotes does not end a tag
        let mut quoted = false;
        let end = tag.char_indices().find(|(_, c)| {
            quoted ^= *c == '"';
            *c == '>' && !quoted
        });
        let (end, _) = end.unwrap_or_else(|| panic!("a tag without its end: {tag:.80}"));
        let (inside, after) = (&tag[..end], &tag[end + 1..]);
        rest = after;
        if let Some(name) = inside.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name), "before {:.80}", rest);
            continue;
        }
        let name: String = inside.chars().take_while(char::is_ascii_alphanumeric).collect();
        assert!(!name.is_empty(), "a tag without a name: {inside:.80}");
        let plain: String = inside.split('"').step_by(2).collect();
        assert_eq!(inside.matches('"').count() % 2, 0, "{inside:.80}");
        assert!(!plain.contains(['<', '\'', '&']), "{inside:.80}");
        if matches!(name.as_str(), "style" | "script") {
            let close = format!("</{name}>");
            rest = rest.split_once(&close).expect("a style or script ends").1;
        } else if !VOID.contains(&name.as_str()) && !inside.ends_with('/') {
            open.push(name.clone());
        }
        names.push(name);
    }
    assert!(open.is_empty(), "left open: {open:?}");
    names
}

/// A page that stands alone.
#[track_caller]
fn stands_alone(html: &str) -> Vec<String> {
    assert!(html.len() < 2_000_000, "{} bytes", html.len());
    for part in ["http:", "https:", "//cdn", "@import", "url(", "<link", "src=\"/", "fetch("] {
        assert!(!html.contains(part), "{part} at {:?}", html.find(part).map(|at| &html[at - 40..at + 40]));
    }
    tags(html)
}

fn figures(result: &Value) -> usize {
    result["files"].as_array().unwrap().iter().filter(|name| name.as_str().unwrap().ends_with(".svg")).count()
}

// Protects the page: it is whole, needs nothing from outside, and holds every parameter's value and every figure; with the figures come
// the values that the pointer reads.
#[test]
fn a_report_holds_everything() {
    let place = Place::new();
    for (model, options, parts) in [
        ("pendulum", "--noise-level 0.02", vec!["a_x", "a_y", "95 % from", "Correlations", "seed 1"]),
        ("pendulum_chain", "--noise-level 0.01", vec!["The mechanism at its start"]),
        ("cart_pole", "--constraint m_cart+m_pole=1.62", vec!["Constraints met: yes", "multiplier"]),
    ] {
        let said = place.good(&format!("identify {model} {options} --out results --report")).out;
        assert!(said.contains("figures, report.html"), "{said}");
        let html = place.read("results/report.html");
        let names = stands_alone(&html);
        let result: Value = serde_json::from_str(&place.read("results/result.json")).unwrap();
        assert!(result["files"].as_array().unwrap().contains(&"report.html".into()));
        assert_eq!(names.iter().filter(|name| *name == "svg").count(), figures(&result), "{model}");
        for p in result["parameters"].as_array().unwrap() {
            let value = &p["value"];
            assert!(html.contains(&format!("<td>{}</td>", p["name"].as_str().unwrap())), "{p}");
            assert!(html.contains(&format!("<span title=\"{value}\">")), "{p}");
        }
        let all =
            [model, "Converged: yes", "Determined:", "data-series=\"after identification\"", "Signature", "--report"];
        for part in all.iter().copied().chain(parts) {
            assert!(html.contains(part), "{part} is missing for {model}");
        }
    }
}

// Protects who reads and signs: the data with their checksums, the command and the date, the model's own or that of a build.
#[test]
fn a_result_says_where_it_comes_from() {
    let place = Place::new();
    let record = csv("t,F,a", times(101, 0.05), |t| vec![0.0, (6.0 * t).sin()]);
    place
        .write("my record.csv", &record)
        .write("problem.toml", "model = \"oscillator\"\n[data]\nfile = \"my record.csv\"\n");
    let mut command = place.command("identify problem.toml --out results --report");
    let run = Place::end(command.args(["--constraint", "c <= 60"]).env("SOURCE_DATE_EPOCH", "951782400"));
    assert!(run.code < 2, "{}", run.err);
    let result: Value = serde_json::from_str(&place.read("results/result.json")).unwrap();
    assert_eq!(result["schema"], 1);
    assert_eq!(result["date"], "2000-02-29T00:00:00Z");
    assert_eq!(result["command"], "costate-tested identify problem.toml --out results --report --constraint 'c <= 60'");
    let [problem, data] = [0, 1].map(|k| &result["input_files"][k]);
    assert_eq!(
        (&problem["role"], &data["role"], &data["bytes"]),
        (&json!("problem"), &json!("data"), &json!(record.len()))
    );
    assert_eq!(data["sha256"].as_str().unwrap().len(), 64);
    let experiment = &result["experiments"][0];
    assert_eq!((&experiment["steps"], &experiment["substeps"]), (&json!(100), &json!(1)));
    assert_eq!(experiment["outputs"][0]["samples"], 101);
    assert_eq!((&result["parameters"][1]["lower"], &result["parameters"][1]["upper"]), (&json!(0.0), &Value::Null));
    let html = place.read("results/report.html");
    stands_alone(&html);
    for part in ["2000-02-29", "&#39;c &lt;= 60&#39;", "my record.csv", data["sha256"].as_str().unwrap()] {
        assert!(html.contains(part), "{part}");
    }
    let run = Place::end(place.command("identify oscillator --json").env("SOURCE_DATE_EPOCH", "today"));
    assert_eq!(run.code, 2);
    assert!(run.err.contains("SOURCE_DATE_EPOCH: `today` is no time; set it to whole seconds"), "{}", run.err);
}

/// Adds a text to every text of a document.
fn poison(value: &mut Value, text: &str) {
    match value {
        Value::String(own) => own.push_str(text),
        Value::Array(values) => values.iter_mut().for_each(|value| poison(value, text)),
        Value::Object(values) => values.values_mut().for_each(|value| poison(value, text)),
        _ => {}
    }
}

// Protects pages from names: whatever a result holds is shown as text, and so are parts that only later versions write.
#[test]
fn names_are_no_html() {
    let place = Place::new();
    place.good("identify pendulum --noise-level 0.02 --out results");
    let mut result: Value = serde_json::from_str(&place.read("results/result.json")).unwrap();
    result["residual_tests"] =
        json!([{"output": "a_x", "finding": "correlated"}, {"output": "a_y", "finding": "white"}]);
    result["validation"] = json!([{"output": "a_x", "rmse": 1e-9}]);
    result["time_step"] = json!({"relative_error": 1e-3, "at": {"L": 0.8}, "said": [1, [2, {"a": "b"}]]});
    let text = "</td><script>alert(\"1\")</script>&'`";
    let files = result["files"].take();
    poison(&mut result, text);
    // what is read as a word, or as a name of something else
    for (entry, finding) in ["correlated", "white"].into_iter().enumerate() {
        result["residual_tests"][entry]["finding"] = finding.into();
    }
    result["validation"][0]["output"] = "a_x".into();
    result["files"] = files;
    result["files"].as_array_mut().unwrap().extend(["../results/cost.svg".into(), "/etc/passwd".into(), 1.into()]);
    place.write("results/result.json", result.to_string());
    place.good("report results/result.json --out page.html");
    let html = place.read("page.html");
    stands_alone(&html);
    assert!(!html.contains("<script>alert") && html.contains("&lt;script&gt;alert(&quot;1&quot;)"));
    assert!(
        html.contains("Residuals white: no")
            && html.contains("1 of 2 outputs are not")
            && html.contains("Validated: yes")
    );
    // it is none that costate writes
    std::fs::remove_file(place.path("results/result.json")).unwrap();
}

// Protects from the page of another result: it goes with its result, and what somebody else wrote stays.
#[test]
fn a_report_is_of_its_result() {
    let place = Place::new();
    place.good("identify oscillator --out results");
    assert!(!place.path("results/report.html").exists());
    let said = place.good("report results").out;
    assert_eq!(said.trim(), "written to results/report.html");
    place.good("identify oscillator --start d=0.8 --fix d --out results");
    assert!(!place.path("results/report.html").exists(), "the page of an earlier result is still there");
    place.write("results/report.html", "mine");
    place.good("identify oscillator --out results");
    assert_eq!(place.read("results/report.html"), "mine");
    // figures may be removed, or be replaced by others
    place.write("results/cost.svg", "<svg xmlns=\"http://www.w3.org/2000/svg\"><script>alert(1)</script></svg>");
    std::fs::remove_file(place.path("results/parameters.svg")).unwrap();
    place.good("report results");
    let html = place.read("results/report.html");
    stands_alone(&html);
    assert!(html.contains("<img src=\"data:image/svg+xml,") && !html.contains("alert(1)"));
}

// Protects pages that are sent by mail: what finds no room is named, and the rest is there.
#[test]
fn many_figures_leave_a_small_page() {
    let place = Place::new();
    place.good("identify oscillator --noise-level 0.1 --out results");
    let mut result: Value = serde_json::from_str(&place.read("results/result.json")).unwrap();
    let figure = place.read("results/output_a.svg");
    let names: Vec<String> = (0..100).map(|k| format!("output_a@run{k}.svg")).collect();
    names.iter().for_each(|name| {
        place.write(&format!("results/{name}"), &figure);
    });
    result["files"].as_array_mut().unwrap().extend(names.iter().map(|name| name.as_str().into()));
    place.write("results/result.json", result.to_string());
    place.good("report results");
    let html = place.read("results/report.html");
    let shown = stands_alone(&html).iter().filter(|name| *name == "svg").count();
    assert!((10..100).contains(&shown), "{shown}");
    assert!(html.contains("these figures are in the folder alone: ") && html.contains("output_a@run99.svg"));
}

// Protects from pages of nothing: what is no result, or one of another version, is refused with a remedy.
#[test]
fn what_is_no_result_is_refused() {
    let place = Place::new();
    place.write("empty/notes.txt", "").write("half/result.json", "{\"model\": ");
    let document = |name: &str, value: Value| {
        place.write(&format!("{name}/result.json"), value.to_string());
    };
    document("old", json!({"model": "oscillator", "parameters": []}));
    document("new", json!({"model": "oscillator", "parameters": [], "schema": 2, "costate_version": "9.1.0"}));
    document("other", json!({"schema": 1}));
    document("list", json!([1, 2]));
    document("control", json!({"model": "crane", "parameters": [], "signals": []}));
    for (arguments, parts) in [
        ("report nowhere", vec!["cannot read nowhere", "check the path"]),
        ("report empty", vec!["empty: there is no result.json in this folder", "such as out/MODEL"]),
        ("report half", vec!["half/result.json, line 1: this is not JSON", "identify again"]),
        ("report old", vec!["old/result.json: it has no `schema`", "identify again with this version"]),
        ("report new", vec!["its `schema` is 2, and this version reads 1", "take costate 9.1.0"]),
        ("report other", vec!["it is no result of an identification", "give that of `costate identify`"]),
        ("report list", vec!["it is no result of an identification"]),
        ("report control", vec!["it is no result of an identification"]),
        ("identify oscillator --json --report", vec!["--report: with --json alone, nothing is written", "--out"]),
    ] {
        place.refused(arguments, &parts);
    }
}
