//! Robots from URDF: torques of given motions against Newton's and Euler's equations, link by link; forms of their inertias; files with slips.

use costate::Interrupt;
use costate::cost::{Cost, LeastSquares, Quadrature, Reference};
use costate::random::SplitMix64;
use costate::sensitivity::{Gradient, Method};
use costate::vector::{Rotation, Vector, euler_parameters_of};
use costate_identify::linear_record::LinearRecord;
use costate_identify::registry::Entry;
use std::fmt::Write;
use std::path::PathBuf;

mod classic;
mod parallelogram;
mod record;

/// A joint with the link that it carries.
#[derive(Clone, Default)]
struct Joint {
    /// Number of the link that it is on; 0 is the base.
    parent: usize,
    is_prismatic: bool,
    is_fixed: bool,
    origin: [f64; 3],
    angles: [f64; 3],
    axis: [f64; 3],
    mass: f64,
    center: [f64; 3],
    /// Of the axes in which the moments are principal ones.
    inertia_angles: [f64; 3],
    moments: [f64; 3],
    friction: Option<[f64; 2]>,
    rotor: f64,
    mimic: Option<(usize, f64, f64)>,
    /// The joint that drives the loop that this one is in.
    in_loop_of: Option<usize>,
}

struct Robot {
    joints: Vec<Joint>,
    loops: Vec<Loop>,
    /// Rate at which dry friction has nearly grown up, rad/s.
    slip: f64,
}

/// Links that a hinge connects, the place on each, and its axis in the axes of both.
struct Loop {
    places: [(usize, [f64; 3]); 2],
    axis: [f64; 3],
}

fn triple(random: &mut SplitMix64, size: f64) -> [f64; 3] {
    [(); 3].map(|()| size * (2.0 * random.unit() - 1.0))
}

impl Robot {
    fn random(seed: u64, loops: usize) -> Robot {
        let random = &mut SplitMix64::new(seed);
        let mut robot = Robot { joints: Vec::new(), loops: Vec::new(), slip: 0.01 };
        for k in 0..2 + (random.unit() * 4.0) as usize {
            let parent = (random.unit() * (k + 1) as f64) as usize;
            let mut joint = Robot::joint(random, parent);
            joint.is_prismatic = random.unit() < 0.25;
            joint.is_fixed = k > 0 && random.unit() < 0.2;
            if joint.is_prismatic || joint.is_fixed {
                joint.rotor = 0.3;
            }
            let leader = robot.joints.iter().rposition(|own| !own.is_fixed && own.mimic.is_none());
            if let (Some(leader), true) = (leader, random.unit() < 0.3 && !joint.is_fixed) {
                joint.mimic = Some((leader, 1.5 * random.unit() - 1.0, 0.2 * random.unit()));
            }
            robot.joints.push(joint);
        }
        for _ in 0..loops {
            robot.add_loop(random);
        }
        robot
    }

    fn joint(random: &mut SplitMix64, parent: usize) -> Joint {
        let [a, b, c] = [(); 3].map(|()| 0.01 + 0.04 * random.unit());
        let axis = triple(random, 1.0);
        let length = axis.iter().map(|x| x * x).sum::<f64>().sqrt();
        Joint {
            parent,
            is_prismatic: false,
            is_fixed: false,
            origin: triple(random, 0.4),
            angles: triple(random, 1.5),
            axis: axis.map(|x| x / length),
            mass: 0.5 + random.unit(),
            center: triple(random, 0.2),
            inertia_angles: triple(random, 1.5),
            moments: [b + c, a + c, a + b],
            friction: (random.unit() < 0.5).then(|| [random.unit(), 0.3 * random.unit()]),
            rotor: if random.unit() < 0.5 { 0.2 * random.unit() } else { 0.0 },
            mimic: None,
            in_loop_of: None,
        }
    }

    /// Four bars in a plane on some link, of which the first one is driven.
    fn add_loop(&mut self, random: &mut SplitMix64) {
        let crank = self.joints.len();
        let parent = (random.unit() * (crank + 1) as f64) as usize;
        let (place, angles) = (triple(random, 0.3), triple(random, 1.5));
        let turn = rotation(angles);
        let at = |x: f64, y: f64| {
            let moved = turn.turn(Vector([x, y, 0.0])).0;
            std::array::from_fn(|k| place[k] + moved[k])
        };
        let in_plane = |parent: usize, origin: [f64; 3], angles: [f64; 3], random: &mut SplitMix64| Joint {
            origin,
            angles,
            axis: [0.0, 0.0, 1.0],
            in_loop_of: Some(crank),
            ..Robot::joint(random, parent)
        };
        let (end, far) = ([0.1, 0.25 + 0.1 * random.unit(), 0.0], [0.4, 0.4, 0.0]);
        self.joints.push(in_plane(parent, at(0.0, 0.0), angles, random));
        self.joints.push(in_plane(crank + 1, end, [0.0; 3], random));
        self.joints.push(in_plane(parent, at(0.5, 0.0), angles, random));
        let on_coupler = std::array::from_fn(|k| far[k] - end[k]);
        let places = [(crank + 2, on_coupler), (crank + 3, [far[0] - 0.5, far[1], 0.0])];
        self.loops.push(Loop { places, axis: [0.0, 0.0, 1.0] });
    }

