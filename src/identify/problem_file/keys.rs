//! All keys: what the reader knows, what it suggests for a misspelt one, and what `docs/problem-file.md` says are one and the same.

use std::fmt::Write;

/// The keys of one table of the file.
pub(super) struct Keys {
    /// How the table begins in the file; empty at the top.
    head: &'static str,
    /// What it is about.
    about: &'static str,
    /// A line a key, as in the page: `| name | type | unit | default | meaning |`.
    rows: &'static str,
}

impl Keys {
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.rows.lines().filter_map(|row| row.split('|').nth(1)).map(|name| name.trim().trim_matches('`'))
    }
}

pub(super) const TOP: Keys = Keys {
    head: "",
    about: "At the top of the file.",
    rows: "\
| `model` | text | | must be given | the model's name; `-` and `_` are the same |
| `data` | table | | a simulation with the nominal parameters | the record, or what all records share |
| `experiment` | list of tables | | `[data]` alone | one of several records |
| `integrator` | table | | the model's scenario | steps in time |
| `cost` | table | | | what is compared, and with what weights |
| `parameters` | table of tables | | as the model says | what is free, and where it starts |
| `constraint` | list of tables | | none | what parameters and outputs must keep to |
| `optimiser` | table | | | how the optimum is searched |
| `control` | table | | none | for `costate control`: inputs that are to be found, and goals |",
};

pub(super) const DATA: Keys = Keys {
    head: "[data]",
    about: "A record, or what several records share.",
    rows: "\
| `file` | text | | must be given, here or by each experiment | the CSV file; its path begins at the folder of the problem file |
| `time` | text | | `t` or `time` | column of times |
| `interpolation` | `zero-order`, `linear` or `cubic` | | `linear` | what inputs do between samples |
| `split` | text | | none | rows of one number in this column, one after another, are an experiment of their own |
| `from` | number | s | the first sample | samples before it are left out |
| `until` | number | s | the last sample | samples after it are left out |
| `inputs` | table of tables | | columns named like inputs, `F` or `F [N]` | columns of inputs; the others keep the scenario's signals |
| `outputs` | table of tables | | columns named like outputs | columns of outputs that are compared |",
};

pub(super) const INPUT: Keys = Keys {
    head: "[data.inputs.NAME]",
    about: "Also `inputs.NAME = { .. }` in `[data]`.",
    rows: "\
| `column` | text | | the input's name | column of the record |
| `interpolation` | `zero-order`, `linear` or `cubic` | | that of `[data]` | what this input does between samples |",
};

