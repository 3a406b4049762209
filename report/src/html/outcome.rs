//! What there is to see: the head of the page, figures with what is said of them, warnings, and how to repeat it.

use super::figures::Figures;
use super::page::{Cell, Page, entries, escaped, text, words};
use costate::shown::rounded;
use costate::shown::shown;
use costate::time_axis::EVEN_TOLERANCE;
use serde_json::Value;

/// Title, model, picture, date, version and command.
pub(super) fn head(page: &mut Page, result: &Value, title: &str, figures: &mut Figures) {
    page.element("h1", "", title);
    if let Some(summary) = result["summary"].as_str() {
        page.element("p", "summary", summary);
    }
    let mut pairs = vec![("model", text(&result["model"]))];
    for (key, name) in [("date", "date"), ("costate_version", "costate"), ("command", "command")] {
        if !result[key].is_null() {
            pairs.push((name, text(&result[key])));
        }
    }
    page.pairs(&pairs);
    figures.show(
        page,
        &[
            ("mechanism", "The mechanism"),
            ("sketch", "The mechanism at its start, with the parameters that were found"),
        ],
    );
}

pub(super) fn sections(page: &mut Page, result: &Value, figures: &mut Figures) {
    page.section("Measured, before and after");
    page.element("p", "note screen", "Click a figure to enlarge it; point into it to read values.");
    let outputs = [
        ("output_*", "{}: what was measured, and simulations before and after"),
        ("input*", "Inputs {}"),
        ("response_*", "Frequency response {}"),
    ];
    figures.show(page, &outputs);
    page.section("Residuals");
    let of_residuals = [
        ("residuals_*", "Residuals of {}"),
        ("dependence_*", "Residuals of {} over what they depend on"),
        ("residual_tests_*", "Correlations of the residuals of {}"),
    ];
    figures.show(page, &of_residuals);
    residual_tests(page, &result["residual_tests"]);
    if !result["validation"].is_null() {
        page.section("Validation");
        validation(page, &result["validation"]);
        figures.show(page, &[("validation*", "Validation {}")]);
    }
    page.section("Convergence");
    page.paragraph(&format!(
        "The cost went from {} to {} in {} iterations; the scaled gradient is {}.",
        text(&result["start_cost"]),
        text(&result["cost"]),
        text(&result["iterations"]),
        text(&result["gradient_norm"])
    ));
    figures.show(page, &[("cost", "Cost over the iterations"), ("parameters", "Parameters over the iterations")]);
    if result["correlation"]["names"].as_array().is_some_and(|names| names.len() > 1) {
        page.section("Correlations");
        let ellipses = "95 % confidence of pairs of parameters, around what was found";
        figures.show(page, &[("correlation", "Correlations of the parameters"), ("ellipses", ellipses)]);
    }
    certainty(page, result, figures);
    // many, and the first that room is wanting for
    figures.show_in(page, "Errors over the iterations", &[("error_*", "Errors of {} over the iterations")]);
    figures.rest(page);
    warnings(page, result);
}

/// Adds what many starts, profiles and replicates say of the parameters, where they were asked for.
fn certainty(page: &mut Page, result: &Value, figures: &mut Figures) {
    let [profiles, replicates] = ["profiles", "bootstrap"].map(|key| entries(&result[key]["parameters"]));
    if !profiles.is_empty() || !replicates.is_empty() {
        page.section("Intervals of 95 %");
        let named = |list: &[Value], name: &Value| list.iter().find(|own| own["name"] == *name).cloned();
        let row = |own: &Value| {
            let (profile, replicate) = (named(profiles, &own["name"]), named(replicates, &own["name"]));
            let pair = |of: Option<&Value>, key: &str| {
                let end = |k: usize| of.map_or(Value::Null, |of| of[key][k].clone());
                [0, 1].map(|k| Cell::rounded(&end(k), 5))
            };
            let mut row = vec![Cell::text(text(&own["name"])), Cell::unit(&own["unit"])];
            row.extend(pair(Some(own), "linear_interval"));
            row.extend(pair(profile.as_ref(), "interval"));
            row.push(Cell::text(profile.map_or(String::new(), |own| words(&text(&own["verdict"])))));
            row.extend(pair(replicate.as_ref(), "interval"));
            row
        };
        let header = [
            "parameter",
            "unit",
            "by standard error from",
            "to",
            "by profile from",
            "to",
            "identifiable",
            "by bootstrap from",
            "to",
        ];
        // profiles may be of some parameters alone
        let all = if replicates.len() >= profiles.len() { replicates } else { profiles };
        page.table(&header, &all.iter().map(row).collect::<Vec<_>>());
    }
    let of_certainty = [
        ("profiles*", "Profile likelihoods"),
        ("bootstrap*", "Replicates of the bootstrap"),
        ("starts", "Costs at which the searches ended"),
        ("starts_parameters", "Parameters at which the searches ended"),
        ("band_*", "95 % band of {}"),
    ];
    figures.show_in(page, "Starts, profiles and replicates", &of_certainty);
}

