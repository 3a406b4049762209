//! Mechanism files in the place of a model's name.

use crate::run::Place;

/// A folder with a mechanism file.
fn place() -> Place {
    let place = Place::new();
    place.write(
        "model.toml",
        place.good("models oscillator --file").out.replace("name = \"oscillator\"", "name = \"mine\""),
    );
    place
}

// Protects whoever has a file and no compiler: every command takes it, results are called after the model, and the numbers are those of the model in
// Rust.
#[test]
fn commands_take_files() {
    let place = place();
    let own = place.json("gradient model.toml --json", 0);
    let rust = place.json("gradient oscillator --json", 0);
    assert_eq!((&own["cost"], &own["model"]), (&rust["cost"], &"mine".into()));
    assert!(
        place.good("models model.toml").out.contains("mine")
            && place.good("models model.toml --file").out.contains("mine")
    );
    for command in ["simulate", "check", "hessian", "identifiability", "jacobians", "schemes", "identify"] {
        place.good(&format!("{command} model.toml"));
    }
    place.good("steps model.toml --halvings 2");
}

// Protects pictures that are said in files: they are those of the models in Rust, to the last point; and slips in them are told.
#[test]
fn files_have_pictures() {
    let place = Place::new();
    for model in ["cart_pole", "pendulum"] {
        place.write("file.toml", place.good(&format!("models {model} --file")).out);
        place.good("draw file.toml --times 0,0.7 --out file");
        place.good(&format!("draw {model} --times 0,0.7 --out rust"));
        assert!(place.read("file/mechanism.svg") == place.read("rust/mechanism.svg"), "{model}");
    }
    let text = place.read("file.toml");
    place.write("slip.toml", text.replace("[[[0, 0], \"mass\"]]", "[[[0, 0], \"mas\"]]"));
    place.refused("draw slip.toml", &["slip.toml, line ", "no member of the picture `mas`", "did you mean `mass`?"]);
    place.write("slip.toml", text.replace("[\"x\", \"y\"]", "[\"x'\", \"y\"]"));
    place.refused("draw slip.toml", &["slip.toml, line ", "cannot depend on velocities"]);
    place.write("plain.toml", place.good("models oscillator --file").out);
    place.refused("draw plain.toml", &["picture"]);
}

// Protects results of files: they hold its checksum, are repeated bit by bit, validated and begun with, and refused where the file has changed.
#[test]
fn results_know_their_files() {
    let place = place();
    place.good("simulate model.toml --set c=33 --end 2 --out r");
    place.good("init model.toml --data r/outputs.csv");
    assert!(place.read("mine_problem.toml").contains("model = \"model.toml\""));
    place.good("identify mine_problem.toml --out found");
    let result: serde_json::Value = serde_json::from_str(&place.read("found/result.json")).unwrap();
    let roles: Vec<&str> =
        result["input_files"].as_array().unwrap().iter().filter_map(|file| file["role"].as_str()).collect();
    assert_eq!(roles, ["problem", "model", "data"]);
    place.good("validate found --data r/outputs.csv");
    place.good("gradient model.toml --from found");
    place.good("identify --from found --out again");
    place.good("identify model.toml --out plain");
    place.good("validate plain --data r/outputs.csv");
    place.refused("gradient oscillator --from found", &["a result of model `mine`"]);
    place.write("model.toml", place.read("model.toml").replace("F - c*x", "F - c*x*1.0"));
    place.refused("identify --from found --out again", &["model model.toml", "cannot be repeated"]);
}

// Protects the words for what goes wrong with files, and from writing over somebody's.
#[test]
fn slips_are_told_with_their_lines() {
    let place = place();
    place.write("slip.toml", place.read("model.toml").replace("c*x ", "c*x' "));
    place.refused(
        "simulate slip.toml",
        &["slip.toml, line 5", "this subtracts [N] and [N/s]", "F - c*x' - d*x'", "^^^^^^^^"],
    );
    place.write("problem.toml", "model = \"slip.toml\"\n");
    place.refused("gradient problem.toml", &["slip.toml, line 5"]);
    place.write("lost.toml", "model = \"nowhere.toml\"\n");
    place.refused("gradient lost.toml", &["nowhere.toml"]);
    // signs are no matter of units
    place.write("sign.toml", place.read("model.toml").replace("- d*x'", "+ d*x'"));
    let told = place.good("check sign.toml").err;
    assert!(
        told.contains("small motions about an equilibrium grow e-fold in") && told.contains("of `x` most"),
        "{told}"
    );
    let told = place.good("check model.toml").err;
    assert!(!told.contains("grow"), "{told}");
    place.good("new plain own-model");
    place.good("check own-model.toml");
    place.refused("new plain own-model", &["it is there already", "--force"]);
    place.refused("new plane own", &["no kind of mechanism `plane`", "`planar`"]);
    place.good("new planar linkage");
    place.good("draw linkage.toml --out picture");
    let rust = place.good("export own-model.toml").out;
    assert!(rust.contains("impl Model for OwnModel") && rust.contains("force[0] = F - k * x - d * x_rate;"), "{rust}");
    place.refused("export linkage.toml", &["linkage.toml, line ", "parts"]);
}

