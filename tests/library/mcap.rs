//! Logs of robots: which numbers are columns, which times they have, and bytes that mean harm.
//!
//! The files were written by `mcap` 1.x and `mcap-ros2-support` of PyPI, so that nothing of ours writes what ours reads.

use costate::random::SplitMix64;
use costate_data::Record;

/// Joint states at 100 Hz (their order changes, later velocities are missing), a sensor of its own definition at 50 Hz, and a topic of text; zstd.
const ROS2: &[u8] = include_bytes!("mcap/ros2_zstd.mcap");
/// Two topics of JSON with the same names, and one of protobuf; lz4.
const JSON: &[u8] = include_bytes!("mcap/json_lz4.mcap");
/// ROS 1: packed, times as numbers of their own; not compressed.
const ROS1: &[u8] = include_bytes!("mcap/ros1.mcap");

fn parse(bytes: &[u8]) -> Result<Record, String> {
    parse_topic(bytes, "run.mcap")
}

fn parse_topic(bytes: &[u8], path: &str) -> Result<Record, String> {
    Record::parse_any(bytes, path.as_ref()).map_err(|error| error.to_string())
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
    }
    let said = record.remarks().join("\n");
    assert!(said.contains("`t` are the stamps in messages of `/joint_states`"), "{said}");
    assert!(said.contains("`/imu/left` (30 messages of own_msgs/msg/Sensor), `/words` (without numbers)"), "{said}");
}

/// Protects topics by name behind the file, of one clock with the others; scans and text make no columns.
#[test]
fn a_topic_is_named_behind_the_file() {
    let record = parse_topic(ROS2, "run.mcap#/imu/left").unwrap();
    let column = |name: &str| record.column(name).unwrap();
    assert_eq!(record.len(), 30);
    for k in 0..30 {
        let s = 0.02 * k as f64;
        let near = |name: &str, value: f64| assert!((column(name)[k] - value).abs() < 1e-15, "{name}, {k}");
        // the first message of the log was recorded 3 ms after its stamp
        assert!((column("t")[k] - s + 0.003).abs() < 1e-9);
        near("linear_acceleration_y", -s);
        near("linear_acceleration_z", 9.81);
        near("raw_1", -2.0 * k as f64);
        near("raw_2", 300.0);
        near("on", f64::from(u8::from(k % 2 == 0)));
        assert!((column("temperature")[k] - 20.0 - s).abs() < 2e-6, "of single precision");
    }
    let left_out = ["header_stamp_sec", "scan_1", "note", "OFF", "KIND"];
    left_out.iter().for_each(|name| assert!(record.column_with_gaps(name).is_err(), "{name}"));
    let said = record.remarks().join("\n");
    assert!(said.contains("of `/imu/left`, arrays of more than 64 numbers make no columns"), "{said}");
    let said = parse_topic(ROS2, "run.mcap#/imu").unwrap_err();
    assert!(said.contains("no numbers of the topic `/imu`") && said.contains("`/imu/left` (30 messages"), "{said}");
}

/// Protects from a topic that nobody meant: where several may be, they are named with what to write.
#[test]
fn one_of_several_topics_is_to_be_named() {
    let said = parse(JSON).unwrap_err();
    assert!(said.contains("`/arm` (40 messages") && said.contains("run.mcap#/arm"), "{said}");
    let record = parse_topic(JSON, "run.mcap#/second/arm").unwrap();
    let column = |name: &str| record.column(name).unwrap();
    for (k, (t, angle)) in column("t").iter().zip(column("b_joints_position")).enumerate() {
        assert!((t - 0.01 * k as f64 - 0.005 * (k % 2) as f64).abs() < 1e-9);
        assert!((angle - 0.04 * k as f64).abs() < 1e-12);
    }
    let said = record.remarks().join("\n");
    assert!(said.contains("they have no stamps"), "{said}");
    assert!(said.contains("`/proto` (messages of protobuf, which are not read)"), "{said}");
}

/// Messages of JSON on topics, written here: what is held is above the container.
fn json(messages: &[(&str, u64, &str)]) -> Vec<u8> {
    let text = |text: &str| [&(text.len() as u32).to_le_bytes()[..], text.as_bytes()].concat();
    let record = |kind: u8, content: &[u8]| [&[kind][..], &(content.len() as u64).to_le_bytes(), content].concat();
    let mut bytes = b"\x89MCAP0\r\n".to_vec();
    let mut topics: Vec<&str> = Vec::new();
    for (topic, time, message) in messages {
        let id = topics.iter().position(|known| known == topic).unwrap_or_else(|| {
            let id = topics.len();
            topics.push(topic);
            let head = [(id as u16).to_le_bytes(), [0, 0]].concat();
            bytes.extend(record(4, &[&head[..], &text(topic), &text("json"), &[0; 4]].concat()));
            id
        });
        let times = [time.to_le_bytes(), time.to_le_bytes()].concat();
        let head = [&(id as u16).to_le_bytes()[..], &[0; 4], &times].concat();
        bytes.extend(record(5, &[&head[..], message.as_bytes()].concat()));
    }
    bytes.extend(record(15, &[0; 4]));
    bytes
}