    fn urdf(&self) -> String {
        let numbers = |numbers: [f64; 3]| numbers.map(|x| format!("{x:?}")).join(" ");
        let mut text = "<?xml version=\"1.0\"?>\n<robot name=\"random\">\n<link name=\"l0\"/>\n".to_string();
        for (k, joint) in self.joints.iter().enumerate() {
            let [xx, yy, zz] = joint.moments;
            let kind = if joint.is_fixed {
                "fixed"
            } else if joint.is_prismatic {
                "prismatic"
            } else {
                "revolute"
            };
            let _ = writeln!(
                text,
                "<link name=\"l{0}\"><inertial><origin xyz=\"{1}\" rpy=\"{2}\"/><mass value=\"{3:?}\"/>\n\
                 <inertia ixx=\"{xx:?}\" iyy=\"{yy:?}\" izz=\"{zz:?}\"/></inertial></link>\n\
                 <joint name=\"j{k}\" type=\"{kind}\"><parent link=\"l{4}\"/><child link=\"l{0}\"/>\
                 <origin xyz=\"{5}\" rpy=\"{6}\"/><axis xyz=\"{7}\"/>",
                k + 1,
                numbers(joint.center),
                numbers(joint.inertia_angles),
                joint.mass,
                joint.parent,
                numbers(joint.origin),
                numbers(joint.angles),
                numbers(joint.axis),
            );
            if let Some([damping, friction]) = joint.friction {
                let _ = writeln!(text, "<dynamics damping=\"{damping:?}\" friction=\"{friction:?}\"/>");
            }
            if let Some((leader, ratio, offset)) = joint.mimic {
                let _ = writeln!(text, "<mimic joint=\"j{leader}\" multiplier=\"{ratio:?}\" offset=\"{offset:?}\"/>");
            }
            text.push_str("</joint>\n");
            if joint.rotor > 0.0 && !joint.is_fixed {
                let _ = writeln!(
                    text,
                    "<transmission name=\"t{k}\"><joint name=\"j{k}\"/><actuator name=\"a\"><mechanicalReduction>10\
                     </mechanicalReduction><rotor_inertia>{:?}</rotor_inertia></actuator></transmission>",
                    joint.rotor / 100.0
                );
            }
        }
        for (k, Loop { places: [first, second], axis }) in self.loops.iter().enumerate() {
            let _ = writeln!(
                text,
                "<loop_joint name=\"c{k}\" type=\"revolute\"><link1 link=\"l{}\" xyz=\"{}\"/><link2 link=\"l{}\" xyz=\"{}\"/>\
                 <axis xyz=\"{}\"/></loop_joint>",
                first.0,
                numbers(first.1),
                second.0,
                numbers(second.1),
                numbers(*axis)
            );
        }
        text + "</robot>\n"
    }

    /// True for a joint that a drive moves.
    fn is_driven(&self, k: usize) -> bool {
        let joint = &self.joints[k];
        !joint.is_fixed && joint.mimic.is_none() && joint.in_loop_of.is_none_or(|crank| crank == k)
    }

    /// A mechanism that includes the robot, with motions of its own.
    fn driven(&self, choices: &str) -> String {
        let mut text = format!(
            "kind = \"spatial\"\n[include.r]\nfile = \"robot.urdf\"\n{choices}\n[scenario]\nend = 0.2\nstep = 1e-2\n\
             scheme = \"inverse-dynamics\"\ninitial_state = \"projected\"\noutputs = ["
        );
        let driven: Vec<usize> = (0..self.joints.len()).filter(|k| self.is_driven(*k)).collect();
        text.push_str(&driven.iter().map(|k| format!("\"tau{k}.effort\"")).collect::<Vec<_>>().join(", "));
        text.push_str("]\n");
        for k in driven {
            let freedom = if self.joints[k].is_prismatic { "slide" } else { "turn" };
            let unit = if self.joints[k].is_prismatic { "m" } else { "rad" };
            let (rate, swing) = (0.4 + 0.1 * k as f64, 0.02 * (k + 1) as f64);
            let _ = writeln!(
                text,
                "[drive.d{k}]\nof = \"r_j{k}\"\nfreedom = \"{freedom}\"\nis = \"{rate}[{unit}/s]*t + {swing}[{unit}]*(sin(7[1/s]*t + {k}) - sin({k}))\"\n\
                 [sensor.tau{k}]\nshows = \"drive\"\nof = \"d{k}\""
            );
        }
        text
    }

    /// Efforts of all joints for their motions, by Newton's and Euler's equations of each link, from all links that a joint carries.
    fn efforts(&self, motions: &[[f64; 3]]) -> Vec<f64> {
        struct At {
            rotation: Turn,
            origin: Vector<f64>,
            rate: Vector<f64>,
            growth: Vector<f64>,
            acceleration: Vector<f64>,
            axis: Vector<f64>,
        }
        let zero = Vector::zero();
        let still = rotation([0.0; 3]);
        // falling upwards is weight
        let up = Vector([0.0, 0.0, 9.81]);
        let mut links =
            vec![At { rotation: still, origin: zero, rate: zero, growth: zero, acceleration: up, axis: zero }];
        for (joint, [place, speed, change]) in self.joints.iter().zip(motions) {
            let on = &links[joint.parent];
            let frame = compose(&on.rotation, &rotation(joint.angles));
            let axis = frame.turn(Vector(joint.axis));
            let slides = joint.is_prismatic && !joint.is_fixed;
            let arm = on.rotation.turn(Vector(joint.origin)) + if slides { axis * *place } else { zero };
            let mut acceleration = on.acceleration + on.growth.cross(arm) + on.rate.cross(on.rate.cross(arm));
            let (mut rate, mut growth, mut turned) = (on.rate, on.growth, frame);
            if slides {
                acceleration += axis * *change + on.rate.cross(axis) * (2.0 * speed);
            } else if !joint.is_fixed {
                turned = compose(&turned, &Turn::about(joint.axis, *place));
                rate += axis * *speed;
                growth += axis * *change + on.rate.cross(axis) * *speed;
            }
            let origin = on.origin + arm;
            links.push(At { rotation: turned, origin, rate, growth, acceleration, axis });
        }
        let carried = |joint: usize, mut link: usize| {
            while link > 0 {
                if link == joint + 1 {
                    return true;
                }
                link = self.joints[link - 1].parent;
            }
            false
        };
        (0..self.joints.len())
            .map(|k| {
                let own = &links[k + 1];
                let (mut force, mut torque) = (zero, zero);
                for (j, joint) in self.joints.iter().enumerate().filter(|(j, _)| carried(k, j + 1)) {
                    let at = &links[j + 1];
                    let center = at.rotation.turn(Vector(joint.center));
                    let axes = compose(&at.rotation, &rotation(joint.inertia_angles));
                    let spin = |vector: Vector<f64>| {
                        let local = axes.turn_back(vector).0;
                        axes.turn(Vector(std::array::from_fn(|i| joint.moments[i] * local[i])))
                    };
                    let push =
                        (at.acceleration + at.growth.cross(center) + at.rate.cross(at.rate.cross(center))) * joint.mass;
                    force += push;
                    torque +=
                        spin(at.growth) + at.rate.cross(spin(at.rate)) + (at.origin + center - own.origin).cross(push);
                }
                let joint = &self.joints[k];
                let [_, speed, change] = motions[k];
                let along = if joint.is_prismatic { own.axis.dot(force) } else { own.axis.dot(torque) };
                let [damping, dry] = joint.friction.unwrap_or_default();
                along + damping * speed + dry * (speed / self.slip).tanh() + joint.rotor * change
            })
            .collect()
    }
}