// Protects from numbers that are none: a derivative that does not exist is named, and the command fails; where a motion is driven so that
// it begins with an infinite velocity, no projection of the start is advised.
#[test]
fn what_is_no_number_is_told() {
    let place = Place::new();
    let model = |force: &str, constraint: &str| {
        format!(
            "name = \"root\"\nunits = false\ncoordinates = {{ x = \"m\" }}\nmass = {{ x = 1.0 }}\nforce = {{ x = \"{force}\" }}\n{constraint}\
             outputs = {{ x = {{ unit = \"m\", is = \"x\" }} }}\n[parameters]\np = {{ nominal = 2.0 }}\nk = {{ nominal = 3.0 }}\n\
             [scenario]\nend = 0.1\nstep = 1e-2\n"
        )
    };
    place.write("force.toml", model("1 + sqrt(p) - k*x", ""));
    place.write("cost.toml", "model = \"force.toml\"\n[cost]\nintegral = \"x^2\"\n");
    for command in ["gradient", "hessian"] {
        let run = place.run(&format!("{command} cost.toml --at p=0"));
        assert_ne!(run.code, 0, "{command}: {}", run.err);
        let told = ["derivatives by `p`", "are no numbers", "has no slope where the motion passes"];
        assert!(told.iter().all(|part| run.err.contains(part)), "{command}: {}", run.err);
    }
    place.write("driven.toml", model("-k*x", "constraints = { drive = { unit = \"m\", is = \"x - sqrt(t)\" } }\n"));
    let run = place.run("simulate driven.toml");
    assert!(run.code != 0 && !run.err.contains("projection"), "{}", run.err);
    assert!(
        run.err.contains("time derivative of the constraint `drive` is") && run.err.contains("at t = 0 s"),
        "{}",
        run.err
    );
}

// Protects exports with states: the mass matrix of what is written has the places of the coordinates, however many states there are beside them.
#[test]
fn exported_masses_are_in_their_places() {
    let place = Place::new();
    let text = "name = \"coupled\"\nunits = false\ncoordinates = { x = \"m\", y = \"m\" }\nstates = { z = \"1\" }\n\
                force = { x = \"-k*x + z\", y = \"-k*y\" }\nrates = { z = \"-z\" }\noutputs = { x = { unit = \"m\", is = \"x\" } }\n\
                mass = { x = \"m\", y = \"2*m\", \"x, y\" = \"0.3*m\" }\n[parameters]\nk = { nominal = 3.0 }\nm = { nominal = 1.0 }\n";
    place.write("coupled.toml", text);
    let rust = place.good("export coupled.toml").out;
    for entry in ["mass[(0, 0)] =", "mass[(0, 1)] =", "mass[(1, 0)] =", "mass[(1, 1)] ="] {
        assert!(rust.contains(entry), "{entry}\n{rust}");
    }
    assert!(!rust.contains("mass[(2") && !rust.contains(", 2)]"), "{rust}");
}

// Protects the note on jumps: the round-off of a lever that is zero is none, beside the forces of the contact.
#[test]
fn round_off_of_a_contact_is_no_jump() {
    let place = Place::new();
    place.write(
        "ball.toml",
        "kind = \"planar\"\n[body]\nball = { mass = 0.5, inertia = 1e-4, at = [0, 0.3], free = true }\n[contact]\n\
         floor = { ground = [0, 0], direction = 0.1, ball = [0, 0], radius = 0.1, stiffness = 1e5 }\n[sensor]\n\
         a = { shows = \"position\", ball = [0, 0] }\n[scenario]\nend = 0.6\nstep = 1e-4\n",
    );
    let run = place.good("simulate ball.toml --out run");
    assert!(!run.err.contains("jump"), "{}", run.err);
}

// Protects whoever gives a length that cannot be: a loop that stays open is told with by how much, not as one that is held twice.
#[test]
fn loops_that_cannot_close_are_told() {
    let place = Place::new();
    place.write(
        "open.toml",
        "kind = \"planar\"\n[body]\na = { mass = 1, inertia = 1e-3, at = [0.1, 0] }\nb = { mass = 1, inertia = 1e-3, at = [0.3, 0] }\n[revolute]\n\
         A = { ground = [0, 0], a = [-0.1, 0] }\nB = { a = [0.1, 0], b = [-0.1, 0] }\nC = { b = [0.1, 0], ground = [1, 0] }\n[scenario]\nend = 1\n\
         step = 1e-3\ninitial_state = \"projected\"\n",
    );
    place.refused(
        "simulate open.toml",
        &["joints do not fit together near the start", "stays off by 0.", "check lengths and places"],
    );
}

// Protects against slips that run all the same: degrees in the place of rad, a sign, gears without a ratio.
#[test]
fn numbers_that_cannot_be_meant_are_told() {
    let place = Place::new();
    let file = |kind: &str, body: &str, rest: &str| {
        format!("kind = \"{kind}\"\n[body]\nb = {{ {body}, free = true }}\n{rest}[scenario]\nend = 0.01\nstep = 1e-3\n")
    };
    let spring = "[spring]\nk = { ground = [0, 1], b = [0, 0], stiffness = -100, free_length = 0.5 }\n[drag]\nair = { b = [0, 0], linear = -1 }\n";
    place.write("plane.toml", file("planar", "mass = 1, inertia = 1, angle = 30", spring));
    let run = place.good("simulate plane.toml --out run");
    for said in [
        "`b` begins turned by 30 rad, more than a turn: angles are in rad, not in degrees",
        "the stiffness of `k` is below zero, -100 N/m",
        "the linear drag of `air` is below zero, -1 N s/m",
    ] {
        assert!(run.err.contains(said), "{said}: {}", run.err);
    }
    place.write("space.toml", file("spatial", "mass = 1, inertia = [1, 1, 1], turned = [0, 30, 0]", ""));
    place.refused("simulate space.toml", &["`turned`", "30 rad, more than a turn", "0.5236"]);
    let gears = "c = { mass = 1, inertia = 1, free = true }\n[gears]\ng = { from = \"b\", on = \"c\", ratio = 0 }\n";
    place.write("gears.toml", file("planar", "mass = 1, inertia = 1", gears));
    place.refused("simulate gears.toml", &["gears `g`", "ratio of 0"]);
}
