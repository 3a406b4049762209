//! A robot with a parallelogram: its base parameters, by the engine and by the tests' own equations.

use super::{Folder, Joint, Robot};
use costate::random::SplitMix64;
use nalgebra::DMatrix;

/// Base parameters of the bodies of seven links in a row whose first axis is upright: 7 n - 6 (Gautier & Khalil 1990), and 43 of the KUKA LWR4+.
const IN_A_ROW: usize = 7 * 7 - 6;

/// The three that a parallelogram adds. Its bars turn as the lower arm (angle a) or as the forearm (b) does, so that their masses and inertias go with those. First
/// moments in its plane act as weights, in both components of either direction: 4, as in a row. But in a row a forearm's moments also say what goes with both
/// angles at once, sin a cos b and sin a sin b in the inertia about the upright axis; here, the rod at the end of the lever has cos a cos b and sin a cos b, too:
/// three numbers of their own.
const OF_PARALLELOGRAM: usize = 3;

/// Joints of `examples/palletizer.urdf`, without bodies.
fn palletizer() -> Robot {
    let (x, y, z) = ([1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]);
    let joint =
        |(parent, origin, axis): (usize, [f64; 3], [f64; 3])| Joint { parent, origin, axis, ..Joint::default() };
    let all = [
        (0, [0.0, 0.0, 0.3], z),
        (1, [0.2, 0.0, 0.4], y),
        (2, [0.0, 0.0, 0.7], y),
        (1, [0.2, 0.0, 0.4], y),
        (4, [-0.25, 0.0, 0.0], y),
        (3, [0.75, 0.0, 0.05], x),
        (6, [0.2, 0.0, 0.0], y),
        (7, [0.1, 0.0, 0.0], x),
        (8, [0.12, 0.0, 0.0], z),
    ];
    Robot { joints: all.map(joint).to_vec(), loops: Vec::new(), slip: 0.01 }
}

/// Efforts of the seven motors: the elbow turns as lever and lower arm do together, and the rod's hinge the other way.
fn efforts(robot: &Robot, own: &[[f64; 3]; 7]) -> [f64; 7] {
    let [yaw, shoulder, lift, roll, pitch, twist, tilt] = *own;
    let elbow: [f64; 3] = std::array::from_fn(|part| lift[part] - shoulder[part]);
    let all = robot.efforts(&[yaw, shoulder, elbow, lift, elbow.map(|part| -part), roll, pitch, twist, tilt]);
    let of_elbow = all[2] - all[4];
    [all[0], all[1] - of_elbow, all[3] + of_elbow, all[5], all[6], all[7], all[8]]
}

/// Protects base parameters of robots with loops: for the arm in `examples/` their number is that of seven links in a row and three more, as many as independent
/// columns of torques by Newton's and Euler's equations, link by link; with friction and rotors there are 73.
#[test]
fn a_parallelogram_has_three_base_parameters_more() {
    let mut random = SplitMix64::new(4);
    let motions: Vec<[[f64; 3]; 7]> = (0..60).map(|_| [(); 7].map(|()| [(); 3].map(|()| random.normal()))).collect();
    let empty = palletizer();
    let still: Vec<[f64; 7]> = motions.iter().map(|own| efforts(&empty, own)).collect();
    assert!(still.iter().flatten().all(|effort| *effort == 0.0));
    // ten bodies that make up all: masses at four places, and tensors
    let third = 1.0 / 3.0_f64.sqrt();
    let turned = [[0.0; 3], [0.7, 0.0, 0.0], [0.0, 0.7, 0.0], [0.0, 0.0, 0.7]];
    let tensors = [(0, 0), (0, 1), (0, 2), (1, 1), (2, 0), (3, 0)];
    let mut columns = Vec::new();
    for link in 0..empty.joints.len() {
        let mut add = |change: &dyn Fn(&mut Joint)| {
            let mut robot = palletizer();
            change(&mut robot.joints[link]);
            columns.extend(motions.iter().flat_map(|own| efforts(&robot, own)));
        };
        for center in [[0.0; 3], [third, 0.0, 0.0], [0.0, third, 0.0], [0.0, 0.0, third]] {
            add(&|joint| (joint.mass, joint.center) = (1.0, center));
        }
        for (angles, axis) in tensors {
            add(&|joint| (joint.inertia_angles, joint.moments[axis]) = (turned[angles], 1.0));
        }
    }
    let count = 10 * empty.joints.len();
    let mut matrix = DMatrix::from_vec(columns.len() / count, count, columns);
    for mut column in matrix.column_iter_mut().filter(|column| column.norm() > 0.0) {
        column.unscale_mut(column.norm());
    }
    let values = matrix.singular_values();
    let rank = values.iter().filter(|value| **value > 1e-9 * values[0]).count();
    assert_eq!(rank, IN_A_ROW + OF_PARALLELOGRAM, "{values:.1e}");
    assert!(values[rank - 1] > 1e-4 * values[0] && values.get(rank).is_none_or(|next| *next < 1e-13 * values[0]));

    // and by the engine, from the file
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/palletizer.urdf");
    let file = std::fs::read_to_string(file).unwrap();
    let plain: String = file
        .lines()
        .filter(|line| !line.contains("<transmission"))
        .map(|line| {
            line.split("<dynamics").next().unwrap().to_string()
                + if line.contains("<dynamics") { "</joint>\n" } else { "\n" }
        })
        .collect();
    let folder = Folder::new("parallelogram");
    let joints = ["yaw", "shoulder", "lift", "wrist_roll", "wrist_pitch", "wrist_twist", "tool_tilt"];
    let mut text = String::from("\n[drive]\n");
    for (k, joint) in joints.iter().enumerate() {
        let (slow, fast) = (2.1 + 0.37 * k as f64, 4.3 + 0.61 * k as f64);
        text += &format!("d{k} = {{ of = \"r_{joint}\", is = \"0.4*sin({slow}[1/s]*t) + 0.2*sin({fast}[1/s]*t)\" }}\n");
    }
    text += "[sensor]\n";
    (0..7).for_each(|k| text += &format!("tau{k} = {{ shows = \"drive\", of = \"d{k}\" }}\n"));
    let outputs = [0, 1, 2, 3, 4, 5, 6].map(|k| format!("\"tau{k}.effort\"")).join(", ");
    text += &format!(
        "[scenario]\nend = 3\nstep = 3e-2\nscheme = \"inverse-dynamics\"\ninitial_state = \"projected\"\noutputs = [{outputs}]\n"
    );
    for (robot, choices, number) in [(&plain, "", rank), (&file, "friction = true\nslip = 0.05\n", 73)] {
        let head = format!("kind = \"spatial\"\n[include.r]\nfile = \"robot.urdf\"\n{choices}");
        let entry = folder.read(robot, &(head + &text));
        let mut problem = entry.problem(&entry.scenario).unwrap();
        for joint in ["elbow", "hinge"] {
            // without a motor, it has none
            let name = format!("r_offset_{joint}");
            problem.parameters.iter_mut().filter(|own| own.name == name).for_each(|own| own.free = false);
        }
        let found = costate_identify::statistics::identifiability(&problem, &problem.start).unwrap();
        assert_eq!(found.rank(), number, "{}", found.report());
    }
}
