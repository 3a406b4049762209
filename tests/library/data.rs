//! Records: what a file may look like, what is said when it cannot be used, and writing that reads back bit for bit.

use costate_data::Record;
use costate_data::TimeAxis;
use proptest::prelude::*;
use std::path::{Path, PathBuf};

fn parse(text: impl AsRef<[u8]>) -> costate_identify::Result<Record> {
    Ok(Record::parse_csv(text.as_ref(), Path::new("record.csv"))?)
}

/// The message for a file that cannot be used must contain all of `parts`.
#[track_caller]
fn refused(text: impl AsRef<[u8]>, parts: &[&str]) {
    let message = parse(text).expect_err("the file should be refused").to_string();
    for part in parts.iter().chain(&["record.csv"]) {
        assert!(message.contains(part), "`{part}` is missing in: {message}");
    }
}

/// A measured record shared by tests, or one line that says why the test is skipped.
fn measured(path: &str) -> Option<Record> {
    let root = std::env::var_os("COSTATE_DATA")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data"), PathBuf::from);
    let path = root.join(path);
    if !path.exists() {
        println!("skipped: {} is absent (set COSTATE_DATA to the folder of measured records)", path.display());
        return None;
    }
    Some(Record::read_csv(&path).unwrap())
}

// Protects the plain case: order, names, shape and values.
#[test]
fn reads_names_and_values() {
    let record = parse("t [s],y\n0,1.5\n0.1,-2e-3\n").unwrap();
    assert_eq!(record.names(), ["t [s]", "y"]);
    assert_eq!((record.len(), record.is_empty()), (2, false));
    assert_eq!(record.column("y").unwrap(), [1.5, -2e-3]);
}

// Protects what other programs write: byte-order marks, Windows line ends, spaces, comments, quotation marks, blank lines
// at the end, other separators, no final line end. All are the same record.
#[test]
fn accepts_the_usual_varieties() {
    let plain = parse("t,y\n0,1\n1,2\n").unwrap();
    for text in [
        "\u{feff}t,y\n0,1\n1,2\n",
        "t,y\r\n0,1\r\n1,2\r\n",
        "t,y\n0,1\n1,2",
        " t , y \n 0 ,\t1\n1, 2 \n",
        "t,y\n0,1\n1,2\n\n  \r\n\n",
        "# measured on a Tuesday, twice\n\n  # by hand\nt,y\n0,1\n1,2\n",
        "\u{feff}# comment\nt,y\n0,1\n1,2\n",
        "\"t\", \"y\"\n\"0\",1\n1, \"2\"\n",
        "t;y\n0;1\n1;2\n",
        "t\ty\n0\t1\n1\t2\n",
        "t,y\n+0,1e0\n1.,0.2E+1\n",
        "t,y\n\n0,1\n1,2\n",
        "t;y\n0,0;1,0\n1,;2\n",
        "t\ty\n0,00\t0,1e1\n10,0e-1\t+2,0\n",
        "t;y\n0;\"1,0\"\n1;2\n",
    ] {
        let record = parse(text).unwrap_or_else(|e| panic!("{text:?}: {e}"));
        assert_eq!(record.names(), plain.names(), "{text:?}");
        assert_eq!(record.column("y").unwrap(), plain.column("y").unwrap(), "{text:?}");
        assert_eq!(record.column("t").unwrap(), plain.column("t").unwrap(), "{text:?}");
    }
}

// Protects separators within quoted names: they neither split the name nor decide what the separator is.
#[test]
fn quoted_names_keep_their_separators() {
    let record = parse("\"F; x, y\",\"5\"\" pipe\"\n1,2\n").unwrap();
    assert_eq!(record.names(), ["F; x, y", "5\" pipe"]);
}

// Protects the user from an operating-system error without a remedy.
#[test]
fn missing_files_and_folders_are_named() {
    let missing = Record::read_csv(Path::new("no-such-record.csv")).unwrap_err();
    assert!(matches!(missing, costate_data::Error::Io { .. }));
    let message = missing.to_string();
    let here = std::env::current_dir().unwrap();
    assert!(message.contains("check the path") && message.contains(&here.display().to_string()), "{message}");
    let message = Record::read_csv(&std::env::temp_dir()).unwrap_err().to_string();
    assert!(message.contains("it is a folder"), "{message}");
}

