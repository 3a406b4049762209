//! Logs of robots: which numbers are columns, which times they have, and bytes that mean harm.
//!
//! The files were written by `mcap` 1.x and `mcap-ros2-support` of PyPI, so that nothing of ours writes what ours reads.

use costate::random::SplitMix64;
use costate_identify::data::Record;

/// Joint states at 100 Hz (their order changes, later velocities are missing), a sensor of its own definition at 50 Hz, and a topic of text; zstd.
const ROS2: &[u8] = include_bytes!("mcap/ros2_zstd.mcap");
/// Two topics of JSON with the same names, and one of protobuf; lz4.
const JSON: &[u8] = include_bytes!("mcap/json_lz4.mcap");
/// ROS 1: packed, times as numbers of their own; not compressed.
const ROS1: &[u8] = include_bytes!("mcap/ros1.mcap");

fn parse(bytes: &[u8]) -> Result<Record, String> {
    Record::parse_any(bytes, "run.mcap".as_ref()).map_err(|error| error.to_string())
}

/// Protects the values: names of joints are those of their messages in any order; what is missing is NaN; times are stamps from the first one on; scans and text
/// are no columns.
#[test]
fn joint_states_are_columns_by_joint() {
    let record = parse(ROS2).unwrap();
    let column = |name: &str| record.column_with_gaps(name).unwrap();
    assert_eq!(record.len(), 60);
    for (k, &t) in column("t").iter().enumerate() {
        assert!((t - 0.01 * k as f64).abs() < 1e-12);
        let s = 0.01 * k as f64;
        let near = |name: &str, value: f64| assert!((column(name)[k] - value).abs() < 1e-15, "{name}, {k}");
        near("shoulder_position", s.sin());
        near("elbow_position", s.cos());
        near("shoulder_effort", 1.0 + s);
        near("elbow_effort", 2.0 - s);
        match k < 50 {
            true => near("elbow_velocity", -s.sin()),
            false => assert!(column("elbow_velocity")[k].is_nan() && column("shoulder_velocity")[k].is_nan()),
        }
        if k % 2 == 1 {
            assert!(column("linear_acceleration_y")[k].is_nan());
            continue;
        }
        near("linear_acceleration_y", -s);
        near("linear_acceleration_z", 9.81);
        near("raw_1", -(k as f64));
        near("raw_2", 300.0);
        near("on", f64::from(u8::from(k % 4 == 0)));
        assert!((column("temperature")[k] - 20.0 - s).abs() < 2e-6, "of single precision");
    }
    let left_out = ["header_stamp_sec", "scan_1", "note", "OFF", "KIND"];
    left_out.iter().for_each(|name| assert!(record.column_with_gaps(name).is_err(), "{name}"));
    let said = record.remarks().join("\n");
    assert!(said.contains("`t` are the stamps in the messages, from the first one on"), "{said}");
    assert!(said.contains("no columns are made of the topics `/words` (without numbers)"), "{said}");
}

/// Protects names where two topics have the same ones, and rows where they have other times.
#[test]
fn topics_stand_before_names_that_are_not_one() {
    let record = parse(JSON).unwrap();
    let (own, second) = ("arm_b_joints_position", "second_arm_b_joints_position");
    let found = [own, second].map(|name| record.column_with_gaps(name).unwrap());
    assert_eq!(record.len(), 60, "every other message has a time of its own");
    assert_eq!(found.map(|column| column.iter().filter(|value| !value.is_nan()).count()), [40, 40]);
    let t = record.column("t").unwrap();
    for (row, &t) in t.iter().enumerate() {
        let near = |value: f64, expected: f64| assert!(value.is_nan() || (value - expected).abs() < 1e-12, "{row}");
        near(found[0][row], 2.0 * t);
        let began = if found[0][row].is_nan() { t - 0.005 } else { t };
        near(found[1][row], 4.0 * began);
    }
    assert!(record.column_with_gaps("valid").is_ok());
    let said = record.remarks().join("\n");
    assert!(said.contains("the times of recording; messages have no stamps"), "{said}");
    assert!(said.contains("`/proto` (messages of protobuf, which are not read)"), "{said}");
}

/// Protects the packed messages of ROS 1, whose stamps count where all topics have one, whatever the clock of the recorder was.
#[test]
fn ros_1_is_read_by_its_stamps() {
    let record = parse(ROS1).unwrap();
    let column = |name: &str| record.column(name).unwrap();
    for k in 0..20 {
        assert!((column("t")[k] - 0.01 * k as f64).abs() < 1e-12);
        assert_eq!(["one_position", "two_position"].map(|name| column(name)[k]), [0.5 * k as f64, -(k as f64)]);
        // there are as many corners as names
        assert_eq!(["one_corners_y", "two_corners_x"].map(|name| column(name)[k]), [2.5, k as f64]);
        assert_eq!(column("flag")[k], 7.0);
    }
}

/// Protects from logs that are not what they seem; one that was cut short is read up to there, and that is said.
#[test]
fn what_cannot_be_read_is_said() {
    let cut = parse(&ROS2[..ROS2.len() / 2]).unwrap();
    assert!(cut.len() > 5 && cut.len() < 60, "{}", cut.len());
    assert!(cut.remarks()[0].contains("was cut short; what stands before is read"), "{:?}", cut.remarks());
    let version = [b"\x89MCAP1\r\n", &ROS1[8..]].concat();
    let mut changed = ROS2.to_vec();
    let place = changed.len() / 3;
    changed[place] ^= 0xff;
    let cases: [(&[u8], &str); 4] = [
        (b"", "it is no MCAP file"),
        (&version, "of a version that is not known"),
        (&ROS2[..8], "there is no topic"),
        (&changed, "a chunk is not what was recorded"),
    ];
    for (bytes, expected) in cases {
        let said = parse(bytes).unwrap_err();
        assert!(said.contains(expected), "{said}");
    }
}

/// Protects from bytes that mean harm: changed, cut and lengthened logs are read or refused, and never end the program.
#[test]
fn mutated_logs_are_read_or_refused() {
    let mut random = SplitMix64::new(7);
    let mut below = |most: usize| (random.unit() * most as f64) as usize % most;
    let mut read = 0;
    for k in 0..3000 {
        let mut bytes = [ROS1, JSON, ROS2, ROS1][k % 4].to_vec();
        for _ in 0..1 + below(4) {
            let place = 8 + below(bytes.len() - 8);
            match below(4) {
                0 => bytes.truncate(place.max(9)),
                1 => bytes.insert(place, below(256) as u8),
                2 => bytes[place] = [0, 0xff, 0x7f, 0x80][below(4)],
                _ => bytes[place] = below(256) as u8,
            }
            if bytes.len() < 16 {
                break;
            }
        }
        read += usize::from(parse(&bytes).is_ok());
    }
    assert!(read > 20, "{read}");
}
