//! `costate draw` and `costate animate`: the files that they write, and what they refuse.

use crate::run;
use run::Place;

// Protects the files: where they are by default and with --out, bitmaps on request only, no debris.
#[test]
fn pictures_are_written() {
    let place = Place::new();
    let said = place.good("draw pendulum-chain").out;
    assert!(said.contains("written to out/pendulum_chain_picture/mechanism.svg"), "{said}");
    assert!(place.read("out/pendulum_chain_picture/mechanism.svg").contains("t = 0 s"));
    place.good("draw pendulum_chain --at 0,0.5,1 --step 0.01 --png --out swing");
    let svg = place.read("swing/mechanism.svg");
    assert!(svg.contains("t = 0.0 s") && svg.contains("t = 0.5 s") && svg.contains("t = 1.0 s"));
    place.good("draw pendulum_chain --at 0.1,0.2 --overlay --step 0.01 --set d1=0.5 --out over");
    assert!(place.read("over/mechanism.svg").contains("t = 0.1, 0.2 s"));
    let said = place.good("animate pendulum_chain --fps 5 --speed 2 --step 0.01 --out film").out;
    assert!(said.contains("3 frames, 2 s of motion a second"), "{said}");
    let gif = std::fs::read(place.path("film/animation.gif")).unwrap();
    assert!(gif.starts_with(b"GIF89a") && gif.ends_with(b";"));
    let files: Vec<String> = place.files().into_iter().filter(|name| name.contains('.')).collect();
    let expected = [
        "film/animation.gif",
        "out/pendulum_chain_picture/mechanism.svg",
        "over/mechanism.svg",
        "swing/mechanism.png",
        "swing/mechanism.svg",
    ];
    assert_eq!(files, expected);
}

// Protects plain models that say what they look like: what a control has found can be looked at.
#[test]
fn a_plain_model_is_drawn_and_animated_with_its_record() {
    let place = Place::new();
    place.write("signals.csv", "time [s],F [N],M [N m]\n0,0,98.1\n0.5,50,98.1\n1,0,98.1\n");
    let options = "--data signals.csv --step 0.01 --end 1";
    place.good(&format!("draw overhead-crane {options} --at 0,1 --out picture"));
    assert!(place.read("picture/mechanism.svg").contains("t = 1 s"));
    let said = place.good(&format!("animate overhead-crane {options} --fps 5 --speed 1 --out film")).out;
    assert!(said.contains("overhead_crane: 6 frames"), "{said}");
    place.good("animate triple_pendulum --step 0.01 --end 0.4 --fps 5 --speed 0.5 --out swing");
}

// Protects small motions from being invisible: they are drawn larger where that is asked for, by a factor that the figure states.
#[test]
fn small_motions_are_exaggerated_on_request() {
    let place = Place::new();
    let svg = |options: &str| {
        place.good(&format!("draw half_car --at 0.6 --step 0.01 --end 1 {options} --out picture"));
        place.read("picture/mechanism.svg")
    };
    assert!(!svg("").contains("motion"));
    assert!(svg("--exaggerate").contains("t = 0.6 s, motion × 20<"));
    assert!(svg("--exaggerate 20 --overlay").contains("t = 0.6 s, motion × 20<"));
    place.good("animate half_car --step 0.01 --end 1 --fps 2 --exaggerate 5 --out film");
    for (options, part) in [("--exaggerate 0", "0 is not positive"), ("--exaggerate large", "it is not a number")] {
        place.refused(&format!("draw half_car {options} --out new"), &[part]);
    }
}