// Protects against records without content being taken for records.
#[test]
fn empty_files_are_refused() {
    refused("", &["the file is empty", "header"]);
    refused("\u{feff}", &["the file is empty"]);
    refused("\n \r\n\n", &["the file is empty"]);
    refused("# only this\n", &["only comments"]);
    refused("t,y\n", &["line 1", "without any row"]);
    refused("# c\nt,y\n\n\n", &["line 2", "without any row"]);
}

// Protects against shifted columns: rows must be as long as the header.
#[test]
fn rows_of_other_length_are_refused() {
    refused("t,y\n0,1\n1\n", &["line 3", "1 cell ", "2 columns", "complete the row"]);
    refused("t,y\n0,1,2\n", &["line 2", "3 cells", "2 columns", "name the column"]);
    refused("t,y\n0,x,2\n", &["line 2", "3 cells", "2 columns"]);
    refused("t\n0,1,2\n", &["line 2", "3 cells", "1 column;"]);
    refused("t,y\n0,1,2,5\n", &["line 2", "4 cells", "decimal point"]);
    refused("t;y\n0,1\n", &["line 2", "1 cell (separated by semicolons)"]);
}

// Protects against silent zeros and NaNs: each cell is a finite number, or line, column and text are named.
#[test]
fn cells_that_are_no_finite_numbers_are_refused() {
    refused("t,y\n0,1\n1,two\n", &["line 3", "`two` in column `y` is not a number", "1.5e-3"]);
    refused("t,y\n0,\n", &["line 2", "column `y` is empty", "write its value"]);
    refused("t,y\n0,1\n,\n", &["line 3", "column `t` is empty"]);
    refused("t,y\r\n0,NaN\r\n", &["line 2", "`NaN` in column `y` is not a finite number", "remove the row"]);
    refused("# c\nt,y\n-inf,0\n", &["line 3", "`-inf` in column `t` is not a finite number"]);
    refused("t,y\n0,1e999\n", &["`1e999` in column `y` is not a finite number"]);
    refused("t;y\n0;1,5,0\n", &["line 2", "`1,5,0` in column `y`"]);
    refused("t,y\n0,\"1,5\"\n", &["decimal point: `1.5`"]);
    refused("t y\n0 1\n", &["`0 1` in column `t y`", "separate cells by commas"]);
    refused(format!("t\n{}\n", "long".repeat(1000)), &["longlong…`"]);
    refused("t\n\u{1b}[31m\n", &["\\u{1b}[31m"]);
}

// Protects against thousands that are taken for decimals: commas and points in one file say different things.
#[test]
fn decimal_commas_and_points_do_not_mix() {
    for text in ["t;y\n0;1,234\n1;2.5\n", "t;y\n0.5;1,234\n", "t\ty\n0.5\t1\n1\t1,5\n"] {
        refused(text, &["decimal comma in line", "a point in line", "thousands", "decimal point"]);
    }
    refused("t;y\n0;1.234,5\n", &["`1.234,5` in column `y` is not a number"]);
    let gaps = Record::parse_any(b"t;y\n0,5;\n1,5;2,5\n", Path::new("record.csv")).unwrap();
    assert!(gaps.column_with_gaps("y").unwrap()[0].is_nan());
}

// Protects whoever exports from a spreadsheet: its `sep=;` is no header, its errors and the NaN of C libraries are told for what they are, and commas
// that may part thousands are told.
#[test]
fn spreadsheets_are_read() {
    let read = |text: &str| Record::parse_any(text.as_bytes(), Path::new("record.csv"));
    let own = read("sep=;\nt;y\n0;#N/A\n1;-nan(ind)\n2;#NV\n3;2\n").unwrap();
    assert_eq!(own.names(), ["t", "y"]);
    let gaps = own.column_with_gaps("y").unwrap();
    assert!(gaps[..3].iter().all(|value| value.is_nan()) && gaps[3] == 2.0);
    let error = read("t;y\n0;1\n1;#DIV/0!\n").unwrap().column_with_gaps("y").unwrap_err().to_string();
    assert!(error.contains("a spreadsheet found no number there"), "{error}");
    let thousands = read("t;y\n0;930\n1;1,000\n2;-12,500\n").unwrap();
    assert_eq!(thousands.column("y").unwrap(), [930.0, 1.0, -12.5]);
    let remark = thousands.remarks().join(" ");
    assert!(remark.contains("`1,000` in column `y` is 1; if they part thousands"), "{remark}");
    for decimal in ["t;y\n0;1,000\n0,5;2,000\n", "t;y\n0;0,250\n1;1,000\n", "t;y\n0;1,25\n1;1,000\n"] {
        assert!(read(decimal).unwrap().remarks().is_empty(), "{decimal}");
    }
}

