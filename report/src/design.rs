//! Which experiment next: `design.json`, `design.csv` and a figure of errors over the duration.

use super::{Folder, rounded};
use crate::plot::{Axis, Figure, Marker, Panel, Series};
use costate_identify::Result;
use costate_identify::design::{Assessed, Assessment, Comparison};
use costate_identify::statistics::Analysed;
use serde_json::{Value, json};

/// Errors that shrink by less than this are not worth a sentence.
const WORTH_TELLING: f64 = 1.05;
/// An end that costs no more error than this is as good.
const AS_GOOD: f64 = 1.05;

/// A comparison of candidates for programs; errors that are infinite are null.
pub fn design_json(name: &str, found: &Comparison) -> Value {
    let known = |x: f64| x.is_finite().then_some(x);
    let assessment = |own: &Assessment| {
        let errors = found.parameters.iter().zip(&own.standard_errors);
        let errors: serde_json::Map<String, Value> =
            errors.map(|(parameter, error)| (parameter.name.clone(), json!(known(*error)))).collect();
        let [d, a, e] = own.means.map(known);
        json!({
            "standard_errors": errors, "D": d, "A": a, "E": e,
            "undetermined": own.identifiability.undetermined.iter().map(ToString::to_string).collect::<Vec<_>>(),
        })
    };
    let candidate = |own: &Assessed| {
        let sensor = |sensor: &costate_identify::design::SensorAlone| {
            json!({
                "output": sensor.output.name, "unit": sensor.output.unit, "deviation": sensor.deviation,
                "after": assessment(&sensor.after),
            })
        };
        json!({
            "name": own.candidate.name,
            "like": own.candidate.like,
            "samples": own.samples,
            "after": assessment(&own.after),
            "volume_ratio": known(volume_ratio(found, own)),
            "sensors": own.sensors.iter().map(sensor).collect::<Vec<_>>(),
            "durations": own.durations.iter().map(|(end, after)| json!({"end": end, "after": assessment(after)})).collect::<Vec<_>>(),
        })
    };
    let parameter = |own: &Analysed| json!({"name": own.name, "unit": own.unit, "value": own.value, "size": own.size});
    json!({
        "model": name,
        "criterion": found.optimality.name(),
        "parameters": found.parameters.iter().map(parameter).collect::<Vec<_>>(),
        "samples": found.samples,
        "before": assessment(&found.before),
        "candidates": found.candidates.iter().map(candidate).collect::<Vec<_>>(),
        "sentences": design_sentences(found),
    })
}

/// The volume of the ellipsoid of errors with a candidate, beside that so far.
fn volume_ratio(found: &Comparison, own: &Assessed) -> f64 {
    (own.after.means[0] / found.before.means[0]).powi(found.parameters.len() as i32)
}

/// Sentences on each candidate: the parameters that it determines, and how much it shrinks their errors.
pub fn design_sentences(found: &Comparison) -> Vec<String> {
    found.candidates.iter().flat_map(|own| of_candidate(found, own)).collect()
}

