//! Every key of a problem file that `init` may leave commented, with its meaning: a new key of the parser is a line here.

/// A key in a section, as it could be written.
pub(super) struct Key {
    /// The section's name, as in `[integrator]`.
    pub section: &'static str,
    /// The line, with a value that makes sense.
    pub line: &'static str,
    /// What it says, and what holds without it.
    pub meaning: &'static str,
}

impl Key {
    /// What stands before the first `=` or `.`.
    pub fn name(&self) -> &'static str {
        self.line.split(['=', '.']).next().unwrap_or_default().trim()
    }
}

/// The sections that are lists of tables: `[[constraint]]`.
pub(super) const LISTS: [&str; 4] = ["experiment", "constraint", "control.signal", "control.goal"];

const fn key(section: &'static str, line: &'static str, meaning: &'static str) -> Key {
    Key { section, line, meaning }
}

/// All of them, section by section.
#[rustfmt::skip]
pub(super) const KEYS: &[Key] = &[
    key("data", r#"file = "record.csv""#, "the record, beside this file; without it, the reference is a simulation"),
    key("data", r#"time = "t""#, "the column of times, s; without it `t` or `time`"),
    key("data", r#"interpolation = "linear""#, "of inputs that are matched by name: zero-order, linear, cubic"),
    key("data", "from = 0.0", "s; samples before it are left out"),
    key("data", "until = 10.0", "s; samples after it are left out"),
    key("data", r#"split = "segment""#, "rows of one number in this column are an experiment of their own"),
    key("data", r#"inputs.NAME = { column = "COLUMN", interpolation = "linear" }"#, "a column that drives an input"),
    key("data", r#"outputs.NAME = { column = "COLUMN", deviation = 1.0 }"#, "a column that an output is compared with"),
    key("data", r#"outputs.NAME = { sensor = ["gain", "bias", "delay"] }"#, "what its sensor does: parameters gain_NAME, bias_NAME, delay_NAME (s)"),
    key("data", r#"outputs.NAME = { deviation = "estimated" }"#, "of its noise, found with the parameters; one for all experiments that say so"),
    key("data", r#"outputs.NAME = { loss = "huber", loss_scale = 1.345 }"#, "outliers pull with limited force; or soft-l1"),
    key("data", "outputs.NAME = { low_pass = 20.0, every = 5 }", "Hz, a filter on record and model alike; and every fifth sample"),

    key("experiment", r#"name = "another""#, "in names of parameters and files; without it that of the file"),
    key("experiment", r#"file = "another.csv""#, "several of these take the place of `file` in [data], which says what they share"),
    key("experiment", "validation = true", "compared with the result, and not fitted"),
    key("experiment", "weight = 1.0", "of its residuals beside those of others"),
    key("experiment", r#"initial_state = "as-given""#, "as in [integrator], for this one"),
    key("experiment", r#"hold = ["COORDINATE"]"#, "as in [integrator], for this one"),
    key("experiment", "parameters.NAME = { start = 0.0 }", "of a parameter with `local = true`: its own start, bounds and so on"),
    key("experiment", r#"time = "t""#, "this and the following: as in [data], for this one"),
    key("experiment", r#"interpolation = "linear""#, ""),
    key("experiment", "from = 0.0", ""),
    key("experiment", "until = 10.0", ""),
    key("experiment", r#"split = "segment""#, ""),
    key("experiment", r#"inputs.NAME = { column = "COLUMN" }"#, ""),
    key("experiment", r#"outputs.NAME = { column = "COLUMN", deviation = 1.0 }"#, ""),

    key("integrator", r#"scheme = "generalized-alpha""#, "or hht, hht-literal, newmark, trapezoidal, ali3p, i2p, bdf2"),
    key("integrator", "substeps = 1", "time steps between two samples of a record"),
    key("integrator", "step = 1e-3", "s; with a record it must divide the sampling"),
    key("integrator", "end = 1.0", "s; with a record it must be the record's"),
    key("integrator", r#"initial_state = "as-given""#, "or projected (onto the constraints), equilibrium (at rest, forces in balance)"),
    key("integrator", r#"hold = ["COORDINATE"]"#, "coordinates that a projected start keeps while it moves others"),
    key("integrator", r#"memory = "200MB""#, "what states of runs may take; a quarter of the memory otherwise"),
    key("integrator", "alpha = -0.05", "numerical damping of hht, from -1/3 to 0"),
    key("integrator", "spectral_radius = 0.8", "of generalized-alpha and i2p at high frequencies, from 0 to 1"),
    key("integrator", "start_order = 1", "of hht: 2 for accelerations of second order from the first step"),
    key("integrator", "gamma = 0.5", "of newmark"),
    key("integrator", "penalty = 1e9", "of ali3p, for redundant constraints"),

    key("cost", r#"weights = "unit""#, "of samples: unit, rectangle, trapezoid"),
    key("cost", r#"noise = "estimated""#, "or given: deviations are standard deviations of the noise"),
    key("cost", r#"loss = "squares""#, "or huber, soft-l1, for which outliers pull with limited force"),
    key("cost", "loss_scale = 1.345", "in deviations: residuals beyond it are outliers, for huber and soft-l1"),
    key("cost", r#"outputs = ["OUTPUT"]"#, "what is compared without a record"),
    key("cost", "synthetic_noise = { seed = 1, level = 0.01 }", "without a record: part of each output's spread, or level = { OUTPUT = 1e-3 }"),

    key("parameters", "NAME = { start = 1.0, lower = 0.1, upper = 10.0, free = true }", "without a bound there is none; what is not named is as the model says"),
    key("parameters", r#"NAME = { local = true, start_column = "COLUMN" }"#, "every experiment has its own, which starts from the column's first sample"),
    key("parameters", r#"NAME = { scale = "log" }"#, "for positive parameters that are known to a factor only"),
    key("parameters", "NAME = { size = 1e-3 }", "a change that matters, for those that start at zero"),
    key("parameters", "NAME = { prior = { normal = [1.0, 0.1] } }", "mean, deviation; or log-normal = [1.0, 1.1]: median, factor; or uniform"),
    key("parameters", "NAME = { fixed = true }", "the same as free = false"),

    key("constraint", r#"rule = "NAME = 3.5""#, "as on the command line: \"a + 2 b = 3\", \"peak OUTPUT <= 12\", \"OUTPUT = 0 at end\"; or:"),
    key("constraint", r#"name = "total mass""#, "for reports"),
    key("constraint", "sum = { NAME = 1.0, OTHER = 1.0 }", "weights of parameters; or:"),
    key("constraint", r#"output = "OUTPUT""#, "at every time"),
    key("constraint", "equals = 3.5", "or one of these or both:"),
    key("constraint", "at_most = 12.0", ""),
    key("constraint", "at_least = 0.0", ""),
    key("constraint", r#"unit = "kg""#, "without it, that of the parameters"),
    key("constraint", "from = 0.0", "s; of an output: not before"),
    key("constraint", "until = 1.0", "s; of an output: not after"),
    key("constraint", r#"time = "end""#, "of an output: at the end only"),

    key("optimiser", r#"method = "lm""#, "or gauss-newton, bfgs, l-bfgs, ding, newton-tr, dfp, steepest-descent, steepest-descent-fixed"),
    key("optimiser", "max_evaluations = 2000", "stop after so many simulations"),
    key("optimiser", "max_iterations = 1000", "stop after so many steps"),
    key("optimiser", "cost_target = 0.0", "stop at this cost; without it at none"),
    key("optimiser", "gradient_tolerance = 1e-12", "MINPACK's gtol"),
    key("optimiser", "cost_tolerance = 1e-24", "MINPACK's ftol"),
    key("optimiser", "step_tolerance = 1e-15", "MINPACK's xtol"),
    key("optimiser", "constraint_tolerance = 1e-8", "relative to a constraint's size"),
    key("optimiser", "penalty = 10.0", "the first one, in units of the cost; without it, one is chosen"),

    key("control", "refinements = 1", "for `costate control`: once more with half the step, so often"),
    key("control.signal", r#"input = "INPUT""#, "an input or a driven motion that is to be found"),
    key("control.signal", "size = 100.0", "its magnitude"),
    key("control.signal", "start = 0.0", "a constant; without it the built-in signal"),
    key("control.signal", "intervals = 60", "without it, a node at every step"),
    key("control.signal", r#"shape = "linear""#, "or constant, cubic, fourier"),
    key("control.signal", "lower = -120.0", "bounds"),
    key("control.signal", "upper = 120.0", ""),
    key("control.signal", "rate = 1e3", "the largest change a second"),
    key("control.signal", "effort = 1e-4", "weight of half the integral of ((w - about)/size)^2"),
    key("control.signal", "about = 0.0", ""),
    key("control.signal", "smoothness = 0.0", "weight of the same of changes"),
    key("control.goal", r#"output = "OUTPUT""#, "what is to do one of the following"),
    key("control.goal", "reach = 3.14", "at the end; or:"),
    key("control.goal", "lower = -1.0", "soft limits; or:"),
    key("control.goal", "upper = 1.0", ""),
    key("control.goal", r#"follow = "path.csv""#, "a record"),
    key("control.goal", r#"column = "COLUMN""#, "of that record"),
    key("control.goal", "weight = 1.0", "beside other goals"),
    key("control.goal", "must = true", "a constraint in the place of a cost"),
];
