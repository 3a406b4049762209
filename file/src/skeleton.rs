//! Files to begin with, which run at once.

use crate::keys;
use costate_identify::problem_file::{Keys, unmarked};
use costate_identify::{Error, Result};
use std::fmt::Write;

const PLAIN: &str = r#"summary = "mass on a spring, pushed"
coordinates = { x = "m" }                     # in formulas x' is the velocity, x'' the acceleration
inputs = { F = "N" }

[parameters]
m = { unit = "kg", nominal = 1.0, lower = 1e-6, fixed = true }
k = { unit = "N/m", nominal = 40.0, lower = 0.0 }
d = { unit = "N s/m", nominal = 0.8, lower = 0.0 }
x0 = { unit = "m", nominal = 0.1, fixed = true }

[mass]                                        # M x'' = Q
x = "m"

[force]                                       # Q
x = "F - k*x - d*x'"

[start]
x = "x0"

[outputs]
a = { unit = "m/s^2", is = "x''" }
x = { unit = "m", is = "x" }

[scenario]                                    # tried where nothing else is said
end = 5.0
step = 5e-3
inputs = { F = "sin(3*t)" }
start = { k = 30.0, d = 0.3 }
outputs = ["a"]
"#;

const PLANAR: &str = r#"summary = "crank on a spring, turned by a motor"
kind = "planar"
inputs = { T = "N m" }

[parameters]
m = { unit = "kg", nominal = 0.3, lower = 1e-6 }
k = { unit = "N/m", nominal = 200.0, lower = 0.0 }
d = { unit = "N m s/rad", nominal = 0.01, lower = 0.0 }

[body]
crank = { mass = "m", inertia = 4e-4, at = [0.05, 0.0] }

[revolute]                                    # a place on each of two members, in their own axes
bearing = { ground = [0, 0], crank = [-0.05, 0] }

[spring]
spring = { ground = [0.2, 0.1], crank = [0.05, 0], free_length = 0.1, stiffness = "k" }

[torsion]
friction = { from = "ground", on = "crank", damping = "d" }

[torque]
motor = { from = "ground", on = "crank", is = "T" }

[sensor]
encoder = { shows = "angle", from = "ground", on = "crank" }
imu = { shows = "accelerometer", crank = [0.05, 0] }

[scenario]                                    # tried where nothing else is said
end = 2.0
step = 2e-3
inputs = { T = "0.1*sin(4*t)" }
start = { m = 0.25, k = 150.0, d = 0.02 }
outputs = ["encoder.angle", "imu.y"]
"#;

const SPATIAL: &str = r#"summary = "pendulum that swings in space"
kind = "spatial"

[parameters]
m = { unit = "kg", nominal = 0.8, lower = 1e-6, fixed = true }
I = { unit = "kg m^2", nominal = 2e-3, lower = 1e-9 }
d = { unit = "N s/m", nominal = 0.05, lower = 0.0 }

[body]
bob = { mass = "m", inertia = ["I", "I", 1e-3], at = [0.2, 0, 0], spinning = [0, 0, 3], moving = [0, 0.6, 0] }

[spherical]                                   # a place on each of two members, in their own axes
socket = { ground = [0, 0, 0], bob = [-0.2, 0, 0] }

[drag]
air = { bob = [0, 0, 0], linear = "d" }

[sensor]
tip = { shows = "position", bob = [0.1, 0, 0] }
imu = { shows = "accelerometer", bob = [0.1, 0, 0] }

[scenario]                                    # tried where nothing else is said
end = 2.0
step = 2e-3
start = { I = 3e-3, d = 0.1 }
outputs = ["imu.x", "imu.y", "imu.z"]
"#;

/// A mechanism file to begin with, of a kind, `plain`, `planar` or `spatial`: it runs, and says in comments what else can be said.
///
/// # Errors
/// Another kind.
pub fn skeleton(kind: &str, name: &str) -> Result<String> {
    let (body, keys) = match kind {
        "plain" => (PLAIN, &keys::PLAIN),
        "planar" => (PLANAR, &keys::PLANAR),
        "spatial" => (SPATIAL, &keys::space::TOP),
        other => return Err(Error::unknown("kind of mechanism", other, "", ["plain", "planar", "spatial"])),
    };
    let has = |key: &str| {
        body.lines().any(|line| line.starts_with(&format!("{key} = ")) || line.starts_with(&format!("[{key}]")))
    };
    let rows = |keys: &'static Keys| keys.rows();
    let others = rows(&keys::HEAD).chain(rows(keys)).filter(|[key, ..]| *key != "name" && !has(key));
    let mut text = format!(
        "name = \"{name}\"\n{body}\n# What else can be said, at the top of the file (all keys: docs/mechanism-file.md):\n"
    );
    for [key, _, _, meaning, example] in others {
        // writing to a text does not fail
        let _ = write!(text, "# {key} = {example}\n#     {}\n", unmarked(meaning));
    }
    Ok(text)
}
