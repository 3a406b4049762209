//! Mechanisms of the literature as robots: Andrews' squeezer, seven links in three loops, and Bricard's, six hinges in a loop in space.

use super::{Folder, Joint, Loop, Robot, outputs};

/// A link of a uniform tensor, on a hinge.
fn hinged(parent: usize, [origin, angles, axis, center]: [[f64; 3]; 4], mass: f64, moments: [f64; 3]) -> Joint {
    Joint { parent, origin, angles, axis, mass, center, moments, in_loop_of: Some(0), ..Joint::default() }
}

/// Andrews' squeezer (Hairer & Wanner 1996, section VI.9; Schiehlen 1990), with joints at zero where it starts.
pub(super) fn andrews() -> Robot {
    let link = |parent: usize, [x, y]: [f64; 2], start: f64, [c_x, c_y]: [f64; 2], mass: f64, inertia: f64| {
        let places = [[x, y, 0.0], [0.0, 0.0, start], [0.0, 0.0, 1.0], [c_x, c_y, 0.0]];
        hinged(parent, places, mass, [inertia; 3])
    };
    let (a, b) = ([-0.06934, -0.00227], [-0.03635, 0.03273]);
    let joints = vec![
        link(0, [0.0, 0.0], -0.06171389001427645, [0.00092, 0.0], 0.04325, 2.194e-6),
        link(1, [0.007, 0.0], 0.0, [-0.0115, 0.0], 0.00365, 4.410e-7),
        link(0, b, 0.45527981916307037, [0.01043, -0.01874], 0.02373, 5.255e-6),
        link(0, a, 0.48736497954384256, [0.02308, 0.00916], 0.07050, 1.169e-5),
        link(4, [0.04, 0.0], 0.22266839016588588, [0.0, -(0.02 - 0.01421)], 0.00706, 5.667e-7),
        link(0, a, 1.2305474445498212, [-0.00449, -0.01228], 0.05498, 1.912e-5),
        link(6, [0.0, -0.04], -0.22266839016588588, [0.02 - 0.01421, 0.0], 0.00706, 5.667e-7),
    ];
    let end = (2, [-0.028, 0.0, 0.0]);
    let meets = |link: usize, place: [f64; 3]| Loop { places: [end, (link, place)], axis: [0.0, 0.0, 1.0] };
    let loops = vec![meets(3, [0.0, -0.035, 0.0]), meets(5, [0.0, -0.02, 0.0]), meets(7, [0.02, 0.0, 0.0])];
    Robot { joints, loops, slip: 0.01 }
}

/// Bricard's mechanism (IFToMM A04): five rods of 1 m along edges of a cube, in weight.
pub(super) fn bricard() -> Robot {
    use costate_models::bricard::HINGES;
    let axes = [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let (thin, wide) = (0.01 / 6.0, 1.01 / 12.0);
    let joints = (0..5).map(|k| {
        let from: [f64; 3] = std::array::from_fn(|i| HINGES[k][i] - if k == 0 { 0.0 } else { HINGES[k - 1][i] });
        let along: [f64; 3] = std::array::from_fn(|i| HINGES[k + 1][i] - HINGES[k][i]);
        let moments = along.map(|x| if x == 0.0 { wide } else { thin });
        hinged(k, [from, [0.0; 3], axes[k], along.map(|x| 0.5 * x)], 1.0 + 0.1 * k as f64, moments)
    });
    let last = std::array::from_fn(|i| HINGES[5][i] - HINGES[4][i]);
    let closes = Loop { places: [(5, last), (0, HINGES[5])], axis: [1.0, 0.0, 0.0] };
    Robot { joints: joints.collect(), loops: vec![closes], slip: 0.01 }
}

/// Protects loops that are not parallelograms, in the plane and in space, one of them with a row that repeats others wherever it is: the torque that drives them is that of
/// Newton's and Euler's equations of all links, by virtual power.
#[test]
fn torques_of_classic_loops() {
    let folder = Folder::new("classic");
    for (name, robot) in [("andrews", andrews()), ("bricard", bricard())] {
        for choices in ["", "inertias = \"factors\""] {
            let entry = folder.read(&robot.urdf(), &robot.driven(choices));
            let names: Vec<String> = (0..robot.joints.len())
                .flat_map(|k| ["angle", "rate", "acceleration"].map(|what| format!("r_j{k}_motion.{what}")))
                .collect();
            let series = outputs(&entry, &names);
            let found = outputs(&entry, &["tau0.effort".to_string()]).remove(0);
            for (i, found) in found.iter().enumerate() {
                let motions: Vec<[f64; 3]> = series.chunks(3).map(|own| [own[0][i], own[1][i], own[2][i]]).collect();
                let all = robot.efforts(&motions);
                let parts: Vec<f64> = all.iter().zip(&motions).map(|(tau, at)| tau * at[1] / motions[0][1]).collect();
                let size = parts.iter().fold(0.0, |most: f64, part| most.max(part.abs()));
                let expected: f64 = parts.iter().sum();
                assert!(size > 0.0 && (found - expected).abs() < 1e-10 * size, "{name}, time {i}: {found} {expected}");
            }
        }
    }
}

/// Protects Andrews' squeezer as a robot with a spring against published numbers: at the start, the crank's acceleration is 14222.4439199541 rad/s² under 0.033 N m, and that of the
/// link on it -10666.8329399655 rad/s² (Mazzia & Magherini 2008, test set for IVP solvers).
#[test]
fn the_squeezer_starts_as_published() {
    let folder = Folder::new("squeezer");
    let spring =
        "[spring.s]\nr_l3 = [0.02, -0.018, 0]\nground = [0.014, 0.072, 0]\nstiffness = 4530.0\nfree_length = 0.07785\n";
    let text = andrews().driven("");
    let begin = text.find("is = \"").unwrap() + 6;
    let end = begin + text[begin..].find('"').unwrap();
    let text = format!("{}0.5*14222.4439199541[rad/s^2]*t^2{}{spring}", &text[..begin], &text[end..])
        .replace("end = 0.2\nstep = 1e-2", "end = 1e-6\nstep = 1e-6");
    let entry = folder.read(&andrews().urdf(), &text);
    let found = outputs(&entry, &["tau0.effort", "r_j1_motion.acceleration"].map(String::from));
    assert!((found[0][0] - 0.033).abs() < 1e-12, "{} N m", found[0][0]);
    assert!((found[1][0] + 10666.8329399655).abs() < 1e-7, "{} rad/s^2", found[1][0]);
}
