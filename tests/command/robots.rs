//! Robots' files in the place of a model's name.

use crate::run::Place;
use std::fmt::Write;

// Protects what links look like: by primitives that are seen, or else by those that collide, where they are, on the body that a link is part of; what cannot be read
// is left out, and a file of parts without a kind is told.
#[test]
fn links_look_as_their_primitives() {
    let place = Place::new();
    let shapes = r#"<visual><origin xyz="0 0 0.2" rpy="1.5707963267948966 0 0"/><geometry><box size="0.1 0.2 0.3"/></geometry></visual>
<visual><geometry><mesh filename="a.dae"/></geometry></visual>
<collision><geometry><sphere radius="9"/></geometry></collision>"#;
    let tool = r#"<link name="tool"><visual><geometry><box size="0.1 zero 0.3"/></geometry></visual>
<collision><origin xyz="0 0 0.1"/><geometry><cylinder radius="0.02" length="0.1"/></geometry></collision>"#;
    let arm = ARM
        .replace(r#"<link name="table"/>"#, &format!(r#"<link name="table">{shapes}</link>"#))
        .replace(
            r#"<link name="lower">"#,
            r#"<link name="lower"><visual><geometry><capsule radius="0.02" length="0.2"/></geometry></visual>"#,
        )
        .replace(r#"<link name="tool">"#, tool);
    place.write("arm.urdf", &arm);
    let text = place.good("export arm.urdf").out;
    let table: toml::Table = text.parse().unwrap();
    let shapes = table["shape"].as_table().unwrap();
    assert_eq!(shapes.keys().collect::<Vec<_>>(), ["lower_looks", "table_looks", "tool_looks"], "{text}");
    let numbers = |value: &toml::Value| -> Vec<f64> {
        value.as_array().unwrap().iter().map(|number| number.as_float().unwrap()).collect()
    };
    let box_ = &shapes["table_looks"];
    assert_eq!((box_["form"].as_str().unwrap(), numbers(&box_["edges"])), ("box", vec![0.1, 0.2, 0.3]));
    // z of the box is -y of the link
    let axis = numbers(&box_["ground"]["axis"]);
    assert!((axis[1] + 1.0).abs() < 1e-15 && axis[2].abs() < 1e-15, "{axis:?}");
    assert_eq!(shapes["lower_looks"]["form"].as_str(), Some("capsule"));
    // the tool is part of the body `lower`, 0.3 m up, and its cylinder 0.1 m more
    let at = numbers(&shapes["tool_looks"]["lower"]["at"]);
    assert!((at[2] - 0.4).abs() < 1e-15, "{at:?}");
    place.good("draw arm.urdf --out drawn");
    let picture = place.read("drawn/mechanism.svg");
    // the body without primitives is drawn by its joints
    assert!(picture.matches("<polygon").count() >= 5, "{picture}");
    place.write("moved.toml", "gravity = [0, 0, -9.81]\n[include.arm]\nfile = \"arm.urdf\"\n");
    place.refused("draw moved.toml", &["moved.toml", "kind = \"planar\" or kind = \"spatial\""]);
    let shape = |lines: &str| {
        let whole = format!(
            "kind = \"spatial\"\n[include.arm]\nfile = \"arm.urdf\"\n[shape.box]\narm_lower = [0, 0, 0]\n{lines}\n"
        );
        place.write("shaped.toml", whole);
    };
    for (lines, words) in [
        ("radius = 0.1", "`form` in [shape.box]: it is missing"),
        ("form = \"ball\"\nradius = -0.1", "-0.1 m is no size"),
        ("form = \"box\"\nedges = [0.1, 0, 0.2]", "0.0 m is no size"),
    ] {
        shape(lines);
        place.refused("draw shaped.toml", &["shaped.toml, line", words]);
    }
}

/// An arm of two links on a table; a link and a joint have one name.
const ARM: &str = r#"<robot name="arm">
<link name="table"/>
<link name="turn table"><inertial><origin xyz="0.01 0 0.2"/><mass value="2.5"/>
<inertia ixx="0.03" iyy="0.03" izz="0.006"/></inertial></link>
<link name="lower"><inertial><origin xyz="0 0.02 0.15" rpy="0.1 0 0"/><mass value="1.2"/>
<inertia ixx="0.01" iyy="0.012" izz="0.003" ixz="0.001"/></inertial></link>
<link name="tool"><inertial><mass value="0.3"/><inertia ixx="1e-4" iyy="1e-4" izz="1e-4"/></inertial></link>
<joint name="turn table" type="revolute"><parent link="table"/><child link="turn table"/><axis xyz="0 0 1"/>
<dynamics damping="0.4" friction="0.2"/></joint>
<joint name="elbow" type="continuous"><parent link="turn table"/><child link="lower"/>
<origin xyz="0 0 0.4" rpy="0 0.3 0"/><axis xyz="0 1 0"/></joint>
<joint name="flange" type="fixed"><parent link="lower"/><child link="tool"/><origin xyz="0 0 0.3"/></joint>
</robot>
"#;

// Protects the way from a robot's file and a log to parameters: commands take the robot, `init` has its joints move as in the log, and what makes the log's
// torques is found in a few evaluations.
#[test]
fn from_a_robot_and_a_log_to_parameters() {
    let place = Place::new();
    place.write("arm.urdf", ARM);
    assert!(place.good("models arm.urdf").out.contains("degrees of freedom: 2"));
    place.good("simulate arm.urdf --end 0.1");
    place.good("draw arm.urdf");
    // the robot as a mechanism file is the same
    place.write("parts.toml", place.good("export arm.urdf").out);
    let [own, parts] = ["arm.urdf", "parts.toml"].map(|model| place.json(&format!("gradient {model} --json"), 0));
    assert_eq!(own["gradient"], parts["gradient"]);
    // the torques of a motion, with other friction than the file's
    let motion = |t: f64| [0.5 * (3.0 * t).sin() + 0.1 * (7.0 * t).cos(), 40.0 * (2.2 * t).sin()];
    let log = |torques: &[Vec<f64>]| {
        let mut text = "t,q1,elbow_position [deg],tau1,elbow_effort\n".to_string();
        for k in 0..=200 {
            let t = 0.01 * f64::from(k);
            let [first, second] = motion(t);
            let of = |joint: usize| torques.get(joint).map_or(0.0, |own| own[k as usize]);
            let _ = writeln!(text, "{t},{first},{second},{},{}", of(0), of(1));
        }
        text
    };
    place.write("log.csv", log(&[]));
    place.good("init arm.urdf --data log.csv");
    let changed = "--set robot_Fc_elbow=0.3 --set `robot_d_turn_table`=0.9 --set robot_hz_lower=0.5".replace('`', "");
    place.good(&format!("simulate arm_moved.toml {changed} --out truth"));
    let truth = place.read("truth/outputs.csv");
    let mut lines = truth.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    let column = |name: &str| header.iter().position(|own| own.starts_with(name)).unwrap();
    let rows: Vec<Vec<f64>> =
        lines.map(|line| line.split(',').map(|number| number.parse().unwrap()).collect()).collect();
    let torques = ["tau1.effort", "tau2.effort"].map(|name| rows.iter().map(|row| row[column(name)]).collect());
    place.write("log.csv", log(&torques));
    place.refused("init arm.urdf --data log.csv", &["arm_problem.toml", "--force"]);
    place.good("init arm.urdf --data log.csv --force");
    // combinations are what every robot has, and nothing is wrong with them; the log is read once, and a linear fit takes few runs
    let checked = place.good("check arm_problem.toml");
    assert!(
        checked.out.contains("nothing is wrong") && checked.out.contains("do not tell `robot_Izz_turn_table`"),
        "{}",
        checked.out
    );
    assert!(checked.out.contains("2 to 4 evaluations") && !checked.out.contains("finer ones"), "{}", checked.out);
    // a model that reads a table, and a record
    assert_eq!(checked.out.matches("log.csv: ").count(), 2, "{}", checked.out);
    let rank = |options: &str| {
        let found = place.run(&format!("identifiability arm_problem.toml --json{options}"));
        let found: serde_json::Value = serde_json::from_str(&found.out).unwrap();
        found["parameters"].as_array().unwrap().len()
    };
    assert_eq!(rank(""), rank(" --fix robot_m_lower,robot_hx_lower") + 2);
    let found = place.json("identify arm_problem.toml --json", 0);
    let value = |name: &str| {
        let all = found["parameters"].as_array().unwrap();
        all.iter().find(|own| own["name"] == name).unwrap_or_else(|| panic!("no {name}"))["value"].as_f64().unwrap()
    };
    assert!((value("robot_Fc_elbow") - 0.3).abs() < 1e-6 && (value("robot_d_turn_table") - 0.9).abs() < 1e-6);
    assert!(found["evaluations"].as_u64().unwrap() <= 5, "{}", found["evaluations"]);
}

/// An arm of two links in a vertical plane.
const TWO: &str = r#"<robot name="arm">
<link name="table"/>
<link name="upper"><inertial><origin xyz="0 0 0.2"/><mass value="2.5"/><inertia ixx="0.03" iyy="0.03" izz="0.006"/></inertial></link>
<link name="lower"><inertial><origin xyz="0 0 0.15"/><mass value="1.2"/><inertia ixx="0.01" iyy="0.012" izz="0.003"/></inertial></link>
<joint name="shoulder" type="continuous"><parent link="table"/><child link="upper"/><axis xyz="0 1 0"/><dynamics damping="0.4" friction="0.2"/></joint>
<joint name="elbow" type="continuous"><parent link="upper"/><child link="lower"/><origin xyz="0 0 0.4"/><axis xyz="0 1 0"/>
<dynamics damping="0.2" friction="0.1"/></joint>
</robot>
"#;

// Protects transmissions of two motors and two joints: rotors go with the sums that the motors turn with, as tendons that say the same do; with friction, motors have their own; what is
// found is written into the actuators; a transmission that is none is told.
#[test]
fn motors_turn_two_joints() {
    let place = Place::new();
    let transmission = |kind: &str| {
        format!(
            r#"<transmission name="t"><type>transmission_interface/{kind}</type>
<actuator name="left"><role>actuator1</role><mechanicalReduction>50</mechanicalReduction><rotor_inertia value="1e-4"/></actuator>
<actuator name="right"><role>actuator2</role><mechanicalReduction>-20</mechanicalReduction><rotor_inertia>2e-4</rotor_inertia></actuator>
<joint name="elbow"><role>joint2</role><mechanicalReduction>1.5</mechanicalReduction></joint>
<joint name="shoulder"><role>joint1</role><offset>0.3</offset><mechanicalReduction>2</mechanicalReduction></joint></transmission></robot>"#
        )
    };
    place.write("plain.urdf", TWO);
    let falls = |robot: &str, tendons: &str| {
        let file = format!(
            "kind = \"spatial\"\ngravity = [0, 0, -9.81]\n[include.robot]\nfile = \"{robot}\"\njoints = {{ shoulder = 1.0, elbow = 0.5 }}\n\
             [scenario]\nend = 0.2\nstep = 1e-3\n{tendons}"
        );
        place.write("falls.toml", file);
        let run = place.run("simulate falls.toml --out falls");
        assert_eq!(run.code, 0, "{}", run.err);
        let text = place.read("falls/outputs.csv");
        let last = text.lines().last().unwrap().split(',').map(|own| own.parse::<f64>().unwrap());
        last.collect::<Vec<f64>>()
    };
    let tendon = |name: &str, ratios: &str, inertia: f64| {
        format!("[tendon.{name}]\nof = [\"robot_shoulder\", \"robot_elbow\"]\nratios = {ratios}\ninertia = {inertia}\n")
    };
    let free = falls("plain.urdf", "");
    for (kind, first, second) in [
        ("DifferentialTransmission", "[2.0, 1.5]", "[2.0, -1.5]"),
        ("FourBarLinkageTransmission", "[2.0, 0.0]", "[1.0, 1.5]"),
    ] {
        place.write("coupled.urdf", TWO.replace("</robot>", &transmission(kind)));
        let own = falls("coupled.urdf", "");
        let said = falls("plain.urdf", &(tendon("l", first, 0.25) + &tendon("r", second, 0.08)));
        let off = |other: &[f64]| own.iter().zip(other).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(own.len() > 4 && off(&said) < 1e-9 && off(&free) > 0.1, "{kind}: {own:?} {said:?}");
    }
    let declared = |text: &str| {
        let table: toml::Table = text.parse().unwrap();
        table["parameters"].as_table().unwrap().keys().cloned().collect::<Vec<String>>()
    };
    let text = place.good("export coupled.urdf").out;
    assert!(declared(&text).contains(&"J_rotor_left".to_string()) && text.contains("J_rotor_right"), "{text}");
    place.write("with.toml", "kind = \"spatial\"\n[include.robot]\nfile = \"coupled.urdf\"\nfriction = true\n");
    let known = place.good("models with.toml").out;
    for name in ["robot_d_left", "robot_Fc_right", "robot_J_rotor_right"] {
        assert!(known.contains(name), "{name}: {known}");
    }
    // what is found goes back
    place.write(
        "changed/result.json",
        r#"{"schema": 1, "model": "arm", "parameters": [{"name": "m_upper", "value": 2.5}, {"name": "m_lower", "value": 1.2}, {"name": "J_rotor_left", "value": 0.5}, {"name": "J_rotor_right", "value": 0.2}]}"#,
    );
    let written = place.good("export coupled.urdf --values changed").out;
    assert!(written.contains("<rotor_inertia value=\"0.0002\"/>"), "{written}");
    assert!(written.contains("<rotor_inertia>0.0005</rotor_inertia>"), "{written}");
    let differential = TWO.replace("</robot>", &transmission("DifferentialTransmission"));
    for (from, to, words) in [
        ("<joint name=\"elbow\"><role>", "<joint name=\"elbo\"><role>", "there is no joint `elbo` that turns"),
        ("<actuator name=\"right\">", "<other name=\"right\">", "has 1 <actuator>, not two"),
        ("<mechanicalReduction>50<", "<mechanicalReduction>0<", "its reduction is zero"),
        ("value=\"1e-4\"", "value=\"-1e-4\"", "its rotor's inertia is -0.0001 kg m^2"),
        ("<joint name=\"shoulder\"><role>", "<joint name=\"elbow\"><role>", "both joints of this transmission are one"),
        (
            "DifferentialTransmission",
            "DiferentialTransmission",
            "how a `DiferentialTransmission` couples them is not known",
        ),
    ] {
        let text = differential.replacen(from, to, 1).replacen(
            if from.contains("right") { "</rotor_inertia></actuator>" } else { "\u{0}" },
            "</rotor_inertia></other>",
            1,
        );
        assert_ne!(text, differential, "{from}");
        place.write("wrong.urdf", text);
        place.refused("models wrong.urdf", &["wrong.urdf, line", words]);
    }
    // ROS 2 writes the same in other words
    let role = |kind: &str, k: usize| format!("\"><role>{kind}{k}</role>");
    let mut other = differential.replace("<type>", "<plugin>").replace("</type>", "</plugin>");
    other = other.replace("mechanicalReduction", "mechanical_reduction");
    for (kind, k) in [("actuator", 1), ("actuator", 2), ("joint", 1), ("joint", 2)] {
        other = other.replace(&role(kind, k), &format!("\" role=\"{kind}{k}\">"));
    }
    place.write("ros.urdf", &differential);
    place.write("ros_2.urdf", &other);
    assert!(!other.contains("<role>") && other.contains("<plugin>"), "{other}");
    assert_eq!(place.good("export ros.urdf").out, place.good("export ros_2.urdf").out);
    // of one joint, the actuator's reduction is the motor's, wherever it stands
    let simple = "<transmission name=\"t\"><type>transmission_interface/SimpleTransmission</type>\
                  <joint name=\"elbow\"><mechanicalReduction>3</mechanicalReduction></joint>\
                  <actuator name=\"m\"><mechanicalReduction>50</mechanicalReduction><rotor_inertia>1e-5</rotor_inertia></actuator></transmission></robot>";
    place.write("simple.urdf", TWO.replace("</robot>", simple));
    let text = place.good("export simple.urdf").out;
    assert!(text.contains("[parameters.J_rotor_elbow]\nunit = \"kg m^2\"\nnominal = 0.025"), "{text}");
    let tendon = |of: &str, inertia: &str| {
        let lines = format!("[tendon.l]\nof = {of}\nratios = [1.0]\ninertia = {inertia}\n");
        place.write("tendon.toml", format!("kind = \"spatial\"\n[include.robot]\nfile = \"plain.urdf\"\n{lines}"));
    };
    tendon("[\"robot_elbow\"]", "-0.1");
    place.refused("models tendon.toml", &["tendon.toml, line", "`inertia` in [tendon.l]: it is negative"]);
    tendon("[]", "0.1");
    place.refused("models tendon.toml", &["tendon.toml, line", "name one joint at least"]);
    // a result of another robot is told
    place.write(
        "changed/result.json",
        r#"{"schema": 1, "model": "arm", "parameters": [{"name": "m_upper", "value": 6.5}, {"name": "m_hand", "value": 0.4}]}"#,
    );
    let told = place.good("export simple.urdf --values changed --out new.urdf").err;
    for words in [
        "one value of the result is none of this robot's: `m_hand`",
        "`upper` 2.5 -> 6.5",
        "1 link with new inertias, together 6.5 kg where the file had 2.5",
    ] {
        assert!(told.contains(words), "{words}: {told}");
    }
}

// Protects fits from joints at rest: their friction is not sought in the round-off of rates, and where next to nothing is determined, numbers stay near those of the file.
#[test]
fn joints_at_rest_tell_nothing_of_friction() {
    let place = Place::new();
    let robot = TWO.replace("<dynamics damping=\"0.4\" friction=\"0.2\"/>", "");
    place.write("arm.urdf", robot.replace("\n<dynamics damping=\"0.2\" friction=\"0.1\"/>", ""));
    let noise = |k: u32| (f64::from(k * k % 997) * 0.77).sin();
    let log = |swing: f64| {
        let mut text = "t,q1,q2,tau1,tau2\n".to_string();
        for k in 0..=600 {
            let t = 0.01 * f64::from(k);
            let q = 0.3 + swing * (2.0 * t).sin();
            let efforts = [-8.0 * q.sin() + 0.05 * noise(k), 0.6 + 0.02 * noise(k + 301)];
            let _ = writeln!(text, "{t},{q},-0.4,{},{}", efforts[0], efforts[1]);
        }
        text
    };
    for (swing, most) in [(0.5, 0.3), (0.0, 0.6)] {
        place.write("log.csv", log(swing));
        place.good("init arm.urdf --data log.csv --force");
        let found = place.run("identify arm_problem.toml --json");
        let found: serde_json::Value = serde_json::from_str(&found.out).unwrap_or_else(|_| panic!("{}", found.err));
        let warned = found["statistics_warnings"].to_string();
        assert!(warned.contains("times as large as those of `tau2.effort`"), "{warned}");
        for parameter in found["parameters"].as_array().unwrap() {
            let (name, value) = (parameter["name"].as_str().unwrap(), parameter["value"].as_f64().unwrap());
            let start = parameter["start"].as_f64().unwrap();
            let is_at_rest = name.ends_with("_elbow") && !name.contains("offset");
            let moved = (value - start).abs();
            assert!(
                if is_at_rest { moved == 0.0 } else { moved < 8.0 * most },
                "swing {swing}: {name} {start} -> {value}"
            );
        }
    }
}

// Protects the page, whose files are run here, and the way through a simulation: with controllers in the loop, gains and friction that the start does not know are found
// from commanded and measured motions.
#[test]
fn controllers_in_the_loop() {
    let place = Place::new();
    place.write("arm.urdf", TWO);
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/robots.md")).unwrap();
    for name in ["arm_bristles.toml", "arm_coupled.toml", "arm_controlled.toml", "controlled_problem.toml"] {
        let from = page.find(&format!("# {name}")).unwrap();
        place.write(name, page[from..].split("```").next().unwrap());
    }
    let log = |measured: &[Vec<f64>]| {
        let mut text = "t,r1,r2,q1,q2,tau1,tau2\n".to_string();
        for k in 0..=400 {
            let t = 0.01 * f64::from(k);
            let told = [0.4 * (1.0 - (3.0 * t).cos()), 0.5 * (2.0 * t).sin().powi(2)];
            let of = |column: usize| measured.get(column).map_or(0.0, |own| own[k as usize]);
            let _ = writeln!(text, "{t},{},{},{},{},{},{}", told[0], told[1], of(0), of(1), of(2), of(3));
        }
        text
    };
    place.write("log.csv", log(&[]));
    // half a second is enough to check derivatives
    place.good("check arm_bristles.toml --end 0.5");
    place.good("check arm_coupled.toml --end 0.5");
    place.good("simulate arm_bristles.toml");
    place.good("check arm_controlled.toml");
    let truth = [("kp", 180.0), ("kd", 9.0), ("robot_Fc_elbow", 0.3), ("robot_d_shoulder", 0.9)];
    let changed: String = truth.iter().map(|(name, value)| format!(" --set {name}={value}")).collect();
    place.good(&format!("simulate arm_controlled.toml --out truth{changed}"));
    let run = place.read("truth/outputs.csv");
    let header: Vec<&str> = run.lines().next().unwrap().split(',').collect();
    let rows: Vec<Vec<f64>> =
        run.lines().skip(1).map(|line| line.split(',').map(|number| number.parse().unwrap()).collect()).collect();
    let measured =
        ["robot_shoulder_motion.angle", "robot_elbow_motion.angle", "tau1.effort", "tau2.effort"].map(|name| {
            let column = header.iter().position(|own| own.starts_with(name)).unwrap();
            rows.iter().map(|row| row[column]).collect()
        });
    place.write("log.csv", log(&measured));
    let found = place.json("identify controlled_problem.toml --substeps 1 --json", 0);
    for (name, value) in truth {
        let all = found["parameters"].as_array().unwrap();
        let own = all.iter().find(|own| own["name"] == name).unwrap_or_else(|| panic!("no {name}"))["value"].as_f64();
        assert!((own.unwrap() / value - 1.0).abs() < 1e-3, "{name}: {own:?}, {value}");
    }
}

// Protects the way to bodies that can be built: factors with priors towards the file's, whose deviation is found, from a log with friction that the model
// does not know; and what says how it was found.
#[test]
fn bodies_that_can_be_built() {
    let place = Place::new();
    place.write("arm.urdf", ARM);
    place.refused("init arm.urdf --physical", &["--physical", "positions and torques"]);
    let mut log = "t,q1,q2,tau1,tau2\n".to_string();
    for k in 0..=400 {
        let t = 0.01 * f64::from(k);
        let angle = |a: f64, w: f64, b: f64| (a * (w * t).sin(), a * w * w * -(w * t).sin(), b);
        let ((first, rate, _), (second, other, load)) = (angle(0.5, 3.0, 0.0), angle(0.7, 2.2, 0.4));
        // no arm's own torques: heavier than the file's, with an error that comes and goes slowly
        let noise = 0.05 * (1.3 * t).sin() + 0.01 * (97.0 * t).sin();
        let torques = [0.09 * rate + noise, 0.06 * other - 3.0 * (second + load).sin() - noise];
        let _ = writeln!(log, "{t},{first},{second},{},{}", torques[0], torques[1]);
    }
    place.write("log.csv", log);
    place.good("init arm.urdf --data log.csv --physical");
    let found = place.json("identify arm_problem.toml --json", 0);
    let estimated = &found["estimated_deviations"];
    let priors = estimated["priors"].as_array().unwrap();
    assert_eq!(priors.len(), 1);
    assert_eq!(priors[0]["names"].as_array().unwrap().len(), 20);
    let (deviation, determined) = (priors[0]["deviation"].as_f64().unwrap(), priors[0]["determined"].as_f64().unwrap());
    assert!(deviation > 0.01 && deviation < 10.0 && determined > 1.0 && determined < 12.0, "{priors:?}");
    for sensor in estimated["sensors"].as_array().unwrap() {
        let [samples, worth] = ["samples", "independent_samples"].map(|key| sensor[key].as_f64().unwrap());
        assert!(worth < 0.5 * samples && worth > 4.0, "{sensor}");
    }
    let prior = &found["priors"][0]["prior"]["normal"];
    assert_eq!(prior[1].as_f64().unwrap(), deviation);
    assert!(!found["warnings"].to_string().contains("can be built"), "{}", found["warnings"]);
    // correlations that count already are none that somebody has forgotten
    for test in found["residual_tests"].as_array().unwrap() {
        assert_eq!(test["standard_error_factor"], 1.0, "{test}");
    }
    // weighed against noise that is known up to a factor, an unknown deviation means nothing
    let text = place.read("arm_problem.toml").replace(", deviation = \"estimated-correlated\"", "");
    place.write("loose.toml", text);
    place.refused("identify loose.toml", &["its deviation is to be estimated", "noise = \"given\""]);
}

// Protects from silence about what a record lacks: without positions of all joints, or without any torque, the problem is that of simulating the robot.
#[test]
fn a_log_without_positions_is_one_of_a_simulation() {
    let place = Place::new();
    place.write("arm.urdf", ARM);
    place.write("log.csv", "t,tau_elbow,elbow_motion.angle\n0,0,0\n0.1,0,0.1\n0.2,0,0.2\n0.3,0,0.3\n");
    place.run("init arm.urdf --data log.csv");
    assert!(place.read("arm_problem.toml").contains("model = \"arm.urdf\""));
    // what has neither says what it should have, and nothing is written
    place.write("other.csv", "t,q1,tau1\n0,0,0\n0.1,0,0.1\n0.2,0,0.2\n0.3,0,0.3\n");
    place.refused(
        "init arm.urdf --data other.csv --out other.toml",
        &["other.csv", "position of joint `elbow` (`q2`, `q_2`"],
    );
    place.write("other.csv", "t,q1,q2\n0,0,0\n0.1,0,0.1\n0.2,0,0.2\n0.3,0,0.3\n");
    place
        .refused("init arm.urdf --data other.csv --out other.toml", &["other.csv", "no effort of any joint", "`tau1`"]);
    place.write("other.csv", "t,q1,q2,tau1,tau2\n0,0,0,0,0\n0.1,0,0.1,0,0\n0.1,0,0.2,0,0\n0.3,0,0.3,0,0\n");
    place.refused("init arm.urdf --data other.csv --out other.toml", &["other.csv", "sample 3 of `t` is at 0.1 s"]);
    place.refused("simulate other.toml", &["other.toml"]);
    place.refused("simulate none.urdf", &["none.urdf"]);
}

/// Four bars: a crank with a motor, and a rocker, both upright at zero, with a coupler between them.
const BARS: &str = r#"<robot name="bars">
<link name="base"/>
<link name="crank"><inertial><origin xyz="0.02 0 0.15"/><mass value="2"/><inertia ixx="0.02" iyy="0.02" izz="0.01"/></inertial></link>
<link name="coupler"><inertial><origin xyz="0.2 0 0.03"/><mass value="1"/><inertia ixx="0.01" iyy="0.02" izz="0.02"/></inertial></link>
<link name="rocker"><inertial><origin xyz="0 0 0.2"/><mass value="1.5"/><inertia ixx="0.02" iyy="0.03" izz="0.01"/></inertial></link>
<joint name="hip" type="continuous"><parent link="base"/><child link="crank"/><axis xyz="0 1 0"/><limit velocity="2" effort="50"/></joint>
<joint name="knee" type="continuous"><parent link="crank"/><child link="coupler"/><origin xyz="0 0 0.3"/><axis xyz="0 1 0"/></joint>
<joint name="foot" type="revolute"><parent link="base"/><child link="rocker"/><origin xyz="0.4 0 -0.1"/><axis xyz="0 1 0"/>
<limit lower="-0.5" upper="0.4" velocity="2" effort="50"/></joint>
<loop_joint name="close" type="revolute"><link1 link="coupler" xyz="0.4 0 0"/><link2 link="rocker" xyz="0 0 0.4"/><axis xyz="0 1 0"/></loop_joint>
</robot>
"#;

/// Protects the same for robots with loops: joints with motors follow splines, loops move the others within their limits; and a log of the motors alone is enough to fit
/// what they take.
#[test]
fn robots_with_loops_are_excited_and_fitted() {
    let place = Place::new();
    place.write("bars.urdf", BARS);
    place.refused("init bars.urdf --excitation 3", &["`close` closes a loop", "line 10", "--motors"]);
    place.refused("init bars.urdf --excitation 3 --motors hop", &["hop", "did you mean `hip`"]);
    let written = place.good("init bars.urdf --excitation 3 --motors hip");
    assert!(written.err.contains("motors are at hip, and loops move knee, foot"), "{}", written.err);
    let problem = place.read("bars_excitation_problem.toml");
    let goal = "[[control.goal]]      # foot: loops move it\noutput = \"robot_foot_motion.angle\"\nlower = -0.455\nupper = 0.355\n";
    assert!(problem.contains(goal) && problem.matches("[[control.signal]]").count() == 1, "{problem}");
    let found = place.json("control bars_excitation_problem.toml --max-iterations 3 --json", 1);
    let mean = |when: &str| found["information"][when]["D"].as_f64().unwrap();
    assert!(mean("means") < mean("means_at_start"), "{} {}", mean("means"), mean("means_at_start"));
    // a transmission says the same
    let geared = BARS.replace("</robot>", "<transmission name=\"t\"><joint name=\"hip\"/></transmission></robot>");
    place.write("geared.urdf", &geared);
    place.good("init geared.urdf --excitation 3 --out geared.toml");
    let [named, said] = ["bars", "geared"].map(|name| place.read(&format!("{name}_excitation.toml")).replace(name, ""));
    assert_eq!(named, said);
    // a log of the motor alone
    let text = place.run("control bars_excitation_problem.toml --max-iterations 1").out;
    let command = text.lines().rev().find(|line| line.contains("costate simulate")).unwrap_or_else(|| panic!("{text}"));
    let command = command[command.find("simulate").unwrap()..].split(" (").next().unwrap();
    place.good(&format!("{command} --step 0.01 --out run"));
    let run = place.read("run/outputs.csv");
    let header: Vec<&str> = run.lines().next().unwrap().split(',').collect();
    let at = |name: &str| header.iter().position(|own| own.starts_with(name)).unwrap();
    let (angle, effort) = (at("robot_hip_motion.angle"), at("tau1.effort"));
    let mut log = "t,hip_position,hip_effort\n".to_string();
    for line in run.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let _ = writeln!(log, "{},{},{}", cells[0], cells[angle], cells[effort]);
    }
    place.write("log.csv", log);
    place.good("init bars.urdf --data log.csv --force");
    let moved = place.read("bars_moved.toml");
    assert!(moved.contains("[drive.drive1]") && !moved.contains("[drive.drive2]"), "{moved}");
    let found = place.json("identify bars_problem.toml --json", 0);
    // steps lead through bodies that nobody can build, as no joint shows the sizes of all
    let fit = found["fit_percent"]["tau1.effort"].as_f64().unwrap();
    assert!(fit > 97.0, "{fit}");
    place.refused("init oscillator --motors hip --force", &["--motors", "robot.urdf"]);
}

/// Protects the way from a robot's file to a motion that says more of it: what is written runs, the result says what would be known, and slips are told.
#[test]
fn from_a_robot_to_a_motion() {
    let place = Place::new();
    let limits = "<limit lower=\"-1\" upper=\"1.5\" velocity=\"2\" effort=\"60\"/><axis xyz=\"0 0 1\"/>\n<dyn";
    place.write("arm.urdf", ARM.replace("<axis xyz=\"0 0 1\"/>\n<dyn", limits));
    // a problem of another kind is not in the way
    place.write("arm_problem.toml", "");
    let written = place.good("init arm.urdf --excitation 3");
    for note in ["no limit of the rate of elbow", "no limit of the effort of elbow", "accelerations", "collisions"] {
        assert!(written.err.contains(note), "{}", written.err);
    }
    let problem = place.read("arm_excitation_problem.toml");
    for said in ["lower = -0.875", "upper = 1.375", "upper = 1.9", "upper = 57.0", "\"tau1.effort\" = 0.6"] {
        assert!(problem.contains(said), "{said} in {problem}");
    }
    let found = place.json("control arm_excitation_problem.toml --max-iterations 2 --json", 1);
    let errors = found["information"]["standard_errors"].as_array().unwrap();
    assert_eq!((found["information"]["criterion"].as_str(), errors.len()), (Some("D"), 26));
    let gain = |name: &str| {
        let own = errors.iter().find(|own| own["name"] == name).unwrap();
        own["at_start"].as_f64().unwrap() / own["found"].as_f64().unwrap()
    };
    // what a joint about a vertical axis never shows stays as known as it was
    assert!((gain("robot_m_turn_table") - 1.0).abs() < 1e-6);
    let mean = |when: &str| found["information"][when]["D"].as_f64().unwrap();
    assert!(mean("means") < mean("means_at_start"));
    let text = place.run("control arm_excitation_problem.toml --max-iterations 1");
    assert!(text.out.contains("standard errors of a fit") && text.out.contains("26 parameters (D)"), "{}", text.out);
    // the motion can be looked at, and what it will tell can be asked for without a record
    let look = "animate arm_excitation.toml --from out/arm_excitation_problem_control";
    assert!(text.out.contains(&format!("before anything plays it: costate {look}")), "{}", text.out);
    place.good(&format!("{look} --fps 2"));
    let checked = place.good("check arm_excitation_problem.toml").out;
    assert!(checked.contains("this problem is for costate control"), "{checked}");
    let alone = place.run("identifiability arm.urdf").err;
    assert!(alone.contains("without drives the robot only falls"), "{alone}");
    place.refused("init arm.urdf --excitation 3", &["arm_excitation.toml", "--force"]);
    place.refused("init arm.urdf --excitation 0.5 --force", &["duration", "2 to 500 s"]);
    place.refused("init oscillator --excitation 3", &["--excitation", "robot.urdf"]);
    let slip = |from: &str, to: &str, named: &[&str]| {
        assert!(problem.contains(from), "{from}");
        place.write("slip.toml", problem.replacen(from, to, 1));
        place.refused("control slip.toml", named);
    };
    slip("known = 3.0", "known = 0.0", &["slip.toml", "known", "positive"]);
    slip("known = 3.0", "sampling = 0.25", &["slip.toml", "sampling", "whole number of time steps"]);
    slip("known = 3.0", "parameters = [\"robot_m_lowe\"]", &["slip.toml", "robot_m_lower"]);
    slip("known = 3.0", "of = [\"q1_3\"]", &["slip.toml", "q1_3", "counts"]);
    slip("tau1.effort\" = 0.6", "tau9.effort\" = 0.6", &["slip.toml", "tau1.effort"]);
    place.refused("control arm_excitation_problem.toml --method lm", &["lm", "l-bfgs"]);
    place.write(
        "limits.urdf",
        ARM.replace("<axis xyz=\"0 0 1\"/>\n<dyn", &limits.replace("lower=\"-1\"", "lower=\"2\"")),
    );
    place.refused("simulate limits.urdf", &["limits.urdf, line 8", "lower", "above `upper`"]);
}

// Protects what stands around a robot: a motion that is found stays above the floor, which it would not without, and what cannot be kept apart is told.
#[test]
fn motions_keep_off_the_floor() {
    let place = Place::new();
    let limits = "<limit lower=\"-2.6\" upper=\"2.6\" velocity=\"5\" effort=\"80\"/>";
    let joint = |name: &str| format!("<joint name=\"{name}\" type=\"revolute\">");
    let mut arm = TWO.replace("<link name=\"table\"/>", "<link name=\"table\"/>\n<link name=\"post\"/>");
    for name in ["shoulder", "elbow"] {
        let old = joint(name).replace("revolute", "continuous");
        arm = arm.replace(&old, &format!("{}{limits}", joint(name)));
    }
    let post = "<joint name=\"foot\" type=\"fixed\"><parent link=\"table\"/><child link=\"post\"/><origin xyz=\"0 0 0.5\"/></joint>";
    place.write(
        "arm.urdf",
        arm.replace("<parent link=\"table\"/>", "<parent link=\"post\"/>")
            .replace("</robot>", &format!("{post}\n</robot>")),
    );
    let written = place.good("init arm.urdf --excitation 4 --thickness 0.1 --floor 0.8");
    assert!(written.err.contains("not kept apart: upper and the floor"), "{}", written.err);
    let problem = place.read("arm_excitation_problem.toml");
    let least = |name: &str| {
        let said = place.run(&format!("control {name} --max-iterations 6 --out found")).out;
        // what does not move, such as the way of an arm in a plane across it, is not judged
        assert!(said.contains("the solution survives") && !said.contains("height3.y"), "{said}");
        let run = place.read("found/outputs.csv");
        let header: Vec<&str> = run.lines().next().unwrap().split(',').collect();
        ["height3.z", "apart1_3.distance"].map(|name| {
            let column = header.iter().position(|own| own.starts_with(name)).unwrap();
            let values = run.lines().skip(1).map(|line| line.split(',').nth(column).unwrap().parse::<f64>().unwrap());
            values.fold(f64::INFINITY, f64::min)
        })
    };
    let [height, apart] = least("arm_excitation_problem.toml");
    assert!(height > 0.9 && apart > 0.05, "{height}, {apart}");
    assert!(problem.contains("lower = 0.95\n"), "{problem}");
    place.write("free.toml", problem.replace("lower = 0.95\n", "lower = -9.0\n"));
    assert!(least("free.toml")[0] < 0.9);
    // a follower's range is kept, too: twice as far as the joint that it follows
    let finger = "<link name=\"finger\"/><joint name=\"grip\" type=\"revolute\"><parent link=\"lower\"/><child link=\"finger\"/><axis xyz=\"0 1 0\"/>\n\
                  <limit lower=\"-0.4\" upper=\"0.6\" velocity=\"1\" effort=\"5\"/><mimic joint=\"elbow\" multiplier=\"2\"/></joint>\n</robot>";
    place.write(
        "grip.urdf",
        place.read("arm.urdf").replace("</robot>", finger).replace("name=\"arm\"", "name=\"grip\""),
    );
    let written = place.good("init grip.urdf --excitation 4");
    let problem = place.read("grip_excitation_problem.toml");
    assert!(problem.contains("lower = -0.175\nupper = 0.275\n"), "{}{problem}", written.err);
    // what is printed at the end runs
    let last = place.run("control grip_excitation_problem.toml --max-iterations 1 --out grip").out;
    let command = last.lines().find_map(|line| line.strip_prefix("read back by: costate ")).unwrap().to_string();
    assert!(command.contains(" --from grip ") && command.len() < 200, "{command}");
    place.good(&command);
    place.refused("init arm.urdf --excitation 4 --floor 0 --force", &["--floor", "--thickness"]);
    place.refused("init arm.urdf --excitation 4 --thickness=-1 --force", &["--thickness", "positive"]);
}

// Protects fits of motions that say nothing of most of ten numbers: a carriage that slides along one axis shows its mass alone. The others stay where they are, and do
// not keep the search from moving.
#[test]
fn what_a_motion_does_not_show_stays_where_it_is() {
    let place = Place::new();
    let inertial = "<inertial><origin xyz=\"0 0 0\"/><mass value=\"80\"/><inertia ixx=\"1\" iyy=\"1\" izz=\"1\" ixy=\"0\" ixz=\"0\" iyz=\"0\"/></inertial>";
    let joint = "<joint name=\"screw\" type=\"prismatic\"><parent link=\"base\"/><child link=\"carriage\"/><axis xyz=\"1 0 0\"/>\
                 <limit lower=\"-1\" upper=\"1\" effort=\"1000\" velocity=\"10\"/><dynamics damping=\"150\" friction=\"15\"/></joint>";
    let robot =
        format!("<robot name=\"slide\"><link name=\"base\"/><link name=\"carriage\">{inertial}</link>{joint}</robot>");
    place.write("slide.urdf", robot);
    let mut log = "t,q1,tau1\n".to_string();
    for i in 0..2000 {
        let t = 1e-3 * f64::from(i);
        let (slow, fast) = (2.0 * t, 9.0 * t);
        let q = 0.2 * slow.sin() + 0.03 * fast.sin();
        let v = 0.4 * slow.cos() + 0.27 * fast.cos();
        let a = -0.8 * slow.sin() - 2.43 * fast.sin();
        let effort = 95.0 * a + 203.0 * v + 20.0 * (v / 0.01).tanh() - 3.0;
        log += &format!("{t},{q:.12},{effort:.9}\n");
    }
    place.write("log.csv", log);
    place.good("init slide.urdf --data log.csv");
    let found = place.json("identify slide_problem.toml --json", 0);
    let value = |name: &str| {
        let all = found["parameters"].as_array().unwrap();
        all.iter().find(|parameter| parameter["name"] == name).unwrap()["value"].as_f64().unwrap()
    };
    assert!((value("robot_m_carriage") - 95.0).abs() < 1.0, "{}", value("robot_m_carriage"));
    assert!((value("robot_d_screw") - 203.0).abs() < 4.0, "{}", value("robot_d_screw"));
    assert_eq!((value("robot_hx_carriage"), value("robot_Ixx_carriage")), (0.0, 1.0));
}