pub(super) const OUTPUT: Keys = Keys {
    head: "[data.outputs.NAME]",
    about: "Also `outputs.NAME = { .. }` in `[data]`.",
    rows: "\
| `column` | text | | the output's name | column of the record |
| `deviation` | number, `estimated` or `estimated-alone` | the output's | 1 | standard deviation of the noise; residuals are divided by it. [Estimated](noise.md) with the parameters: one for all experiments that say so, or for this one alone |
| `loss` | `squares`, `huber` or `soft-l1` | | that of `[cost]` | what residuals cost; [robust ones](noise.md#outliers) limit the pull of outliers |
| `loss_scale` | number | deviations | 1.345 | where residuals begin to be outliers |
| `sensor` | list of `gain`, `bias`, `delay` | | none | parameters `gain_NAME`, `bias_NAME` and `delay_NAME` (s) of its [sensor](sensors.md), to be fitted |
| `low_pass` | number | Hz | none | a filter without delay, on record and model alike |
| `every` | whole number | | 1 | of the samples, the first of every so many is compared |",
};

pub(super) const EXPERIMENT: Keys = Keys {
    head: "[[experiment]]",
    about: "One of several records; all keys of `[data]` may stand here, too, and go over those of `[data]`.",
    rows: "\
| `name` | text | | that of the file | its name in results; its local parameters are called `PARAMETER@NAME` |
| `validation` | true or false | | false | true: compared with the result, and not fitted |
| `weight` | number | | 1 | weight of its residuals beside those of others |
| `initial_state` | as in `[integrator]` | | that of `[integrator]` | where its simulation begins |
| `hold` | list of texts | | that of `[integrator]` | coordinates that its projected start keeps |
| `parameters` | table of tables | | those of `[parameters]` | what is said of its local parameters |",
};

pub(super) const INTEGRATOR: Keys = Keys {
    head: "[integrator]",
    about: "A setting alone (`alpha`, `spectral_radius`, `gamma`, `penalty`) names its scheme, too. [Which scheme](schemes.md).",
    rows: "\
| `scheme` | `hht`, `hht-literal`, `newmark`, `trapezoidal`, `generalized-alpha`, `ali3p`, `i2p` or `bdf2` | | the model's | time integrator |
| `alpha` | number from -1/3 to 0 | | -0.05 | damping of `hht` and `hht-literal` |
| `spectral_radius` | number from 0 to 1 | | 0.8 | of `generalized-alpha` and `i2p`; 1 does not damp |
| `start_order` | 1 or 2 | | 1 | of `hht`: accelerations and multipliers behind the start are of first order, as published, or of second |
| `gamma` | number from 0.5 to 1 | | 0.5 | of `newmark` |
| `penalty` | number | N/m | infinite | of `ali3p` |
| `step` | number | s | the samples' step, or the scenario's | time step |
| `substeps` | whole number | | 1 | time steps between two samples, in the place of `step` |
| `end` | number | s | the scenario's; with a record, the record's | end of the simulated time |
| `initial_state` | `as-given`, `projected` or `equilibrium` | | the scenario's | begin as the model says, moved onto the constraints, or at rest in balance |
| `hold` | list of texts | | none | coordinates that a projected start keeps while it moves the others |
| `memory` | text | | a quarter of what there is | `\"200MB\"`, kB, GB, MiB or GiB: what the states of all runs may take; [checkpoints](methods.md#memory) where they do not fit |",
};

pub(super) const COST: Keys = Keys {
    head: "[cost]",
    about: "The sum of squares.",
    rows: "\
| `weights` | `unit`, `rectangle` or `trapezoid` | | `unit` with a record, else the scenario's | weights of samples: 1, or those of an integral over time |
| `outputs` | list of texts | | the scenario's | what is compared; only without `[data]` |
| `noise` | `given` or `estimated` | | `estimated` | deviations are those of the noise, or known up to a common factor |
| `loss` | `squares`, `huber` or `soft-l1` | | `squares` | what residuals cost; [robust ones](noise.md#outliers) limit the pull of outliers |
| `loss_scale` | number | deviations | 1.345 | where residuals begin to be outliers |
| `synthetic_noise` | table | | none | noise on a simulated reference; only without `[data]` |",
};

pub(super) const SYNTHETIC_NOISE: Keys = Keys {
    head: "[cost.synthetic_noise]",
    about: "Also `synthetic_noise = { seed = 1, level = 0.01 }`.",
    rows: "\
| `seed` | whole number | | 1 | the same seed gives the same noise |
| `level` | number, or a table of numbers by output | none, or the output's | must be given | part of each output's spread, or standard deviations |",
};

pub(super) const PARAMETER: Keys = Keys {
    head: "[parameters.NAME]",
    about: "Also `NAME = { .. }` in `[parameters]`, and `parameters.NAME = { .. }` in an experiment.",
    rows: "\
| `start` | number | the parameter's | the scenario's, or nominal | where the search begins, or the value of what is fixed |
| `start_column` | text | | none | a local parameter starts from the first sample of this column |
| `lower` | number | the parameter's | the model's | smallest value |
| `upper` | number | the parameter's | the model's | largest value |
| `scale` | `linear` or `log` | | the model's | scaling of the search |
| `size` | number | the parameter's | the nominal value | a change that matters; needed where that value is zero |
| `fixed` | true or false | | the model's | true: it keeps its start |
| `free` | true or false | | the model's | the opposite of `fixed`; only one of them is given |
| `local` | true or false | | false | true: every experiment has its own, `NAME@EXPERIMENT` |
| `prior` | table | | none | what is known of it before: one of the following |",
};

pub(super) const PRIOR: Keys = Keys {
    head: "[parameters.NAME.prior]",
    about: "Also `prior = { normal = [40.0, 2.0] }`; one of these. [What priors do](priors.md).",
    rows: "\
| `normal` | list of two numbers | the parameter's | | mean and standard deviation |
| `log-normal` | list of two numbers | the parameter's, and none | | median, and the factor to both sides that holds 68 % |
| `uniform` | list of two numbers | the parameter's | | both ends; the same as `lower` and `upper` |",
};

pub(super) const CONSTRAINT: Keys = Keys {
    head: "[[constraint]]",
    about: "One of `rule`, `sum` and `output`; with the latter two, a limit. [More](constraints.md).",
    rows: "\
| `name` | text | | the rule, sum or output | for reports |
| `rule` | text | | | as on the command line: `\"a + 2 b = 3\"`, `\"peak y <= 0.3\"`, `\"y = 0 at end\"` |
| `sum` | table of numbers | | | weights of parameters |
| `output` | text | | | at every time, each with its own multiplier |
| `equals` | number | that of the sum or output | none | both limits |
| `at_most` | number | that of the sum or output | none | upper limit |
| `at_least` | number | that of the sum or output | none | lower limit |
| `unit` | text | | that of the parameters | unit of the sum, for reports |
| `time` | `end` | | every time | at the end only |
| `from` | number | s | the start | an output's limit holds from here |
| `until` | number | s | the end | an output's limit holds until here |",
};

pub(super) const OPTIMISER: Keys = Keys {
    head: "[optimiser]",
    about: "[Which method](methods.md).",
    rows: "\
| `method` | `lm`, `gauss-newton`, `bfgs`, `l-bfgs`, `ding`, `newton-tr`, `dfp`, `steepest-descent` or `steepest-descent-fixed` | | by the problem | how the optimum is searched |
| `max_evaluations` | whole number | | 2000 | stop after so many simulations |
| `max_iterations` | whole number | | 1000 | stop after so many steps |
| `cost_target` | number | that of the cost | -inf | stop at this cost |
| `gradient_tolerance` | number | | 1e-12 | MINPACK's gtol for least squares; else what is left of the gradient at the start |
| `cost_tolerance` | number | | 1e-24 | MINPACK's ftol, for least squares |
| `step_tolerance` | number | | 1e-15 | MINPACK's xtol |
| `constraint_tolerance` | number | | 1e-8 | by how much constraints may be violated, relative to their sizes |
| `penalty` | number | that of the cost | from cost and gradient at the start | first penalty on constraints |",
};

pub(super) const CONTROL: Keys = Keys {
    head: "[control]",
    about: "For `costate control`. [More](control.md).",
    rows: "\
| `signal` | list of tables | | none | inputs and motions that are to be found |
| `goal` | list of tables | | none | what outputs are to do |
| `refinements` | whole number | | 0 | so many times more, each with half the step |",
};

pub(super) const SIGNAL: Keys = Keys {
    head: "[[control.signal]]",
    about: "An input, or a driven motion of the model (without `start`, `intervals` and `shape`).",
    rows: "\
| `input` | text | | must be given | the input's or the motion's name |
| `size` | number | the input's | must be given | the magnitude that counts as 1 |
| `start` | number | the input's | the scenario's signal | a constant to begin with |
| `intervals` | whole number | | a node at every step | intervals between nodes; of a Fourier series, harmonics |
| `shape` | `linear`, `constant`, `cubic` or `fourier` | | `linear` | straight lines; one value an interval (no `rate`); a cubic B-spline, three coefficients more than intervals; a Fourier series (no bounds) |
| `lower` | number | the input's | none | smallest value |
| `upper` | number | the input's | none | largest value |
| `rate` | number | the input's per s | none | largest change a second, by multipliers |
| `effort` | number | | 0 | weight of ½ ∫ ((w - about)/size)² dt |
| `about` | number | the input's | 0 | what the effort is measured from |
| `smoothness` | number | | 0 | weight of ½ ∫ (w'/size)² dt |",
};

pub(super) const GOAL: Keys = Keys {
    head: "[[control.goal]]",
    about: "One of `reach`, a soft limit (`lower`, `upper`) and `follow`.",
    rows: "\
| `output` | text | | must be given | what the goal is about |
| `reach` | number | the output's | none | its value at the end |
| `lower` | number | the output's | none | soft lower limit at all times |
| `upper` | number | the output's | none | soft upper limit at all times |
| `follow` | text | | none | CSV file of a path |
| `column` | text | | the output's name | column of that file |
| `weight` | number | | 1 | weight of ½ (distance)² |
| `must` | true or false | | false | true: a constraint, in the place of a term of the cost |",
};

/// In the order of the page.
const ALL: [&Keys; 15] = [
    &TOP,
    &DATA,
    &INPUT,
    &OUTPUT,
    &EXPERIMENT,
    &INTEGRATOR,
    &COST,
    &SYNTHETIC_NOISE,
    &PARAMETER,
    &PRIOR,
    &CONSTRAINT,
    &OPTIMISER,
    &CONTROL,
    &SIGNAL,
    &GOAL,
];

/// All keys of problem files as a page of Markdown, a table for each table of the file: name, type, unit, default and meaning.
pub fn reference() -> String {
    let mut page = "\
# Keys of problem files

A problem file is [TOML](https://toml.io). Only `model` must be given; what is left out comes from the model's built-in scenario. An unknown
key is refused, with the nearest known one. Examples: [one record](../examples/oscillator.toml), [several](../examples/own_model/problem.toml),
[constraints](../examples/constrained.toml), [control](../examples/cart_pole.toml).
"
    .to_string();
    for Keys { head, about, rows } in ALL {
        let title = if head.is_empty() { String::new() } else { format!("\n## `{head}`\n") };
        // writing to a text does not fail
        let _ = write!(
            page,
            "{title}\n{about}\n\n| key | type | unit | default | meaning |\n|---|---|---|---|---|\n{rows}\n"
        );
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Protects settings of schemes: each has a key.
    #[test]
    fn settings_of_schemes_are_keys() {
        for setting in crate::scheme::settings() {
            assert!(INTEGRATOR.names().any(|name| name == setting), "{setting}");
        }
    }
}
