//! A robot with a loop of four bars, a follower, a motor that turns two joints, and a cable with a spring: records that an integrator of the tests' own made, identified.

use super::{Folder, Joint, Loop, Robot};
use costate::random::SplitMix64;
use costate_identify::optimise::Flow;
use costate_identify::statistics::{Noise, Statistics};
use nalgebra::{DMatrix, DVector};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Rate at which dry friction has nearly grown up, rad/s.
const SLIP: f64 = 0.1;

/// What goes with a sum of angles, and a law of its own: Σ ratio · angle, with inertia, viscous and dry friction, stiffness and what it draws at zero.
struct Sum {
    of: [(usize, f64); 2],
    inertia: f64,
    law: [f64; 4],
}

struct Machine {
    robot: Robot,
    /// The motor at joints 4 and 5, and the cable over joints 1 and 4.
    motor: Sum,
    cable: Sum,
}

type Complex = [f64; 2];

fn turned([x, y]: Complex, angle: f64) -> Complex {
    let (sin, cos) = angle.sin_cos();
    [cos * x - sin * y, sin * x + cos * y]
}

impl Machine {
    /// The truth, or with `away` what its drawings say.
    fn new(away: bool) -> Self {
        let link = |parent: usize, [origin, angles, axis]: [[f64; 3]; 3], mass: f64, center: [f64; 3], k: usize| {
            let size = mass * (0.01 + 0.002 * k as f64);
            let change = if away { 1.0 + 0.3 * (2.3 * k as f64).sin() } else { 1.0 };
            Joint {
                parent,
                origin,
                angles,
                axis,
                mass: mass * change,
                center: center.map(|x| x * change),
                inertia_angles: [0.3, 0.2 * k as f64, -0.4],
                moments: [1.0, 1.4, 0.9].map(|part| part * size * change),
                friction: Some([0.5 + 0.1 * k as f64, 0.4 + 0.05 * k as f64].map(|own| own * change)),
                rotor: if k == 0 || k == 1 || k == 4 { 0.3 * change } else { 0.0 },
                ..Joint::default()
            }
        };
        let (x, y, z, zero) = ([1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0; 3]);
        let quarter = [std::f64::consts::FRAC_PI_2, 0.0, 0.0];
        let in_loop = |joint: Joint| Joint { in_loop_of: Some(1), ..joint };
        let (end, far) = ([0.1, 0.5, 0.0], [0.5, 0.45, 0.0]);
        let joints = vec![
            link(0, [[0.0, 0.0, 0.4], zero, z], 12.0, [0.05, 0.02, 0.2], 0),
            in_loop(link(1, [[0.05, 0.0, 0.2], quarter, z], 6.0, [0.04, 0.25, 0.01], 1)),
            in_loop(link(2, [end, zero, z], 4.0, [0.2, -0.03, 0.02], 2)),
            in_loop(link(1, [[0.55, 0.0, 0.2], quarter, z], 3.0, [0.02, 0.2, -0.01], 3)),
            link(3, [[0.6, 0.0, 0.05], [0.2, 0.0, 0.3], x], 2.5, [0.12, 0.02, 0.03], 4),
            link(5, [[0.25, 0.0, 0.0], zero, y], 1.5, [0.1, -0.02, 0.04], 5),
            Joint { mimic: Some((5, -0.5, 0.0)), ..link(6, [[0.2, 0.0, 0.0], zero, z], 0.8, [0.08, 0.01, 0.02], 6) },
        ];
        let place = |from: [f64; 3]| std::array::from_fn(|k| far[k] - from[k]);
        let loops = vec![Loop { places: [(3, place(end)), (4, place([0.5, 0.0, 0.0]))], axis: z }];
        let change = if away { 0.7 } else { 1.0 };
        Machine {
            robot: Robot { joints, loops, slip: SLIP },
            motor: Sum {
                of: [(4, 1.0), (5, 1.5)],
                inertia: 0.2 * change,
                law: [0.6, 0.5, 0.0, 0.0].map(|own| own * change),
            },
            cable: Sum {
                of: [(1, 0.08), (4, 0.05)],
                inertia: 0.0,
                law: [40.0, 0.0, 900.0, 25.0].map(|own| own * change),
            },
        }
    }

