//! What a reader wants to know first, in a line each.

use super::page::{Page, entries, escaped, marked, text, words};
use costate::shown::rounded;
use costate_identify::problem::base_name;
use serde_json::Value;

/// Yes, no, or nobody knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
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
    let noise = &result["estimated_deviations"];
    if !noise.is_null() {
        line(page, "Noise estimated", Mark::of(noise["end"] == "settled"), &text(&noise["sentence"]));
    }
    for (name, judged) in [("Residuals white", white(result)), ("Validated", validated(result))] {
        if let Some((mark, said)) = judged {
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

/// Verdict on whether the data determine all that was searched.
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
    let decided = names(parameters.iter().filter(|p| p["determined"] == "from-prior"));
    if !decided.is_empty() {
        return (Mark::Open, format!("known from a prior, not from the data: {decided}"));
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

/// Verdict of the tests of the residuals; none where there are no tests.
fn white(result: &Value) -> Option<(Mark, String)> {
    let finding = |entry: &&Value| entry["finding"].as_str().unwrap_or_default().to_string();
    let tested: Vec<&Value> = entries(&result["residual_tests"])
        .iter()
        .filter(|entry| !["", "too-few", "round-off"].contains(&finding(entry).as_str()))
        .collect();
    let is_bad = |entry: &&&Value| {
        ["follow-input", "correlated", "constant", "offset", "outlier"].contains(&finding(entry).as_str())
    };
    let bad: Vec<String> = tested
        .iter()
        .filter(is_bad)
        .map(|entry| format!("`{}` ({})", text(&entry["output"]), words(&finding(entry))))
        .collect();
    match (tested.len(), bad.len()) {
        (0, _) => None,
        (all, 0) => Some((Mark::Good, format!("{all} of {all} outputs"))),
        (all, count) => Some((Mark::Bad, format!("{count} of {all} outputs are not: {}", bad.join(", ")))),
    }
}

/// Records that were not fitted are reproduced well if their errors are at most so many times those of the fitted ones.
const AS_WELL: f64 = 2.0;

/// Verdict on how well records are reproduced that were not fitted, beside those that were; none where there are none.
pub(super) fn validated(result: &Value) -> Option<(Mark, String)> {
    let fitted = result["rmse"].as_object()?;
    let ratio = |entry: &Value| {
        let name = text(&entry["output"]);
        let own = fitted
            .iter()
            .filter(|(other, _)| base_name(other) == base_name(&name))
            .filter_map(|(_, rmse)| rmse.as_f64());
        let ratio = entry["rmse"].as_f64()? / own.fold(0.0, f64::max);
        ratio.is_finite().then_some((name, ratio))
    };
    let ratios: Vec<(String, f64)> = entries(&result["validation"]).iter().filter_map(ratio).collect();
    let (name, worst) = ratios.into_iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let times = match rounded(worst, 2).as_str() {
        "1" => "as large as".to_string(),
        other => format!("{other} times"),
    };
    let mut said = format!("at worst, the RMSE of `{name}` is {times} that of the fitted records");
    if let Some(down) = result["down_weighted"].as_u64().filter(|down| *down > 0) {
        said += &format!(", whose outliers are in it: {down} samples, which the fit weighs down and a RMSE does not");
    }
    Some((Mark::of(worst <= AS_WELL), said))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Protects verdicts from one good test among bad ones, and from silence being taken for success.
    #[test]
    fn one_bad_answer_is_a_bad_verdict() {
        assert_eq!((white(&json!({})), validated(&json!({}))), (None, None));
        let tests = |findings: &[&str]| {
            let entries = findings.iter().map(|finding| json!({"output": finding, "finding": finding}));
            white(&json!({"residual_tests": entries.collect::<Vec<_>>()}))
        };
        assert_eq!(tests(&["round-off", "too-few"]), None);
        assert_eq!(tests(&["white", "slightly-correlated"]), Some((Mark::Good, "2 of 2 outputs".to_string())));
        let said = "1 of 2 outputs are not: `correlated` (correlated)".to_string();
        assert_eq!(tests(&["white", "correlated"]), Some((Mark::Bad, said)));
        let beside = |rmse: f64| {
            let other = json!([{"output": "a@c", "rmse": rmse}, {"output": "b@c", "rmse": 0.1}]);
            validated(&json!({"rmse": {"a@a": 1.0, "a@b": 0.5, "b@a": 0.2}, "validation": other})).unwrap()
        };
        let mut robust = json!({"rmse": {"a": 1.0}, "validation": [{"output": "a", "rmse": 1.5}], "down_weighted": 7});
        assert!(validated(&robust).unwrap().1.contains("whose outliers are in it: 7 samples"));
        robust["down_weighted"] = json!(0);
        assert!(!validated(&robust).unwrap().1.contains("outliers"));
        assert_eq!(
            beside(1.5),
            (Mark::Good, "at worst, the RMSE of `a@c` is 1.5 times that of the fitted records".to_string())
        );
        assert_eq!(beside(2.5).0, Mark::Bad);
    }
}
