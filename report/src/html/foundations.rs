//! What a result rests on, and what was found: data, assumptions, time integrator, parameters, what is not determined, constraints.

use super::super::rounded;
use super::page::{Cell, Page, entries, text, unit, words};
use super::verdict::unsure;
use serde_json::Value;

pub(super) fn sections(page: &mut Page, result: &Value) {
    parameters(page, result);
    bodies(page, result);
    priors(page, result);
    modes(page, result);
    responses(page, result);
    undetermined(page, result);
    constraints(page, result);
    data(page, result);
    assumptions(page, result);
    scheme(page, result);
}

fn data(page: &mut Page, result: &Value) {
    page.section("Data");
    let files = entries(&result["input_files"]);
    if files.is_empty() {
        page.paragraph("No file was read: the problem is the model's own.");
    }
    let file = |file: &Value| {
        vec![
            Cell::sentence(text(&file["path"])),
            Cell::text(text(&file["role"])),
            Cell::number(&file["bytes"]),
            Cell::sum(text(&file["sha256"])),
        ]
    };
    page.table(&["file", "what for", "bytes", "SHA-256"], &files.iter().map(file).collect::<Vec<_>>());
    let experiments = entries(&result["experiments"]);
    let experiment = |e: &Value| {
        let inputs = entries(&e["inputs"]).iter().map(|q| format!("{} [{}]", text(&q["name"]), unit(&q["unit"])));
        let role = if e["validation"] == true { "validation" } else { "fit" };
        let mut row = vec![Cell::text(text(&e["name"])), Cell::text(role)];
        row.extend(["from", "until", "steps", "step", "substeps"].map(|key| Cell::number(&e[key])));
        row.push(Cell::text(text(&e["initial_state"])));
        row.push(Cell::sentence(inputs.collect::<Vec<_>>().join(", ")));
        row
    };
    page.element("h3", "", "What was simulated");
    let header =
        ["experiment", "for", "from [s]", "until [s]", "steps", "step [s]", "steps a sample", "start", "inputs"];
    page.table(&header, &experiments.iter().map(experiment).collect::<Vec<_>>());
    let outputs = experiments.iter().flat_map(|e| entries(&e["outputs"]));
    let output = |o: &Value| {
        let name = o["name"].as_str().unwrap_or_default();
        let mut row = vec![Cell::text(name), Cell::unit(&o["unit"])];
        row.extend(["deviation", "samples"].map(|key| Cell::rounded(&o[key], 4)));
        row.extend(["rmse", "fit_percent", "r_squared"].map(|key| Cell::rounded(&result[key][name], 4)));
        row
    };
    page.element("h3", "", "What was compared");
    let header = ["output", "unit", "deviation", "samples", "RMSE", "fit [%]", "R²"];
    page.table(&header, &outputs.map(output).collect::<Vec<_>>());
    estimated_deviations(page, &result["estimated_deviations"]);
    if result["rmse"].is_null() {
        page.paragraph("The result was not simulated again: the run was interrupted.");
    }
}

fn estimated_deviations(page: &mut Page, noise: &Value) {
    if noise.is_null() {
        return;
    }
    page.element("h3", "", "Noise of the sensors");
    let row = |sensor: &Value| {
        let mut row = vec![Cell::text(text(&sensor["name"]))];
        row.extend([Cell::rounded(&sensor["deviation"], 4), Cell::short(&sensor["standard_error"])]);
        row.push(Cell::unit(&sensor["unit"]));
        row.extend(["samples", "parameters"].map(|key| Cell::short(&sensor[key])));
        row
    };
    let header = ["sensor", "standard deviation", "± standard error", "unit", "samples", "parameters paid for"];
    if noise["end"] != "perfect-fit" {
        page.table(&header, &entries(&noise["sensors"]).iter().map(row).collect::<Vec<_>>());
    }
    page.paragraph(&text(&noise["sentence"]));
}

