//! The section on control.

use super::{Section, calibration, cost_formulas, keys};
use crate::Result;
use crate::control::{AimSetting, ControlSetting, GoalSetting, InformationSetting, Nodes, Shape, UnknownSignal};
use crate::specification::beside;

pub(super) fn control(section: &Section<'_>) -> Result<ControlSetting> {
    section.only(&[&keys::CONTROL])?;
    let signals = section.sections("signal")?.iter().map(signal).collect::<Result<_>>()?;
    let goals = section.sections("goal")?.iter().map(goal).collect::<Result<_>>()?;
    let information = section.section("information")?.map(|section| information(&section)).transpose()?;
    let (cost, refinements) = (cost_formulas(section)?, section.count("refinements")?);
    Ok(ControlSetting { signals, goals, information, cost, refinements })
}

fn information(section: &Section<'_>) -> Result<InformationSetting> {
    section.only(&[&keys::INFORMATION])?;
    let Some(own) = section.section("outputs")? else {
        let remedy = "give outputs = { OUTPUT = DEVIATION }, of their noise";
        return Err(section.wrong("outputs", "it is missing", remedy));
    };
    let positive = |section: &Section<'_>, key: &str| match section.number(key)? {
        Some(value) if value <= 0.0 => Err(section.wrong(key, format!("it is {value}"), "give a positive number")),
        value => Ok(value),
    };
    let mut outputs = Vec::new();
    for name in own.table.keys() {
        outputs.push((name.clone(), positive(&own, name)?.unwrap_or(1.0)));
    }
    if outputs.is_empty() {
        return Err(section.wrong("outputs", "nothing is measured", "name at least one output, with its deviation"));
    }
    Ok(InformationSetting {
        outputs,
        sampling: section.positive("sampling")?,
        parameters: section.texts("parameters")?,
        of: section.texts("of")?,
        optimality: section.named("criterion", str::parse)?.unwrap_or_default(),
        known: positive(section, "known")?,
        weight: positive(section, "weight")?.unwrap_or(1.0),
    })
}

fn signal(section: &Section<'_>) -> Result<(UnknownSignal, Option<f64>)> {
    section.only(&[&keys::SIGNAL])?;
    let Some(input) = section.text("input")? else {
        return Err(section.wrong("input", "it is missing", "name the input or the motion that is to be found"));
    };
    let Some(size) = section.number("size")? else {
        return Err(section.wrong("size", "it is missing", "give the magnitude that it will have, in its unit"));
    };
    let mut signal = UnknownSignal::new(input, size);
    signal.nodes = section.count("intervals")?.map_or(Nodes::EveryStep, Nodes::Intervals);
    signal.shape = section.named("shape", Shape::by_name)?.unwrap_or_default();
    for (key, place) in [
        ("lower", &mut signal.lower),
        ("upper", &mut signal.upper),
        ("rate", &mut signal.rate),
        ("effort", &mut signal.effort),
        ("about", &mut signal.about),
        ("smoothness", &mut signal.smoothness),
    ] {
        *place = section.number(key)?.unwrap_or(*place);
    }
    if signal.effort == 0.0 && section.number("about")?.is_some() {
        return Err(section.wrong("about", "there is no effort that is measured from it", "give effort, too"));
    }
    Ok((signal, section.number("start")?))
}

fn goal(section: &Section<'_>) -> Result<GoalSetting> {
    section.only(&[&keys::GOAL])?;
    let Some(output) = section.text("output")? else {
        return Err(section.wrong("output", "it is missing", "name the output that the goal is about"));
    };
    let reach = section.number("reach")?;
    let (lower, upper) = (section.number("lower")?, section.number("upper")?);
    let follow = section.text("follow")?;
    let of_column = ["column", "unit", "scale", "offset", "max_gap"];
    if let (None, Some(key)) = (&follow, of_column.iter().find(|key| section.table.contains_key(**key))) {
        return Err(section.wrong(key, "there is no record to follow", "give follow = \"FILE.csv\", too"));
    }
    let remedy = "give one of reach = VALUE, lower and/or upper, or follow = \"FILE.csv\"";
    let aim = match (reach, lower.is_some() || upper.is_some(), follow) {
        (Some(value), false, None) => AimSetting::Reach(value),
        (None, true, None) => AimSetting::Within(lower.unwrap_or(f64::NEG_INFINITY), upper.unwrap_or(f64::INFINITY)),
        (None, false, Some(file)) => AimSetting::Follow {
            file: beside(section.file, file.as_ref()),
            column: section.text("column")?.unwrap_or_else(|| output.clone()),
            calibration: calibration(section)?,
            max_gap: section.positive("max_gap")?,
        },
        (None, false, None) => return Err(section.wrong("output", "nothing is said of what it is to do", remedy)),
        _ => return Err(section.wrong("output", "it is to do more than one thing", remedy)),
    };
    let (weight, must) = (section.number("weight")?.unwrap_or(1.0), section.flag("must")?.unwrap_or(false));
    Ok(GoalSetting { output, aim, weight, must })
}
