//! All keys: what the reader knows, what it suggests for a misspelt one, what `docs/problem-file.md` says and what `costate init` writes are
//! one and the same.

/// The keys of one table of a file.
pub struct Keys {
    /// Beginning of the table in the file; empty at the top.
    pub head: &'static str,
    /// Subject of the table.
    pub about: &'static str,
    /// A line a key, as in the page: `| name | type | unit | default | meaning | example |`.
    pub rows: &'static str,
}

impl Keys {
    /// The table as a part of a page of Markdown.
    pub fn page(&self) -> String {
        let Keys { head, about, rows } = self;
        let title = if head.is_empty() { String::new() } else { format!("\n## `{head}`\n") };
        format!(
            "{title}\n{about}\n\n| key | type | unit | default | meaning | example |\n|---|---|---|---|---|---|\n{rows}\n"
        )
    }

    /// All keys.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.rows().map(|[name, ..]| name)
    }

    /// Name, type, unit, meaning and example of each key.
    pub fn rows(&self) -> impl Iterator<Item = [&'static str; 5]> + use<> {
        self.rows.lines().filter_map(|row| match *row.split('|').map(str::trim).collect::<Vec<_>>() {
            [_, name, kind, unit, _, meaning, example, _] => {
                Some([name.trim_matches('`'), kind, unit, meaning, example.trim_matches('`')])
            }
            _ => None,
        })
    }
}

pub(super) const TOP: Keys = Keys {
    head: "",
    about: "At the top of the file.",
    rows: r#"| `model` | text | | must be given | the model's name; `-` and `_` are the same | `"oscillator"` |
| `data` | table | | a simulation with the nominal parameters | the record, or what all records share | `{ file = "record.csv" }` |
| `experiment` | list of tables | | `[data]` alone | one of several records | |
| `candidate` | list of tables | | none | for `costate design`: an experiment that could be made next | |
| `integrator` | table | | the model's scenario | steps in time | `{ step = 1e-3 }` |
| `cost` | table | | | what is compared, and with what weights | `{ weights = "unit" }` |
| `parameters` | table of tables | | as the model says | what is free, and where it starts | `{ NAME = { start = 1.0 } }` |
| `constraint` | list of tables | | none | what parameters and outputs must keep to | |
| `mode` | list of tables | | none | measured frequencies and damping of modes | |
| `response` | list of tables | | none | measured frequency responses | |
| `optimiser` | table | | | how the optimum is searched | `{ method = "lm" }` |
| `control` | table | | none | for `costate control`: inputs that are to be found, and goals | |"#,
};

