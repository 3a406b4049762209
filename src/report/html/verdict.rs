//! What a reader wants to know first, in a line each.

use super::page::{Page, entries, escaped, marked, text, words};
use serde_json::Value;

/// Yes, no, or nobody knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    Good,
    Bad,
    Open,
}

impl Mark {
    fn of(is_good: bool) -> Self {
        if is_good { Mark::Good } else { Mark::Bad }
    }

    /// Class, sign and word.
    fn shown(self) -> [&'static str; 3] {
        match self {
            Mark::Good => ["good", "✓", "yes"],
            Mark::Bad => ["bad", "✗", "no"],
            Mark::Open => ["open", "?", "unknown"],
        }
    }
}

pub(super) fn section(page: &mut Page, result: &Value) {
    page.section("Verdict");
    page.raw("<ul class=\"verdict\">\n");
    let converged = result["converged"].as_bool().unwrap_or(false);
    line(page, "Converged", Mark::of(converged), &text(&result["reason"]));
    let (mark, said) = determined(result);
    line(page, "Determined", mark, &said);
    let constraints = entries(&result["constraints"]);
    if !constraints.is_empty() {
        let violated = names(constraints.iter().filter(|constraint| constraint["violated"] == true));
        let said = if violated.is_empty() { format!("all {}", constraints.len()) } else { format!("not {violated}") };
        line(page, "Constraints met", Mark::of(violated.is_empty()), &said);
    }
    for (key, name) in [("residual_tests", "Residuals white"), ("validation", "Validated")] {
        if let Some((mark, said)) = judged(&result[key]) {
            line(page, name, mark, &said);
        }
    }
    page.raw("</ul>\n");
}

fn line(page: &mut Page, name: &str, mark: Mark, said: &str) {
    let [class, sign, word] = mark.shown();
    page.raw(&format!(
        "<li class=\"{class}\"><span class=\"mark\">{sign}</span><span>{}: {word}</span><span class=\"said\">{}</span></li>\n",
        escaped(name),
        marked(said)
    ));
}

fn names<'v>(entries: impl Iterator<Item = &'v Value>) -> String {
    entries.map(|entry| format!("`{}`", text(&entry["name"]))).collect::<Vec<_>>().join(", ")
}

/// Whether the data determine all that was searched.
fn determined(result: &Value) -> (Mark, String) {
    if let Some(reason) = result["statistics"]["missing_because"].as_str() {
        return (Mark::Open, format!("there are no statistics: {reason}"));
    }
    let parameters = entries(&result["parameters"]);
    let free = parameters.iter().filter(|p| p["status"] != "fixed").count();
    let said = |list: &Value| entries(list).iter().map(|entry| text(&entry["text"])).collect::<Vec<_>>().join("; ");
    let (undetermined, weak) = (said(&result["undetermined"]), said(&result["weakly_determined"]));
    let bounds = names(parameters.iter().filter(|p| p["status"].as_str().is_some_and(|s| s.starts_with("at-"))));
    if !undetermined.is_empty() {
        return (Mark::Bad, format!("nothing determines {undetermined}"));
    }
    if !weak.is_empty() {
        return (Mark::Bad, format!("the data hardly determine {weak}"));
    }
    let unsure = unsure(result);
    if !unsure.is_empty() {
        return (Mark::Bad, format!("the data hardly determine {unsure}, whose standard error exceeds the value"));
    }
    if !bounds.is_empty() {
        return (Mark::Open, format!("a bound holds {bounds}; the data determine the others"));
    }
    (
        Mark::Good,
        format!(
            "the data determine {}",
            if free == 1 { "the free parameter".into() } else { format!("all {free} free parameters") }
        ),
    )
}

/// Parameters whose standard error exceeds their value.
pub(super) fn unsure(result: &Value) -> String {
    let is_unsure = |p: &&Value| match (p["standard_error"].as_f64(), p["value"].as_f64()) {
        (Some(error), Some(value)) => error > value.abs(),
        _ => false,
    };
    names(entries(&result["parameters"]).iter().filter(is_unsure))
}

/// What a part of the result says of itself: its sentence (`verdict` or `text`), and the answers (`passed`, `white`, `validated`) that it
/// and its entries give. None where it says neither.
fn judged(value: &Value) -> Option<(Mark, String)> {
    let mut answers = Vec::new();
    collect(value, "", &mut answers);
    let said = ["verdict", "text"].iter().find_map(|key| value[*key].as_str()).map(str::to_string);
    if answers.is_empty() {
        return said.map(|said| (Mark::Open, said));
    }
    let failed: Vec<&str> = answers.iter().filter(|(_, good)| !good).map(|(name, _)| name.as_str()).collect();
    let listed = || {
        let named: Vec<&str> = failed.iter().copied().filter(|name| !name.is_empty()).collect();
        if named.is_empty() { "see below".to_string() } else { format!("not {}", named.join(", ")) }
    };
    let said = said.unwrap_or_else(|| if failed.is_empty() { "see below".to_string() } else { listed() });
    Some((Mark::of(failed.is_empty()), said))
}

/// All answers of a value, with the names of those who give them.
fn collect(value: &Value, name: &str, answers: &mut Vec<(String, bool)>) {
    let own = ["output", "name", "experiment"].iter().find_map(|key| value[*key].as_str()).unwrap_or(name);
    match value {
        Value::Object(entries) => {
            for (key, entry) in entries {
                match entry.as_bool().filter(|_| matches!(key.as_str(), "passed" | "white" | "validated")) {
                    Some(answer) => answers.push((own.to_string(), answer)),
                    None => {
                        let part = if own.is_empty() { words(key) } else { format!("{own} {}", words(key)) };
                        collect(entry, &part, answers);
                    }
                }
            }
        }
        Value::Array(entries) => entries.iter().for_each(|entry| collect(entry, own, answers)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Protects verdicts from one good test among bad ones, and from silence being taken for success.
    #[test]
    fn one_bad_answer_is_a_bad_verdict() {
        assert_eq!(judged(&Value::Null), None);
        assert_eq!(judged(&json!({"a": {"p": 0.4}})), None);
        let both = json!([{"output": "a", "white": true}, {"output": "b", "white": false}]);
        assert_eq!(judged(&both), Some((Mark::Bad, "not b".to_string())));
        let told = json!({"verdict": "fits as well", "passed": true, "rows": [{"name": "run", "passed": true}]});
        assert_eq!(judged(&told), Some((Mark::Good, "fits as well".to_string())));
    }
}