    /// Motions of all joints for those of the ones with motors: the loop by Newton's method on the closure in its plane, as complex numbers.
    fn motions(&self, own: &[[f64; 3]; 4]) -> Vec<[f64; 3]> {
        let joints = &self.robot.joints;
        let mut all = vec![[0.0; 3]; joints.len()];
        for (k, at) in MOTORS.into_iter().zip(own) {
            all[k] = *at;
        }
        let plane = |[x, y, _]: [f64; 3]| [x, y];
        let (bar, coupler, rocker) =
            (plane(joints[2].origin), plane(self.robot.loops[0].places[0].1), plane(self.robot.loops[0].places[1].1));
        let base = joints[3].origin[0] - joints[1].origin[0];
        let [angle, rate, change] = all[1];
        let parts =
            |[second, third]: [f64; 2]| [turned(bar, angle), turned(coupler, angle + second), turned(rocker, third)];
        let solved = |[second, third]: [f64; 2], [x, y]: Complex| {
            let [_, [a, b], [c, d]] = parts([second, third]);
            // columns i·coupler and -i·rocker
            let (u, w) = ([-b, a], [d, -c]);
            let area = u[0] * w[1] - w[0] * u[1];
            [(x * w[1] - w[0] * y) / area, (u[0] * y - x * u[1]) / area]
        };
        // the triangle of coupler, rocker and what is between their hinges, folded as it is at zero
        let end = turned(bar, angle);
        let between = [base - end[0], -end[1]];
        let at_zero = [base - bar[0], -bar[1]];
        let [length, wide, high] = [between, coupler, rocker].map(|[x, y]: Complex| x.hypot(y));
        let fold = ((wide * wide - high * high - length * length) / (2.0 * high * length)).acos();
        let fold = fold.copysign(at_zero[0] * rocker[1] - at_zero[1] * rocker[0]);
        let argument = |[x, y]: Complex| y.atan2(x);
        let third = argument(between) + fold;
        let arm = turned([high, 0.0], third);
        let second = argument([between[0] + arm[0], between[1] + arm[1]]) - angle;
        let within = |angle: f64| angle.sin().atan2(angle.cos());
        let found = [within(second - argument(coupler)), within(third - argument(rocker))];
        let [a, b, c] = parts(found);
        assert!((a[0] + b[0] - base - c[0]).abs() + (a[1] + b[1] - c[1]).abs() < 1e-12);
        let rates = solved(found, [rate * (a[1] + b[1]), -rate * (a[0] + b[0])]);
        let (first, second, third) = (rate * rate, (rate + rates[0]).powi(2), rates[1].powi(2));
        let drawn = |k: usize| a[k] * first + b[k] * second - c[k] * third;
        let changes = solved(found, [drawn(0) + change * (a[1] + b[1]), drawn(1) - change * (a[0] + b[0])]);
        all[2] = [found[0], rates[0], changes[0]];
        all[3] = [found[1], rates[1], changes[1]];
        let (leader, ratio, _) = joints[6].mimic.unwrap();
        all[6] = all[leader].map(|part| ratio * part);
        all
    }

