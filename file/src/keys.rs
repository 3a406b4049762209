//! All keys of mechanism files: what the reader knows, what it suggests for a misspelt one, and what `docs/mechanism-file.md` says are one and the
//! same.

use crate::formula::FUNCTIONS;
use costate_identify::problem_file::Keys;

pub(crate) const HEAD: Keys = Keys {
    head: "",
    about: "At the top of every file.",
    rows: r#"| `name` | text | | the file's name | the model's name | `"duffing"` |
| `summary` | text | | none | one line on what it is | `"mass on a hardening spring"` |
| `version` | whole number | | 1 | version of this format; another one than 1 is refused | `1` |
| `kind` | `plain`, `planar` or `spatial` | | `plain` | a model by formulas, or from parts of the plane or of space | `"plain"` |
| `units` | true or false | | true | false: no formula of the file is checked for units | `true` |
| `inputs` | table of texts | | none | inputs with their units | `{ F = "N" }` |
| `constants` | table | | none | numbers with a unit, or without | `{ g = { unit = "m/s^2", is = 9.81 } }` |
| `parameters` | table of tables | | none | what may be identified, in the order of the file | `{ k = { unit = "N/m", nominal = 40.0 } }` |
| `definitions` | table of formulas | | none | names for parts of formulas; their units follow | `{ spring = "k*x" }` |
| `tables` | table of tables | | none | functions by points | `{ magnet = { over = "m", unit = "N", at = [0.0, 0.1], is = [0.0, 2.0] } }` |
| `scenario` | table | | | how it is tried where nothing else is said | `{ end = 5.0 }` |"#,
};

pub(crate) const PLAIN: Keys = Keys {
    head: "kind = \"plain\"",
    about: "At the top of a file with a model by formulas.",
    rows: r#"| `coordinates` | table of texts | | none | coordinates with their units; `x'` and `x''` in formulas are velocity and acceleration | `{ x = "m" }` |
| `states` | table of texts | | none | [first-order states](states.md) with their units; `z'` is the rate | `{ current = "A" }` |
| `mass` | table of formulas | | zero | entries of the mass matrix by coordinate, or by two: `"x, theta"` stands for both of its places | `{ x = "m" }` |
| `force` | table of formulas | | zero | generalised forces Q by coordinate | `{ x = "F - k*x" }` |
| `rates` | table of formulas | | zero | rates of states | `{ current = "(U - R*current)/L" }` |
| `constraints` | table of tables | | none | rows that are zero | `{ rod = { unit = "m^2", is = "x^2 + y^2 - L^2" } }` |
| `start` | table of formulas | | zero | positions, velocities (`"x'"`) and states at t = 0, from parameters and constants | `{ x = "x0" }` |
| `energy` | table of formulas | | none | `kinetic`, `potential` and `dissipation`: M and forces follow | `{ kinetic = "m*x'^2/2" }` |
| `picture` | table | | none | what it looks like, for `draw` and `animate` | `{ points = { cart = ["x", 0] } }` |
| `outputs` | table of tables | | none | what sensors see | `{ a = { unit = "m/s^2", is = "x''" } }` |"#,
};

pub(crate) const CONSTANT: Keys = Keys {
    head: "[constants.NAME]",
    about: "Also `NAME = 9.81`, a plain number: in sums and comparisons it takes any unit, in products it has none.",
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
| `interpolation` | `linear` or `cubic` | | `linear` | straight lines, or a cubic spline (four points at least) | `"cubic"` |
| `bandwidth` | number | 1 over the unit of `over` (Hz) | none | smooths the values, with a cubic spline: amplitudes are halved at this frequency | `10.0` |"#,
};

pub(crate) const ENERGY: Keys = Keys {
    head: "[energy]",
    about: "Mass matrix and forces by derivatives of these: M = ∂²T/∂q'∂q', and d/dt ∂T/∂q' - ∂T/∂q + ∂V/∂q + ∂D/∂q' = Q, where Q are the formulas in `force`.",
    rows: r#"| `kinetic` | formula | J | zero | T(q, q'), quadratic in the velocities | `"m*x'^2/2"` |
| `potential` | formula | J | zero | V(q, t) | `"k*x^2/2"` |
| `dissipation` | formula | W | zero | Rayleigh's D(q, q') | `"d*x'^2/2"` |"#,
};