/// A rotation, by the rows of its matrix.
#[derive(Clone, Copy)]
struct Turn([Vector<f64>; 3]);

impl Turn {
    fn about(axis: [f64; 3], angle: f64) -> Turn {
        let rotation = Rotation::from_euler_parameters(euler_parameters_of(Vector(axis) * angle));
        Turn([0, 1, 2].map(|i| Vector([0, 1, 2].map(|j| rotation.axis(j).0[i]))))
    }

    fn turn(&self, vector: Vector<f64>) -> Vector<f64> {
        Vector(self.0.map(|row| row.dot(vector)))
    }

    fn turn_back(&self, vector: Vector<f64>) -> Vector<f64> {
        let [x, y, z] = vector.0;
        self.0[0] * x + self.0[1] * y + self.0[2] * z
    }
}

fn rotation([roll, pitch, yaw]: [f64; 3]) -> Turn {
    let (x, y, z) =
        (Turn::about([1.0, 0.0, 0.0], roll), Turn::about([0.0, 1.0, 0.0], pitch), Turn::about([0.0, 0.0, 1.0], yaw));
    compose(&z, &compose(&y, &x))
}

fn compose(a: &Turn, b: &Turn) -> Turn {
    // rows of the product are rows of the first, turned back by the second
    Turn(a.0.map(|row| b.turn_back(row)))
}

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("costate_robots_{name}_{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn read(&self, robot: &str, text: &str) -> Entry {
        std::fs::write(self.0.join("robot.urdf"), robot).unwrap();
        costate_file::parse(text, &self.0.join("all.toml")).unwrap_or_else(|error| panic!("{error}\n{robot}\n{text}"))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Values of an output over a run at the nominal parameters.
fn outputs(entry: &Entry, names: &[String]) -> Vec<Vec<f64>> {
    let simulation = entry.simulation(&entry.scenario).unwrap();
    let run = simulation.run(&entry.system.signature().nominal()).unwrap_or_else(|error| panic!("{error}"));
    names.iter().map(|name| run.output(entry.system.signature().output_index(name).unwrap())).collect()
}

/// Protects inverse dynamics of robots: torques of drives are those of Newton's and Euler's equations, for trees of all kinds of joints, with
/// followers, friction, rotors behind gears and up to three loops; in a loop, by virtual power. Links at fixed joints may stay bodies of their
/// own, and inertias may be given by factors.
#[test]
fn torques_are_those_of_newton_and_euler() {
    let folder = Folder::new("torques");
    for seed in 0..200 {
        let robot = Robot::random(seed, seed as usize % 4);
        let choices = match seed % 3 {
            0 => "",
            1 => "inertias = \"factors\"",
            _ => "fixed_joints = \"kept\"\ninertias = \"fixed\"",
        };
        let entry = folder.read(&robot.urdf(), &robot.driven(choices));
        let joints = 0..robot.joints.len();
        let names: Vec<String> = joints
            .clone()
            .filter(|k| !robot.joints[*k].is_fixed)
            .flat_map(|k| {
                let way = if robot.joints[k].is_prismatic { "displacement" } else { "angle" };
                [way, "rate", "acceleration"].map(|what| format!("r_j{k}_motion.{what}"))
            })
            .collect();
        let mut series = outputs(&entry, &names).into_iter();
        let motions: Vec<Vec<Vec<f64>>> = joints
            .clone()
            .map(|k| if robot.joints[k].is_fixed { vec![vec![0.0; 21]; 3] } else { series.by_ref().take(3).collect() })
            .collect();
        let driven: Vec<usize> = joints.clone().filter(|k| robot.is_driven(*k)).collect();
        let found = outputs(&entry, &driven.iter().map(|k| format!("tau{k}.effort")).collect::<Vec<_>>());
        for i in [0, 7, 20] {
            let at: Vec<[f64; 3]> = motions.iter().map(|own| [0, 1, 2].map(|part| own[part][i])).collect();
            let all = robot.efforts(&at);
            let size = all.iter().fold(1.0, |most: f64, tau| most.max(tau.abs()));
            for (k, found) in driven.iter().zip(&found) {
                let mut expected = all[*k];
                for (j, joint) in robot.joints.iter().enumerate() {
                    match (joint.mimic, joint.in_loop_of) {
                        (Some((leader, ratio, offset)), _) if leader == *k => {
                            assert!((at[j][0] - ratio * at[*k][0] - offset).abs() < 1e-11, "seed {seed}: follower {j}");
                            expected += ratio * all[j];
                        }
                        (_, Some(crank)) if crank == *k && j != *k => expected += all[j] * at[j][1] / at[*k][1],
                        _ => {}
                    }
                }
                assert!(
                    (found[i] - expected).abs() < 1e-10 * size,
                    "seed {seed}, joint {k}, time {i}: {} {expected}",
                    found[i]
                );
            }
        }
    }
}

/// Protects derivatives of inverse dynamics: the adjoint, tangents, and rows that go back no farther than their time are one, by all parameters;
/// residuals are linear in moments and friction, so that one step of Gauss and Newton leads to the parameters that made the record.
#[test]
fn derivatives_of_inverse_dynamics() {
    let folder = Folder::new("derivatives");
    let classic = [classic::andrews(), classic::bricard(), classic::andrews(), classic::bricard()];
    let robots = (0..12).map(|seed| Robot::random(seed, seed as usize % 3)).chain(classic);
    for (seed, robot) in robots.enumerate() {
        // of the classic ones, each with both forms
        let is_linear = if seed < 12 { seed % 2 == 0 } else { seed < 14 };
        let entry = folder.read(&robot.urdf(), &robot.driven(if is_linear { "" } else { "inertias = \"factors\"" }));
        let simulation = entry.simulation(&entry.scenario).unwrap();
        let signature = entry.system.signature();
        let u = signature.nominal();
        let places: Vec<usize> =
            entry.scenario.outputs.iter().map(|name| signature.output_index(name).unwrap()).collect();
        let truth = simulation.run(&u).unwrap();
        let references =
            places.iter().map(|&output| Reference { output, values: truth.output(output), deviation: 1.0 }).collect();
        let cost = LeastSquares::new(simulation.grid().times(), references, 1, Quadrature::Unit).unwrap();
        let away: Vec<f64> = (0..u.len())
            .map(|k| u[k] + 0.3 * signature.parameters[k].size_from(u[k]) * (1.7 * k as f64).sin())
            .collect();
        let mut engine = Gradient::new(&simulation, &cost as &dyn Cost).unwrap();
        let [mut adjoint, mut tangent] = [(); 2].map(|()| vec![0.0; u.len()]);
        engine.cost_and_gradient(&away, Method::Adjoint, &mut adjoint).unwrap();
        engine.cost_and_gradient(&away, Method::Tangent, &mut tangent).unwrap();
        let linearised = engine.linearise(&away, &cost).unwrap();
        let rows = linearised.gradient();
        let size = |k: usize| signature.parameters[k].size_from(u[k]);
        let most = (0..u.len()).map(|k| (adjoint[k] * size(k)).abs()).fold(0.0, f64::max);
        assert!(most > if seed < 12 { 1e-6 } else { 0.0 });
        for k in 0..u.len() {
            for other in [tangent[k], rows[k]] {
                assert!(
                    ((adjoint[k] - other) * size(k)).abs() < 1e-10 * most,
                    "seed {seed}: {}",
                    signature.parameters[k].name
                );
            }
        }
        if is_linear {
            // what a step promises is all that there is: ½ |r|² of the residuals that the parameters cannot explain is zero
            let factor = linearised.factor();
            let change: Vec<f64> = u.iter().zip(&away).map(|(u, away)| u - away).collect();
            let moved = factor * nalgebra::DVector::from_vec(change);
            let explained = linearised.cost()
                + moved.norm_squared() * 0.5
                + rows.iter().zip(u.iter().zip(&away)).map(|(g, (u, away))| g * (u - away)).sum::<f64>();
            assert!(explained.abs() < 1e-9 * linearised.cost(), "seed {seed}: {explained} of {}", linearised.cost());
        }
    }
}

/// Protects from motions that are not given: a mechanism with a freedom that nothing drives, or a state, is refused by inverse dynamics.
#[test]
fn inverse_dynamics_wants_the_whole_motion() {
    let folder = Folder::new("wants");
    let robot = Robot::random(4, 0);
    let text = robot.driven("");
    let last = (0..robot.joints.len()).filter(|k| robot.is_driven(*k)).max().unwrap();
    let text = text.replace(&format!(", \"tau{last}.effort\""), "");
    let text = &text[..text.find(&format!("[drive.d{last}]")).unwrap()];
    let entry = folder.read(&robot.urdf(), text);
    let error = entry.simulation(&entry.scenario).unwrap_err().to_string();
    assert!(error.contains("1 freedom of model `all` that nothing drives"), "{error}");
}

/// Protects people with files that are wrong: the line, what is wrong, and a remedy.
#[test]
fn slips_in_robots_have_lines() {
    let good = "<robot name=\"r\">\n<link name=\"a\"/>\n<link name=\"b\"><inertial><mass value=\"1\"/>\n\
        <inertia ixx=\"1\" iyy=\"1\" izz=\"1\"/></inertial></link>\n\
        <joint name=\"j\" type=\"revolute\">\n<parent link=\"a\"/>\n<child link=\"b\"/>\n<axis xyz=\"0 0 1\"/></joint>\n</robot>\n";
    let read = |text: &str| costate_file::parse(text, "r.urdf".as_ref());
    assert_eq!(read(good).unwrap().system.signature().coordinates.len(), 7);
    for (from, to, says) in [
        ("</robot>", "", ["r.urdf, line 1", "never closed"]),
        ("<robot name=\"r\">", "<sdf>", ["r.urdf, line", "no XML"]),
        ("value=\"1\"", "value=\"-1\"", ["r.urdf, line 3", "the mass is -1 kg"]),
        ("value=\"1\"", "value=\"1 kg\"", ["r.urdf, line 3", "`value` of <mass> is no number"]),
        ("value=\"1\"", "value=\"${m}\"", ["r.urdf, line 3", "xacro robot.urdf.xacro > robot.urdf"]),
        ("ixx=\"1\"", "ixx=\"3\"", ["r.urdf, line 3", "more than the other two together"]),
        ("izz=\"1\"", "", ["r.urdf, line 4", "<inertia> has no `izz`"]),
        ("type=\"revolute\"", "type=\"revolut\"", ["r.urdf, line 5", "revolute"]),
        ("parent link=\"a\"", "parent link=\"c\"", ["r.urdf, line 6", "there is no link `c`"]),
        ("<child link=\"b\"/>", "", ["r.urdf, line 5", "this joint has no <child>"]),
        ("0 0 1", "0 0 0", ["r.urdf, line 8", "the axis has no length"]),
        ("parent link=\"a\"", "parent link=\"b\"", ["r.urdf, line 3", "`b`"]),
        ("</joint>", "<mimic joint=\"k\"/></joint>", ["r.urdf, line 5", "mimics `k`"]),
        ("</joint>", "<mimic joint=\"j\"/></joint>", ["r.urdf, line 5", "follows itself"]),
        ("</robot>", "<constraint name=\"c\" type=\"fixed\"/></robot>", ["r.urdf, line 9", "no <parent>"]),
        ("</robot>", "<constraint name=\"c\" type=\"gear\"/></robot>", ["r.urdf, line 9", "gear"]),
        (
            "</robot>",
            "<constraint name=\"c\" type=\"prismatic\"><parent link=\"a\"/><child link=\"b\"/><child_axis xyz=\"0 0 1\"/></constraint></robot>",
            ["r.urdf, line 9", "`rpy`"],
        ),
        (
            "</robot>",
            "<constraint name=\"c\" type=\"universal\"><parent link=\"a\"/><child link=\"b\"/></constraint></robot>",
            ["r.urdf, line 9", "two bars of the cross"],
        ),
        ("<link name=\"a\"/>", "", ["r.urdf, line 6", "there is no link `a`"]),
        (
            "</robot>",
            "<link name=\"c\"/><joint name=\"k\" type=\"fixed\"><parent link=\"b\"/><child link=\"c\"/></joint>\
             <loop_joint name=\"l\" type=\"revolute\"><link1 link=\"b\"/><link2 link=\"c\"/><axis xyz=\"0 0 1\"/></loop_joint></robot>",
            ["r.urdf, line 9", "`b` and `c` are one body"],
        ),
        ("<link name=\"a\"/>", "<link name=\"a\"/><link name=\"a\"/>", ["r.urdf, line 2", "two links `a`"]),
        ("<link name=\"a\"/>", "<link name=\"a\"/><link name=\"c\"/>", ["r.urdf, line 2", "no joint leads to"]),
    ] {
        let text = good.replacen(from, to, 1);
        let error = read(&text).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(says.iter().all(|part| error.contains(part)), "{from} -> {to}: {error}");
    }
    let empty = read("<robot name=\"r\"/>").err().unwrap().to_string();
    assert!(empty.contains("this robot has no links"), "{empty}");
}

/// Protects from files of a hostile world: whatever is lost, doubled or exchanged in a robot's file, it is read, or refused with a line.
#[test]
fn mutated_robots_are_read_or_refused_with_lines() {
    let random = &mut SplitMix64::new(7);
    let mut refused = 0;
    for round in 0..600 {
        let mut text = Robot::random(round % 9, round as usize % 3).urdf().into_bytes();
        for _ in 0..1 + (random.unit() * 3.0) as usize {
            let at = (random.unit() * text.len() as f64) as usize;
            let length = (1.0 + random.unit() * 30.0) as usize;
            let end = (at + length).min(text.len());
            match (random.unit() * 4.0) as usize {
                0 => drop(text.drain(at..end)),
                1 => {
                    let piece = text[at..end].to_vec();
                    let to = (random.unit() * text.len() as f64) as usize;
                    text.splice(to..to, piece);
                }
                2 => text[at] = b"<>\"/ 019.e-abl"[(random.unit() * 14.0) as usize],
                _ => {
                    let to = (random.unit() * text.len() as f64) as usize;
                    text.swap(at, to);
                }
            }
        }
        let Ok(text) = String::from_utf8(text) else { continue };
        if let Err(error) = costate_file::parse(&text, "r.urdf".as_ref()) {
            let error = error.to_string();
            assert!(error.contains("r.urdf, line "), "{error}\n{text}");
            refused += 1;
        }
    }
    assert!(refused > 200, "{refused}");
}

/// Protects robots' files with the values of a fit in them: torques are those of the fit, comments and all else stay, and what cannot be is refused.
#[test]
fn values_are_written_into_the_file_that_came_in() {
    let folder = Folder::new("values");
    for seed in 0..20 {
        let robot = Robot::random(seed, seed as usize % 2);
        let urdf = robot.urdf().replace("</robot>", "<!-- kept -->\n<gazebo><who_knows/></gazebo></robot>");
        let choices = format!("friction = true\ninertias = \"{}\"", if seed % 2 == 0 { "moments" } else { "factors" });
        let entry = folder.read(&urdf, &robot.driven(&choices));
        let signature = entry.system.signature();
        let changed = |k: usize| {
            let parameter = &signature.parameters[k];
            match parameter.unit.as_str() {
                // factors beside those of the file
                "1" => 0.03 * (2.3 * k as f64).sin(),
                _ if parameter.name.contains("offset") => 0.0,
                _ if parameter.nominal == 0.0
                    && parameter.name.starts_with("r_h") | parameter.name.starts_with("r_I") =>
                {
                    0.0
                }
                _ => 1.1 * parameter.nominal + if parameter.name.starts_with("r_d") { 0.1 } else { 0.0 },
            }
        };
        let values: Vec<(String, f64)> =
            signature.parameters.iter().enumerate().map(|(k, own)| (own.name.clone(), changed(k))).collect();
        let u: Vec<f64> = values.iter().map(|(_, value)| *value).collect();
        let fitted = entry.simulation(&entry.scenario).unwrap().run(&u).unwrap();
        let written =
            costate_file::with_values(&folder.0.join("robot.urdf"), &values).unwrap_or_else(|error| panic!("{error}"));
        assert!(written.text.contains("<!-- kept -->\n<gazebo><who_knows/></gazebo></robot>"), "{}", written.text);
        let again = folder.read(&written.text, &robot.driven("friction = true"));
        let other = again.simulation(&again.scenario).unwrap().run(&again.system.signature().nominal()).unwrap();
        for name in &entry.scenario.outputs {
            let place = |entry: &Entry| entry.system.signature().output_index(name).unwrap();
            let (a, b) = (fitted.output(place(&entry)), other.output(place(&again)));
            let most = a.iter().fold(1.0, |most: f64, x| most.max(x.abs()));
            let off = a.iter().zip(&b).fold(0.0, |off: f64, (a, b)| off.max((a - b).abs()));
            assert!(off < 1e-10 * most, "seed {seed}: {name}: {off:e} of {most}");
        }
    }
    let robot = Robot::random(0, 0);
    folder.read(&robot.urdf(), &robot.driven(""));
    let refused = |name: &str, value: f64| {
        let error =
            costate_file::with_values(&folder.0.join("robot.urdf"), &[(name.to_string(), value)]).err().unwrap();
        error.to_string()
    };
    let error = refused("r_m_l1", 1e-3);
    assert!(error.contains("robot.urdf, line") && error.contains("link `l1`") && error.contains("factors"), "{error}");
    assert!(refused("stiffness", 1.0).contains("none of the values"), "{}", refused("stiffness", 1.0));
}

/// Protects rotors in simulations: a pendulum with one swings slower by its inertia, and keeps its energy, that of the rotor among it.
#[test]
fn rotors_have_energy() {
    let text = "kind = \"spatial\"\n[body]\nbob = { mass = 2.0, inertia = [0.01, 0.01, 0.01], at = [0, 0, -0.5], turned = [0, 0, 0] }\n\
        [revolute]\npin = { from = \"ground\", on = \"bob\", point = [0, 0, 0], axis = [0, 1, 0] }\n\
        [rotor]\ndisc = { of = \"pin\", inertia = 0.8 }\n[motor]\npush = { of = \"pin\", is = \"0.01[N m]*exp(-t*40[1/s])\" }\n\
        [sensor]\nangle = { shows = \"joint\", of = \"pin\" }\nenergy = { shows = \"energy\" }\n\
        [scenario]\nend = 5\nstep = 2e-3\nscheme = \"i2p\"\n";
    let entry = costate_file::parse(text, "pendulum.toml".as_ref()).unwrap();
    let all = outputs(&entry, &["angle.angle".to_string(), "energy".to_string()]);
    let (angle, energy) = (&all[0], &all[1]);
    // crossings after the push
    let crossings: Vec<f64> = (500..angle.len() - 1)
        .filter(|i| angle[*i] < 0.0 && angle[*i + 1] >= 0.0)
        .map(|i| 2e-3 * (i as f64 + angle[i] / (angle[i] - angle[i + 1])))
        .collect();
    let period = crossings[1] - crossings[0];
    let expected = std::f64::consts::TAU * f64::sqrt((2.0 * 0.25 + 0.01 + 0.8) / (2.0 * 9.81 * 0.5));
    assert!((period / expected - 1.0).abs() < 1e-4, "{period} {expected}");
    let swing = energy[500] - energy[0];
    let drift = (500..energy.len()).map(|i| (energy[i] - energy[500]).abs()).fold(0.0, f64::max);
    assert!(swing > 1e-8 && drift < 1e-3 * swing, "{drift:e} of {swing:e}");
}

/// Protects base parameters: of an arm of two links that turns in a vertical plane they are the textbook's (Khalil & Dombre, section 9.4), with the length
/// of the first link as a factor; changes along what is not determined leave all of them as they are; and their standard errors are finite.
#[test]
fn base_parameters_of_a_planar_arm() {
    let link = |name: &str| {
        format!(
            "<link name=\"{name}\"><inertial><origin xyz=\"0.2 0.03 0.01\"/><mass value=\"2\"/>\
             <inertia ixx=\"0.02\" iyy=\"0.03\" izz=\"0.04\"/></inertial></link>"
        )
    };
    let joint = |name: &str, parent: &str, child: &str, at: &str| {
        format!(
            "<joint name=\"{name}\" type=\"revolute\"><parent link=\"{parent}\"/><child link=\"{child}\"/>\
             <origin xyz=\"{at}\"/><axis xyz=\"0 1 0\"/></joint>"
        )
    };
    let urdf = format!(
        "<robot name=\"arm\"><link name=\"base\"/>{}{}{}{}</robot>",
        link("a"),
        link("b"),
        joint("j0", "base", "a", "0 0 0"),
        joint("j1", "a", "b", "0.4 0 0")
    );
    let folder = Folder::new("base");
    let text = "kind = \"spatial\"\n[include.r]\nfile = \"robot.urdf\"\n[drive]\n\
        d0 = { of = \"r_j0\", is = \"0.7*sin(3[1/s]*t) + 0.3*sin(7[1/s]*t)\" }\n\
        d1 = { of = \"r_j1\", is = \"0.9*sin(4[1/s]*t + 1) - 0.9*sin(1)\" }\n\
        [sensor]\ntau0 = { shows = \"drive\", of = \"d0\" }\ntau1 = { shows = \"drive\", of = \"d1\" }\n\
        [scenario]\nend = 4\nstep = 1e-2\nscheme = \"inverse-dynamics\"\ninitial_state = \"projected\"\n\
        outputs = [\"tau0.effort\", \"tau1.effort\"]\n";
    let entry = folder.read(&urdf, text);
    let problem = entry.problem(&entry.scenario).unwrap();
    let found = costate_identify::statistics::identifiability(&problem, &problem.start).unwrap();
    let all: Vec<String> = found.combinations().iter().map(ToString::to_string).collect();
    assert_eq!(all, ["r_hx_a + 0.4 [m] r_m_b", "r_Iyy_a + 0.16 [m^2] r_m_b"], "{}", found.report());
    assert!(
        found.report().contains("4 of 20 parameters are determined alone, and 2 combinations of 3 others"),
        "{}",
        found.report()
    );
    let noise = costate::noise::SyntheticNoise { seed: 1, level: costate::noise::NoiseLevel::Relative(0.01) };
    let problem = problem.with_noise(&noise).unwrap();
    let settings = costate_identify::Settings::default();
    let fit =
        costate_identify::identify(&problem, &settings, &mut |_| costate_identify::optimise::Flow::Continue).unwrap();
    let statistics =
        costate_identify::statistics::Statistics::of(&problem, &fit, costate_identify::statistics::Noise::Given)
            .unwrap();
    for (own, truth) in statistics.combinations.iter().zip([0.4 + 0.8, 0.03 + 2.0 * (0.04 + 1e-4) + 0.32]) {
        let off = (own.combination.value - truth).abs();
        assert!(
            own.standard_error > 0.0 && off < 4.0 * own.standard_error,
            "{} {truth} {}",
            own.combination.value,
            own.standard_error
        );
    }
    assert_eq!(statistics.combinations.len(), 2);
    // what cannot be told stays near its start
    for (own, start) in fit.values().iter().zip(&problem.start) {
        assert!((own - start).abs() < 0.1 * start.abs().max(0.05), "{own} {start}");
    }
}

/// Protects loops that are closed by joints of SDF, whose place on the parent follows from the robot at rest, and by constraints as they are proposed for urdfdom, with
/// frames of their own on both links: they are those of loop joints.
#[test]
fn loops_of_other_words_are_those_of_loop_joints() {
    let folder = Folder::new("sdf");
    for seed in [1, 5] {
        let robot = Robot::random(seed, 2);
        let urdf = robot.urdf();
        let begin = &urdf[..urdf.find("<loop_joint").unwrap()];
        let [mut sdf, mut constraint] = [begin.to_string(), begin.to_string()];
        for (k, Loop { places: [first, second], .. }) in robot.loops.iter().enumerate() {
            let [x, y, z] = second.1;
            let _ = writeln!(
                sdf,
                "<gazebo><joint name=\"c{k}\" type=\"revolute\"><parent>l{}</parent><child> l{} </child>\
                 <pose>{x} {y} {z} 0 0 0</pose><axis><xyz>0 0 1</xyz></axis></joint></gazebo>",
                first.0, second.0
            );
            // the parent's frame is turned: x becomes y, y becomes z, z becomes x
            let [a, b, c] = first.1;
            let _ = writeln!(
                constraint,
                "<constraint name=\"c{k}\" type=\"revolute\"><parent link=\"l{}\"/>\
                 <parent_origin xyz=\"{a} {b} {c}\" rpy=\"{quarter} 0 {quarter}\"/><parent_axis xyz=\"0 1 0\"/>\
                 <child link=\"l{}\"/><child_origin xyz=\"{x} {y} {z}\"/><child_axis xyz=\"0 0 1\"/></constraint>",
                first.0,
                second.0,
                quarter = std::f64::consts::FRAC_PI_2
            );
        }
        let all = [urdf, sdf + "</robot>", constraint + "</robot>"].map(|text| {
            let entry = folder.read(&text, &robot.driven(""));
            let names = entry.scenario.outputs.clone();
            outputs(&entry, &names)
        });
        for other in &all[1..] {
            for (a, b) in all[0].iter().zip(other) {
                assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-9 * (1.0 + a.abs())), "seed {seed}");
            }
        }
    }
}

