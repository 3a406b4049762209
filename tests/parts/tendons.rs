//! What goes with several joints: rotors of motors that turn two of them, cables over pulleys.

use costate_identify::registry::Entry;

/// An arm of a turn, a way and a turn, whose joints follow given motions, with what stands in `more`.
fn driven(more: &str) -> Entry {
    let text = format!(
        "kind = \"spatial\"\n[parameters]\nJ = {{ unit = \"kg m^2\", nominal = 0.7 }}\nn = {{ unit = \"1\", nominal = -1.5 }}\n\
         d = {{ unit = \"N m s/rad\", nominal = 0.4 }}\n\
         [body]\na = {{ mass = 2.0, inertia = [0.01, 0.02, 0.03], at = [0.3, 0, 0] }}\n\
         b = {{ mass = 1.0, inertia = [0.01, 0.01, 0.02], at = [0.7, 0.1, 0] }}\nc = {{ mass = 0.5, inertia = [0.02, 0.01, 0.01], at = [1, 0, 0.1] }}\n\
         [revolute]\nfirst = {{ from = \"ground\", on = \"a\", point = [0, 0, 0], axis = [0, 1, 0.2] }}\n\
         last = {{ from = \"b\", on = \"c\", point = [0.9, 0, 0], axis = [0.1, 1, -0.5] }}\n\
         [prismatic]\nrail = {{ from = \"a\", on = \"b\", point = [0.5, 0, 0], axis = [1, 0, 0.1] }}\n\
         [drive]\nm1 = {{ of = \"first\", is = \"0.5[rad]*(1 - cos(2[1/s]*t))\" }}\nm2 = {{ of = \"rail\", freedom = \"slide\", is = \"0.1[m]*(1 - cos(3[1/s]*t))\" }}\n\
         m3 = {{ of = \"last\", is = \"0.8[rad]*(1 - cos(1[1/s]*t))\" }}\n\
         [sensor]\ne1 = {{ shows = \"drive\", of = \"m1\" }}\ne2 = {{ shows = \"drive\", of = \"m2\" }}\ne3 = {{ shows = \"drive\", of = \"m3\" }}\n\
         {more}\n[scenario]\nend = 1\nstep = 0.05\nscheme = \"inverse-dynamics\"\n"
    );
    costate_file::parse(&text, "arm.toml".as_ref()).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn outputs(entry: &Entry, names: &[&str]) -> Vec<Vec<f64>> {
    let simulation = entry.simulation(&entry.scenario).unwrap();
    let run = simulation.run(&entry.system.signature().nominal()).unwrap_or_else(|error| panic!("{error}"));
    names.iter().map(|name| run.output(entry.system.signature().output_index(name).unwrap())).collect()
}

/// Protects what a tendon asks of drives: on each joint its ratio times J x'' and the tension, worked out by hand from the given motions; of turns, of ways, and of
/// both at once; bodies that two joints share count once.
#[test]
fn drives_take_what_a_tendon_asks() {
    let sensors = ["e1.effort", "e2.effort", "e3.effort"];
    let plain = outputs(&driven(""), &sensors);
    let rotor = "[tendon.t]\nof = [\"first\", \"last\"]\nratios = [3.0, \"n\"]\ninertia = \"J\"\n\
                 tension = \"d*x' + 2[N m/rad]*x\"\nfree = 0.1\n";
    let cable = "[tendon.t]\nof = [\"first\", \"rail\", \"last\"]\nfreedoms = [\"turn\", \"slide\", \"turn\"]\nunit = \"m\"\nratios = [0.2, 1.0, -0.1]\n\
                 inertia = 0.6\ntension = \"500[N/m]*x + 20[N s/m]*x\'\"\n";
    // ratios, inertia, stiffness, damping, free length
    let cases = [(rotor, [3.0, 0.0, -1.5], [0.7, 2.0, 0.4, 0.1]), (cable, [0.2, 1.0, -0.1], [0.6, 500.0, 20.0, 0.0])];
    for (text, ratios, [inertia, stiffness, damping, free]) in cases {
        let with = outputs(&driven(text), &sensors);
        for k in 0..=20 {
            let t = 0.05 * k as f64;
            let motions = [(0.5, 2.0), (0.1, 3.0), (0.8, 1.0)];
            let sum = |of: &dyn Fn(f64, f64) -> f64| -> f64 {
                motions.iter().zip(ratios).map(|((size, rate), ratio)| ratio * of(*size, *rate)).sum()
            };
            let x = sum(&|size, rate| size * (1.0 - (rate * t).cos()));
            let speed = sum(&|size, rate| size * rate * (rate * t).sin());
            let change = sum(&|size, rate| size * rate * rate * (rate * t).cos());
            let effort = inertia * change + stiffness * (x - free) + damping * speed;
            for joint in 0..3 {
                let more = with[joint][k] - plain[joint][k];
                let scale = 1.0 + with[joint][k].abs() + effort.abs();
                assert!(
                    (more - ratios[joint] * effort).abs() < 1e-12 * scale,
                    "{text}, joint {joint}, {t} s: {more} {effort}"
                );
            }
        }
    }
}

/// Protects the energy of a tendon: an arm that swings with a rotor on two joints and a spring between them keeps its energy.
#[test]
fn tendons_have_energy() {
    let text = "kind = \"spatial\"\n[body]\na = { mass = 2.0, inertia = [0.01, 0.02, 0.03], at = [0.3, 0, 0] }\n\
        b = { mass = 1.0, inertia = [0.01, 0.01, 0.02], at = [0.8, 0, 0] }\n\
        [revolute]\nfirst = { from = \"ground\", on = \"a\", point = [0, 0, 0], axis = [0, 1, 0] }\n\
        [cylindrical]\nsecond = { from = \"a\", on = \"b\", point = [0.6, 0, 0], axis = [0.2, 1, 0] }\n\
        [joint_spring]\nhold = { of = \"second\", freedom = \"slide\", stiffness = 300 }\n\
        [tendon.t]\nof = [\"first\", \"second\", \"second\"]\nfreedoms = [\"turn\", \"turn\", \"slide\"]\nratios = [1.0, -2.0, \"5[rad/m]\"]\ninertia = 0.3\n\
        tension = \"4[N m/rad]*x\"\nenergy = \"2[N m/rad]*x^2\"\n\
        [sensor]\nenergy = { shows = \"energy\" }\n[scenario]\nend = 1\nscheme = \"i2p\"\n";
    let drift = |step: f64| {
        let text = format!("{text}step = {step}\n");
        let entry = costate_file::parse(&text, "arm.toml".as_ref()).unwrap_or_else(|error| panic!("{error}"));
        let energy = &outputs(&entry, &["energy"])[0];
        energy.iter().map(|own| (own - energy[0]).abs()).fold(0.0, f64::max)
    };
    let [coarse, fine] = [drift(2e-3), drift(1e-3)];
    // of order two: a wrong energy, or a force that is missing, stays
    assert!(fine < 2e-3 && (3.0..5.5).contains(&(coarse / fine)), "{coarse:e} {fine:e}");
}

/// Protects from tendons that mean nothing: the key and what to do are named.
#[test]
fn what_is_wrong_with_a_tendon_is_said() {
    let said = |tendon: &str| {
        let text = format!(
            "kind = \"spatial\"\n[body]\na = {{ mass = 2.0, inertia = [0.01, 0.02, 0.03], at = [0.3, 0, 0] }}\n\
             [revolute]\nfirst = {{ from = \"ground\", on = \"a\", point = [0, 0, 0], axis = [0, 1, 0] }}\n[tendon.t]\n{tendon}\n"
        );
        costate_file::parse(&text, "arm.toml".as_ref()).err().map(|error| error.to_string()).unwrap_or_default()
    };
    let cases = [
        ("of = [\"first\"]\nratios = [1.0]", "neither inertia nor tension"),
        ("of = [\"first\"]\nratios = [1.0, 2.0]\ninertia = 1", "there are 2 for 1 joints"),
        ("of = [\"frist\"]\nratios = [1.0]\ninertia = 1", "did you mean `first`"),
        ("of = [\"first\"]\nfreedoms = [\"slide\"]\nratios = [1.0]\ninertia = 1", "does not slide along its axis"),
        ("of = [\"first\"]\nratios = [1.0]\nunit = \"mm\"\ninertia = 1", "mm"),
        ("of = [\"first\", \"first\"]\nratios = [1.0, 1.0]\ninertia = 1", "names joint `first` twice"),
        ("of = [\"first\"]\nratios = [1.0]\ninertia = 1\nfree = 0.1", "there is no `tension`"),
        ("ratios = [1.0]\ninertia = 1", "`of` in [tendon.t]: it is missing"),
        ("of = [\"first\"]\nratios = 1.0\ninertia = 1", "it is no list"),
        ("of = []\nratios = []\ninertia = 1", "it names no joint"),
    ];
    for (tendon, expected) in cases {
        let found = said(tendon);
        assert!(found.contains(expected) && found.contains("line"), "{tendon}: {found}");
    }
}