// Protects against the first row being taken for names, and against names that cannot tell columns apart.
#[test]
fn headers_that_name_nothing_are_refused() {
    refused("0,1\n1,2\n", &["line 1", "header is missing", "such as `t,y`"]);
    refused("# t,y\n0,1\n1,2\n", &["line 2", "header is missing", "line 1", "remove its `#`"]);
    refused("t,y,t\n0,1,2\n", &["line 1", "columns 1 and 3", "`t`", "rename"]);
    refused("t,,y\n0,1,2\n", &["line 1", "column 2 has no name"]);
    refused("t,y,\n0,1,\n", &["line 1", "column 3 has no name"]);
    refused("t,\"y\n0,1\n", &["line 1", "quotation mark is not closed"]);
    refused("t,y\n0,\"1\n1,2\n", &["line 2", "quotation mark is not closed"]);
}

// Protects against text of other encodings and systems being misread, and against rows being joined across a gap.
#[test]
fn other_texts_are_refused() {
    refused(b"t,y\n0,1\n1,2\xb0\n", &["line 3", "byte 4", "0xB0", "UTF-8"]);
    refused(b"\xff\xfet\0", &["UTF-16", "save the file as UTF-8"]);
    refused("t,y\r0,1\r1,2\r", &["line 1", "carriage return"]);
    refused("t,y\n0,1\n\n1,2\n", &["line 3", "blank line between rows"]);
    refused("t,y\n0,1\n# later, more\n1,2\n", &["line 3", "comment after the header"]);
    refused("\0\0\0", &["control characters"]);
}

// Protects the "did you mean" of columns.
#[test]
fn unknown_columns_suggest_the_nearest() {
    let message = parse("time,theta_1\n0,1\n").unwrap().column("theta-2").unwrap_err().to_string();
    assert!(message.contains("did you mean `theta_1`?") && message.contains("record.csv"), "{message}");
}

// Protects the rules of columns in memory, the same as those of files.
#[test]
fn columns_in_memory_are_checked() {
    let message = |columns: Vec<(&str, Vec<f64>)>| Record::from_columns(columns).unwrap_err().to_string();
    assert!(message(vec![]).contains("no column"));
    assert!(message(vec![("t", vec![])]).contains("no value"));
    assert!(message(vec![("t", vec![0.0]), ("y", vec![])]).contains("0 values where `t` has 1"));
    assert!(message(vec![("t", vec![0.0, f64::NAN])]).contains("column `t`, row 2: the value is NaN"));
    assert!(message(vec![("t", vec![0.0]), ("t", vec![0.0])]).contains("both named `t`"));
    assert!(message(vec![(" t", vec![0.0])]).contains("spaces around"));
    assert!(message(vec![("t\n", vec![0.0])]).contains("control characters"));
    assert!(message(vec![("1", vec![0.0])]).contains("header is missing"));
}

// Protects time from disorder: the line is that of the file, comments and header counted.
#[test]
fn time_that_does_not_increase_is_refused_by_line() {
    let message = |text: &str| parse(text).unwrap().time("t").unwrap_err().to_string();
    let repeated = message("# c\nt,y\n0,1\n1,1\n1,1\n0,1\n");
    assert!(repeated.contains("line 5: in column `t` the time 1 s is repeated"), "{repeated}");
    let unsorted = message("t,y\n\n0,1\n2,1\n1,1\n");
    assert!(unsorted.contains("line 5") && unsorted.contains("1 s comes after 2 s"), "{unsorted}");
    let in_memory = TimeAxis::new(&[0.0, 1.0, f64::INFINITY]).unwrap_err().to_string();
    assert!(in_memory.contains("row 3") && in_memory.contains("inf"), "{in_memory}");
    assert!(TimeAxis::new(&[]).is_err());
    assert!(TimeAxis::new(&[-1e308, 1e308]).unwrap_err().to_string().contains("too large"));
}

