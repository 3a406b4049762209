//! All keys of mechanism files: what the reader knows, what it suggests for a misspelt one, and what `docs/mechanism-file.md` says are one and the
//! same.

use crate::formula::FUNCTIONS;
use costate_identify::problem_file::Keys;

pub(crate) const TOP: Keys = Keys {
    head: "",
    about: "At the top of the file.",
    rows: r#"| `name` | text | | the file's name | the model's name | `"duffing"` |
| `summary` | text | | none | one line on what it is | `"mass on a hardening spring"` |
| `version` | whole number | | 1 | version of this format; another one than 1 is refused | `1` |
| `kind` | `plain` | | `plain` | a model by formulas | `"plain"` |
| `units` | true or false | | true | false: no formula of the file is checked for units | `true` |
| `coordinates` | table of texts | | none | coordinates with their units; `x'` and `x''` in formulas are velocity and acceleration | `{ x = "m" }` |
| `states` | table of texts | | none | [first-order states](states.md) with their units; `z'` is the rate | `{ current = "A" }` |
| `inputs` | table of texts | | none | inputs with their units | `{ F = "N" }` |
| `constants` | table | | none | numbers with a unit, or without | `{ g = { unit = "m/s^2", is = 9.81 } }` |
| `parameters` | table of tables | | none | what may be identified, in the order of the file | `{ k = { unit = "N/m", nominal = 40.0 } }` |
| `definitions` | table of formulas | | none | names for parts of formulas; their units follow | `{ spring = "k*x" }` |
| `tables` | table of tables | | none | functions by points | `{ magnet = { over = "m", unit = "N", at = [0.0, 0.1], is = [0.0, 2.0] } }` |
| `mass` | table of formulas | | zero | entries of the mass matrix by coordinate, or by two: `"x, theta"` stands for both of its places | `{ x = "m" }` |
| `force` | table of formulas | | zero | generalised forces Q by coordinate | `{ x = "F - k*x" }` |
| `rates` | table of formulas | | zero | rates of states | `{ current = "(U - R*current)/L" }` |
| `constraints` | table of tables | | none | rows that are zero | `{ rod = { unit = "m^2", is = "x^2 + y^2 - L^2" } }` |
| `start` | table of formulas | | zero | positions, velocities (`"x'"`) and states at t = 0, from parameters and constants | `{ x = "x0" }` |
| `energy` | table of formulas | | none | `kinetic`, `potential` and `dissipation`: M and forces follow | `{ kinetic = "m*x'^2/2" }` |
| `outputs` | table of tables | | none | what sensors see | `{ a = { unit = "m/s^2", is = "x''" } }` |
| `scenario` | table | | | how it is tried where nothing else is said | `{ end = 5.0 }` |"#,
};

pub(crate) const CONSTANT: Keys = Keys {
    head: "[constants.NAME]",
    about: "Also `NAME = 9.81`, a number that takes any unit.",
    rows: r#"| `unit` | text | | none: it takes any | unit of the constant | `"m/s^2"` |
| `is` | number or formula | its unit | must be given | the value, from other constants | `9.81` |"#,
};

pub(crate) const PARAMETER: Keys = Keys {
    head: "[parameters.NAME]",
    about: "As in a model of Rust; problem files go over all but the unit.",
    rows: r#"| `unit` | text | | a plain number | unit of the parameter | `"N/m"` |
| `nominal` | number | the parameter's | must be given | the value where nothing else is said | `40.0` |
| `lower` | number | the parameter's | none | smallest value | `0.0` |
| `upper` | number | the parameter's | none | largest value | `1e3` |
| `size` | number | the parameter's | the nominal value | a change that matters; wanted where that value is zero | `0.01` |
| `scale` | `linear` or `log` | | `linear` | scaling for the optimiser | `"log"` |
| `fixed` | true or false | | false | true: an identification keeps it unless told otherwise | `true` |"#,
};

pub(crate) const FORMULA: Keys = Keys {
    head: "{ is, units }",
    about: "In the place of a formula in `mass`, `force`, `rates`, `start`, `definitions` and `energy`.",
    rows: r#"| `is` | formula | | must be given | the formula | `"F - k*x"` |
| `units` | true or false | | true | false: this formula is not checked for units | `false` |"#,
};

pub(crate) const CONSTRAINT: Keys = Keys {
    head: "[constraints.NAME]",
    about: "A row of C(t, q, u) = 0.",
    rows: r#"| `unit` | text | | a plain number | unit of the row; the multiplier's follows | `"m^2"` |
| `is` | formula | its unit | must be given | what is zero | `"x^2 + y^2 - L^2"` |
| `units` | true or false | | true | false: this formula is not checked for units | `false` |"#,
};

pub(crate) const OUTPUT: Keys = Keys {
    head: "[outputs.NAME]",
    about: "Only outputs see accelerations (`x''`, `z'`), multipliers and what is made of them.",
    rows: r#"| `unit` | text | | a plain number | unit of the output | `"m/s^2"` |
| `is` | formula | its unit | must be given | what is seen | `"x''"` |
| `turns` | true or false | | false | true: an angle in rad that is known up to whole turns, such as from `atan2` | `true` |
| `units` | true or false | | true | false: this formula is not checked for units | `false` |"#,
};

