//! The built-in problem of a file.

use crate::formula::graph::{BANKS, Bank};
use crate::formula::program::Program;
use crate::keys;
use crate::reader::{OF_TIME, Reading};
use costate::Signal;
use costate::scheme;
use costate_identify::problem::Integrator;
use costate_identify::problem_file::{Keys, Section};
use costate_identify::registry::Scenario;
use costate_identify::{Error, Result};

/// Reads the scenario; what is not said is as everywhere.
pub(crate) fn read(reading: &mut Reading, root: &Section<'_>) -> Result<Scenario> {
    let all: Vec<String> = reading.signature.outputs.iter().map(|output| output.name.clone()).collect();
    let count = reading.signature.inputs.len();
    let mut scenario = Scenario { outputs: all, signals: vec![Signal::constant(0.0); count], ..Scenario::default() };
    let Some(section) = root.section("scenario")? else { return Ok(scenario) };
    only(&section)?;
    scenario.end = section.positive("end")?.unwrap_or(scenario.end);
    scenario.step = section.positive("step")?.unwrap_or(scenario.step);
    if scenario.end / scenario.step > 1e9 {
        let problem = format!("it is {} s, a 1e9th of the end {} s", scenario.step, scenario.end);
        return Err(section.wrong("step", problem, "take a longer step"));
    }
    scenario.integrator = integrator(&section)?;
    if let Some((inputs, names)) = reading.rows(&section, "inputs")? {
        for name in names {
            let signature = &reading.signature;
            let input = signature
                .input_index(&name)
                .map_err(|error| inputs.at(&name, Error::from(error).within(inputs.place())))?;
            let formula = reading.formula(&inputs, &name, format!("signal `{name}`"), false)?;
            // nobody writes 8[N]*sin(3[rad/s]*t)
            let (place, _) = reading.lowered(&formula.unchecked(), OF_TIME)?;
            let program = Program::new(&reading.formulas.graph, &[(place, 0)]);
            scenario.signals[input] = Signal::function(move |t| {
                let mut banks: [&[f64]; BANKS] = [&[]; BANKS];
                let time = [t];
                banks[Bank::Time as usize] = &time;
                let mut out = [0.0];
                program.run(&banks, &mut out);
                out[0]
            });
        }
    }
    if let Some((start, names)) = reading.rows(&section, "start")? {
        for name in names {
            let known = reading.signature.parameter_index(&name);
            known.map_err(|error| start.at(&name, error.into()))?;
            let value = start.number(&name)?.filter(|value| value.is_finite());
            let value = value.ok_or_else(|| start.wrong(&name, "it is not finite", "give a finite number"))?;
            scenario.start.push((name, value));
        }
    }
    if let Some(outputs) = section.texts("outputs")? {
        for name in &outputs {
            let known = reading.signature.output_index(name);
            known.map_err(|error| section.at("outputs", error.into()))?;
        }
        scenario.outputs = outputs;
    }
    Ok(scenario)
}

/// Refuses unknown keys; settings of schemes are known.
fn only(section: &Section<'_>) -> Result<()> {
    let settings = scheme::settings();
    let mut plain = section.table.clone();
    plain.retain(|key, _| !settings.contains(&key));
    let known: [&Keys; 1] = [&keys::SCENARIO];
    Section { table: &plain, ..section.clone() }.only(&known)
}

fn integrator(section: &Section<'_>) -> Result<Integrator> {
    let mut integrator = Integrator::default();
    let mut settings = Vec::new();
    for name in scheme::settings() {
        settings.extend(section.number(name)?.map(|value| (name.to_string(), value)));
    }
    let named = section.text("scheme")?;
    let is_hht = named.is_none() && settings.iter().any(|(name, _)| name == "alpha");
    integrator.scheme = match named {
        Some(name) => name,
        None if is_hht => "hht".to_string(),
        None => integrator.scheme,
    };
    integrator.settings = settings;
    let made = scheme::by_name(&integrator.scheme, &integrator.settings);
    made.map_err(|error| section.at("scheme", Error::from(error).located(&section.place())))?;
    if let Some(state) = section.named("initial_state", str::parse)? {
        integrator.initial_state = state;
    }
    Ok(integrator)
}