pub(crate) const PICTURE: Keys = Keys {
    head: "[picture]",
    about: "Numbers are formulas in positions, inputs, parameters and `t`; y is upwards. A place is the name of a member, or a point of the ground: `[0, 0]`. [More](pictures.md#plain-models).",
    rows: r#"| `points` | table of two values | m | none | points, or blocks of sliders | `{ cart = ["x", 0] }` |
| `bodies` | table of three values | m, rad | none | bodies with axes: x, y, angle | `{ arm = ["x", "y", "phi"] }` |
| `discs` | table of four values | m, rad | none | x, y, angle, radius | `{ drum = ["x", 0, "phi", 0.1] }` |
| `bars` | table of four values | m | none | rigid bars, from one point to another | `{ link = [0, 0, "x", "y"] }` |
| `pins` | list of pairs of places | | none | revolute joints | `[[[0, 0], "arm"]]` |
| `welds` | list of pairs of places | | none | dark squares | `[["a", "b"]]` |
| `rods` | list of pairs of places | | none | massless rods | `[["cart", "tip"]]` |
| `ropes` | list of pairs of places | | none | plain lines | `[["cart", "load"]]` |
| `springs` | list of pairs of places | | none | | `[[[0, 0], "cart"]]` |
| `dampers` | list of pairs of places | | none | | `[[[0, 0], "cart"]]` |
| `struts` | list of pairs of places | | none | a spring and a damper, side by side | `[[[0, 0], "cart"]]` |
| `sliders` | list of tables | | none | a block on a line | `[{ guide = [0, 0], block = "cart", angle = 0 }]` |
| `slots` | list of tables | | none | a pin in a slot | `[{ guide = "arm", pin = "tip" }]` |
| `forces` | list of tables | N | none | arrows | `[{ on = "cart", angle = 0, is = "F" }]` |
| `torques` | list of tables | N m | none | arrows around | `[{ on = "drum", is = "M" }]` |
| `traces` | list of places | | none | paths | `["tip"]` |"#,
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

pub(crate) const PLANAR: Keys = Keys {
    head: "kind = \"planar\"",
    about: "At the top of a file with a mechanism of the plane. [What parts are](parts.md). Each of them has a name: `[body]` holds `crank = { .. }`. \
A key that names a member (a body, a point, or `ground`) is a place on it, in its own axes, m: `A = { ground = [0, 0], crank = [-0.05, 0] }`; the first of two \
is the first member. Properties are numbers, or formulas of parameters (`\"m*l^2/12\"`).",
    rows: r#"| `motion` | table of tables | | none | [motions along splines](#motionname), whose coefficients are parameters | `{ slide = { unit = "m", until = 2.5, intervals = 12 } }` |
| `include` | table of tables | | none | [files that are part of this one](#includename) | `{ left = { file = "leg.toml", on = "trunk", at = [0.2, 0] } }` |
| `gravity` | list of two values | m/s^2 | `[0, -9.81]` | along x and y | `[0.0, -9.81]` |
| `sensed_gravity` | list of values | m/s^2 | that which acts | gravity that accelerometers show, and that `energy` knows: heights may be measured from rest, where weights are borne | `[0.0, -9.81]` |
| `redundant_rows` | `refuse`, `leave-out` or `keep` | | `refuse` | constraint rows that repeat others at the start | `"leave-out"` |
| `body` | table of tables | | none | rigid bodies | `{ crank = { mass = 0.3, inertia = 4e-4 } }` |
| `point` | table of tables | | none | masses without extension | `{ load = { mass = 2.0, at = [0.0, 1.0] } }` |
| `revolute` | table of tables | | none | pins: two places coincide | `{ A = { ground = [0, 0], crank = [-0.05, 0] } }` |
| `weld` | table of tables | | none | two places coincide, and the angle is kept | `{ W = { ground = [0, 0], plate = [0, 0] } }` |
| `prismatic` | table of tables | | none | the second place slides along a line through the first, without turning | `{ S = { ground = [0, 0], block = [0, 0] } }` |
| `on_line` | table of tables | | none | the second place moves on a line through the first | `{ L = { ground = [0, 0], pin = [0, 0] } }` |
| `rod` | table of tables | | none | two places keep a distance | `{ R = { ground = [0, 0], load = [0, 0], length = 1.0 } }` |
| `gears` | table of tables | | none | the second body turns `ratio` times as far as the first | `{ G = { from = "wheel", on = "pinion", ratio = -3.0 } }` |
| `spring` | table of tables | | none | linear springs with dampers between two places | `{ s = { ground = [0, 1], load = [0, 0], stiffness = "k" } }` |
| `strut` | table of tables | | none | a force along the line between two places, by a law | `{ s = { ground = [0, 1], load = [0, 0], tension = "k*x + d*x'" } }` |
| `torsion` | table of tables | | none | torsional springs and dampers, linear or by a law | `{ t = { from = "ground", on = "crank", damping = "d" } }` |
| `support` | table of tables | | none | a force by a law between a place and a support that inputs move | `{ tyre = { wheel = [0, 0], direction = 1.57, motion = ["road"], stiffness = "k" } }` |
| `dc_motor` | table of tables | | none | direct-current motors | `{ drive = { from = "ground", on = "crank", voltage = "U", torque_constant = "K", resistance = 1.6, inductance = 2e-3 } }` |
| `force` | table of tables | | none | forces at a place | `{ push = { load = [0, 0], direction = [1, 0], is = "F" } }` |
| `torque` | table of tables | | none | torques on a body, and the opposite ones on another | `{ motor = { from = "ground", on = "crank", is = "T" } }` |
| `drag` | table of tables | | none | resistance of the air at a place | `{ air = { load = [0, 0], linear = "d" } }` |
| `contact` | table of tables | | none | a circle on the second member presses against a line on the first | `{ floor = { ground = [0, 0], ball = [0, 0], radius = 0.1, stiffness = 1e6 } }` |
| `drive` | table of tables | | none | a coordinate follows a function of time | `{ motor = { of = "crank", coordinate = "angle", is = "10[rad/s]*t" } }` |
| `sensor` | table of tables | | none | outputs, `NAME.angle` and so on | `{ imu = { shows = "accelerometer", coupler = [0, 0] } }` |"#,
};

pub(crate) const MOTION: Keys = Keys {
    head: "[motion.NAME]",
    about: "A spline that control finds as it finds an input, or that an identification fits; its coefficients are the parameters `NAME_0`, `NAME_1` and so on, fixed unless asked for otherwise.",
    rows: r#"| `unit` | text | | a plain number | | `"m"` |
| `from` | number | s | 0 | its first time | `0.0` |
| `until` | number | s | must be given | its last time | `2.5` |
| `intervals` | whole number | | must be given | | `12` |
| `degree` | `cubic` or `quintic` | | `cubic` | | `"cubic"` |
| `begin` | list of up to three numbers | its own | free | value, rate and second derivative that are held at its beginning | `[0.0, 0.0, 0.0]` |
| `end` | list of up to three numbers | its own | free | likewise at its end | `[1.5, 0.0, 0.0]` |"#,
};

pub(crate) const INCLUDE: Keys = Keys {
    head: "[include.NAME]",
    about: "A mechanism file of the same kind whose parts are part of this one, called `NAME_PART`; its gravity, scenario and names of its own stay behind. Its `ground` \
is the body, or the ground, that it is `on`. What is mirrored is so in all its parts; angles between its members, torques and their laws keep their sign, and sensors with axes show mirror images.",
    rows: r#"| `file` | text | | must be given | the file, beside this one | `"leg.toml"` |
| `on` | text | | `ground` | the body that its ground is | `"trunk"` |
| `at` | list of two values | m | `[0, 0]` | its origin, in the axes of that body | `[0.2, 0.0]` |
| `angle` | number | rad | 0 | of its axes against those of that body | `1.5707963` |
| `mirrored` | `x` or `y` | | not mirrored | the axis of the file that is turned round, before it is placed | `"x"` |
| `shared` | true, or list of texts | | none | parameters and inputs that are those of this file, or of all that share them; others are called `NAME_PARAMETER` | `["m_leg"]` |
| `with` | table of formulas | | none | its parameters that follow from those of this file | `{ length = "L/2" }` |"#,
};

pub(crate) const BODY: Keys = Keys {
    head: "[body.NAME]",
    about: "Its coordinates are `NAME.x`, `NAME.y` and `NAME.angle`.",
    rows: r#"| `mass` | value | kg | must be given | | `0.3` |
| `inertia` | value | kg m^2 | must be given | about the centre of mass | `"m*0.0105[m^2]"` |
| `center` | list of two values | m | `[0, 0]` | centre of mass in the body's axes | `[0.02, 0.0]` |
| `at` | list of two values | m | `[0, 0]` | position of its origin at the start | `[0.0, 0.05]` |
| `angle` | value | rad | 0 | angle at the start | `1.57` |
| `moving` | list of two values | m/s | `[0, 0]` | velocity of its origin at the start | `[0.0, 0.0]` |
| `rate` | value | rad/s | 0 | angular velocity at the start | `0.0` |
| `free` | true or false | | false | true: nothing needs to hold it | `true` |"#,
};

pub(crate) const POINT: Keys = Keys {
    head: "[point.NAME]",
    about: "Its coordinates are `NAME.x` and `NAME.y`.",
    rows: r#"| `mass` | value | kg | must be given | | `2.0` |
| `at` | list of two values | m | `[0, 0]` | position at the start | `[0.0, 1.0]` |
| `moving` | list of two values | m/s | `[0, 0]` | velocity at the start | `[0.0, 0.0]` |
| `free` | true or false | | false | true: nothing needs to hold it | `true` |"#,
};

pub(crate) const JOINT: Keys = Keys {
    head: "[revolute.NAME], [weld.NAME], [prismatic.NAME], [on_line.NAME], [rod.NAME]",
    about: "Two places, and what else a joint has.",
    rows: r#"| `direction` | value | rad | 0 | of the line, in the first member's axes (`prismatic`, `on_line`) | `1.57` |
| `angle` | value | rad | 0 | of the second member against the first (`weld`, `prismatic`) | `0.0` |
| `length` | value | m | must be given | (`rod`) | `1.0` |"#,
};

pub(crate) const GEARS: Keys = Keys {
    head: "[gears.NAME]",
    about: "From the start on.",
    rows: r#"| `from` | text | | must be given | first body | `"wheel"` |
| `on` | text | | must be given | second body | `"pinion"` |
| `ratio` | value | | must be given | turns of the second for one of the first; negative for wheels that mesh outside | `-3.0` |"#,
};

pub(crate) const SPRING: Keys = Keys {
    head: "[spring.NAME]",
    about: "Two places, and:",
    rows: r#"| `free_length` | value | m | 0 | length without tension | `0.2` |
| `stiffness` | value | N/m | 0 | | `"k"` |
| `damping` | value | N s/m | 0 | | `"d"` |"#,
};

pub(crate) const STRUT: Keys = Keys {
    head: "[strut.NAME]",
    about: "Two places, and:",
    rows: r#"| `free_length` | value | m | 0 | length without elongation | `0.2` |
| `tension` | formula | N | must be given | law of the elongation `x` and its rate `x'`, with parameters; positive draws the places together | `"k*x + k3*x^3 + d*x'"` |
| `states` | table of texts | | none | [first-order states](states.md) of the law, called `NAME.STATE`, with their units | `{ z = "N" }` |
| `rates` | table of formulas | the states' a second | zero | of `x`, `x'`, states and parameters | `{ z = "A*x' - b*abs(x')*z" }` |
| `start` | table of values | the states' | zero | of its states | `{ z = 0.1 }` |
| `energy` | formula | J | left out of `energy` sensors | energy stored at the elongation `x`: the integral of the tension at rest | `"k*x^2/2"` |"#,
};

pub(crate) const TORSION: Keys = Keys {
    head: "[torsion.NAME]",
    about: "Between two members; without torque at angle 0, or at `free_angle`.",
    rows: r#"| `from` | text | | must be given | first member | `"ground"` |
| `on` | text | | must be given | second member | `"crank"` |
| `stiffness` | value | N m/rad | 0 | | `"k"` |
| `damping` | value | N m s/rad | 0 | | `"d"` |
| `torque` | formula | N m | none | in the place of both: law of the relative angle `x` and its rate `x'`, positive draws it back | `"coulomb(x', Tc, w_s)"` |
| `free_angle` | value | rad | 0 | angle at which `x` is 0, with a `torque` | `0.0` |
| `states` | table of texts | | none | [first-order states](states.md) of the law, called `NAME.STATE`, with their units | `{ z = "N" }` |
| `rates` | table of formulas | the states' a second | zero | of `x`, `x'`, states and parameters | `{ z = "A*x' - b*abs(x')*z" }` |
| `start` | table of values | the states' | zero | of its states | `{ z = 0.1 }` |
| `energy` | formula | J | left out of `energy` sensors | energy stored at the angle `x`, with a `torque` | `"0"` |"#,
};

pub(crate) const SUPPORT: Keys = Keys {
    head: "[support.NAME]",
    about: "One place. Distances are measured along a fixed direction of the world from its origin.",
    rows: r#"| `direction` | value | rad | must be given | in the world's axes | `1.5707963` |
| `motion` | list of texts | | must be given | input with the support's displacement (m), and one with its rate (m/s) where the law has damping | `["road"]` |
| `free_distance` | value | m | 0 | distance without elongation | `0.3` |
| `stiffness` | value | N/m | 0 | | `"k"` |
| `damping` | value | N s/m | 0 | | `"d"` |
| `tension` | formula | N | none | in the place of both: law of the elongation `x` and its rate `x'` | `"k*x + k3*x^3"` |
| `states` | table of texts | | none | [first-order states](states.md) of the law, called `NAME.STATE`, with their units | `{ z = "N" }` |
| `rates` | table of formulas | the states' a second | zero | of `x`, `x'`, states and parameters | `{ z = "A*x' - b*abs(x')*z" }` |
| `start` | table of values | the states' | zero | of its states | `{ z = 0.1 }` |
| `energy` | formula | J | left out of `energy` sensors | energy stored at the elongation `x`, with a `tension` | `"k*x^2/2"` |"#,
};

pub(crate) const DC_MOTOR: Keys = Keys {
    head: "[dc_motor.NAME]",
    about: "A direct-current motor; its current is a [state](states.md), `NAME.current`: L i' = V - R i - K (relative rate).",
    rows: r#"| `from` | text | | must be given | the member that the opposite torque is on | `"ground"` |
| `on` | text | | must be given | the body that it turns | `"crank"` |
| `voltage` | formula | V | must be given | a formula of parameters, or an input times one | `"U"` |
| `torque_constant` | value | N m/A | must be given | | `"K"` |
| `resistance` | value | Ohm | must be given | | `1.6` |
| `inductance` | value | H | must be given | | `2e-3` |"#,
};

pub(crate) const FORCE: Keys = Keys {
    head: "[force.NAME]",
    about: "At one place. The strength is a formula of parameters, an input times one, or a function of the time.",
    rows: r#"| `direction` | list of two values | | must be given | of any length | `[1.0, 0.0]` |
| `axes` | `world` or `body` | | `world` | axes of the direction | `"body"` |
| `is` | formula | N | must be given | strength | `"F"` |"#,
};

pub(crate) const TORQUE: Keys = Keys {
    head: "[torque.NAME]",
    about: "The strength is as that of forces.",
    rows: r#"| `from` | text | | must be given | the member that the opposite torque is on | `"ground"` |
| `on` | text | | must be given | the body | `"crank"` |
| `is` | formula | N m | must be given | strength, positive against the clock | `"T"` |"#,
};

pub(crate) const DRAG: Keys = Keys {
    head: "[drag.NAME]",
    about: "At one place.",
    rows: r#"| `linear` | value | N s/m | 0 | | `"d"` |
| `quadratic` | value | N s^2/m^2 | 0 | | `0.01` |"#,
};

pub(crate) const CONTACT: Keys = Keys {
    head: "[contact.NAME]",
    about: "A place on the line, and the centre of the circle; free space is on the line's left.",
    rows: r#"| `direction` | value | rad | 0 | of the line, in the first member's axes | `0.0` |
| `radius` | value | m | must be given | | `0.1` |
| `stiffness` | value | N/m^1.5 | must be given | Hertz' law | `1e6` |
| `damping` | value | s/m | 0 | | `0.1` |"#,
};

pub(crate) const DRIVE: Keys = Keys {
    head: "[drive.NAME]",
    about: "A constraint on one coordinate.",
    rows: r#"| `of` | text | | must be given | the body or point | `"crank"` |
| `coordinate` | `x`, `y` or `angle` | | must be given | | `"angle"` |
| `is` | formula | m or rad | must be given, or a `motion` | a function of `t` and parameters | `"10[rad/s]*t"` |
| `motion` | text | | none | a motion in the place of it | `"slide"` |"#,
};

pub(crate) const SENSOR: Keys = Keys {
    head: "[sensor.NAME]",
    about: "Sensors of places name one place; those between members have `from` and `on`.",
    rows: r#"| `shows` | `position`, `velocity`, `acceleration`, `accelerometer`, `angle`, `encoder`, `strut`, `state`, `reaction`, `energy` or `dissipation` | | must be given | [what it is](parts.md) | `"angle"` |
| `from` | text | | must be given with `angle`, `encoder` | first member | `"ground"` |
| `on` | text | | must be given with `angle`, `encoder`, `reaction` | second member; the one that a reaction acts on | `"crank"` |
| `of` | text | | must be given with `strut`, `state`, `reaction` | the spring or strut; the motor, or `NAME.STATE` of a law; or the joint | `"spring"` |
| `axes` | `world` or `body` | | `world` | of `velocity` and `acceleration` | `"body"` |
| `angle` | value | rad | 0 | of the axes of an `accelerometer` against the body's | `0.0` |
| `gain` | value | | 1 | of an `accelerometer` | `"gain"` |
| `bias` | list of two values | m/s^2 | `[0, 0]` | of an `accelerometer` | `["bias_x", "bias_y"]` |"#,
};

/// Keys of mechanisms of space.
pub(crate) mod space {
    use super::Keys;

    pub(crate) const TOP: Keys = Keys {
        head: "kind = \"spatial\"",
        about: "At the top of a file with a mechanism of space. [What parts are](parts.md#space). Members, places and properties are as in the plane, with three \
components; z is up. A place may be a table with the directions of a joint or a sensor there: `crank = { at = [0, 0, 0.1], axis = [0, 1, 0] }`. Instead of two places, \
joints take a point and directions of the world at the start: `{ from = \"ground\", on = \"crank\", point = [0, 0, 0], axis = [0, 1, 0] }`.",
        rows: r#"| `motion` | table of tables | | none | [motions along splines](#motionname), whose coefficients are parameters | `{ slide = { unit = "m", until = 2.5, intervals = 12 } }` |
| `include` | table of tables | | none | [files that are part of this one](#includename-of-space) | `{ left = { file = "leg.toml", on = "trunk", at = [0.2, 0.1, 0] } }` |
| `gravity` | list of three values | m/s^2 | `[0, 0, -9.81]` | along x, y and z | `[0.0, 0.0, -9.81]` |
| `sensed_gravity` | list of values | m/s^2 | that which acts | gravity that accelerometers show, and that `energy` knows: heights may be measured from rest, where weights are borne | `[0.0, 0.0, -9.81]` |
| `redundant_rows` | `refuse`, `leave-out` or `keep` | | `refuse` | constraint rows that repeat others at the start | `"leave-out"` |
| `body` | table of tables | | none | rigid bodies | `{ top = { mass = 0.3, inertia = [1e-3, 1e-3, 5e-4] } }` |
| `point` | table of tables | | none | masses without extension | `{ load = { mass = 2.0, at = [0.0, 0.0, 1.0] } }` |
| `spherical` | table of tables | | none | balls in sockets | `{ tip = { ground = [0, 0, 0], top = [0, 0, -0.1] } }` |
| `revolute` | table of tables | | none | hinges about z of their places, or their `axis` | `{ hinge = { from = "ground", on = "door", point = [0, 0, 0], axis = [0, 0, 1] } }` |
| `universal` | table of tables | | none | Cardan joints; the axes are those of the cross | `{ U = { shaft = { at = [0, 0, 0], axis = [1, 0, 0] }, other = { at = [0, 0, 0], axis = [0, 1, 0] } } }` |
| `weld` | table of tables | | none | nothing is free | `{ W = { ground = [0, 0, 0], plate = [0, 0, 0] } }` |
| `cylindrical` | table of tables | | none | a turn and a way along the axis | `{ C = { ground = [0, 0, 0], rod = [0, 0, 0] } }` |
| `prismatic` | table of tables | | none | a way along the axis | `{ P = { ground = [0, 0, 0], rod = [0, 0, 0] } }` |
| `screw` | table of tables | | none | a turn with `lead` m a turn along the axis | `{ S = { ground = [0, 0, 0], nut = [0, 0, 0], lead = 5e-3 } }` |
| `planar` | table of tables | | none | two ways across the axis, and a turn about it | `{ P = { ground = [0, 0, 0], disc = [0, 0, 0] } }` |
| `in_line` | table of tables | | none | the second point stays on the axis of the first | `{ L = { ground = [0, 0, 0], bead = [0, 0, 0] } }` |
| `in_plane` | table of tables | | none | the second point stays in the plane across the axis of the first | `{ L = { ground = [0, 0, 0], bead = [0, 0, 0] } }` |
| `distance` | table of tables | | none | massless rods | `{ R = { ground = [0, 0, 1], load = [0, 0, 0], length = 1.0 } }` |
| `spring` | table of tables | | none | linear springs with dampers between two places, as in the plane | `{ s = { ground = [0, 0, 1], load = [0, 0, 0], stiffness = "k" } }` |
| `strut` | table of tables | | none | forces along the line between two places by a law, as in the plane | `{ s = { ground = [0, 0, 1], load = [0, 0, 0], tension = "k*x" } }` |
| `joint_spring` | table of tables | | none | springs and dampers in joints, linear or by a law | `{ f = { of = "hinge", damping = "d" } }` |
| `rotor` | table of tables | | none | inertias that move with a joint alone, such as rotors behind gears | `{ r = { of = "hinge", inertia = "J" } }` |
| `tendon` | table of tables | | none | what goes with several joints: rotors of motors that turn two of them, cables | `{ t = { of = ["a", "b"], ratios = [1.0, 0.5], inertia = "J" } }` |
| `coupling` | table of tables | | none | gears between joints: turns or ways go together | `{ g = { from = "shoulder", on = "elbow", ratio = -1.0 } }` |
| `motor` | table of tables | | none | torques about, or forces along a joint's axis | `{ m = { of = "hinge", is = "T" } }` |
| `controller` | table of tables | | none | controllers in joints: a reference, gains, a feed-forward | `{ c = { of = "hinge", reference = "r", proportional = 100.0 } }` |
| `capsule` | table of tables | | none | lines with a radius, of which `clearance` sensors show distances | `{ arm = { on = "upper", to = [0, 0, 0.4], radius = 0.06 } }` |
| `shape` | table of tables | | none | what bodies look like, in pictures alone | `{ case = { form = "box", edges = [0.1, 0.1, 0.3], upper = [0, 0, 0.2] } }` |
| `dc_motor` | table of tables | | none | direct-current motors in joints | `{ m = { of = "hinge", voltage = "U", torque_constant = "K", resistance = 1.6, inductance = 2e-3 } }` |
| `bushing` | table of tables | | none | elastic bearings between two places | `{ b = { ground = [0, 0, 0], engine = [0, 0, 0], stiffness = ["k", "k", 1e5] } }` |
| `force` | table of tables | | none | forces at a place, as in the plane | `{ push = { load = [0, 0, 0], direction = [1, 0, 0], is = "F" } }` |
| `torque` | table of tables | | none | torques on a body | `{ turn = { on = "top", direction = [0, 0, 1], is = "T" } }` |
| `drag` | table of tables | | none | resistance of the air at a place, as in the plane | `{ air = { load = [0, 0, 0], linear = "d" } }` |
| `contact` | table of tables | | none | a sphere on the second member presses against a plane through the first place, whose axis points into free space | `{ floor = { ground = [0, 0, 0], ball = [0, 0, 0], radius = 0.1, stiffness = 1e6 } }` |
| `drive` | table of tables | | none | a joint's angle or way follows a function of time | `{ d = { of = "hinge", is = "10[rad/s]*t" } }` |
| `sensor` | table of tables | | none | outputs | `{ imu = { shows = "accelerometer", top = [0, 0, 0.1] } }` |"#,
    };

    pub(crate) const INCLUDE: Keys = Keys {
        head: "[include.NAME] of space",
        about: "As in the plane, but for what follows. The file may be a [robot's](robots.md), `.urdf`; `redundant_rows` is `leave-out` then, unless it is said.",
        rows: r#"| `file` | text | | must be given | the file, beside this one | `"leg.toml"` |
| `on` | text | | `ground` | the body that its ground is | `"trunk"` |
| `at` | list of three values | m | `[0, 0, 0]` | its origin, in the axes of that body | `[0.2, 0.1, 0.0]` |
| `turned` | list of three numbers | rad | `[0, 0, 0]` | rotation vector of its axes against those of that body | `[0.0, 0.0, 1.57]` |
| `mirrored` | `x`, `y` or `z` | | not mirrored | the axis of the file that is turned round, before it is placed | `"y"` |
| `shared` | true, or list of texts | | none | parameters and inputs that are those of this file, or of all that share them; others are called `NAME_PARAMETER` | `["m_leg"]` |
| `with` | table of formulas | | none | its parameters that follow from those of this file | `{ length = "L/2" }` |
| `joints` | table of numbers | rad or m | zero | of a [robot](robots.md): angles and ways of its joints at the start | `{ elbow = -1.2 }` |
| `inertias` | `moments`, `factors` or `fixed` | | `moments` | of a robot: ten parameters a body, in which forces are linear, or of which every choice is possible; or numbers | `"factors"` |
| `friction` | true or false | | false | of a robot: true gives every joint viscous and dry friction and an offset, as parameters; false only what its file has | `true` |
| `slip` | number | rad/s or m/s | 0.01 | of a robot: rate at which dry friction is 76 % of its whole | `0.02` |
| `fixed_joints` | `merged` or `kept` | | `merged` | of a robot: `kept` leaves links at fixed joints bodies of their own | `"kept"` |
| `base` | `held` or `free` | | `held` | of a robot: whether its first link is the ground | `"free"` |
| `efforts` | true or false | | false | of a robot: true gives every joint an input, `tau_JOINT` | `true` |"#,
    };

    pub(crate) const BODY: Keys = Keys {
        head: "[body.NAME] of space",
        about: "Its coordinates are `NAME.x`, `NAME.y`, `NAME.z` and Euler parameters `NAME.e0` to `NAME.e3`.",
        rows: r#"| `mass` | value | kg | must be given, or a `pseudo_inertia` | | `0.3` |
| `inertia` | list of three or six values | kg m^2 | must be given, or another form | moments about the centre of mass in the body's axes, or entries xx, yy, zz, xy, xz, yz of the tensor | `[1e-3, 1e-3, "I_z"]` |
| `inertia_factors` | list of six values | | in the place of it | [factors of which every choice is possible](inertia.md#entries-or-factors): ln L11, ln L22, ln L33, L21, L31, L32 | `[-3.0, -3.0, -3.5, 0.0, 0.0, 0.0]` |
| `first_moments` | list of three values | kg m | in the place of `center` | mass times centre of mass, with an `inertia_about_origin`: [all forces are linear in them](inertia.md) | `[0.0, "h_y", 0.0]` |
| `inertia_about_origin` | list of six values | kg m^2 | in the place of `inertia` | entries xx, yy, zz, xy, xz, yz of the tensor about the body's origin, with `first_moments` | `[2e-3, 2e-3, "I_z", 0.0, 0.0, 0.0]` |
| `pseudo_inertia` | list of ten values | | in the place of mass, centre and inertia | [factors of which every choice is possible](robots.md#ten-numbers-of-a-body): α, d1, d2, d3, s12, s13, s23, t1, t2, t3; the mass is exp(2α) | `["alpha", -3.0, -3.0, -3.5, 0.0, 0.0, 0.0, 0.01, 0.0, 0.0]` |
| `center` | list of three values | m | `[0, 0, 0]` | centre of mass in the body's axes | `[0.02, 0.0, 0.0]` |
| `at` | list of three values | m | `[0, 0, 0]` | position of its origin at the start | `[0.0, 0.0, 0.1]` |
| `turned` | list of three numbers | rad | `[0, 0, 0]` | rotation vector of its axes at the start | `[0.0, 0.0, 1.57]` |
| `euler_parameters` | list of four values | | in the place of it | of its axes at the start | `[1.0, 0.0, 0.0, 0.0]` |
| `moving` | list of three values | m/s | `[0, 0, 0]` | velocity of its origin at the start | `[0.0, 0.0, 0.0]` |
| `spinning` | list of three values | rad/s | `[0, 0, 0]` | angular velocity at the start, in the world's axes | `[0.0, 0.0, 100.0]` |
| `free` | true or false | | false | true: nothing needs to hold it | `true` |"#,
    };

    pub(crate) const POINT: Keys = Keys {
        head: "[point.NAME] of space",
        about: "Its coordinates are `NAME.x`, `NAME.y` and `NAME.z`.",
        rows: r#"| `mass` | value | kg | must be given | | `2.0` |
| `at` | list of three values | m | `[0, 0, 0]` | position at the start | `[0.0, 0.0, 1.0]` |
| `moving` | list of three values | m/s | `[0, 0, 0]` | velocity at the start | `[0.0, 0.0, 0.0]` |
| `free` | true or false | | false | true: nothing needs to hold it | `true` |"#,
    };

    pub(crate) const PLACE: Keys = Keys {
        head: "MEMBER = { at, axis, across }",
        about: "A place with directions, in the member's own axes; also `MEMBER = [x, y, z]`.",
        rows: r#"| `at` | list of three values | m | `[0, 0, 0]` | the point | `[0.0, 0.0, 0.1]` |
| `axis` | list of three values | | `[0, 0, 1]` | axis of a joint, third axis of a sensor | `[0.0, 1.0, 0.0]` |
| `across` | list of three values | | x, or y | direction across the axis | `[1.0, 0.0, 0.0]` |"#,
    };

    pub(crate) const JOINT: Keys = Keys {
        head: "Joints of space",
        about: "Two places; or two members with a point and directions of the world at the start.",
        rows: r#"| `from` | text | | with `point` | first member | `"ground"` |
| `on` | text | | with `point` | second member | `"crank"` |
| `point` | list of three numbers | m | none | point of the world, in the place of two places | `[0.0, 0.0, 0.0]` |
| `axis` | list of three values | | `[0, 0, 1]` | with `point`: axis | `[0.0, 1.0, 0.0]` |
| `across` | list of three values | | x, or y | with `point`: direction across | `[1.0, 0.0, 0.0]` |
| `lead` | value | m | must be given | (`screw`) way of a turn | `5e-3` |
| `length` | value | m | must be given | (`distance`) | `1.0` |"#,
    };

    pub(crate) const SPRING: Keys = super::SPRING;
    pub(crate) const STRUT: Keys = super::STRUT;
    pub(crate) const DRAG: Keys = super::DRAG;

    pub(crate) const JOINT_SPRING: Keys = Keys {
        head: "[joint_spring.NAME]",
        about: "In a joint's turn (revolute, cylindrical, screw, planar), or in its way (prismatic, cylindrical, screw, in line). Angles are those from -π to π: where a joint turns beyond half a turn, a stiffness jumps, which does not matter to a damping or a law of `x'` alone.",
        rows: r#"| `of` | text | | must be given | the joint | `"hinge"` |
| `freedom` | `turn` or `slide` | | `turn` | about the axis, or along it | `"turn"` |
| `stiffness` | value | N m/rad or N/m | 0 | | `"k"` |
| `damping` | value | N m s/rad or N s/m | 0 | | `"d"` |
| `tension` | formula | N m or N | none | in the place of both: law of the angle or way `x` and its rate `x'`, positive draws it back | `"coulomb(x', Tc, w_s)"` |
| `free` | value | rad or m | 0 | where `x` is 0, with a `tension` | `0.0` |
| `states` | table of texts | | none | [first-order states](states.md) of the law, called `NAME.STATE`, with their units | `{ z = "N" }` |
| `rates` | table of formulas | the states' a second | zero | of `x`, `x'`, states and parameters | `{ z = "A*x' - b*abs(x')*z" }` |
| `start` | table of values | the states' | zero | of its states | `{ z = 0.1 }` |
| `energy` | formula | J | left out of `energy` sensors | energy stored at `x`, with a `tension` | `"0"` |"#,
    };

    pub(crate) const TENDON: Keys = Keys {
        head: "[tendon.NAME]",
        about: "What goes with several joints, by x = Σ ratio · (angle or way): the angle of a motor that turns two joints, the length of a cable over pulleys. Angles are those from -π to π: where a joint turns beyond half a turn, x jumps, which does not matter to an inertia or a law of `x'` alone.",
        rows: r#"| `of` | list of texts | | must be given | the joints | `["wrist", "hand"]` |
| `ratios` | list of values | of x a joint's | must be given | gear ratios, or radii of pulleys, with their signs | `[1.0, "n"]` |
| `freedoms` | list of `turn` or `slide` | | all `turn` | about their axes, or along them | `["turn", "slide"]` |
| `unit` | `rad` or `m` | | `rad` | of x | `"m"` |
| `inertia` | value | kg m^2 or kg | none | moves with x: that of a rotor, if x is its angle | `"J"` |
| `tension` | formula | N m or N | none | law of `x` and its rate `x'`, positive draws it back, on each joint with its ratio | `"d*x' + coulomb(x', Fc, w_s)"` |
| `free` | value | rad or m | 0 | where `x` is 0, with a `tension` | `0.0` |
| `states` | table of texts | | none | [first-order states](states.md) of the law, called `NAME.STATE`, with their units | `{ z = "N" }` |
| `rates` | table of formulas | the states' a second | zero | of `x`, `x'`, states and parameters | `{ z = "A*x' - b*abs(x')*z" }` |
| `start` | table of values | the states' | zero | of its states | `{ z = 0.1 }` |
| `energy` | formula | J | left out of `energy` sensors | energy stored at `x`, with a `tension` | `"0"` |"#,
    };

    pub(crate) const ROTOR: Keys = Keys {
        head: "[rotor.NAME]",
        about: "It has no weight, and no spin across the axis of its joint.",
        rows: r#"| `of` | text | | must be given | the joint | `"hinge"` |
| `freedom` | `turn` or `slide` | | `turn` | about the axis, or along it | `"turn"` |
| `inertia` | value | kg m^2 or kg | must be given | at the joint: that of a rotor times the square of its gear ratio | `"n^2*J"` |"#,
    };

    pub(crate) const COUPLING: Keys = Keys {
        head: "[coupling.NAME]",
        about: "The angle or way of the second joint is `ratio` times that of the first, and `offset`. Where the first joint turns beyond half a turn, the ratio of two turns must be a whole number.",
        rows: r#"| `from` | text | | must be given | the first joint | `"shoulder"` |
| `on` | text | | must be given | the second joint | `"elbow"` |
| `freedoms` | list of two texts | | turns | `turn` or `slide` of both joints | `["turn", "slide"]` |
| `ratio` | value | m/rad, rad/m or none | 1 | | `-1.0` |
| `offset` | value | rad or m | 0 | | `0.5` |"#,
    };

    pub(crate) const MOTOR: Keys = Keys {
        head: "[motor.NAME]",
        about: "On the second member of a joint, and the opposite on the first.",
        rows: r#"| `of` | text | | must be given | the joint | `"hinge"` |
| `freedom` | `turn` or `slide` | | `turn` | a torque about the axis, or a force along it | `"turn"` |
| `is` | formula | N m or N | must be given | as that of forces | `"T"` |"#,
    };

    pub(crate) const DC_MOTOR: Keys = Keys {
        head: "[dc_motor.NAME] of space",
        about: "Its current is a [state](states.md), `NAME.current`.",
        rows: r#"| `of` | text | | must be given | the joint | `"hinge"` |
| `freedom` | `turn` or `slide` | | `turn` | about the axis, or along it | `"turn"` |
| `voltage` | formula | V | must be given | a formula of parameters, or an input times one | `"U"` |
| `torque_constant` | value | N m/A or N/A | must be given | | `"K"` |
| `resistance` | value | Ohm | must be given | | `1.6` |
| `inductance` | value | H | must be given | | `2e-3` |"#,
    };

    pub(crate) const CONTROLLER: Keys = Keys {
        head: "[controller.NAME]",
        about: "A controller in a joint, for the angle or way x: effort = P (r - x) + I z + D (r' - x') + f, z' = r - x, with z a [state](states.md) `NAME.integral` where there is an `integral` \
gain. It has no limits. Errors of angles are taken within half a turn: turns are not counted, and a reference that is farther away is followed the shorter way round. Signals are as strengths of forces.",
        rows: r#"| `of` | text | | must be given | the joint | `"hinge"` |
| `freedom` | `turn` or `slide` | | `turn` | about the axis, or along it | `"turn"` |
| `reference` | formula | rad or m | must be given | r | `"q1(t)"` |
| `reference_rate` | formula | rad/s or m/s | the derivative of a reference in `t`; else zero | r' | `"r_rate"` |
| `proportional` | value | N m/rad or N/m | left out | P | `"kp"` |
| `integral` | value | N m/(rad s) or N/(m s) | left out | I | `300.0` |
| `derivative` | value | N m s/rad or N s/m | left out | D | `"kd"` |
| `feed_forward` | formula | N m or N | 0 | f | `"tau"` |"#,
    };

    pub(crate) const CAPSULE: Keys = Keys {
        head: "[capsule.NAME]",
        about: "All that is nearer than a radius to a line on a body, or on the ground: what a link fills. A sphere where both ends are one. It is drawn, and does nothing by itself; sensors that show a `clearance` tell how far two of them are apart.",
        rows: r#"| `on` | text | | must be given | the member | `"upper"` |
| `from` | list of three values | m | `[0, 0, 0]` | where the line begins, from the member's origin and in its axes | `[0.0, 0.0, 0.0]` |
| `to` | list of three values | m | `[0, 0, 0]` | where it ends | `[0.0, 0.0, 0.4]` |
| `radius` | value | m | must be given | | `0.06` |"#,
    };

    pub(crate) const SHAPE: Keys = Keys {
        head: "[shape.NAME]",
        about: "What a body, or the ground, looks like, around one place: its third axis is along the place's `axis`, its first one `across`. Of several on one body, all are drawn. Only pictures depend on it; bodies without shapes are drawn by their joints, mass and inertia.",
        rows: r#"| `form` | `box`, `cylinder`, `capsule` or `ball` | | must be given | a capsule has half a ball on each end, beyond its length | `"cylinder"` |
| `edges` | list of three values | m | must be given with `box` | lengths of the edges, along all three axes | `[0.1, 0.1, 0.3]` |
| `radius` | value | m | must be given with `cylinder`, `capsule`, `ball` | | `0.05` |
| `length` | value | m | must be given with `cylinder`, `capsule` | along the axis | `0.3` |"#,
    };

    pub(crate) const BUSHING: Keys = Keys {
        head: "[bushing.NAME]",
        about: "Two places; along and about the first one's axes (across, the third one, along the axis).",
        rows: r#"| `stiffness` | list of three values | N/m | `[0, 0, 0]` | against displacements; or six rows of six, in N, m and rad, for displacements and turns | `["k", "k", 1e5]` |
| `turn_stiffness` | list of three values | N m/rad | `[0, 0, 0]` | against turns | `[100.0, 100.0, 10.0]` |
| `damping` | list of three values | N s/m | `[0, 0, 0]` | likewise | `[10.0, 10.0, 10.0]` |
| `turn_damping` | list of three values | N m s/rad | `[0, 0, 0]` | | `[0.1, 0.1, 0.1]` |"#,
    };

    pub(crate) const FORCE: Keys = Keys {
        head: "[force.NAME] of space",
        about: "At one place; the strength is as in the plane.",
        rows: r#"| `direction` | list of three values | | must be given | of any length | `[1.0, 0.0, 0.0]` |
| `axes` | `world` or `body` | | `world` | axes of the direction | `"body"` |
| `is` | formula | N | must be given | strength | `"F"` |"#,
    };

    pub(crate) const TORQUE: Keys = Keys {
        head: "[torque.NAME] of space",
        about: "On one body; the strength is as in the plane.",
        rows: r#"| `on` | text | | must be given | the body | `"top"` |
| `direction` | list of three values | | must be given | of any length | `[0.0, 0.0, 1.0]` |
| `axes` | `world` or `body` | | `world` | axes of the direction | `"body"` |
| `is` | formula | N m | must be given | strength | `"T"` |"#,
    };

    pub(crate) const CONTACT: Keys = Keys {
        head: "[contact.NAME] of space",
        about: "A place on the plane, whose axis points into free space, and the centre of the sphere.",
        rows: r#"| `radius` | value | m | must be given | | `0.1` |
| `stiffness` | value | N/m^1.5 | must be given | Hertz' law | `1e6` |
| `damping` | value | s/m | 0 | | `0.1` |"#,
    };

    pub(crate) const DRIVE: Keys = Keys {
        head: "[drive.NAME] of space",
        about: "A joint's angle or way follows a function of time; or one place a path in the world, such as `{ load = [0, 0, 0], is = [\"0.1[m]*sin(t*2[rad/s])\", 0, 0] }`.",
        rows: r#"| `of` | text | | none | the joint | `"hinge"` |
| `freedom` | `turn` or `slide` | | `turn` | of a joint: about the axis, or along it | `"turn"` |
| `orientation` | text | | none | in the place of a joint: the body whose axes are turned against the world's by a rotation vector | `"plate"` |
| `is` | formula | rad or m | must be given, or a `motion` | a function of `t` and parameters; of a place or an orientation a list of three | `"10[rad/s]*t"` |
| `motion` | text | | none | a motion in the place of it, or a list of three | `"slide"` |"#,
    };

    pub(crate) const SENSOR: Keys = Keys {
        head: "[sensor.NAME] of space",
        about: "Sensors of places name one place.",
        rows: r#"| `shows` | `position`, `velocity`, `acceleration`, `accelerometer`, `gyroscope`, `angular_velocity`, `joint`, `strut`, `state`, `reaction`, `drive`, `controller`, `clearance`, `energy`, `dissipation` or `momentum` | | must be given | [what it is](parts.md) | `"joint"` |
| `on` | text | | must be given with `angular_velocity`, `reaction` | the body; the member that a reaction acts on | `"top"` |
| `of` | text | | must be given with `joint`, `strut`, `state`, `reaction`, `drive`, `controller` | the joint; the spring or strut; the motor, or `NAME.STATE` of a law or a controller; the drive; the controller | `"hinge"` |
| `between` | list of two texts | | must be given with `clearance` | two capsules | `["arm", "tool"]` |
| `freedom` | `turn` or `slide` | | `turn` | of a `joint` | `"turn"` |
| `axes` | `world`, `body` or `joint` | | `world` | of `velocity`, `acceleration`, `angular_velocity`, `reaction` (which alone has `joint`) | `"body"` |
| `gain` | value | | 1 | of an `accelerometer` or `gyroscope` | `"gain"` |
| `bias` | list of three values | m/s^2 or rad/s | `[0, 0, 0]` | of an `accelerometer` or `gyroscope` | `["bias", 0.0, 0.0]` |"#,
    };

    /// All of them but those that are as in the plane.
    pub(crate) const ALL: [&Keys; 21] = [
        &TOP,
        &INCLUDE,
        &BODY,
        &POINT,
        &PLACE,
        &JOINT,
        &JOINT_SPRING,
        &ROTOR,
        &TENDON,
        &COUPLING,
        &MOTOR,
        &CONTROLLER,
        &DC_MOTOR,
        &CAPSULE,
        &SHAPE,
        &BUSHING,
        &FORCE,
        &TORQUE,
        &CONTACT,
        &DRIVE,
        &SENSOR,
    ];
}

/// All tables of keys, in the order of the page.
const ALL: [&Keys; 29] = [
    &HEAD,
    &PARAMETER,
    &CONSTANT,
    &TABLE,
    &SCENARIO,
    &PLAIN,
    &OUTPUT,
    &CONSTRAINT,
    &FORMULA,
    &ENERGY,
    &PICTURE,
    &PLANAR,
    &MOTION,
    &INCLUDE,
    &BODY,
    &POINT,
    &JOINT,
    &GEARS,
    &SPRING,
    &STRUT,
    &TORSION,
    &SUPPORT,
    &DC_MOTOR,
    &FORCE,
    &TORQUE,
    &DRAG,
    &CONTACT,
    &DRIVE,
    &SENSOR,
];

const PREFACE: &str = "\
# Mechanism files

A mechanism as a file, [TOML](https://toml.io), without a compiler: coordinates, parameters, and formulas for mass, force, constraints and outputs; or bodies,
joints, forces and sensors of the plane or of space.
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
costate check duffing.toml            # its equations as they are read, derivatives, gradient
costate simulate duffing.toml         # states, outputs, figures
costate identify duffing.toml         # the built-in problem
costate init duffing.toml --data record.csv    # a problem file for a record of your own
```

`costate new plain|planar|spatial NAME` writes a file to begin with, `costate models NAME --file` prints a ready model's, and `costate export FILE` makes Rust of a plain one.
[A quarter of an hour](without-rust.md) leads from a file to parameters.

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
takes any unit, `3[rad/s]*t` has one. Signals of `[scenario]` are not checked. What units cannot see are signs: `costate check FILE` tells of small motions that grow
by themselves; beyond that, compare a free motion of the model with what you know of it, and look at its energy.

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
    std::iter::once(page).chain(ALL.into_iter().chain(space::ALL).map(Keys::page)).collect()
}
