//! What the command line says of names, numbers and folders that it cannot use, and its exit codes.

use crate::run;
use run::Place;

// Protects every name on the command line: a slip is answered with the nearest name, or with the list of known ones.
#[test]
fn unknown_names_are_answered_with_the_nearest() {
    let place = Place::new();
    for (arguments, parts) in [
        ("simulate oscilator", ["no model `oscilator`", "did you mean `oscillator`?"]),
        ("identify engine-mounts", ["no model `engine-mounts`", "did you mean `engine_mount`?"]),
        ("models zzz", ["no model `zzz`", "known: engine_mount, oscillator"]),
        ("gradient silver", ["no model `silver`", "did you mean `silverbox`?"]),
        ("simulate engine_mount --set c_E=1", ["no parameter `c_E` in model `engine_mount`", "did you mean `c_E"]),
        ("identify oscillator --start cc=1", ["no parameter `cc` in model `oscillator`", "did you mean `c`?"]),
        ("identify oscillator --fix dd", ["no parameter `dd`", "did you mean `d`?"]),
        ("identify oscillator --free v", ["no parameter `v`", "did you mean `v0`?"]),
        ("gradient oscillator --at mm=1", ["no parameter `mm`", "did you mean `m`?"]),
        ("identify oscillator --method bfsg", ["no method `bfsg`", "did you mean `bfgs`?"]),
        ("gradient oscillator --method adjiont", ["no method `adjiont` in `gradient`", "did you mean `adjoint`?"]),
        ("simulate oscillator --scheme hht-literally", ["no scheme `hht-literally`", "did you mean `hht-literal`?"]),
        ("identify oscillator --data x --interpolation cubik", ["interpolation `cubik`", "did you mean `cubic`?"]),
        ("simulate slider-crank --hold phi1,phi_2", ["no coordinate `phi_2`", "did you mean `phi2`?"]),
        ("identify oscillator --out x --metod bfgs", ["'--metod'", "'--method'"]),
        ("simualte oscillator", ["'simualte'", "'simulate'"]),
    ] {
        place.refused(arguments, &parts);
    }
}

// Protects numbers: what is no number, not finite, or out of range names its option and what to write instead.
#[test]
fn unusable_numbers_name_their_option() {
    let place = Place::new();
    for (arguments, parts) in [
        ("simulate oscillator --step abc", ["'abc' for '--step", "not a number; write one such as 0.001"]),
        ("simulate oscillator --step nan", ["'nan' for '--step", "not a finite number"]),
        ("simulate oscillator --step 1ms", ["'1ms' for '--step", "without a unit"]),
        ("simulate oscillator --step 0", ["the time step: 0 s is not positive", "give a step > 0"]),
        ("simulate oscillator --step -0.01", ["-0.01 s is not positive", "give a step > 0"]),
        ("simulate oscillator --step 0.3", ["0.3 s does not divide the 5 s from 0 s to 5 s", "use 0.25 s"]),
        (
            "simulate oscillator --step 1e-12",
            ["the time step 1e-12 s: times of 5.00e12 steps: 40 TB", "use a larger step"],
        ),
        ("simulate oscillator --step 1e-300", ["the time step 1e-300 s: times of 5.00e300 steps", "use a larger step"]),
        ("simulate oscillator --end 1e300", ["the time step 0.01 s: times of 1.00e302 steps", "end earlier"]),
        ("simulate oscillator --alpha 1e300", ["alpha of the HHT scheme: 1e300 lies outside", "use -0.1"]),
        ("draw pendulum_chain --at 1e300", ["the picture at t = 1e300 s", "from 0 s to 1 s"]),
        ("animate pendulum_chain --fps 1e300", ["the frames a second of the animation: 1e300 is not", "take 25"]),
        ("identify oscillator --start c=-1e300", ["its start -1e300 N/m lies outside its bounds [0, inf]", "move"]),
        (
            "draw bricard --set m2=1e300 --at 0.5",
            ["has no inverse to working precision: the inertia of `", "` is 1e300; check masses"],
        ),
        ("simulate oscillator --end -1", ["no time between 0 s and -1 s", "let it end after it starts"]),
        ("simulate oscillator --end inf", ["'inf' for '--end", "not a finite number"]),
        ("simulate pendulum --scheme ali3p:penalty=-1", ["its penalty is -1", "give a stiffness in N/m"]),
        ("simulate oscillator --alpha 0.1", ["alpha of the HHT scheme: 0.1 lies outside [-1/3, 0]", "use -0.1"]),
        ("simulate oscillator --alpha -0.5", ["-0.5 lies outside [-1/3, 0]", "use -0.1"]),
        ("simulate oscillator --set c", ["--set c: there is no `=`", "write it as name=value"]),
        ("simulate oscillator --set c=soft", ["--set c=soft: `soft` is not a number", "name=value"]),
        ("simulate oscillator --set c=inf", ["inf is not a finite number", "name=value"]),
        ("simulate oscillator --set c=1,c=2", ["--set: `c` is given twice", "give one value"]),
        ("identify oscillator --substeps -1", ["'-1' for '--substeps", "not a whole number"]),
        ("identify oscillator --substeps 2", ["substeps: there is no record", "give `step` instead"]),
        ("identify oscillator --max-iterations 1.5", ["'1.5' for '--max-iterations", "not a whole number"]),
        ("identify oscillator --max-evaluations 0 --json", ["`max_evaluations`: it is 0", "allow at least"]),
        ("identify oscillator --noise-seed 3", ["--noise-seed: the noise has a seed, but no level", "--noise-level"]),
        ("identify oscillator --noise-seed -3 --noise-level 1", ["'-3'", "--noise-seed"]),
        ("identify oscillator --noise-level some", ["--noise-level some: it is not a number", "name=value"]),
        ("identify oscillator --noise-level 0", ["the noise of output `a`: its standard deviation", "positive level"]),
        ("identify oscillator --noise-level x=1", ["no compared output `x` in the noise", "known: a"]),
        ("gradient oscillator --at nominall", ["--at nominall: it names no point", "`start`, `nominal` or name=value"]),
        ("gradient oscillator --repeat 0", ["--repeat: 0 runs", "measure 1 run or more"]),
        ("identify oscillator --interpolation cubic", ["--interpolation: there is no record", "--data FILE.csv"]),
    ] {
        place.refused(arguments, &parts);
    }
}