/// Protects floating bases: a robot that nothing holds falls as a stone does, and its joints stay.
#[test]
fn free_robots_fall() {
    let folder = Folder::new("free");
    let link = |name: &str| {
        format!(
            "<link name=\"{name}\"><inertial><mass value=\"2\"/><inertia ixx=\"0.02\" iyy=\"0.03\" izz=\"0.04\"/></inertial></link>"
        )
    };
    let joint =
        "<joint name=\"j\" type=\"revolute\"><parent link=\"a\"/><child link=\"b\"/><origin xyz=\"0.4 0 0\"/></joint>";
    let urdf = format!("<robot name=\"r\">{}{}{joint}</robot>", link("a"), link("b"));
    let text = "kind = \"spatial\"\n[include.r]\nfile = \"robot.urdf\"\nbase = \"free\"\n[sensor]\nat = { shows = \"position\", r_b = [0, 0, 0] }\n\
        [scenario]\nend = 1\nstep = 1e-2\n";
    let entry = folder.read(&urdf, text);
    let all = outputs(&entry, &["at.z".to_string(), "r_j_motion.angle".to_string()]);
    assert!((all[0][100] + 0.5 * 9.81).abs() < 1e-9 && all[1][100].abs() < 1e-12, "{} {}", all[0][100], all[1][100]);
    let grounded = format!(
        "<robot name=\"r\"><link name=\"world\"/>{}{}{joint}<joint name=\"f\" type=\"floating\"><parent link=\"world\"/><child link=\"a\"/></joint></robot>",
        link("a"),
        link("b")
    );
    let entry = folder.read(&grounded, &text.replace("base = \"free\"\n", ""));
    let floating = outputs(&entry, &["at.z".to_string()]);
    assert!((floating[0][100] + 0.5 * 9.81).abs() < 1e-9);
}