// Protects views: what moves in space is drawn from the side that is asked for, with the axes that are seen from there.
#[test]
fn mechanisms_of_space_are_seen_from_a_side() {
    let place = Place::new();
    let mut seen = Vec::new();
    for (view, axis) in [("", ">y</text>"), ("--view front", ">z [m]</text>"), ("--view -30,20", ">y</text>")] {
        place.good(&format!("draw top {view} --out picture"));
        let svg = place.read("picture/mechanism.svg");
        assert!(svg.contains(axis), "{view}");
        assert!(!seen.contains(&svg), "{view}");
        seen.push(svg);
    }
    place.good("draw pendulum_chain --view top --out picture");
    place.good("animate top --view side --fps 2 --speed 1 --end 1 --out film");
    assert!(std::fs::read(place.path("film/animation.gif")).unwrap().starts_with(b"GIF89a"));
}

// Protects from pictures that cannot be: models without looks, times and rates out of range, before anything is simulated.
#[test]
fn what_cannot_be_drawn_is_refused() {
    let place = Place::new();
    for (arguments, parts) in [
        (
            "draw oscillator",
            ["model `oscillator`: it has no picture", "models with a picture: engine_mount, pendulum, cart_pole"],
        ),
        ("animate silverbox", ["model `silverbox`: it has no picture", "plain functions"]),
        ("draw pendulum_chainn", ["no model `pendulum_chainn`", "did you mean `pendulum_chain`?"]),
        ("draw pendulum_chain --at 0,2", ["t = 2 s", "from 0 s to 1 s"]),
        ("draw pendulum_chain --at -1", ["t = -1 s", "from 0 s to 1 s"]),
        ("draw pendulum_chain --at 1s", ["'1s' for '--times", "without a unit"]),
        ("draw pendulum_chain --set m=1", ["no parameter `m`", "did you mean"]),
        ("draw pendulum_chain --view front", ["model `pendulum_chain`", "in the plane"]),
        ("animate pendulum_chain --view 30,20", ["model `pendulum_chain`", "leave the view out"]),
        ("draw top --view back", ["view `back`", "front, side, top, isometric, or AZIMUTH,ELEVATION"]),
        ("animate top --view 0,100", ["the view 0,100", "from -90 to 90 degrees"]),
        ("animate pendulum_chain --fps 0", ["frames a second", "0 is not above 0"]),
        ("animate pendulum_chain --fps -2", ["frames a second", "-2 is not above 0"]),
        ("animate pendulum_chain --fps 100", ["frames a second", "at most 50"]),
        ("animate pendulum_chain --fps 50 --speed 0.01", ["5001 frames are more than 1500", "a higher speed"]),
        ("animate pendulum_chain --speed 0", ["the speed of the animation", "0 is not positive"]),
    ] {
        place.refused(arguments, &parts);
    }
    assert!(place.files().is_empty(), "{:?}", place.files());
}

// Protects those who wait for an animation from a command that calls it written: where it cannot be, that is said, with a remedy, and no success.
#[test]
fn animations_that_cannot_be_written_are_told() {
    let place = Place::new();
    std::fs::create_dir_all(place.path("film/animation.gif")).unwrap();
    let run = place.run("animate pendulum --fps 5 --step 0.01 --end 1 --out film");
    assert!(run.code == 1 && !run.out.contains("written to"), "{}", run.out);
    assert!(
        run.err.contains("cannot write film/animation.gif") && run.err.contains("remove the folder"),
        "{}",
        run.err
    );
}

// Protects the help from lines that a terminal breaks.
#[test]
fn help_of_pictures_reads_well() {
    let place = Place::new();
    for command in ["draw", "animate"] {
        let help = place.good(&format!("{command} --help")).out;
        let long = help.lines().find(|line| line.chars().count() > 80);
        assert_eq!(long, None, "costate {command} --help");
        let whole = help.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(whole.contains("[default: out/NAME_"), "{help}");
        assert!(place.good("--help").out.contains(&format!("  {command} ")));
    }
}