// Protects the optimiser's start: bounds that exclude it and contradictory wishes are refused by name before any work.
#[test]
fn unusable_starts_name_the_parameter() {
    let place = Place::new();
    for (arguments, parts) in [
        (
            "identify oscillator --start c=-1",
            ["parameter `c`: its start -1 N/m lies outside its bounds [0, inf]", "move"],
        ),
        ("identify oscillator --fix c,d", ["problem `oscillator`: all its parameters are fixed", "--free NAME"]),
        ("identify oscillator --fix c --free c", ["--fix and --free: `c` is in both", "leave it out"]),
    ] {
        place.refused(&format!("{arguments} --json"), &parts);
    }
}

// Protects against the folder that cannot be written: it is found before the work, and said which file is in the way.
#[test]
fn a_file_in_place_of_the_folder_is_named() {
    let place = Place::new();
    place.write("taken", "");
    for arguments in ["simulate oscillator --out taken", "identify oscillator --out taken/results"] {
        place.refused(arguments, &["cannot create the folder taken", "taken is a file", "another folder with --out"]);
    }
    assert_eq!(place.read("taken"), "");
}

// Protects the first argument: what is neither a model nor a problem file is told apart from a misspelt model.
#[test]
fn a_path_that_is_no_problem_file_is_explained() {
    let place = Place::new();
    place.write("problem.txt", "model = \"oscillator\"");
    for arguments in ["identify problem.txt", "identify ./problem.txt", "simulate some/where"] {
        place.refused(arguments, &["neither a model nor a problem file", "ends in .toml"]);
    }
}

// Protects simulations that cannot work: what failed, at which time and step, and what to do, and never a panic.
#[test]
fn failing_simulations_say_where_and_what() {
    let place = Place::new();
    let without_masses = "name = \"two\"\ncoordinates = { x = \"m\", y = \"m\", z = \"m\" }\nmass = { x = \"1[kg]\" }\n\
                          force = { x = \"-40[N/m]*x\" }\noutputs = { x = { unit = \"m\", is = \"x\" } }\n[scenario]\nend = 1.0\nstep = 1e-2\n";
    place.write("two.toml", without_masses);
    for (arguments, parts) in [
        (
            "oscillator --set c=-1e300",
            ["residual of the motion of `x` is -inf", "t = 0.01 s (step 1)", "check its parameters, or take a smaller"],
        ),
        ("oscillator --set c=-4e4", ["of `x` is", "(step 156)", "overflows or divides by zero"]),
        (
            "silverbox --set k3=-1e12",
            ["did not converge at t = 0.00", "h = 0.0001 s): after", "motion of `y`; take a smaller step"],
        ),
        (
            "engine_mount --step 0.5 --set c_E2=1e14",
            ["did not converge at t = 0.5 s (step 1, h = 0.5 s)", "the residual is", "worst in the equation of"],
        ),
        (
            "oscillator --set m=0",
            ["singular at t = 0 s", "neither mass nor a constraint determines the acceleration of `x`", "give it mass"],
        ),
        (
            "two.toml",
            [
                "singular at t = 0 s",
                "neither mass nor a constraint determines the acceleration of `y`, `z`;",
                "give it mass",
            ],
        ),
        ("pendulum --set L=0", ["singular at t = 0 s", "row `rod` has no coordinate in it here", "rows"]),
    ] {
        place.refused(&format!("simulate {arguments}"), &parts);
    }
}