    /// Efforts of the motors, by virtual power of all joints.
    fn efforts(&self, own: &[[f64; 3]; 4]) -> [f64; 4] {
        let all = self.motions(own);
        let mut efforts = self.robot.efforts(&all);
        for Sum { of, inertia, law: [viscous, dry, stiffness, at_zero] } in [&self.motor, &self.cable] {
            let [x, rate, change] =
                [0, 1, 2].map(|part| of.iter().map(|(k, ratio)| ratio * all[*k][part]).sum::<f64>());
            let force = inertia * change + viscous * rate + dry * (rate / SLIP).tanh() + stiffness * x + at_zero;
            for (k, ratio) in of {
                efforts[*k] += ratio * force;
            }
        }
        std::array::from_fn(|k| {
            let along = self.motions(&std::array::from_fn(|j| [own[j][0], if j == k { 1.0 } else { 0.0 }, 0.0]));
            efforts.iter().zip(&along).map(|(effort, at)| effort * at[1]).sum()
        })
    }

    /// Changes of rates under efforts.
    fn accelerations(&self, places: [f64; 4], rates: [f64; 4], efforts: [f64; 4]) -> [f64; 4] {
        let with = |changes: [f64; 4]| self.efforts(&std::array::from_fn(|k| [places[k], rates[k], changes[k]]));
        let still = with([0.0; 4]);
        let mut mass = DMatrix::zeros(4, 4);
        for j in 0..4 {
            let moved = with(std::array::from_fn(|k| if k == j { 1.0 } else { 0.0 }));
            for k in 0..4 {
                mass[(k, j)] = moved[k] - still[k];
            }
        }
        let right = DVector::from_fn(4, |k, _| efforts[k] - still[k]);
        let found = mass.lu().solve(&right).unwrap();
        std::array::from_fn(|k| found[k])
    }

    /// What controllers make of commanded motions: times, angles and efforts of the motors, by the classical method of Runge and Kutta.
    fn record(&self, samples: usize, sampling: f64) -> Vec<(f64, [f64; 4], [f64; 4])> {
        const STEPS: usize = 10;
        // when they have forgotten how they began
        let before = sampling as usize;
        let drive = |t: f64, places: [f64; 4], rates: [f64; 4]| -> [f64; 4] {
            std::array::from_fn(|k| {
                let (mut command, mut speed) = (0.0, 0.0);
                for (j, size) in [0.5, 0.3, 0.15].into_iter().enumerate() {
                    let (pulse, phase) = (1.3 + 1.7 * j as f64 + 0.37 * k as f64, 1.1 * (k + 2 * j) as f64);
                    let size = size * [1.2, 0.5, 1.5, 1.5][k];
                    command += size * ((pulse * t + phase).sin() - phase.sin());
                    speed += size * pulse * (pulse * t + phase).cos();
                }
                let stiff = [900.0, 1500.0, 150.0, 150.0][k];
                stiff * (command - places[k]) + 0.15 * stiff * (speed - rates[k])
            })
        };
        let slope = |t: f64, [places, rates]: [[f64; 4]; 2]| {
            [rates, self.accelerations(places, rates, drive(t, places, rates))]
        };
        let moved = |at: [[f64; 4]; 2], by: f64, slope: [[f64; 4]; 2]| -> [[f64; 4]; 2] {
            std::array::from_fn(|i| std::array::from_fn(|k| at[i][k] + by * slope[i][k]))
        };
        let h = 1.0 / (sampling * STEPS as f64);
        let mut state = [[0.0; 4]; 2];
        (0..samples + before)
            .map(|sample| {
                let t = sample as f64 / sampling;
                let row = (t - before as f64 / sampling, state[0], drive(t, state[0], state[1]));
                for step in 0..STEPS {
                    let t = t + h * step as f64;
                    let a = slope(t, state);
                    let b = slope(t + 0.5 * h, moved(state, 0.5 * h, a));
                    let c = slope(t + 0.5 * h, moved(state, 0.5 * h, b));
                    let d = slope(t + h, moved(state, h, c));
                    for (part, by) in [(a, 1.0), (b, 2.0), (c, 2.0), (d, 1.0)] {
                        state = moved(state, by * h / 6.0, part);
                    }
                }
                row
            })
            .skip(before)
            .collect()
    }