pub(crate) const TABLE: Keys = Keys {
    head: "[tables.NAME]",
    about: "A function of one number, `NAME(x)` in formulas; beyond its ends the last piece goes on. Points in the file, or columns of a record.",
    rows: r#"| `over` | text | | a plain number | unit of what it is a function of | `"m"` |
| `unit` | text | | a plain number | unit of its values | `"N"` |
| `at` | list of numbers | that of `over` | must be given, or `file` | points, which increase | `[0.0, 0.1, 0.2]` |
| `is` | list of numbers | its unit | must be given, or `file` | values there | `[0.0, 1.0, 1.5]` |
| `file` | text | | none | a record with the points, beside this file | `"damper.csv"` |
| `columns` | list of two texts | | must be given with `file` | columns of points and of values; units in their headers are converted | `["v", "F"]` |
| `interpolation` | `linear` or `cubic` | | `linear` | straight lines, or a cubic spline (four points at least) | `"cubic"` |"#,
};

pub(crate) const ENERGY: Keys = Keys {
    head: "[energy]",
    about: "Mass matrix and forces by derivatives of these: M = ∂²T/∂q'∂q', and d/dt ∂T/∂q' - ∂T/∂q + ∂V/∂q + ∂D/∂q' = Q, where Q are the formulas in `force`.",
    rows: r#"| `kinetic` | formula | J | zero | T(q, q'), quadratic in the velocities | `"m*x'^2/2"` |
| `potential` | formula | J | zero | V(q, t) | `"k*x^2/2"` |
| `dissipation` | formula | W | zero | Rayleigh's D(q, q') | `"d*x'^2/2"` |"#,
};

pub(crate) const SCENARIO: Keys = Keys {
    head: "[scenario]",
    about: "The built-in problem: what every command takes where nobody says anything else. Settings of schemes (`alpha`, ..) are keys here, too.",
    rows: r#"| `end` | number | s | 1 | end of the simulated time | `10.0` |
| `step` | number | s | 1e-3 | time step | `5e-3` |
| `scheme` | text | | `generalized-alpha`, or `hht` with an `alpha` | [time integrator](schemes.md) | `"generalized-alpha"` |
| `initial_state` | `as-given`, `projected` or `equilibrium` | | `as-given` | start of simulations | `"projected"` |
| `inputs` | table of formulas | the inputs' | zero | signals, as formulas in `t` | `{ F = "8*sin(3*t)" }` |
| `start` | table of numbers | the parameters' | nominal values | where an identification begins | `{ k = 30.0 }` |
| `outputs` | list of texts | | all | outputs that are compared | `["a"]` |"#,
};

/// All tables of keys, in the order of the page.
const ALL: [&Keys; 9] = [&TOP, &PARAMETER, &CONSTANT, &OUTPUT, &CONSTRAINT, &FORMULA, &TABLE, &ENERGY, &SCENARIO];

const PREFACE: &str = "\
# Mechanism files

A mechanism as a file, [TOML](https://toml.io), without a compiler: coordinates, parameters, and formulas for mass, force, constraints and outputs.
Its derivatives are as exact as those of a model in Rust; every command takes the file in the place of a model's name.

```toml
name = \"duffing\"
coordinates = { x = \"m\" }
inputs = { F = \"N\" }
mass = { x = 1.5 }
force = { x = \"F - (k + k3*x^2)*x - d*x'\" }
outputs = { a = { unit = \"m/s^2\", is = \"x''\" } }

[parameters]
k = { unit = \"N/m\", nominal = 40.0, lower = 0.0 }
k3 = { unit = \"N/m^3\", nominal = 300.0 }
d = { unit = \"N s/m\", nominal = 0.8, lower = 0.0 }

[scenario]
end = 10.0
step = 5e-3
inputs = { F = \"8*sin(3*t) + 4*sin(7.1*t)\" }
start = { k = 30.0, k3 = 200.0, d = 1.2 }
```

```sh
costate check duffing.toml            # derivatives, gradient
costate simulate duffing.toml         # states, outputs, figures
costate identify duffing.toml         # the built-in problem
costate init duffing.toml --data record.csv    # a problem file for a record of your own
```

A problem file names it as its model, `model = \"duffing.toml\"`, beside itself; results hold its SHA-256. Ready models as files:
[`models/files`](../models/files).

## Formulas

Numbers, names, `+ - * / ^`, brackets and functions. `x'` and `x''` are velocity and acceleration of a coordinate `x`, `z'` the rate of a state `z`; `t` is
the time, `pi` a number. `-x^2` is -(x²), `a^b^c` is a^(b^c). What stands twice is computed once.

FUNCTIONS

Where a formula has a kink (`if`, `abs`, `min`, `max`, `clamp`, linear tables) its derivatives are those of one side; a stiff force with a kink may keep
Newton's iteration from converging.

## Units

Every formula is checked: terms of a sum are in one unit, arguments of `sin` are plain numbers or rad, a force is in N for a coordinate in m and in N m for one in
rad (V for one in C), and outputs are in the unit that they state. So are scales: `N/mm` beside `N/m` is refused, and nothing is converted. A number alone
takes any unit, `3[rad/s]*t` has one. Signals of `[scenario]` are not checked. What units cannot see are signs: compare a free motion of the model with what you know of it,
and look at its energy.

```text
duffing.toml, line 5: force of `x`: this adds [N/m] and [N/m^2]; check the formula and the units of what it names (`units = false` leaves it unchecked)
    F - (k + k3*x)*x - d*x'
        ^^^^^^^^^^
```

## Keys

An unknown key is refused, with the nearest known one.
";

/// All keys of mechanism files as a page of Markdown.
pub fn reference() -> String {
    let page = PREFACE.replace("FUNCTIONS", FUNCTIONS);
    std::iter::once(page).chain(ALL.into_iter().map(Keys::page)).collect()
}