// Protects modes: numbers, files, animations, and what is said where there are none.
#[test]
fn modes_are_printed_and_written() {
    let place = Place::new();
    let said = place.good("modes half_car --animate 2 --modes 3 --out swings").out;
    assert!(said.contains("1.104977") && said.contains("k_front +0.44") && said.contains("3 of 4 modes"), "{said}");
    assert!(said.contains("swings: modes.json, tables, figures, animations"), "{said}");
    let gif = std::fs::read(place.path("swings/mode_2.gif")).unwrap();
    assert!(gif.starts_with(b"GIF89a") && gif.ends_with(b";"));
    let document: serde_json::Value = serde_json::from_str(&place.read("swings/modes.json")).unwrap();
    assert_eq!(document["modes"].as_array().unwrap().len(), 4);
    assert!(document["modes"][0]["derivatives"]["natural_frequency"]["k_front"].as_f64().unwrap() > 0.0);
    assert!(document["modes"][3]["derivatives"].is_null());
    assert!(place.read("swings/shapes.svg").contains("mode 3: 11.11 Hz"));
    assert!(place.read("swings/modes.csv").lines().count() == 5);
    assert!(
        place.read("swings/sensitivities.csv").starts_with("derivative by,natural frequency 1 [Hz],damping ratio 1")
    );
    // without a picture, shapes are drawn over the coordinates; a free motion has no damping ratio
    place.good("modes oscillator --set d=30 --out creep");
    assert!(place.read("creep/shapes.svg").contains("mode 1: decays in"));
    assert!(place.good("modes top --json").out.contains("free motion"));
    for (command, part) in [
        ("modes silverbox --animate 1", "it has no picture"),
        ("modes half_car --animate 5", "modes are numbered from 1 to 4"),
        ("modes half_car --modes 0", "ask for 1 or more"),
        ("modes emps", "neither a stiffness nor a constraint holds `q` at rest"),
    ] {
        place.refused(command, &[part]);
    }
}

// Protects the way from residuals to what is missing: friction that the model does not have shows over the rate, and residuals of a model that has it over nothing.
#[test]
fn residuals_are_drawn_over_what_they_depend_on() {
    let place = Place::new();
    let model = |friction: &str| {
        format!(
            "coordinates = {{ x = \"m\" }}\ninputs = {{ F = \"N\" }}\nmass = {{ x = \"m\" }}\nforce = {{ x = \"F - k*x{friction}\" }}\n\
             outputs = {{ x = {{ unit = \"m\", is = \"x\" }}, v = {{ unit = \"m/s\", is = \"x'\" }}, a = {{ unit = \"m/s^2\", is = \"x''\" }} }}\n\
             [parameters]\nm = {{ unit = \"kg\", nominal = 2.0, lower = 0.1 }}\nk = {{ unit = \"N/m\", nominal = 50.0 }}\n\
             [scenario]\nend = 6.0\nstep = 0.01\ninputs = {{ F = \"9*sin(2*t) + 12*sin(5.3*t)\" }}\noutputs = [\"a\"]\n"
        )
    };
    place.write("true.toml", model(" - 3[N]*tanh(x'/0.05[m/s])"));
    place.write("plain.toml", model(""));
    place.good("simulate true.toml --out made");
    let mut random = costate::random::SplitMix64::new(5);
    let run = place.read("made/outputs.csv");
    let column = run.lines().next().unwrap().split(',').position(|name| name == "a [m/s^2]").unwrap();
    let noisy = |(line, text): (usize, &str)| {
        let mut cells: Vec<String> = text.split(',').map(String::from).collect();
        if line > 0 {
            cells[column] = (cells[column].parse::<f64>().unwrap() + 0.02 * random.normal()).to_string();
        }
        cells.join(",") + "\n"
    };
    place.write("record.csv", run.lines().enumerate().map(noisy).collect::<String>());
    place.run("identify plain.toml --data record.csv --out lacks");
    assert!(place.read("lacks/dependence_a.svg").contains("v [m/s]"));
    place.good("identify true.toml --data record.csv --substeps 1 --out has");
    assert!(!place.path("has/dependence_a.svg").exists());
    // nor is round-off drawn
    place.good("identify true.toml --out exact");
    assert!(place.path("exact/output_a.svg").exists() && !place.path("exact/dependence_a.svg").exists());
}