fn assumptions(page: &mut Page, result: &Value) {
    let mut said: Vec<String> = entries(&result["notes"]).iter().map(text).collect();
    match result["noise"].as_str() {
        Some("given") => said.push("noise: the deviations are those of the noise".to_string()),
        Some("per-sensor") => {
            said.push(
                "noise: the deviation of each sensor is estimated with the parameters, and then taken as known"
                    .to_string(),
            );
        }
        Some("estimated") => {
            said.push("noise: the deviations are right up to a common factor, which the residuals tell".to_string());
        }
        _ => {}
    }
    if let Some(down) = result["down_weighted"].as_u64() {
        said.push(format!("a robust loss weighs down {down} of {} samples", text(&result["residuals"])));
    }
    // a command has said so already
    for noise in entries(&result["synthetic_noise"]).iter().filter(|_| result["notes"].is_null()) {
        let [output, deviation, seed] = ["output", "deviation", "seed"].map(|key| text(&noise[key]));
        let unit = unit(&noise["unit"]);
        said.push(format!(
            "`{output}` is simulated, with noise of standard deviation {deviation} {unit} (seed {seed})"
        ));
    }
    if result["noise_free"] == true {
        said.push("the reference is reproduced to round-off: standard errors would mean nothing".to_string());
    }
    if !said.is_empty() {
        page.section("Assumptions");
        page.list("", &said);
    }
}

fn scheme(page: &mut Page, result: &Value) {
    page.section("Scheme and search");
    let settings = result["scheme_settings"].as_object().into_iter().flatten();
    let settings: Vec<String> = settings.map(|(name, value)| format!("{} {}", words(name), text(value))).collect();
    let scheme = text(&result["scheme"]);
    let mut pairs = vec![
        ("time integrator", if settings.is_empty() { scheme } else { format!("{scheme}, {}", settings.join(", ")) }),
        ("steps", text(&result["steps"])),
        ("method", text(&result["method"])),
        ("iterations", text(&result["iterations"])),
        (
            "simulations",
            format!("{}, of which {} failed", text(&result["evaluations"]), text(&result["failed_evaluations"])),
        ),
        ("time taken", result["seconds"].as_f64().map_or(text(&Value::Null), |s| format!("{} s", rounded(s, 2)))),
    ];
    if !result["tolerances"].is_null() {
        pairs.push(("tolerances", text(&result["tolerances"])));
    }
    page.pairs(&pairs);
    if !result["time_step"].is_null() {
        page.element("h3", "", "Error of the time step");
        time_step(page, &result["time_step"]);
    }
}

/// Adds the effects of the time step: how parameters would move with other steps, and with other inputs between samples; and how steps
/// were chosen.
fn time_step(page: &mut Page, check: &Value) {
    if check["checked"] == false {
        return page.paragraph(&format!("Not checked: {}", text(&check["reason"])));
    }
    for (key, sentence) in [
        ("at_half_the_step", "If every step were halved, the best parameters would move by"),
        (
            "cubic_instead_of_linear_inputs",
            "If inputs were curves between samples, and no straight lines, they would move by",
        ),
        (
            "linear_instead_of_cubic_inputs",
            "If inputs were straight lines between samples, and no curves, they would move by",
        ),
    ] {
        let Some(list) = check[key].as_array().filter(|list| !list.is_empty()) else { continue };
        let row = |own: &Value| {
            let mut row = vec![Cell::text(text(&own["name"])), Cell::short(&own["shift"])];
            row.extend([Cell::unit(&own["unit"]), Cell::short(&own["standard_errors"])]);
            row.extend(own.get("shift_without_step_error").map(Cell::short));
            row
        };
        page.paragraph(&format!("{sentence}:"));
        let header = ["parameter", "shift", "unit", "in standard errors", "shift at infinitely small steps"];
        let columns = if list[0]["shift_without_step_error"].is_null() { 4 } else { 5 };
        page.table(&header[..columns], &list.iter().map(row).collect::<Vec<_>>());
    }
    if let Some(parts) = check["divide_steps_by"].as_u64().filter(|parts| *parts > 1) {
        page.paragraph(&format!("Steps {parts} times smaller would leave less than a tenth of a standard error."));
    }
    let chosen = &check["chosen"];
    let fits = entries(&chosen["fits"]);
    if fits.len() > 1 {
        page.paragraph("Steps were divided until the parameters did not depend on them:");
        let row = |fit: &Value| {
            let largest = &fit["largest_shift"];
            vec![
                Cell::number(&fit["substeps"]),
                Cell::rounded(&fit["cost"], 7),
                Cell::text(text(&largest["name"])),
                Cell::short(&largest["standard_errors"]),
            ]
        };
        let header =
            ["steps a sample", "cost", "most dependent parameter", "its shift at half the step, in standard errors"];
        page.table(&header, &fits.iter().map(row).collect::<Vec<_>>());
    }
    if let Some(refused) = chosen["refused"].as_str() {
        page.paragraph(refused);
    }
}