fn of_candidate(found: &Comparison, own: &Assessed) -> Vec<String> {
    let name = &own.candidate.name;
    let mut sentences = Vec::new();
    let before = |k: usize| found.before.standard_errors[k];
    let after = |k: usize| own.after.standard_errors[k];
    let all = || 0..found.parameters.len();
    let quoted = |places: Vec<usize>| {
        places.into_iter().map(|k| format!("`{}`", found.parameters[k].name)).collect::<Vec<_>>().join(", ")
    };
    let new: Vec<usize> = all().filter(|&k| before(k).is_infinite() && after(k).is_finite()).collect();
    if !new.is_empty() {
        let errors: Vec<String> = new
            .iter()
            .map(|&k| {
                format!("`{}` (+/- {} {})", found.parameters[k].name, rounded(after(k), 3), found.parameters[k].unit)
            })
            .collect();
        let verb = if new.len() == 1 { "was" } else { "were" };
        sentences.push(format!("`{name}` determines {}, which {verb} not determined so far", errors.join(", ")));
    }
    let most = all()
        .filter(|&k| before(k).is_finite())
        .max_by(|&a, &b| (before(a) / after(a)).total_cmp(&(before(b) / after(b))));
    if let Some(k) = most {
        let Analysed { name: parameter, unit, .. } = &found.parameters[k];
        let errors = format!("({} -> {} {unit})", rounded(before(k), 3), rounded(after(k), 3));
        sentences.push(match before(k) / after(k) {
            factor if factor < WORTH_TELLING => format!("`{name}` adds next to nothing to what is known"),
            factor if (1.9..2.1).contains(&factor) => format!("`{name}` halves the error of `{parameter}` {errors}"),
            factor => {
                format!("`{name}` shrinks the error of `{parameter}` most, {} times {errors}", rounded(factor, 2))
            }
        });
    }
    let never: Vec<usize> = all().filter(|&k| after(k).is_infinite()).collect();
    if !never.is_empty() {
        let explanation =
            own.after.identifiability.undetermined.iter().filter_map(|direction| direction.explanation()).next();
        let explanation = explanation.map_or(String::new(), |text| format!(" ({text})"));
        let verb = if never.len() == 1 { "stays" } else { "stay" };
        sentences.push(format!(
            "with `{name}`, {} {verb} undetermined{explanation}: measure something else, or fix one of them",
            quoted(never)
        ));
    }
    let mean = |own: &Assessment| own.mean(found.optimality);
    let enough = own.durations.iter().find(|(_, shorter)| mean(shorter) <= AS_GOOD * mean(&own.after));
    if let (Some((end, _)), Some((last, _))) = (enough, own.durations.last())
        && end < last
        && mean(&own.after).is_finite()
        && own.candidate.like.is_none()
        && mean(&found.before) > WORTH_TELLING * mean(&own.after)
    {
        let (end, last) = (rounded(*end, 3), rounded(*last, 3));
        sentences.push(format!("`{name}` may end at {end} s instead of {last} s: errors grow by less than 5 %"));
    }
    sentences
}

/// The mean error over the end time, a line a candidate.
///
/// # Errors
/// If there is nothing to draw: nothing is determined.
pub fn design_figure(found: &Comparison) -> Result<Figure> {
    let label = format!("mean error beside sizes ({})", found.optimality.name());
    let mut panel = Panel::new(Axis::linear("end of the experiment [s]"), Axis::log(label));
    for own in &found.candidates {
        let points = own.durations.iter().map(|(end, after)| (*end, after.mean(found.optimality)));
        let (ends, errors): (Vec<f64>, Vec<f64>) = points.filter(|(_, error)| error.is_finite()).unzip();
        if !ends.is_empty() {
            panel = panel.series(Series::line(&ends, &errors).marker(Marker::Circle).label(&own.candidate.name));
        }
    }
    Ok(Figure::column().panel(panel))
}

impl Folder {
    /// `design.json` with `document` ([`design_json`]), `design.csv` with standard errors over the end of each candidate (of parameters that are
    /// determined at all of these), and the figure `design`.
    ///
    /// # Errors
    /// [`Error::Data`](costate_identify::Error::Data).
    pub fn design(&self, found: &Comparison, document: Value) -> Result<()> {
        self.together("design.json", document, |aside| {
            let mut columns = Vec::new();
            for own in &found.candidates {
                let name = &own.candidate.name;
                columns.push((format!("end of {name} [s]"), own.durations.iter().map(|(end, _)| *end).collect()));
                for (k, parameter) in found.parameters.iter().enumerate() {
                    let errors = own.durations.iter().map(|(_, after)| after.standard_errors[k]);
                    let errors: Vec<f64> = errors.collect();
                    // a table of numbers has no place for what is not determined
                    if errors.iter().all(|error| error.is_finite()) {
                        columns.push((format!("{} with {name} [{}]", parameter.name, parameter.unit), errors));
                    }
                }
            }
            aside.csv("design.csv", columns)?;
            aside.figure_if_any("design", design_figure(found))
        })
    }
}