/// Adds results of the tests of each output's residuals; their correlations are in figures.
fn residual_tests(page: &mut Page, tests: &Value) {
    if !tests.is_array() {
        return page.anything(tests);
    }
    let row = |test: &Value| {
        let longest = entries(&test["inputs"]).iter().filter_map(|input| input["p_value"].as_f64());
        let inputs = longest.fold(f64::INFINITY, f64::min);
        let inputs = if inputs.is_finite() { Value::from(inputs) } else { Value::Null };
        vec![
            Cell::text(text(&test["output"])),
            Cell::number(&test["samples"]),
            Cell::short(&test["mean_p_value"]),
            Cell::short(&test["whiteness"]["p_value"]),
            Cell::short(&test["normality"]["test"]["p_value"]),
            Cell::short(&inputs),
            Cell::number(&test["correlated_lags"]),
            Cell::short(&test["standard_error_factor"]),
            Cell::sentence(text(&test["judgement"])),
        ]
    };
    page.element("p", "note", "p values: how often chance alone would be as far off; below 0.01 it is hardly chance.");
    let header = [
        "output",
        "samples",
        "p of zero mean",
        "p of whiteness",
        "p of normality",
        "p of inputs",
        "correlated lags",
        "standard errors times",
        "judgement",
    ];
    page.table(&header, &entries(tests).iter().map(row).collect::<Vec<_>>());
    let uneven: Vec<String> = entries(tests).iter().filter_map(spacing).collect();
    if !uneven.is_empty() {
        page.paragraph("Samples are unevenly spaced:");
        page.list("", &uneven);
    }
}

/// The spacing of an output's samples, where it is uneven.
fn spacing(test: &Value) -> Option<String> {
    let interval = &test["largest_interval"];
    let (from, until) = (interval["from"].as_f64()?, interval["until"].as_f64()?);
    let (usual, longest) = (test["step"].as_f64()?, until - from);
    (longest > usual * (1.0 + EVEN_TOLERANCE)).then(|| {
        format!(
            "{}: usually {} s apart, at most {} s, from {} s to {} s",
            text(&test["output"]),
            rounded(usual, 4),
            rounded(longest, 4),
            shown(from),
            shown(until)
        )
    })
}

/// Adds how well records are reproduced that were not fitted.
fn validation(page: &mut Page, validation: &Value) {
    if !entries(validation).iter().any(|fit| fit["output"].is_string()) {
        return page.anything(validation);
    }
    let row = |fit: &Value| {
        let mut row = vec![Cell::text(text(&fit["output"])), Cell::unit(&fit["unit"])];
        row.extend(["samples", "rmse", "fit_percent", "r_squared"].map(|key| Cell::rounded(&fit[key], 4)));
        row
    };
    let header = ["output", "unit", "samples", "RMSE", "fit [%]", "R²"];
    page.table(&header, &entries(validation).iter().map(row).collect::<Vec<_>>());
}

fn warnings(page: &mut Page, result: &Value) {
    let mut said: Vec<String> = entries(&result["statistics_warnings"]).iter().map(text).collect();
    said.extend(entries(&result["impossible"]).iter().map(text));
    if result["converged"] != true {
        said.insert(0, format!("the search has not converged: {}", text(&result["reason"])));
    }
    if let Some(first) = result["first_failure"].as_str() {
        let count = text(&result["failed_evaluations"]);
        said.push(format!("{count} simulations failed and were rejected; the first: {first}"));
    }
    page.section("Warnings");
    if said.is_empty() {
        page.paragraph("None.");
    }
    page.list("warning", &said);
}

/// Adds the command that repeats the run, and the line to sign on.
pub(super) fn end(page: &mut Page, result: &Value) {
    page.section("How to repeat it");
    if let Some(command) = result["command"].as_str() {
        let files = if entries(&result["input_files"]).is_empty() { "" } else { ", with files of the SHA-256 above" };
        page.paragraph(&format!("With costate {}{files}, in the same folder:", text(&result["costate_version"])));
        page.raw(&format!("<pre><code>{}</code></pre>\n", escaped(command)));
    } else {
        page.paragraph("A program wrote this result, which no command was asked for.");
    }
    let files = entries(&result["files"]);
    if !files.is_empty() {
        let names = files.iter().map(text).collect::<Vec<_>>().join(", ");
        page.element("p", "note", &format!("Files of this result: {names}."));
    }
    page.raw("<div class=\"sign\"><span>Date</span><span>Name</span><span>Signature</span></div>\n");
}