// Protects scripts: 0 is success, 1 is not converged, and models are known by `-` as by `_`.
#[test]
fn exit_codes_and_spellings() {
    let place = Place::new();
    assert!(place.good("models").out.contains("engine_mount"));
    assert_eq!(place.good("models engine-mount --names").out, "engine_mount\n");
    assert!(place.good("simulate cart-pole --step 0.02").out.contains("written to out/cart_pole"));
    assert!(place.good("simulate cart_pole --step 0.02 --scheme hht-literal").err.is_empty());
    assert!(place.files().contains(&"out/cart_pole_simulation/states.csv".to_string()));
    let projected = place.good("simulate pendulum --step 0.1 --initial-state projected").out;
    assert!(projected.contains("start projected onto the constraints: the model's was off by"), "{projected}");
    let at_rest = place.good("simulate pendulum --step 0.1 --initial-state equilibrium --out rest").out;
    assert!(
        at_rest.contains("start at rest in static equilibrium, found from the model's initial position in"),
        "{at_rest}"
    );
    let written = place.read("rest/simulation.json");
    assert!(written.contains("\"initial_state\": \"equilibrium\""), "{written}");
    assert_eq!(place.run("identify oscillator --json").code, 0);
    let run = place.run("identify oscillator --max-iterations 1 --out results");
    assert_eq!(run.code, 1, "{}{}", run.out, run.err);
    assert!(run.out.contains("NOT converged: the allowed number of iterations was used up"), "{}", run.out);
    assert_eq!(place.run("").code, 2);
}

// Protects the help: every command is there, with its exit codes, on lines that a terminal holds.
#[test]
fn help_reads_well() {
    let place = Place::new();
    let help = place.good("--help").out;
    for part in ["models", "simulate", "gradient", "check", "identify", "Examples:", "Exit codes: 0", "2 wrong input"] {
        assert!(help.contains(part), "`{part}` is missing in\n{help}");
    }
    let help = place.good("identify --help").out.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in
        ["--data <FILE.csv>", "`NAME [UNIT]`", "steepest-descent-fixed", "[default: out/NAME of the problem file"]
    {
        assert!(help.contains(part), "`{part}` is missing in\n{help}");
    }
}

// Protects a reader of `check`: it says at how many points, from which seed and how closely derivatives were compared, and whether
// hand-derived Jacobians were among them.
#[test]
fn check_says_what_it_compared() {
    let place = Place::new();
    for (model, by_hand) in
        [("pendulum", "hand-derived Jacobians were among them"), ("gyroscope", "no hand-derived Jacobians")]
    {
        let run = place.good(&format!("check {model}"));
        let last = run.out.trim_end().lines().last().unwrap_or_default();
        for part in ["all agree: ", "at 20 random points from seed 1", "relative tolerance 1e-9", by_hand] {
            assert!(last.contains(part), "`{part}` is missing in: {last}");
        }
        assert!(run.out.contains("M = Mᵀ (mass matrix against its transposed)"), "{}", run.out);
    }
}

// Protects `--hold` and the key of problem files: a start around a given angle, which then needs no other word; what it contradicts.
#[test]
fn coordinates_are_held_on_demand() {
    let place = Place::new();
    let held = place.json("gradient slider-crank --hold phi1 --end 0.1 --json", 0);
    let projected = place.json("gradient slider-crank --initial-state projected --end 0.1 --json", 0);
    // this start is consistent: holding changes nothing but which way derivatives take
    let [a, b] = [&held, &projected].map(|result| result["cost"].as_f64().unwrap());
    assert!((a / b - 1.0).abs() < 1e-9, "{a} {b}");
    let parts = ["the coordinates to hold", "equilibrium", "ask for a projected start"];
    place.refused("simulate slider-crank --hold phi1 --initial-state equilibrium", &parts);
    let parts = ["the held coordinates `phi1`, `phi2`", "they repeat"];
    place.refused("simulate slider-crank --hold phi1,phi2", &parts);
    place.write("hold.toml", "model = \"slider_crank\"\n[integrator]\nend = 0.1\nhold = [\"phi9\"]\n");
    place.refused("gradient hold.toml", &["no coordinate `phi9`", "did you mean `phi1`?"]);
}