/// Protects the way from a real robot's file and log to numbers: all seven torques of the first seconds are reproduced to what the sensors leave, in a few
/// evaluations, and the base parameters are those that are known of the arm: 43 of inertias, 21 of friction, 5 rotors that can be told from links.
#[test]
fn a_measured_arm_is_identified() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let data = std::env::var_os("COSTATE_DATA").map_or_else(|| root.join("../shared/data"), PathBuf::from);
    let [robot, record] = ["kuka_lwr4.urdf", "train.csv"].map(|file| data.join("kuka_lwr4").join(file));
    if !record.exists() {
        println!("skipped: {} is absent (set COSTATE_DATA to the folder of measured records)", record.display());
        return;
    }
    let folder = Folder::new("measured");
    let written = costate_file::given_motions([&robot, &record], [&robot, &record], "arm.toml".as_ref(), false, &[])
        .unwrap()
        .unwrap();
    std::fs::write(folder.0.join("arm.toml"), written.mechanism).unwrap();
    let problem = written.problem.replace("[data]\n", "[data]\nuntil = 4.0\n");
    let registry = costate_models::registry().unwrap().with_files(costate_file::read);
    let specification = costate_identify::problem_file::parse(&problem, &folder.0.join("problem.toml")).unwrap();
    let problem = specification.build(&registry).unwrap();
    let found = costate_identify::statistics::identifiability(&problem, &problem.start).unwrap();
    let combinations = found.combinations();
    assert_eq!(found.rank(), 69, "{}", found.report());
    let names: Vec<String> = combinations.iter().map(ToString::to_string).collect();
    assert_eq!(names[0], "robot_Izz_lwr_1_link + robot_Izz_lwr_2_link + robot_J_rotor_lwr_0_joint");
    assert!(
        names.contains(&"robot_hz_lwr_6_link + 0.078 [m] robot_m_lwr_7_link + robot_hz_lwr_7_link".to_string()),
        "{names:#?}"
    );
    let settings = costate_identify::Settings::default();
    let fit =
        costate_identify::identify(&problem, &settings, &mut |_| costate_identify::optimise::Flow::Continue).unwrap();
    assert!(fit.outcome.converged && fit.outcome.evaluations <= 5, "{:?}", fit.outcome.reason);
    let outputs = costate_identify::statistics::fits(&problem, &problem.experiments, &fit.values()).unwrap();
    for (output, most) in outputs.iter().zip([0.25, 0.3, 0.25, 0.2, 0.25, 0.22, 0.2]) {
        assert!(output.rmse() < most, "{}: {}", output.name, output.rmse());
    }
    assert_eq!(outputs.len(), 7);
}