// Protects even sampling: rounded decimals pass, a missing sample does not and is named.
#[test]
fn even_sampling_tolerates_rounding_and_names_gaps() {
    let rounded: Vec<f64> = (0..1000).map(|k| (k as f64 / 610.36 * 1e7).round() / 1e7).collect();
    let axis = TimeAxis::new(&rounded).unwrap();
    assert!(axis.is_even() && axis.unevenness() > 1e-6, "{}", axis.unevenness());
    assert!((axis.sampling_step().unwrap() * 610.36 - 1.0).abs() < 1e-6);
    assert!(!axis.with_tolerance(1e-9).unwrap().is_even());

    // Times of day in Unix seconds are resolved to 2e-7 s only: that is round-off, not jitter.
    let unix: Vec<f64> = (0..1000).map(|k| 1.7e9 + k as f64 * 1e-3).collect();
    assert!(TimeAxis::new(&unix).unwrap().is_even());

    let gap = parse("t,y\n0,0\n0.1,0\n0.2,0\n0.4,0\n0.5,0\n").unwrap().time("t").unwrap();
    assert!(!gap.is_even());
    let message = gap.sampling_step().unwrap_err().to_string();
    assert!(message.contains("line 5") && message.contains("from 0.2 s to 0.4 s"), "{message}");
    assert!(gap.with_tolerance(1.0).unwrap().is_even());

    let one = TimeAxis::new(&[3.0]).unwrap();
    assert!(one.sampling_step().is_err() && one.start() == one.end() && one.len() == 1);
    assert!(one.with_tolerance(f64::NAN).is_err());
}

// Protects reading of real records: shapes as published, and what their times are.
#[test]
fn measured_records_are_read() {
    if let Some(record) = measured("silverbox/multisine.csv") {
        assert_eq!((record.len(), record.names().len()), (65062, 3));
        assert!((record.time("t").unwrap().sampling_step().unwrap() - 1.6384e-3).abs() < 1e-12);
    }
    if let Some(record) = measured("emps/train.csv") {
        let time = record.time("t").unwrap();
        assert!(time.is_even() && time.unevenness() > 1e-5);
        assert!(!time.with_tolerance(1e-6).unwrap().is_even());
    }
    if let Some(record) = measured("double_pendulum/train.csv") {
        assert_eq!(record.names(), ["segment", "t", "theta1", "theta2", "omega1", "omega2"]);
    }
}

// Protects long records: a million rows are read, and the last line is the one that is named.
#[test]
fn a_million_rows_are_read() {
    let mut text = String::from("t,y\n");
    for k in 0..1_000_000 {
        text.push_str(&format!("{}e-3,{}\n", k, k % 7));
    }
    let record = parse(&text).unwrap();
    assert_eq!(record.len(), 1_000_000);
    assert!(record.time("t").unwrap().is_even());
    text.push_str("1000,x\n");
    refused(&text, &["line 1000002"]);
}

// Protects readable files: as few digits as read back to the same number, and exponents instead of long rows of zeros.
#[test]
fn numbers_are_written_short() {
    let values = vec![0.1, -0.0, 1e300, 5e-324, 123456789.0];
    let text = Record::from_columns([("y [m]", values)]).unwrap().to_csv();
    assert_eq!(text, "y [m]\n0.1\n-0\n1e300\n5e-324\n123456789\n");
}