// Protects readers from digits that say nothing: hundreds of zeros, and the round-off of a short number.
#[test]
fn numbers_in_sentences_are_short() {
    let place = Place::new();
    let said = place.good("simulate oscillator --step 1e-5 --end 0.03").out;
    assert!(said.contains("3000 steps of 0.00001 s to t = 0.03 s"), "{said}");
    assert!(place.good("gradient oscillator --step 1e-5 --end 0.03").out.contains("3000 steps of 0.00001 s, "));
    let long = |text: &str| text.split(|c: char| !c.is_ascii_digit()).any(|digits| digits.len() > 17);
    for value in ["1e300", "-1e300", "1e-300"] {
        for arguments in [
            format!("simulate oscillator --set c={value}"),
            format!("simulate oscillator --step {value}"),
            format!("gradient oscillator --at c={value}"),
            format!("check oscillator --end {value}"),
            format!("identify oscillator --start c={value} --max-iterations 1 --json"),
            format!("identify oscillator --noise-level {value} --max-iterations 1 --json"),
            format!("identify oscillator --max-iterations 1 --json --constraint c<={value}"),
            format!("identify oscillator --max-iterations 1 --json --constraint c={value}"),
            format!("simulate slider_crank --set L_rod={value}"),
            format!("draw bricard --set m2={value} --at 0.5"),
            format!("animate pendulum_chain --step 0.01 --speed {value}"),
        ] {
            let run = place.run(&arguments);
            assert!(!long(&run.err), "{arguments}\n{}", run.err);
            assert!(!run.err.contains(" of ;") && !run.err.contains("panicked"), "{arguments}\n{}", run.err);
        }
    }
}

// Protects names that are nowhere near: a suggestion that means something else is worse than the list.
#[test]
fn only_what_is_near_is_suggested() {
    let place = Place::new();
    for name in ["gearbox", "pendular_thing", "xx", "golden"] {
        let run = place.run(&format!("simulate {name}"));
        assert!(run.err.contains("; known: engine_mount, ") && !run.err.contains("did you mean"), "{}", run.err);
    }
    for (name, meant) in [("pendulun", "pendulum"), ("Four-Bar-Chain2", "four_bar_chain")] {
        place.refused(&format!("simulate {name}"), &[&format!("did you mean `{meant}`?")]);
    }
}

// Protects terminals of 80 characters: no table is wider, whatever it holds.
#[test]
fn tables_fit_a_terminal() {
    let place = Place::new();
    for arguments in [
        "identify engine-mount --noise-level 0.01",
        "identify oscillator --noise-level 1e300",
        "identify oscillator --constraint c<=30",
        "gradient engine-mount --method all",
        "hessian engine-mount",
        "check engine-mount",
        "identifiability engine-mount",
    ] {
        let run = place.run(arguments);
        // sentences are the terminal's to break; columns are two spaces apart
        let wide = run.out.lines().filter(|line| line.trim().contains("  ")).find(|line| line.chars().count() > 80);
        assert_eq!(wide, None, "costate {arguments}\n{}", run.out);
    }
    for line in place.good("models engine-mount").out.lines().filter(|line| line.starts_with("    ")) {
        assert!(line.chars().count() <= 80, "{line}");
    }
    // four methods side by side would be wider: the table goes on below, with the names again
    let text = place.good("gradient engine-mount --method all").out;
    assert_eq!(text.lines().filter(|line| line.starts_with("d_H2 ")).count(), 2, "{text}");
}

// Protects whoever reads numbers: where adjoint and tangents of one run disagree, and where differences see nothing but round-off,
// that is said and told apart.
#[test]
fn gradients_that_round_off_has_spoilt_are_told() {
    let place = Place::new();
    let spoilt = place.good("gradient pendulum --scheme trapezoidal --method all");
    assert!(spoilt.err.contains("adjoint and tangents differ by"), "{}", spoilt.err);
    let sound = place.good("gradient pendulum --scheme i2p --method all");
    // penalties that leave constraints soft, or are lost
    for (penalty, words) in [
        ("penalty=1e3", ["leaves the projections soft", "none for exact projections"]),
        ("pure_penalty=1e3", ["leaves `", "soft"]),
        ("pure_penalty=1e25", ["so large that round-off eats it", "times as large"]),
    ] {
        let message = place.good(&format!("simulate pendulum --scheme ali3p:{penalty}")).err;
        words.iter().for_each(|word| assert!(message.contains(word), "{message}"));
    }
    for penalty in ["penalty=1e14", "penalty=1e25", "pure_penalty=1e14"] {
        assert!(place.good(&format!("simulate pendulum --scheme ali3p:{penalty}")).err.is_empty(), "{penalty}");
    }
    assert!(!sound.err.contains("differ"), "{}", sound.err);
    // so short that the cost's own round-off is most of what differences see
    for model in ["pendulum", "half_car"] {
        place.good(&format!("check {model} --scheme hht --end 0.05"));
    }
}