/// Protects the fit by factors: the record of one run is the engine's own linearisation wherever factors go, and what that leaves out of the Hessian is
/// what second-order adjoints find.
#[test]
fn a_record_tells_of_factors_what_the_engine_does() {
    let folder = Folder::new("record");
    for seed in 0..4 {
        let robot = Robot::random(seed, seed as usize % 2);
        let entry = folder.read(&robot.urdf(), &robot.driven("inertias = \"factors\""));
        let simulation = entry.simulation(&entry.scenario).unwrap();
        let signature = entry.system.signature().clone();
        let u = signature.nominal();
        let places: Vec<usize> =
            entry.scenario.outputs.iter().map(|name| signature.output_index(name).unwrap()).collect();
        let away = |factor: f64| -> Vec<f64> {
            let step = |k: usize| factor * signature.parameters[k].size_from(u[k]) * (1.7 * k as f64).sin().abs();
            (0..u.len()).map(|k| u[k] + step(k)).collect()
        };
        let truth = simulation.run(&away(0.5)).unwrap();
        let references =
            places.iter().map(|&output| Reference { output, values: truth.output(output), deviation: 0.3 }).collect();
        let cost = LeastSquares::new(simulation.grid().times(), references, 1, Quadrature::Unit).unwrap();
        let problem = costate_identify::problem::Problem::new("robot", simulation, Box::new(cost));
        let free = problem.free();
        let record = LinearRecord::of(&problem, &problem.start, &free, &Interrupt::default()).unwrap().unwrap();
        let at = away(-0.4);
        let told = record.linearise(&problem, &at).unwrap().unwrap();
        let mut engine = problem.gradient().unwrap();
        let costs = problem.least_squares().unwrap();
        let found = engine.linearise(&at, &costs).unwrap();
        assert!((told.cost() - found.cost()).abs() < 1e-9 * found.cost(), "{} {}", told.cost(), found.cost());
        assert_eq!(told.rows, found.rows);
        let normal = |own: &costate::least_squares::Linearised| own.factor().tr_mul(own.factor());
        let (known, other) = (normal(&found), normal(&told));
        assert!((&known - &other).amax() < 1e-9 * known.amax(), "{}", (&known - &other).amax() / known.amax());
        let along = |j: usize| (0..u.len()).map(|k| ((k * k + 7 * j) as f64).cos()).collect::<Vec<f64>>();
        let along: Vec<Vec<f64>> = (0..3).map(along).collect();
        let (mut gradient, mut products) = (vec![0.0; u.len()], vec![vec![0.0; u.len()]; 3]);
        engine.hessian_vectors(&at, &along, &mut gradient, &mut products).unwrap();
        let most = gradient.iter().fold(0.0, |most: f64, own| most.max(own.abs()));
        for (own, other) in gradient.iter().zip(told.gradient()) {
            assert!((own - other).abs() < 1e-9 * most);
        }
        let all = other + record.curvature(&problem, &at).unwrap();
        for (along, product) in along.into_iter().zip(products) {
            let [along, product] = [along, product].map(nalgebra::DVector::from_vec);
            let off = (&all * along - &product).amax() / product.amax();
            assert!(off < 1e-8, "Hessian: {off}");
        }
        // what it was not made for, it does not tell of
        let fixed: Vec<usize> = free.iter().copied().filter(|k| *k != free[1]).collect();
        let record = LinearRecord::of(&problem, &problem.start, &fixed, &Interrupt::default()).unwrap().unwrap();
        assert!(record.linearise(&problem, &at).unwrap().is_none());
        drop(engine);
        // sample by sample, where that is asked for
        let name = &entry.scenario.outputs[0];
        let problem = problem.estimate_deviation(name).unwrap().of_correlated_residuals(name).unwrap();
        let record = LinearRecord::of(&problem, &problem.start, &free, &Interrupt::default()).unwrap().unwrap();
        let told = record.residuals((0, &problem.experiments[0]), 0, &at).unwrap();
        let known =
            costate_identify::statistics::fits(&problem, &problem.experiments, &at).unwrap().remove(0).residuals;
        let most = known.iter().fold(0.0, |most: f64, own| most.max(own.abs()));
        let deviation = problem.least_squares().unwrap()[0].references()[0].deviation;
        let told: Vec<f64> = told.iter().map(|own| own * deviation).collect();
        assert!(
            told.len() == 21 && told.iter().zip(&known).all(|(a, b)| (a - b).abs() < 1e-9 * most),
            "{told:?} {known:?}"
        );
    }
}

