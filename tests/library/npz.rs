//! Files of NumPy: which arrays are columns, what is said of the others, and bytes that mean harm.

use costate::random::SplitMix64;
use costate_data::Record;
use flate2::Crc;

/// Written by Python's `zipfile` as `np.savez_compressed` does it, with heads by NumPy's format 1.0 and 2.0.
const SAVED: &[u8] = include_bytes!("npz/saved.npz");

fn parse(bytes: &[u8]) -> Result<Record, String> {
    Record::parse_any(bytes, "run.npz".as_ref()).map_err(|error| error.to_string())
}

/// An archive of one array, stored.
fn archive(name: &str, array: &[u8]) -> Vec<u8> {
    let mut crc = Crc::new();
    crc.update(array);
    let (size, length) = ((array.len() as u32).to_le_bytes(), (name.len() as u16).to_le_bytes());
    let fields =
        [&[20, 0, 0, 0, 0, 0, 0, 0, 0, 0][..], &crc.sum().to_le_bytes(), &size, &size, &length, &[0, 0]].concat();
    let mut bytes = [&b"PK\x03\x04"[..], &fields, name.as_bytes(), array].concat();
    let directory = bytes.len() as u32;
    bytes.extend([&b"PK\x01\x02\x14\x00"[..], &fields, &[0; 14], name.as_bytes()].concat());
    let count = bytes.len() as u32 - directory;
    bytes.extend(
        [&b"PK\x05\x06\0\0\0\0\x01\0\x01\0"[..], &count.to_le_bytes(), &directory.to_le_bytes(), &[0, 0]].concat(),
    );
    bytes
}

fn array(head: &str, values: &[u8]) -> Vec<u8> {
    [&b"\x93NUMPY\x01\x00"[..], &(head.len() as u16).to_le_bytes(), head.as_bytes(), values].concat()
}

/// Protects the values: both orders of matrices, floats of two widths, integers with the highest byte first, truth values; and what is said of what makes
/// no column.
#[test]
fn arrays_are_columns() {
    let record = parse(SAVED).unwrap();
    let column = |name: &str| record.column(name).unwrap();
    for (k, &t) in column("t").iter().enumerate() {
        assert_eq!(t, 0.01 * k as f64);
        let (sin, cos) = ((2.0 * t).sin(), (3.0 * t).cos());
        assert!((column("q_1")[k] - sin).abs() < 1e-15 && (column("q_2")[k] - cos).abs() < 1e-15);
        assert!((column("qf_1")[k] - sin).abs() < 1e-7 && (column("qf_2")[k] - cos).abs() < 1e-7);
        assert_eq!(column("counts")[k], k as f64 - 25.0);
        assert_eq!(column("on")[k], (k % 2) as f64);
    }
    let remarks = record.remarks().join("; ");
    for left_out in ["`names` (text)", "`log` (an array of structures)", "`z` (complex)", "`fs` (one number, 100)"] {
        assert!(remarks.contains(left_out), "{remarks}");
    }
}

/// Protects from files that are not what they seem: what is wrong is named, and what to do.
#[test]
fn what_cannot_be_read_is_said() {
    let floats = |values: &[f64]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
    let head = "{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }";
    let good = archive("t.npy", &array(head, &floats(&[0.0, 0.1, 0.2])));
    assert_eq!(parse(&good).unwrap().column("t").unwrap(), [0.0, 0.1, 0.2]);
    let mut other = good.clone();
    let place = good.windows(8).position(|own| own == 0.1f64.to_le_bytes()).unwrap();
    other[place] ^= 1;
    let short = archive("t.npy", &array(head, &floats(&[0.0, 0.1])));
    let huge = archive("t.npy", &array(&head.replace("(3,)", "(3, 999999999999, 999999999999)"), &floats(&[0.0; 3])));
    let cases: [(&[u8], &str); 7] = [
        (&other, "`t` is not what was saved"),
        (&good[..good.len() - 30], "its directory is missing"),
        (&short, "`t` has 16 bytes, which its shape does not say"),
        (&huge, "`t` has 24 bytes, which its shape does not say"),
        (&archive("t.npy", b"no array"), "`t` has no head of an array"),
        (&archive("readme.txt", b"t,x"), "no vector of numbers: `readme.txt` is no array"),
        (&array(head, &floats(&[0.0, 0.1, 0.2])), "a single array of NumPy"),
    ];
    for (bytes, expected) in cases {
        let said = parse(bytes).unwrap_err();
        assert!(said.contains(expected) && said.contains("np.savez('run.npz'"), "{said}");
    }
}

/// Protects from bytes that mean harm: changed, cut and lengthened files are read or refused, and never end the program.
#[test]
fn mutated_archives_are_read_or_refused() {
    let mut random = SplitMix64::new(5);
    let mut below = |most: usize| (random.unit() * most as f64) as usize % most;
    let mut read = 0;
    for _ in 0..4000 {
        let mut bytes = SAVED.to_vec();
        for _ in 0..1 + below(4) {
            let place = below(bytes.len());
            match below(4) {
                0 => bytes.truncate(place.max(1)),
                1 => bytes.insert(place, below(256) as u8),
                2 => bytes[place] = [0, 0xff, 0x7f, 0x80][below(4)],
                // directories count for more than their length
                _ => {
                    let place = bytes.len() - 1 - below(bytes.len().min(600));
                    bytes[place] = below(256) as u8;
                }
            }
        }
        read += usize::from(parse(&bytes).is_ok());
    }
    assert!(read > 20, "{read}");
}