/// Status of a parameter in words.
fn status(p: &Value) -> String {
    let mut remarks: Vec<String> = [
        Some(text(&p["status"]).replace('-', " ")),
        p["determined"]
            .as_str()
            .filter(|d| !["determined", "fixed", "at-bound"].contains(d))
            .map(|d| d.replace('-', " ")),
        (p["at_start"] == true && p["status"] != "fixed").then(|| "still at its start".to_string()),
    ]
    .into_iter()
    .flatten()
    .collect();
    if remarks.len() > 1 {
        remarks.retain(|remark| remark != "free");
    }
    remarks.join(", ")
}

fn parameters(page: &mut Page, result: &Value) {
    page.section("Parameters");
    let parameter = |p: &Value| {
        let intervals = entries(&result["confidence"]);
        let interval = intervals.iter().find(|interval| interval["name"] == p["name"]);
        let [low, high] = [0, 1].map(|end| interval.map_or(Value::Null, |interval| interval["95"][end].clone()));
        let is_unbounded = interval.is_some_and(|interval| interval["unbounded"] == true);
        let error = if is_unbounded { Cell::text("infinite") } else { Cell::short(&p["standard_error"]) };
        vec![
            Cell::text(text(&p["name"])),
            Cell::number(&p["start"]),
            Cell::number(&p["value"]),
            error,
            Cell::rounded(&low, 5),
            Cell::rounded(&high, 5),
            Cell::number(&p["lower"]),
            Cell::number(&p["upper"]),
            Cell::unit(&p["unit"]),
            Cell::text(status(p)),
        ]
    };
    let header = [
        "parameter",
        "start",
        "value",
        "± standard error",
        "95 % from",
        "95 % to",
        "lower bound",
        "upper bound",
        "unit",
        "status",
    ];
    page.table(&header, &entries(&result["parameters"]).iter().map(parameter).collect::<Vec<_>>());
    if let Some(reason) = result["statistics"]["missing_because"].as_str() {
        page.paragraph(&format!("There are no standard errors: {reason}"));
    }
    let mut numbers = vec![("cost", text(&result["cost"]))];
    let others = [
        ("chi_square", "χ²"),
        ("degrees_of_freedom", "degrees of freedom"),
        ("reduced_chi_square", "reduced χ²"),
        ("aic", "AIC"),
        ("bic", "BIC"),
        ("condition_number", "condition number"),
    ];
    numbers.extend(
        others.iter().filter(|(key, _)| !result[*key].is_null()).map(|(key, name)| (*name, text(&result[*key]))),
    );
    page.pairs(&numbers);
}

/// What bodies weigh, of which parameters say it in other numbers.
fn bodies(page: &mut Page, result: &Value) {
    let bodies = entries(&result["bodies"]);
    if bodies.is_empty() {
        return;
    }
    page.section("Bodies");
    let row = |own: &Value| {
        let mut row = vec![Cell::text(text(&own["body"])), Cell::text(text(&own["quantity"]).replace('_', " "))];
        row.extend(["start", "value"].map(|key| Cell::number(&own[key])));
        row.push(Cell::short(&own["standard_error"]));
        row.push(Cell::unit(&own["unit"]));
        row.push(Cell::text(if own["determined"] == true { "" } else { "undetermined" }));
        row
    };
    page.element("p", "note", "Centres of mass in the bodies' axes, inertias about them.");
    let header = ["body", "quantity", "start", "found", "± standard error", "unit", "status"];
    page.table(&header, &bodies.iter().map(row).collect::<Vec<_>>());
}