pub(super) const DATA: Keys = Keys {
    head: "[data]",
    about: "A record, or what several records share.",
    rows: r#"| `file` | text, or list of texts | | must be given, here or by each experiment | the file, in CSV or of [MATLAB](experiments.md#files); several of one experiment, [each with its own times](experiments.md#several-clocks). Paths begin at the folder of the problem file | `"record.csv"` |
| `time` | text | | `t` or `time` | column of times | `"t"` |
| `time_unit` | text | | that of its header, or s | unit of that column; it goes over the header | `"ms"` |
| `interpolation` | `zero-order`, `linear` or `cubic` | | `linear` | what inputs do between samples | `"linear"` |
| `split` | text | | none | rows of one number in this column, one after another, are an experiment of their own; `at-gaps`: so are [the pieces between gaps](experiments.md#gaps) | `"segment"` |
| `max_gap` | number | s | five of its usual intervals | the longest interval between two samples of an input that is interpolated; a [longer one](experiments.md#gaps) is refused | `0.5` |
| `from` | number | s | the first sample | samples before it are left out | `0.0` |
| `until` | number | s | the last sample | samples after it are left out | `10.0` |
| `inputs` | table of tables | | columns named like inputs, `F` or `F [N]` | columns of inputs; the others keep the scenario's signals | `{ NAME = { column = "COLUMN" } }` |
| `outputs` | table of tables | | columns named like outputs | columns of outputs that are compared | `{ NAME = { deviation = 1.0 } }` |"#,
};

pub(super) const INPUT: Keys = Keys {
    head: "[data.inputs.NAME]",
    about: "Also `inputs.NAME = { .. }` in `[data]`.",
    rows: r#"| `column` | text | | the input's name | column of the record | `"COLUMN"` |
| `unit` | text | | that of its header, or the input's | unit of that column, [from which it is converted](experiments.md#units); it goes over the header | `"mm"` |
| `scale` | number | the input's | that of the unit | value of 1 in the column: values are `scale` times column plus `offset` | `0.0015` |
| `offset` | number | the input's | 0 | value of 0 in the column | `-2.5` |
| `file` | whole number | | the one that has the column | of several files of the experiment the one that is meant, from 1 | `1` |
| `interpolation` | `zero-order`, `linear` or `cubic` | | that of `[data]` | what this input does between samples | `"linear"` |"#,
};

pub(super) const OUTPUT: Keys = Keys {
    head: "[data.outputs.NAME]",
    about: "Also `outputs.NAME = { .. }` in `[data]`.",
    rows: r#"| `column` | text | | the output's name | column of the record | `"COLUMN"` |
| `unit` | text | | that of its header, or the output's | unit of that column, [from which it is converted](experiments.md#units); it goes over the header | `"mm"` |
| `scale` | number | the output's | that of the unit | value of 1 in the column: values are `scale` times column plus `offset` | `0.0015` |
| `offset` | number | the output's | 0 | value of 0 in the column | `-2.5` |
| `file` | whole number | | the one that has the column | of several files of the experiment the one that is meant, from 1 | `1` |
| `deviation` | number, `estimated`, `estimated-alone` or `estimated-correlated` | the output's | 1 | standard deviation of the noise; residuals are divided by it. [Estimated](noise.md) with the parameters: one for all experiments that say so, or for this one alone; or of [residuals that are correlated](noise.md#correlated-residuals), whose samples count as the independent ones that they are worth | `1.0` |
| `loss` | `squares`, `huber` or `soft-l1` | | that of `[cost]` | what residuals cost; [robust ones](noise.md#outliers) limit the pull of outliers | `"huber"` |
| `loss_scale` | number | deviations | 1.345 | where residuals begin to be outliers | `1.345` |
| `sensor` | list of `gain`, `bias`, `delay` | | none | parameters `gain_NAME`, `bias_NAME` and `delay_NAME` (s) of its [sensor](sensors.md), to be fitted | `["gain", "bias", "delay"]` |
| `low_pass` | number | Hz | none | a filter without delay, on record and model alike | `20.0` |
| `every` | whole number | | 1 | of the samples of its file, the first of every so many is compared | `5` |
| `spectrum` | table | | none | its [spectrum](spectra.md) is compared in the place of samples | `{ frequencies = [10.0, 20.0] }` |"#,
};

pub(super) const SPECTRUM: Keys = Keys {
    head: "[data.outputs.NAME.spectrum]",
    about: "Also `spectrum = { .. }` of an output: [Fourier lines](spectra.md) are compared in the place of its samples. One of `frequencies`, `orders` and `band`.",
    rows: r#"| `frequencies` | list of numbers | Hz | | lines at these, over the whole record | `[10.0, 20.0]` |
| `orders` | list of numbers | | | multiples of a shaft's speed | `[2.0, 4.0]` |
| `speed` | text | | must be given with `orders` | column of the shaft's speed, in rad/s, rpm or Hz | `"COLUMN"` |
| `speeds` | list of numbers, or table of `from`, `until` and `count` | that of the column | must be given with `orders` | where the shaft passes these, orders are compared | `{ from = 1000.0, until = 6000.0, count = 51 }` |
| `revolutions` | number | | 16 | of the shaft, about each of the speeds | `16.0` |
| `band` | list of two numbers | Hz | | all lines from one to the other | `[5.0, 50.0]` |
| `resolution` | number | Hz | must be given with `band` | between two lines; windows are as long as its inverse | `0.5` |
| `response_to` | text | | none | with `band`: the frequency response from this input of the model | `"INPUT"` |
| `window` | `hann` or `rectangular` | | `hann` | weights of samples within a window | `"hann"` |
| `compare` | `amplitude`, `complex` or `level` | | `amplitude` | amplitudes, both parts of complex lines (phases, too), or levels in dB | `"amplitude"` |"#,
};

pub(super) const EXPERIMENT: Keys = Keys {
    head: "[[experiment]]",
    about: "One of several records; all keys of `[data]` may stand here, too, and go over those of `[data]`.",
    rows: r#"| `name` | text | | that of the file | its name in results; its local parameters are called `PARAMETER@NAME` | `"another"` |
| `validation` | true or false | | false | true: compared with the result, and not fitted | `true` |
| `weight` | number | | 1 | weight of its residuals beside those of others | `1.0` |
| `initial_state` | as in `[integrator]` | | that of `[integrator]` | where its simulation begins | `"as-given"` |
| `hold` | list of texts | | that of `[integrator]` | coordinates that its projected start keeps | `["COORDINATE"]` |
| `parameters` | table of tables | | those of `[parameters]` | what is said of its local parameters | `{ NAME = { start = 0.0 } }` |"#,
};

pub(super) const CANDIDATE: Keys = Keys {
    head: "[[candidate]]",
    about: "For `costate design`: [an experiment that could be made next](design.md). Its start is that of `[integrator]`.",
    rows: r#"| `name` | text | | must be given | its name | `"chirp"` |
| `outputs` | table of numbers | the output's | must be given | its sensors, with the standard deviations of their noise | `{ OUTPUT = 1e-3 }` |
| `file` | text | | the scenario's inputs | a record of its inputs; samples are taken at its times | `"chirp.csv"` |
| `time` | text | | `t` or `time` | column of times | `"t"` |
| `time_unit` | text | | that of its header, or s | unit of that column | `"ms"` |
| `inputs` | table of tables | | columns named like inputs | as in `[data]` | `{ NAME = { column = "COLUMN" } }` |
| `interpolation` | `zero-order`, `linear` or `cubic` | | `linear` | what inputs do between samples | `"linear"` |
| `max_gap` | number | s | as in `[data]` | as in `[data]` | `0.5` |
| `end` | number | s | the scenario's, or the record's | its last time | `10.0` |
| `sampling` | number | s | the time step | without `file`: time between two samples | `0.01` |
| `parameters` | table of numbers | the parameter's | those of `[parameters]` | what is chosen otherwise in it: values of parameters that are fixed | `{ NAME = 2.0 }` |
| `like` | text | | none | an experiment whose run it is: more sensors of that, in the place of `file`, `end`, `sampling` and `parameters` | `"EXPERIMENT"` |"#,
};

pub(super) const INTEGRATOR: Keys = Keys {
    head: "[integrator]",
    about: "A setting alone (`alpha`, `spectral_radius`, `gamma`, `penalty`, `pure_penalty`) names its scheme, too. [Which scheme](schemes.md).",
    rows: r#"| `scheme` | `hht`, `hht-literal`, `newmark`, `trapezoidal`, `generalized-alpha`, `ali3p`, `i2p`, `bdf2`, or [`inverse-dynamics`](robots.md#motion-given-forces-compared) | | the model's | [time integrator](schemes.md) | `"generalized-alpha"` |
| `alpha` | number from -1/3 to 0 | | -0.05 | damping of `hht` and `hht-literal` | `-0.05` |
| `start_order` | 1 or 2 | | 1 | of `hht`: accelerations and multipliers behind the start are of first order, as published, or of second | `1` |
| `spectral_radius` | number from 0 to 1 | | 0.8 | of `generalized-alpha` and `i2p`; 1 does not damp | `0.8` |
| `gamma` | number from 0.5 to 1 | | 0.5 | of `newmark` | `0.5` |
| `penalty` | number | N/m | infinite | of `ali3p`: of the paper's projections of velocities and accelerations | `1e9` |
| `pure_penalty` | number | N/m | infinite | of `ali3p`: constraints as springs, for rows that repeat others; not in the paper | `1e12` |
| `step` | number | s | the samples' step, or the scenario's | time step | `1e-3` |
| `tolerance` | number | | none | [steps as long as this error allows](schemes.md#step-control), beside the largest value of all coordinates and [states](states.md) of a unit | `1e-4` |
| `substeps` | whole number | | [chosen](residuals.md#the-steps-that-are-chosen) by `identify`, else 1 | time steps between two samples, in the place of `step` | `1` |
| `end` | number | s | the scenario's; with a record, the record's | end of the simulated time | `1.0` |
| `initial_state` | `as-given`, `projected` or `equilibrium` | | the scenario's | begin as the model says, moved onto the constraints, or at rest in balance, where [states](states.md) have no rate | `"as-given"` |
| `hold` | list of texts | | none | coordinates that a projected start keeps while it moves the others | `["COORDINATE"]` |
| `memory` | text | | a quarter of what there is | kB, MB, GB, KiB, MiB or GiB: what the states of all runs may take; [checkpoints](methods.md#memory) where they do not fit | `"200MB"` |"#,
};

pub(super) const COST: Keys = Keys {
    head: "[cost]",
    about: "The sum of squares, or a [cost of one's own](costs.md) in its place.",
    rows: r#"| `weights` | `unit`, `rectangle` or `trapezoid` | | `unit` with a record, else the scenario's | weights of samples: 1, or those of an integral over time | `"unit"` |
| `outputs` | list of texts | | the scenario's | what is compared; only without `[data]` | `["OUTPUT"]` |
| `noise` | `given` or `estimated` | | `estimated` | deviations are those of the noise, or known up to a common factor | `"estimated"` |
| `loss` | `squares`, `huber` or `soft-l1` | | `squares` | what residuals cost; [robust ones](noise.md#outliers) limit the pull of outliers | `"squares"` |
| `loss_scale` | number | deviations | 1.345 | where residuals begin to be outliers | `1.345` |
| `synthetic_noise` | table | | none | noise on a simulated reference; only without `[data]` | `{ seed = 1, level = 0.01 }` |
| `integral` | formula | | none | in the place of a sum of squares: [what is integrated over time](costs.md) | `"OUTPUT^2"` |
| `terminal` | formula | | none | in the place of a sum of squares: what is added at the last time | `"OUTPUT^2"` |"#,
};

pub(super) const SYNTHETIC_NOISE: Keys = Keys {
    head: "[cost.synthetic_noise]",
    about: "Also `synthetic_noise = { seed = 1, level = 0.01 }`.",
    rows: r#"| `seed` | whole number | | 1 | the same seed gives the same noise | `1` |
| `level` | number, or a table of numbers by output | none, or the output's | must be given | part of each output's spread, or standard deviations | `0.01` |"#,
};

pub(super) const PARAMETER: Keys = Keys {
    head: "[parameters.NAME]",
    about: "Also `NAME = { .. }` in `[parameters]`, and `parameters.NAME = { .. }` in an experiment.",
    rows: r#"| `start` | number | the parameter's | the scenario's, or nominal | where the search begins, or the value of what is fixed | `1.0` |
| `start_column` | text | | none | a local parameter starts from the first sample that this column has in the experiment | `"COLUMN"` |
| `lower` | number | the parameter's | the model's | smallest value | `0.1` |
| `upper` | number | the parameter's | the model's | largest value | `10.0` |
| `scale` | `linear` or `log` | | the model's | scaling of the search | `"log"` |
| `size` | number | the parameter's | the nominal value | a change that matters; needed where that value is zero | `1e-3` |
| `fixed` | true or false | | the model's | true: it keeps its start | `true` |
| `free` | true or false | | the model's | the opposite of `fixed`; only one of them is given | `true` |
| `local` | true or false | | false | true: every experiment has its own, `NAME@EXPERIMENT` | `true` |
| `prior` | table | | none | what is known of it before: one of the following | `{ normal = [1.0, 0.1] }` |
| `expr` | text | | none | the formula by which it [follows from others](derived.md); it is then none that is searched for | `"m*l^2/12"` |
| `unit` | text | | none | of a new parameter, which formulas of others name | `"kg/m^3"` |
| `nominal` | number | its own | its start | of a new parameter: its value in a reference that is simulated | `7850.0` |"#,
};

pub(super) const PRIOR: Keys = Keys {
    head: "[parameters.NAME.prior]",
    about: "Also `prior = { normal = [40.0, 2.0] }`; one of these. [What priors do](priors.md).",
    rows: r#"| `normal` | list of two numbers | the parameter's | | mean and standard deviation; in the place of that `"estimated"`: [one for all that say so](priors.md#deviations-that-are-found), by the evidence | `[1.0, 0.1]` |
| `log-normal` | list of two numbers | the parameter's, and none | | median, and the factor to both sides that holds 68 %; in the place of that `"estimated"`, likewise | `[1.0, 1.1]` |
| `uniform` | list of two numbers | the parameter's | | both ends; the same as `lower` and `upper` | `[0.5, 2.0]` |"#,
};

pub(super) const MODE: Keys = Keys {
    head: "[[mode]]",
    about: "What was measured of a mode; beside records, or alone without `[data]`. [More](modes.md#measured-modes).",
    rows: r#"| `number` | whole number | | must be given | which one, the slowest first, as `costate modes` counts them | `1` |
| `natural_frequency` | list of two numbers | Hz | none | without damping; value and deviation | `[2.31, 0.01]` |
| `damped_frequency` | list of two numbers | Hz | none | as it is heard after a blow; value and deviation | `[2.30, 0.01]` |
| `damping_ratio` | list of two numbers | | none | beside critical damping; value and deviation | `[0.02, 0.002]` |"#,
};

pub(super) const RESPONSE: Keys = Keys {
    head: "[[response]]",
    about: "A measured frequency response; beside records, or alone without `[data]`. [More](modes.md#frequency-responses).",
    rows: r#"| `file` | text | | must be given | its record, in CSV or of [MATLAB](experiments.md#files): a line a frequency | `"response.csv"` |
| `input` | text | | must be given | the model's input that it is from | `"INPUT"` |
| `output` | text | | must be given | the output that it leads to | `"OUTPUT"` |
| `name` | text | | `OUTPUT/INPUT` | its name in results | `"accelerance"` |
| `frequency` | text | | `f`, `freq`, `frequency`, `omega` or `w` | column of frequencies | `"f"` |
| `frequency_unit` | text | | that of its header, or Hz (`omega` and `w`: rad/s) | unit of that column | `"rad/s"` |
| `magnitude` | text | | `magnitude`, `mag`, `amplitude`, `gain`, `abs` or `H` | column of magnitudes | `"COLUMN"` |
| `phase` | text | | `phase`, `arg` or `angle` | column of phases, of motions e^(iωt): negative where the output is late | `"COLUMN"` |
| `phase_unit` | `deg` or `rad` | | that of its header | unit of that column | `"deg"` |
| `real` | text | | `real` or `re` | in the place of magnitude and phase: column of real parts | `"COLUMN"` |
| `imaginary` | text | | `imaginary`, `imag` or `im` | column of imaginary parts | `"COLUMN"` |
| `unit` | text | | that of their headers, or the output's over the input's | unit of magnitudes or parts, [from which they are converted](experiments.md#units); `dB`, or `dB re 1 UNIT` | `"mm/N"` |
| `from` | number | Hz | the lowest | lines below it are left out | `1.0` |
| `until` | number | Hz | the highest | lines above it are left out | `50.0` |
| `compare` | `complex`, `logarithm`, `amplitude` or `level` | | `complex`; without phases `amplitude` | both parts; logarithm of the magnitude, and phase; magnitude alone, or its logarithm | `"complex"` |
| `relative_deviation` | number | | none | standard deviation of each part beside the magnitude (and of the phase in rad) | `0.02` |
| `deviation` | number | the output's over the input's | none | standard deviation of each part; squares of both are added | `1e-3` |
| `coherence` | text | | none | column of coherence γ², from which relative deviations follow | `"COLUMN"` |
| `averages` | number | | must be given with `coherence` | windows that the analyser has averaged over | `50` |"#,
};

pub(super) const CONSTRAINT: Keys = Keys {
    head: "[[constraint]]",
    about: "One of `rule`, `sum` and `output`; with the latter two, a limit. [More](constraints.md).",
    rows: r#"| `name` | text | | the rule, sum or output | for reports | `"total mass"` |
| `rule` | text | | | as on the command line: `\"a + 2 b = 3\"`, `\"peak y <= 0.3\"`, `\"y = 0 at end\"` | `"NAME = 3.5"` |
| `sum` | table of numbers | | | weights of parameters | `{ NAME = 1.0, OTHER = 1.0 }` |
| `output` | text | | | at every time, each with its own multiplier | `"OUTPUT"` |
| `equals` | number | that of the sum or output | none | both limits | `3.5` |
| `at_most` | number | that of the sum or output | none | upper limit | `12.0` |
| `at_least` | number | that of the sum or output | none | lower limit | `0.0` |
| `unit` | text | | that of the parameters | unit of the sum, for reports | `"kg"` |
| `time` | `end` | | every time | at the end only | `"end"` |
| `from` | number | s | the start | an output's limit holds from here | `0.0` |
| `until` | number | s | the end | an output's limit holds until here | `1.0` |"#,
};

pub(super) const OPTIMISER: Keys = Keys {
    head: "[optimiser]",
    about: "[Which method](methods.md).",
    rows: r#"| `method` | `lm`, `gauss-newton`, `bfgs`, `l-bfgs`, `ding`, `newton-tr`, `dfp`, `steepest-descent` or `steepest-descent-fixed`; or a solver of argmin: `argmin:lbfgs`, `argmin:bfgs`, `argmin:conjugate-gradient`, `argmin:trust-region`, `argmin:nelder-mead`, `argmin:particle-swarm` | | by the problem | how the optimum is searched | `"lm"` |
| `max_evaluations` | whole number | | 2000 | stop after so many simulations, those of all rounds and refinements together; 20000 with `[control]` | `2000` |
| `max_iterations` | whole number | | 1000 | stop after so many steps, likewise; 10000 with `[control]` | `1000` |
| `homotopy` | `true`, or a table | | none | the model is [pulled towards its record](homotopy.md) on the way: `[optimiser.homotopy]` | `true` |
| `cost_target` | number | that of the cost | -inf | stop at this cost | `0.0` |
| `gradient_tolerance` | number | | 1e-12 | MINPACK's gtol for least squares; else what is left of the gradient at the start | `1e-12` |
| `cost_tolerance` | number | | 1e-24 | MINPACK's ftol, for least squares | `1e-24` |
| `step_tolerance` | number | | 1e-15 | MINPACK's xtol | `1e-15` |
| `constraint_tolerance` | number | | 1e-8 | by how much constraints may be violated, relative to their sizes | `1e-8` |
| `penalty` | number | that of the cost | from cost and gradient at the start | first penalty on constraints | `10.0` |"#,
};

pub(super) const HOMOTOPY: Keys = Keys {
    head: "[optimiser.homotopy]",
    about: "Also `homotopy = { stages = 10 }` in `[optimiser]`. [How it works](homotopy.md).",
    rows: r#"| `stages` | whole number | | 5 | the pull falls by 1/stages from fit to fit, by more or less where fits follow or do not | `10` |
| `gain` | number | | 3 | the frequency of the pull beside that of the record | `3.0` |"#,
};

pub(super) const CONTROL: Keys = Keys {
    head: "[control]",
    about: "For `costate control`. [More](control.md).",
    rows: r#"| `signal` | list of tables | | none | inputs and motions that are to be found | |
| `goal` | list of tables | | none | what outputs are to do | |
| `information` | table | | none | what the run is to say of parameters | |
| `integral` | formula | | none | [cost](costs.md) besides goals: what is integrated over time | `"OUTPUT^2"` |
| `terminal` | formula | | none | cost besides goals: what is added at the last time | `"OUTPUT^2"` |
| `refinements` | whole number | | 0 | so many times more, each with half the step | `1` |"#,
};

pub(super) const SIGNAL: Keys = Keys {
    head: "[[control.signal]]",
    about: "An input, or a driven motion of the model (without `start`, `intervals` and `shape`).",
    rows: r#"| `input` | text | | must be given | the input's or the motion's name | `"INPUT"` |
| `size` | number | the input's | must be given | the magnitude that counts as 1 | `100.0` |
| `start` | number | the input's | the scenario's signal | a constant to begin with | `0.0` |
| `intervals` | whole number | | a node at every step | intervals between nodes; of a Fourier series, harmonics | `60` |
| `shape` | `linear`, `constant`, `cubic` or `fourier` | | `linear` | straight lines; one value an interval (no `rate`); a cubic B-spline, three coefficients more than intervals; a Fourier series (no bounds) | `"linear"` |
| `lower` | number | the input's | none | smallest value | `-120.0` |
| `upper` | number | the input's | none | largest value | `120.0` |
| `rate` | number | the input's per s | none | largest change a second, by multipliers | `1e3` |
| `effort` | number | | 0 | weight of ½ ∫ ((w - about)/size)² dt | `1e-4` |
| `about` | number | the input's | 0 | what the effort is measured from | `0.0` |
| `smoothness` | number | | 0 | weight of ½ ∫ (w'/size)² dt | `0.0` |"#,
};

pub(super) const GOAL: Keys = Keys {
    head: "[[control.goal]]",
    about: "One of `reach`, a soft limit (`lower`, `upper`) and `follow`.",
    rows: r#"| `output` | text | | must be given | what the goal is about | `"OUTPUT"` |
| `reach` | number | the output's | none | its value at the end | `3.14` |
| `lower` | number | the output's | none | soft lower limit at all times | `-1.0` |
| `upper` | number | the output's | none | soft upper limit at all times | `1.0` |
| `follow` | text | | none | file of a path, in CSV or of MATLAB | `"path.csv"` |
| `column` | text | | the output's name | column of that file | `"COLUMN"` |
| `unit` | text | | that of its header, or the output's | unit of that column | `"mm"` |
| `scale` | number | the output's | that of the unit | value of 1 in that column | `0.0015` |
| `offset` | number | the output's | 0 | value of 0 in that column | `-2.5` |
| `max_gap` | number | s | five of its usual intervals | the longest interval between two samples of the path over which it is a straight line; a longer one is refused | `0.5` |
| `weight` | number | | 1 | weight of ½ (distance)² | `1.0` |
| `must` | true or false | | false | true: a constraint, in the place of a term of the cost | `true` |"#,
};

pub(super) const INFORMATION: Keys = Keys {
    head: "[control.information]",
    about: "[Information](design.md#excitations-that-are-found) that the run is to give of parameters, besides goals or in their place: the cost is the logarithm of a mean of standard errors.",
    rows: r#"| `outputs` | table of numbers | the output's | must be given | what is measured, with the standard deviations of the noise | `{ OUTPUT = 1e-3 }` |
| `sampling` | number | s | the time step | time between two samples, a multiple of the step | `0.01` |
| `parameters` | list of texts | | all that are not found | what is to be identified, each with a size | `["NAME"]` |
| `of` | list of texts | | all of these | those that count; the others are unknown, too | `["NAME"]` |
| `criterion` | `D`, `A` or `E` | | `D` | [which mean](design.md#candidates) | `"D"` |
| `known` | number | | nothing is known | standard deviation of what is known of each before, in its sizes | `3.0` |
| `weight` | number | | 1 | beside goals | `1.0` |"#,
};

/// All tables of keys, in the order of the page.
const ALL: [&Keys; 21] = [
    &TOP,
    &DATA,
    &INPUT,
    &OUTPUT,
    &SPECTRUM,
    &EXPERIMENT,
    &CANDIDATE,
    &INTEGRATOR,
    &COST,
    &SYNTHETIC_NOISE,
    &PARAMETER,
    &PRIOR,
    &CONSTRAINT,
    &MODE,
    &RESPONSE,
    &OPTIMISER,
    &HOMOTOPY,
    &CONTROL,
    &SIGNAL,
    &GOAL,
    &INFORMATION,
];

/// All keys of problem files as a page of Markdown, a table for each table of the file: name, type, unit, default, meaning and
/// an example.
pub fn reference() -> String {
    let mut page = "\
# Keys of problem files

A problem file is [TOML](https://toml.io). Only `model` must be given; what is left out comes from the model's built-in scenario. An unknown
key is refused, with the nearest known one. Examples: [one record](../examples/oscillator.toml), [several](../examples/own_model/problem.toml),
[constraints](../examples/constrained.toml), [control](../examples/cart_pole.toml).
"
    .to_string();
    page.extend(ALL.into_iter().map(Keys::page));
    page
}

/// A line that a section of a file may have.
#[non_exhaustive]
pub struct Hint {
    /// The key that it begins with.
    pub key: &'static str,
    /// The line, with an example of a value.
    pub line: String,
    /// Choices, unit and meaning.
    pub meaning: String,
}

/// The sections that are lists of tables.
pub const LISTS: [&str; 7] =
    ["experiment", "candidate", "constraint", "mode", "response", "control.signal", "control.goal"];

/// Everything that may be said in a section, each in a line of its own.
pub fn hints(section: &str) -> Vec<Hint> {
    match section {
        "data" => {
            let mut all = written(&DATA, "", |line| line);
            all.retain(|hint| !["inputs", "outputs"].contains(&hint.key));
            all.extend(written(&INPUT, "inputs", |line| format!("inputs.NAME = {{ {line} }}")));
            all.extend(written(&OUTPUT, "outputs", |line| format!("outputs.NAME = {{ {line} }}")));
            all
        }
        "experiment" => {
            let file = written(&DATA, "", |line| line).into_iter().filter(|hint| hint.key == "file");
            file.chain(written(&EXPERIMENT, "", |line| line)).collect()
        }
        "parameters" => {
            let mut all = written(&PARAMETER, "", |line| format!("NAME = {{ {line} }}"));
            all.retain(|hint| hint.key != "prior");
            all.extend(written(&PRIOR, "prior", |line| format!("NAME = {{ prior = {{ {line} }} }}")));
            all
        }
        _ => {
            let is_this = |keys: &&&Keys| keys.head.trim_matches(['[', ']']) == section;
            ALL.iter().find(is_this).map_or_else(Vec::new, |keys| written(keys, "", |line| line))
        }
    }
}

/// The keys that have an example, as lines that begin with `key`, or with their own names if it is empty.
fn written(keys: &Keys, key: &'static str, line: impl Fn(String) -> String) -> Vec<Hint> {
    let of = |[name, kind, unit, meaning, example]: [&'static str; 5]| Hint {
        key: if key.is_empty() { name } else { key },
        line: line(format!("{name} = {example}")),
        meaning: {
            let choices = if kind.contains('`') { kind } else { "" };
            let unit = if unit.contains(' ') { "" } else { unit };
            let parts: Vec<String> =
                [unit, meaning, choices].map(unmarked).into_iter().filter(|p| !p.is_empty()).collect();
            parts.join("; ")
        },
    };
    keys.rows().filter(|[.., example]| !example.is_empty()).map(of).collect()
}

/// Markdown without its marks: `[text](address)` is `text`.
pub fn unmarked(text: &str) -> String {
    let mut text = text.replace('`', "");
    while let Some((before, after)) = text.split_once("](") {
        let (head, label) = before.rsplit_once('[').unwrap_or(("", before));
        let (_, tail) = after.split_once(')').unwrap_or(("", after));
        text = format!("{head}{label}{tail}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Protects settings of schemes: each has a key.
    #[test]
    fn settings_of_schemes_are_keys() {
        for setting in costate::scheme::settings() {
            assert!(INTEGRATOR.names().any(|name| name == setting), "{setting}");
        }
    }

    /// Protects `costate init` from rows that it cannot read.
    #[test]
    fn all_rows_have_all_cells() {
        for keys in ALL {
            assert_eq!(keys.rows().count(), keys.rows.lines().count(), "{}", keys.head);
        }
        assert_eq!(unmarked("a [b](c.md) of `[d]`"), "a b of [d]");
    }
}