/// Protects excitations that are found: the gradient of the information of given motions, whose changes go together time by time, is that of its value
/// (the difference quotient's error falls by four for half the change), with free coefficients of every joint; what is written for a robot runs as it is,
/// and its search gains information within the limits that the file has.
#[test]
fn motions_of_robots_are_found_that_say_more() {
    use costate_identify::control::ControlObjective;
    use costate_identify::optimise::{Flow, Objective, Options};
    let robots = (0..).map(|seed| (seed, Robot::random(seed, 0)));
    let small = |robot: &Robot| robot.joints.len() == 2 && (0..2).all(|k| robot.is_driven(k));
    for (seed, robot) in robots.filter(|(_, robot)| small(robot)).take(1) {
        let folder = Folder::new(&format!("excitation_{seed}"));
        let limit = "<limit lower=\"-1.5\" upper=\"1.1\" velocity=\"1.4\" effort=\"90\"/></joint>";
        let urdf = robot.urdf().replace("</joint>\n", &format!("{limit}\n"));
        let [file, mechanism, problem] = ["robot.urdf", "moved.toml", "find.toml"].map(|name| folder.0.join(name));
        std::fs::write(&file, urdf).unwrap();
        let written =
            costate_file::excitation([&file, &file, "moved.toml".as_ref()], 2.0, Default::default(), &[]).unwrap();
        std::fs::write(&mechanism, &written.mechanism).unwrap();
        let text = written
            .problem
            .replace("model = \"moved.toml\"", &format!("model = {:?}", mechanism.display().to_string()));
        let registry = costate_models::registry().unwrap().with_files(costate_file::read);
        let specification =
            costate_identify::problem_file::parse(&text, &problem).unwrap_or_else(|error| panic!("{error}"));
        let (simulation, _, _) =
            specification.simulation_with_notes(&registry).unwrap_or_else(|error| panic!("{error}"));
        let scenario = specification.control.as_ref().unwrap().scenario(&simulation, &registry).unwrap();
        let mut control = scenario.control("excitation", &simulation, 1, scenario.start.clone()).unwrap();
        let signature = simulation.signature();
        specification.set_parameters(signature, &mut control.parameters, &mut control.start).unwrap();

        let mut objective = ControlObjective::new(&control).unwrap();
        let variables = control.variables().unwrap();
        let u: Vec<f64> = variables.iter().map(|variable| variable.start).collect();
        let along: Vec<f64> = (0..u.len()).map(|i| 0.3 * (1.7 * i as f64).cos()).collect();
        let mut gradient = vec![0.0; u.len()];
        let cost = objective.value_and_gradient(&u, &mut gradient).unwrap();
        let slope: f64 = along.iter().zip(&gradient).map(|(a, b)| a * b).sum();
        let mut missed = |part: f64| {
            let moved: Vec<f64> = u.iter().zip(&along).map(|(u, along)| u + part * along).collect();
            (objective.cost(&moved).unwrap() - cost - part * slope).abs()
        };
        let ratio = missed(1e-4) / missed(5e-5);
        assert!((ratio - 4.0).abs() < 0.1, "seed {seed}: {ratio}");

        drop(objective);
        let options = Options { max_iterations: 200, ..Options::of_control() };
        let solution = control.minimise(scenario.method, 1e-6, &options, &mut |_| Flow::Continue).unwrap();
        let (cost, start) = (solution.outcome.cost, solution.start_cost);
        assert!(cost < start - 0.05, "seed {seed}: {cost} after {start}");
        let (found, _) = control.expand(&solution.outcome.u);
        for motion in &signature.motions {
            let bounds = control.parameters[motion.places()].iter().map(|own| (own.lower, own.upper));
            assert!(bounds.zip(&found[motion.places()]).all(|((lower, upper), own)| (lower..=upper).contains(own)));
        }
        // limits are kept softly: what goes beyond stays within the margin of 5 %
        for (limit, beyond) in
            [1.4, 1.4 / 0.5, 90.0].into_iter().cycle().zip(control.beyond_limits(&solution.outcome.u).unwrap())
        {
            assert!(beyond.by < 0.05 * limit, "seed {seed}: {beyond:?}");
        }
    }
}