fn priors(page: &mut Page, result: &Value) {
    let priors = entries(&result["priors"]);
    if priors.is_empty() {
        return;
    }
    page.section("Priors");
    let row = |p: &Value| {
        let mut row = vec![Cell::text(text(&p["name"])), Cell::text(text(&p["text"])), Cell::number(&p["value"])];
        row.push(Cell::unit(&p["unit"]));
        row.extend(["residual", "cost", "error_over_prior"].map(|key| Cell::short(&p[key])));
        row.push(Cell::text(text(&p["remark"])));
        row
    };
    let header = ["parameter", "prior", "value", "unit", "off by [deviations]", "cost", "error over prior's", ""];
    page.table(&header, &priors.iter().map(row).collect::<Vec<_>>());
    let [data, own] = ["cost_of_data", "cost_of_priors"].map(|key| text(&result[key]));
    page.paragraph(&format!("The cost is {data} of the data and {own} of the priors."));
}

fn modes(page: &mut Page, result: &Value) {
    let modes = entries(&result["modes"]);
    if modes.is_empty() {
        return;
    }
    page.section("Measured modes");
    let row = |mode: &Value| {
        let mut row = vec![Cell::number(&mode["number"]), Cell::text(text(&mode["quantity"]).replace('_', " "))];
        row.extend(["measured", "deviation", "found"].map(|key| Cell::number(&mode[key])));
        row.push(Cell::unit(&mode["unit"]));
        row.push(Cell::short(&mode["residual"]));
        row
    };
    let header = ["mode", "quantity", "measured", "deviation", "found", "unit", "off by [deviations]"];
    page.table(&header, &modes.iter().map(row).collect::<Vec<_>>());
}

fn responses(page: &mut Page, result: &Value) {
    let responses = entries(&result["responses"]);
    if responses.is_empty() {
        return;
    }
    page.section("Measured frequency responses");
    let row = |response: &Value| {
        let mut row = vec![Cell::text(text(&response["name"])), Cell::unit(&response["unit"])];
        row.push(Cell::text(entries(&response["lines"]).len().to_string()));
        row.push(Cell::text(text(&response["compared"])));
        row.extend(["rms", "largest", "largest_at"].map(|key| Cell::short(&response[key])));
        row
    };
    let header = ["response", "unit", "lines", "compared", "off by (rms) [deviations]", "most [deviations]", "at [Hz]"];
    page.table(&header, &responses.iter().map(row).collect::<Vec<_>>());
}

fn undetermined(page: &mut Page, result: &Value) {
    page.section("What is not determined");
    let said = |list: &Value, what: &str| -> Vec<String> {
        let sentence = |entry: &Value| {
            let meaning = entry["meaning"].as_str().map_or(String::new(), |meaning| format!(": {meaning}"));
            format!("{what} {}{meaning}", text(&entry["text"]))
        };
        entries(list).iter().map(sentence).collect()
    };
    let mut all = said(&result["undetermined"], "nothing determines");
    all.extend(said(&result["weakly_determined"], "the data hardly determine"));
    let unsure = unsure(result);
    if !unsure.is_empty() {
        all.push(format!("the standard error exceeds the value of {unsure}"));
    }
    match (all.is_empty(), result["statistics"]["missing_because"].is_null()) {
        (true, true) => page.paragraph("Nothing: the data determine every direction of the free parameters."),
        (true, false) => page.paragraph("Nobody knows, as there are no statistics."),
        _ => page.list("", &all),
    }
}

fn constraints(page: &mut Page, result: &Value) {
    let constraints = entries(&result["constraints"]);
    if constraints.is_empty() {
        return;
    }
    page.section("Constraints");
    let row = |c: &Value| {
        let state = match (c["violated"] == true, c["active"] == true) {
            (true, _) => "violated",
            (false, true) => "acts",
            (false, false) => "does not act",
        };
        let mut row = vec![Cell::text(text(&c["name"]))];
        row.extend(["lower", "value", "upper"].map(|key| Cell::number(&c[key])));
        row.push(Cell::unit(&c["unit"]));
        row.push(Cell::number(&c["time"]));
        row.push(Cell::text(state));
        row.extend(["multiplier", "cost_by_limit"].map(|key| Cell::rounded(&c[key], 4)));
        row
    };
    let header = [
        "constraint",
        "at least",
        "value",
        "at most",
        "unit",
        "time [s]",
        "state",
        "multiplier",
        "change of cost by limit",
    ];
    page.table(&header, &constraints.iter().map(row).collect::<Vec<_>>());
}