    /// Lines for the file of a robot whose motions are given.
    fn sums(&self) -> String {
        let mut text = "\n[parameters]\n".to_string();
        let mut parts = String::new();
        for (name, sum) in [("motor", &self.motor), ("cable", &self.cable)] {
            let [viscous, dry, stiffness, at_zero] = sum.law;
            let numbers = [
                ("J", "kg m^2", sum.inertia),
                ("d", "N m s/rad", viscous),
                ("Fc", "N m", dry),
                ("k", "N m/rad", stiffness),
                ("F", "N m", at_zero),
            ];
            for (own, unit, nominal) in numbers.iter().filter(|own| own.2 != 0.0) {
                let _ = writeln!(text, "{own}_{name} = {{ unit = \"{unit}\", nominal = {nominal:?} }}");
            }
            let law = match name {
                "motor" => {
                    format!("inertia = \"J_motor\"\ntension = \"d_motor*x' + coulomb(x', Fc_motor, {SLIP}[rad/s])\"")
                }
                _ => "tension = \"d_cable*x' + k_cable*x + F_cable\"".into(),
            };
            let [first, second] = sum.of;
            let _ = writeln!(
                parts,
                "[tendon.{name}]\nof = [\"robot_j{}\", \"robot_j{}\"]\nratios = [{:?}, {:?}]\n{law}",
                first.0, second.0, first.1, second.1
            );
        }
        text + &parts
    }
}

/// Joints with motors.
const MOTORS: [usize; 4] = [0, 1, 4, 5];