// Protects the way through the disk: what `write_csv` writes, `read_csv` reads.
#[test]
fn records_go_through_a_file() {
    let path = std::env::temp_dir().join(format!("costate-record-{}.csv", std::process::id()));
    let record = Record::from_columns([("t", vec![0.0, 0.1]), ("y, z", vec![1.0, 1.0 / 3.0])]).unwrap();
    record.write_csv(&path).unwrap();
    let read = Record::read_csv(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert_eq!(read.names(), record.names());
    assert_eq!(bits(&read, "y, z"), bits(&record, "y, z"));
}

fn bits(record: &Record, name: &str) -> Vec<u64> {
    record.column(name).unwrap().iter().map(|value| value.to_bits()).collect()
}

fn finite() -> impl Strategy<Value = f64> {
    any::<u64>().prop_map(f64::from_bits).prop_filter("finite", |value| value.is_finite())
}

fn columns() -> impl Strategy<Value = Vec<(String, Vec<f64>)>> {
    let name = "[!-~°\u{feff}]([ -~°\u{feff}]{0,6}[!-~°])?";
    (1usize..5, 1usize..6)
        .prop_flat_map(move |(width, rows)| prop::collection::vec((name, prop::collection::vec(finite(), rows)), width))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    // Protects every caller: no bytes whatever make the reader panic.
    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = parse(bytes);
    }

    // The same, for texts that get further than arbitrary bytes do; and what is read can be used as times and written.
    #[test]
    fn no_near_record_panics(text in "[t#\"\u{feff}°]{0,2}[a-c,;\t\" ]{0,9}\r?\n([-0-9.,;\t\"einfa \r]{0,9}\n){0,4}") {
        if let Ok(record) = parse(text) {
            for name in record.names() {
                if let Ok(time) = record.time(name) {
                    let _ = time.sampling_step();
                }
            }
            let again = parse(record.to_csv()).unwrap();
            prop_assert_eq!(again.names(), record.names());
        }
    }

    // Protects results: what is written is read back bit for bit, whatever the (permitted) names.
    #[test]
    fn written_records_are_read_back_bit_for_bit(columns in columns()) {
        if let Ok(record) = Record::from_columns(columns) {
            let read = parse(record.to_csv()).unwrap();
            prop_assert_eq!(read.names(), record.names());
            for name in record.names() {
                prop_assert_eq!(bits(&read, name), bits(&record, name));
            }
        }
    }

    // Protects quoting: a record of the csv crate, an independent writer, is read as it was meant.
    #[test]
    fn quoting_of_another_writer_is_understood(columns in columns()) {
        if let Ok(record) = Record::from_columns(columns) {
            // That writer has no need to protect these.
            prop_assume!(!record.names()[0].starts_with(['#', '\u{feff}']));
            prop_assume!(!record.names().iter().any(|name| name.contains(';')));
            let mut writer = csv::Writer::from_writer(Vec::new());
            writer.write_record(record.names()).unwrap();
            writer.write_record(record.names().iter().map(|_| "1")).unwrap();
            let read = parse(writer.into_inner().unwrap()).unwrap();
            prop_assert_eq!(read.names(), record.names());
        }
    }
}

/// Protects programs that name columns as problem files do: the unit behind a name may be left out, unless that is ambiguous; times in
/// another unit are converted, and what is no time is refused.
#[test]
fn a_column_is_found_without_its_unit() {
    let record = Record::from_columns([
        ("clock [s]", vec![0.0, 0.1]),
        ("y [m]", vec![1.0, 2.0]),
        ("y [mm]", vec![3.0, 4.0]),
        ("late [ms]", vec![5.0, 6.0]),
        ("z", vec![7.0, 8.0]),
        ("z [m]", vec![9.0, 10.0]),
    ])
    .unwrap();
    assert_eq!(record.column("clock").unwrap(), [0.0, 0.1]);
    assert_eq!(record.column("clock [s]").unwrap(), [0.0, 0.1]);
    assert_eq!(record.column("z").unwrap(), [7.0, 8.0]);
    assert_eq!(record.column("late").unwrap(), [5.0, 6.0]);
    assert_eq!(record.time("clock").unwrap().end(), 0.1);
    let message = record.column("y").unwrap_err().to_string();
    assert!(message.contains("both `y [m]` and `y [mm]` may be meant; name it with its unit"), "{message}");
    for name in ["late", "late [ms]"] {
        assert_eq!(record.time(name).unwrap().times(), [0.005, 0.006]);
    }
    let message = record.time("z [m]").unwrap_err().to_string();
    assert!(message.contains("`z [m]` is in `m`, where `time` is in `s`"), "{message}");
    let message = record.column("clok").unwrap_err().to_string();
    assert!(message.contains("no column `clok`"), "{message}");
}