/// Protects from numbers in the wrong place: names within elements, names of joints that run together, numbers with one name, messages of one time, NaN as Python
/// writes it, messages that are none, stamps and clocks.
#[test]
fn numbers_stay_where_they_belong() {
    let ms = |k: u64| 1_000_000_000_000 + k * 1_000_000;
    let columns = |messages: &[(&str, u64, &str)]| parse(&json(messages)).unwrap();
    let of =
        |record: &Record, name: &str| record.column_with_gaps(name).unwrap_or_else(|error| panic!("{error}")).to_vec();
    let own = columns(&[
        ("/j", ms(0), r#"{"joints":[{"name":"a","p":1},{"name":"b","p":2}]}"#),
        ("/j", ms(1), r#"{"joints":[{"name":"b","p":2},{"name":"a","p":1}]}"#),
    ]);
    assert_eq!([of(&own, "a_joints_p"), of(&own, "b_joints_p")], [[1.0, 1.0], [2.0, 2.0]]);
    let own = columns(&[
        ("/j", ms(0), r#"{"name":["as","b"],"p":[1,2]}"#),
        ("/j", ms(1), r#"{"name":["a","sb"],"p":[3,4]}"#),
    ]);
    assert_eq!(of(&own, "as_p")[0], 1.0);
    assert_eq!(of(&own, "a_p")[1], 3.0);
    let own = columns(&[("/j", ms(0), r#"{"x":[1,2],"x_1":3}"#), ("/j", ms(1), r#"{"x":[4,5],"x_1":6}"#)]);
    assert_eq!([of(&own, "x_1"), of(&own, "x_1_2"), of(&own, "x_2")], [[1.0, 4.0], [3.0, 6.0], [2.0, 5.0]]);
    let own = columns(&[
        ("/j", ms(0), r#"{"name":["arm"],"p":[1]}"#),
        ("/j", ms(0), r#"{"name":["grip"],"p":[2]}"#),
        ("/j", ms(1), r#"{"name":["arm"],"p":[3]}"#),
        ("/j", ms(1), r#"{"name":["grip"],"p":[4]}"#),
    ]);
    assert_eq!([of(&own, "arm_p"), of(&own, "grip_p")], [[1.0, 3.0], [2.0, 4.0]]);
    let own = columns(&[
        ("/j", ms(0), r#"{"x":NaN,"s":"a \" NaN"}"#),
        ("/j", ms(1), r#"{"x":1}"#),
        ("/j", ms(2), "{"),
        ("/j", ms(3), r#"{"x":-Infinity}"#),
        ("/j", ms(4), r#"{"x":2}"#),
    ]);
    let x = of(&own, "x");
    assert!(x.len() == 4 && x[0].is_nan() && x[1] == 1.0 && x[2].is_nan() && x[3] == 2.0, "{x:?}");
    assert!(own.remarks().join(" ").contains("1 messages of `/j` are not what their definition says"));
    // stamps of another clock go on as the messages do; a single one that does not is none
    let stamped = |stamps: [u64; 3]| {
        let texts = stamps.map(|s| format!(r#"{{"header":{{"stamp":{{"sec":{s},"nanosec":5}}}},"x":1}}"#));
        let messages: Vec<_> =
            texts.iter().enumerate().map(|(k, text)| ("/j", ms(1000 * k as u64), text.as_str())).collect();
        let record = columns(&messages);
        (of(&record, "t"), record.remarks().join(" "))
    };
    let (t, said) = stamped([7, 8, 10]);
    assert!(t == [0.0, 1.0, 3.0] && said.contains("from the recorder's clock"), "{t:?} {said}");
    // times that nobody has: no overflow
    let far =
        columns(&[("/j", 0, r#"{"x":1}"#), ("/j", u64::MAX / 2, r#"{"x":2}"#), ("/j", u64::MAX / 2 + 1, r#"{"x":3}"#)]);
    assert!(of(&far, "t").windows(2).all(|pair| pair[0] < pair[1]));
    let sec = i64::MAX / 1_000_000_000;
    let texts = [-sec, sec].map(|s| format!(r#"{{"header":{{"stamp":{{"sec":{s},"nanosec":5}}}},"x":1}}"#));
    columns(&[("/j", u64::MAX / 2 + 1, texts[0].as_str()), ("/j", u64::MAX / 2, texts[1].as_str())]);
    let (t, said) = stamped([0, 900_000, 900_001]);
    assert!(t == [0.0, 1.0, 2.0] && said.contains("their stamps jump"), "{t:?} {said}");
}

/// Protects the packed messages of ROS 1, whose stamps count where all topics have one, whatever the clock of the recorder was.
#[test]
fn ros_1_is_read_by_its_stamps() {
    let record = parse(ROS1).unwrap();
    let column = |name: &str| record.column(name).unwrap();
    for k in 0..20 {
        assert!((column("t")[k] - 0.01 * k as f64).abs() < 1e-12);
        assert_eq!(["one_position", "two_position"].map(|name| column(name)[k]), [0.5 * k as f64, -(k as f64)]);
        // a fixed number of corners stands beside no names
        assert_eq!(["corners_y_1", "corners_x_2"].map(|name| column(name)[k]), [2.5, k as f64]);
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
        (&changed, "a chunk "),
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