/// Protects the whole way from a robot's file and a log to numbers with errors, for a robot with a loop, a follower, a motor at two joints and a cable with a spring, whose
/// record an integrator made that shares nothing with the engine, under controllers and with noise of encoders and torques: what can be told is within its
/// standard errors of the truth, and intervals cover as often as they say.
#[test]
fn intervals_cover_what_made_the_record() {
    let (truth, drawn) = (Machine::new(false), Machine::new(true));
    let folder = Folder::new("cover");
    let path = |name: &str| folder.0.join(name);
    let (samples, sampling) = (200, 50.0);
    let record = truth.record(samples, sampling);
    std::fs::write(path("robot.urdf"), truth.robot.urdf()).unwrap();
    let mut random = SplitMix64::new(1);
    let log = |random: &mut SplitMix64, angle: f64, torque: f64| {
        let mut text = "t".to_string();
        for k in MOTORS {
            let _ = write!(text, ",j{k}_position,j{k}_effort");
        }
        for (t, places, efforts) in &record {
            let _ = write!(text, "\n{t:?}");
            for (place, effort) in places.iter().zip(efforts) {
                let _ = write!(text, ",{:?},{:?}", place + angle * random.normal(), effort + torque * random.normal());
            }
        }
        std::fs::write(path("log.csv"), text + "\n").unwrap();
    };
    let moved = |sums: String| {
        let [robot, record] = [path("robot.urdf"), path("log.csv")];
        let written = costate_file::given_motions(
            [&robot, &record],
            ["robot.urdf".as_ref(), "log.csv".as_ref()],
            "moved.toml".as_ref(),
            false,
            &[],
        )
        .unwrap()
        .unwrap();
        let from = written
            .mechanism
            .replace("bandwidth = 2.5", "bandwidth = 15.0")
            .replace("slip = 0.01", &format!("slip = {SLIP}"));
        std::fs::write(path("moved.toml"), from + &sums).unwrap();
        // at a bound, errors of the others are those for which it is known
        let free =
            [1, 2, 3].map(|k| format!("robot_d_j{k} = {{ lower = -100.0 }}\nrobot_Fc_j{k} = {{ lower = -100.0 }}\n"));
        written.problem + &free.concat()
    };
    log(&mut random, 0.0, 0.0);
    moved(truth.sums());
    let registry = costate_models::registry().unwrap().with_files(costate_file::read);
    let known = costate_file::read(&path("moved.toml")).unwrap();
    let known: BTreeMap<String, f64> =
        known.system.signature().parameters.iter().map(|own| (own.name.clone(), own.nominal)).collect();
    std::fs::write(path("robot.urdf"), drawn.robot.urdf()).unwrap();
    let repeats = std::env::var("COSTATE_REPEATS").map_or(5, |number| number.parse().unwrap());
    let mut off: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    let fitted = |problem: &str| {
        let specification = costate_identify::problem_file::parse(problem, &path("problem.toml")).unwrap();
        let problem = specification.build(&registry).unwrap();
        let settings = costate_identify::Settings::default();
        let fit = costate_identify::identify(&problem, &settings, &mut |_| Flow::Continue).unwrap();
        let statistics = Statistics::of(&problem, &fit, Noise::Estimated).unwrap();
        (problem.parameters, statistics)
    };
    let error = |statistics: &Statistics, name: &str| {
        statistics.parameters.iter().find(|own| own.name == name).unwrap().standard_error
    };
    let is_told = |statistics: &Statistics| {
        let told = statistics.warnings.iter().find(|told| told.contains("rest on what is held at its bound"))?;
        let told = told.split("that of `robot_d_j1` would be ").nth(1)?;
        told.split(' ').next()?.parse::<f64>().ok()
    };
    let mut last = (String::new(), f64::NAN);
    for _ in 0..repeats {
        log(&mut random, 1e-6, 0.1);
        let problem = moved(drawn.sums());
        let (names, statistics) = fitted(&problem);
        assert_eq!(is_told(&statistics), None);
        last = (problem, error(&statistics, "robot_d_j1"));
        for own in statistics.parameters.iter().filter(|own| own.standard_error.is_finite()) {
            off.entry(own.name.clone()).or_default().push((own.value - known[&own.name]) / own.standard_error);
        }
        for own in &statistics.combinations {
            let meant: f64 = own.combination.terms.iter().map(|(k, factor)| factor * known[&names[*k].name]).sum();
            off.entry(own.combination.to_string())
                .or_default()
                .push((own.combination.value - meant) / own.standard_error);
        }
    }
    // where a bound stops one of two that are told together, the error of the other is that of who knows the first, and how much rests on that is told
    let (problem, free) = last;
    let bound = "robot_d_j2 = { start = -1.0, lower = -2.0, upper = -0.5 }";
    let (_, statistics) = fitted(&problem.replace("robot_d_j2 = { lower = -100.0 }", bound));
    let (held, told) =
        (error(&statistics, "robot_d_j1"), is_told(&statistics).unwrap_or_else(|| panic!("{:?}", statistics.warnings)));
    assert!(told > 2.0 && (told / (free / held) - 1.0).abs() < 0.2, "{told} {free} {held}");
    if repeats > 5 {
        for (name, all) in &off {
            let within = all.iter().filter(|off| off.abs() < 1.96).count();
            let spread = (all.iter().map(|off| off * off).sum::<f64>() / all.len() as f64).sqrt();
            println!("{name}: {within} of {} within 95 %, deviation {spread:.3}", all.len());
        }
    }
    let all: Vec<f64> = off.values().flatten().copied().collect();
    let within = |most: f64| all.iter().filter(|off| off.abs() < most).count() as f64 / all.len() as f64;
    let deviation = (all.iter().map(|off| off * off).sum::<f64>() / all.len() as f64).sqrt();
    println!(
        "{} of {repeats} records: {} within 95 %, {} within three, deviation {deviation}",
        all.len(),
        within(1.96),
        within(3.0)
    );
    // of each record, some 60 numbers, few of them independent of all others
    assert!(all.len() >= 57 * repeats, "{} of {repeats} records", all.len());
    assert!(within(1.96) > 0.92 && within(1.96) < 0.98, "{}", within(1.96));
    assert!(within(3.0) > 0.99, "{}", within(3.0));
}
