//! Files of MATLAB: which variables are columns, what is said of the others, and bytes that mean harm.

use costate_data::Record;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use std::io::Write;
use std::path::Path;

/// Writes variables as "MAT-File Format" of The MathWorks says, chapter 1.
#[derive(Clone, Copy)]
struct Writer {
    big_endian: bool,
    compressed: bool,
}

const PLAIN: Writer = Writer { big_endian: false, compressed: false };

/// Kinds of stored numbers.
const INT8: u32 = 1;
const UINT8: u32 = 2;
const INT16: u32 = 3;
const INT32: u32 = 5;
const UINT32: u32 = 6;
const DOUBLE: u32 = 9;

/// Classes of arrays.
const CELL: u32 = 1;
const STRUCT: u32 = 2;
const CHAR: u32 = 4;
const CLASS_DOUBLE: u32 = 6;
const CLASS_INT32: u32 = 12;
const OPAQUE: u32 = 17;

impl Writer {
    fn number(self, little: &[u8]) -> Vec<u8> {
        if self.big_endian { little.iter().rev().copied().collect() } else { little.to_vec() }
    }

    fn word(self, word: u32) -> Vec<u8> {
        self.number(&word.to_le_bytes())
    }

    fn element(self, kind: u32, bytes: &[u8]) -> Vec<u8> {
        let count = bytes.len() as u32;
        // up to four bytes stand in the tag
        if (1..=4).contains(&count) {
            let mut all = self.word(count << 16 | kind);
            all.extend(bytes);
            all.resize(8, 0);
            return all;
        }
        let mut all = [self.word(kind), self.word(count), bytes.to_vec()].concat();
        all.resize(all.len().next_multiple_of(8), 0);
        all
    }

    fn variable(self, (class, flags): (u32, u32), dims: &[i32], name: &str, content: &[u8]) -> Vec<u8> {
        let flags = self.element(UINT32, &[self.word(flags << 8 | class), self.word(0)].concat());
        let dims = dims.iter().flat_map(|n| self.number(&n.to_le_bytes())).collect::<Vec<u8>>();
        let dims = if class == OPAQUE { Vec::new() } else { self.element(INT32, &dims) };
        let inner = [flags, dims, self.element(INT8, name.as_bytes()), content.to_vec()].concat();
        let whole = [self.word(14), self.word(inner.len() as u32), inner].concat();
        if !self.compressed {
            return whole;
        }
        let mut stream = ZlibEncoder::new(Vec::new(), Compression::default());
        stream.write_all(&whole).unwrap();
        let packed = stream.finish().unwrap();
        [self.word(15), self.word(packed.len() as u32), packed].concat()
    }

    /// Real numbers of the class `double`.
    fn doubles(self, dims: &[i32], name: &str, values: &[f64]) -> Vec<u8> {
        let bytes = values.iter().flat_map(|x| self.number(&x.to_le_bytes())).collect::<Vec<u8>>();
        self.variable((CLASS_DOUBLE, 0), dims, name, &self.element(DOUBLE, &bytes))
    }

    fn file(self, variables: &[Vec<u8>]) -> Vec<u8> {
        let mut all = b"MATLAB 5.0 MAT-file, written by a test".to_vec();
        all.resize(124, b' ');
        all.extend(if self.big_endian { *b"\x01\x00MI" } else { *b"\x00\x01IM" });
        variables.iter().for_each(|variable| all.extend(variable));
        all
    }
}

fn parse(bytes: &[u8]) -> costate_identify::Result<Record> {
    Ok(Record::parse_any(bytes, Path::new("run.mat"))?)
}

#[track_caller]
fn refused(bytes: &[u8], parts: &[&str]) {
    let message = parse(bytes).expect_err("the file should be refused").to_string();
    for part in parts.iter().chain(&["run.mat"]) {
        assert!(message.contains(part), "`{part}` is missing in: {message}");
    }
}

const T: [f64; 4] = [0.0, 0.1, 0.2, 0.3];

/// Of all there is: rows, columns, matrices, numbers stored in fewer bytes, what is missing, and what is no column.
fn workspace(w: Writer) -> Vec<u8> {
    let shorts = [3i16, -300, 5, 7].iter().flat_map(|x| w.number(&x.to_le_bytes())).collect::<Vec<u8>>();
    let ints = [1i32, -2, 70_000, 4].iter().flat_map(|x| w.number(&x.to_le_bytes())).collect::<Vec<u8>>();
    let text: Vec<u8> = b"note".to_vec();
    w.file(&[
        w.doubles(&[4, 1], "t", &T),
        w.doubles(&[1, 4], "angle", &[1.0, f64::NAN, 3.0, 4.0]),
        w.doubles(&[4, 2], "m", &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]),
        w.variable((CLASS_DOUBLE, 0), &[4, 1], "bytes", &w.element(UINT8, &[9, 8, 7, 255])),
        w.variable((CLASS_DOUBLE, 0), &[4, 1], "shorts", &w.element(INT16, &shorts)),
        w.variable((CLASS_INT32, 0), &[4, 1], "ints", &w.element(INT32, &ints)),
        w.variable((STRUCT, 0), &[1, 1], "s", &[]),
        w.variable((CELL, 0), &[1, 1], "c", &[]),
        w.variable((CHAR, 0), &[1, 4], "text", &w.element(16, &text)),
        w.variable((OPAQUE, 0), &[], "table", &w.element(INT8, b"MCOS")),
        w.variable((CLASS_DOUBLE, 8), &[1, 1], "z", &[w.element(UINT8, &[1]), w.element(UINT8, &[1])].concat()),
        w.doubles(&[1, 1], "mass", &[2.5]),
        w.doubles(&[3, 1], "p", &[1.0, 2.0, 3.0]),
        w.doubles(&[0, 0], "nothing", &[]),
        // functions and objects leave one without a name
        w.variable((9, 0), &[1, 4], "", &w.element(UINT8, &[1, 2, 3, 4])),
    ])
}

// Protects what MATLAB users have: vectors and matrices are columns, in either order of bytes, compressed or not.
#[test]
fn vectors_of_a_workspace_are_columns() {
    for (big_endian, compressed) in [(false, false), (true, false), (false, true), (true, true)] {
        let record = parse(&workspace(Writer { big_endian, compressed })).unwrap();
        assert_eq!(record.names(), ["t", "angle", "m_1", "m_2", "bytes", "shorts", "ints"]);
        assert_eq!(record.column("t").unwrap(), T);
        assert_eq!(record.column("m_2").unwrap(), [5.0, 6.0, 7.0, 8.0]);
        assert_eq!(record.column("bytes").unwrap(), [9.0, 8.0, 7.0, 255.0]);
        assert_eq!(record.column("shorts").unwrap(), [3.0, -300.0, 5.0, 7.0]);
        assert_eq!(record.column("ints").unwrap(), [1.0, -2.0, 70_000.0, 4.0]);
        assert!(record.column_with_gaps("angle").unwrap()[1].is_nan());
        let message = record.column("angle").unwrap_err().to_string();
        assert!(message.contains("value 2 of `angle` is NaN") && !message.contains("line"), "{message}");
        let [remark] = record.remarks() else { panic!("{:?}", record.remarks()) };
        for part in ["`s` (a struct)", "`c` (a cell array)", "`text` (text)", "`table` (an object", "`z` (complex)"] {
            assert!(remark.contains(part), "{part}: {remark}");
        }
        for part in ["`mass` (one number, 2.5)", "`p` (of 3 values, where others have 4)", "`nothing` (empty)"] {
            assert!(remark.contains(part), "{part}: {remark}");
        }
    }
}

// Protects the one check against another program: a file of scipy.io.savemat (1.17, do_compression=True) with t, a (a column with NaN), m (6 x 2),
// n (int32), single, on (logical), and a struct, cells, text, complex numbers, a number, three numbers and an empty array.
#[test]
fn files_of_scipy_are_read() {
    let record = parse(include_bytes!("mat/scipy.mat")).unwrap();
    assert_eq!(record.names(), ["t", "a", "m_1", "m_2", "n", "single", "on"]);
    assert_eq!(record.column("t").unwrap()[5], 0.05);
    assert_eq!(record.column("m_2").unwrap()[1], 0.03);
    assert_eq!(record.column("n").unwrap(), [1.0, -2.0, 3.0, -4.0, 5.0, -6.0]);
    assert_eq!(record.column("single").unwrap()[3], 0.75);
    assert_eq!(record.column("on").unwrap(), [1.0, 0.0, 1.0, 0.0, 1.0, 0.0]);
    assert!(record.column_with_gaps("a").unwrap()[2].is_nan());
    assert_eq!(record.remarks().len(), 1, "{:?}", record.remarks());
}

// Protects whoever saves a sampling time in the place of times: it is used, and said; with times it is not.
#[test]
fn a_sampling_time_makes_times() {
    let y = PLAIN.doubles(&[4, 1], "y", &[1.0; 4]);
    for (name, value) in [("Ts", 0.1), ("dt", 0.1), ("fs", 10.0)] {
        let record = parse(&PLAIN.file(&[PLAIN.doubles(&[1, 1], name, &[value]), y.clone()])).unwrap();
        assert_eq!(record.names(), ["t", "y"]);
        assert!((record.time("t").unwrap().sampling_step().unwrap() - 0.1).abs() < 1e-15);
        assert!(record.remarks()[0].contains(&format!("`{name}` = {value}")), "{:?}", record.remarks());
    }
    let zero = parse(&PLAIN.file(&[PLAIN.doubles(&[1, 1], "Ts", &[0.0]), y])).unwrap();
    assert_eq!(zero.names(), ["y"]);
    let back = PLAIN.doubles(&[4, 1], "t", &[0.0, 0.1, 0.05, 0.3]);
    let message = parse(&PLAIN.file(&[back])).unwrap().time("t").unwrap_err().to_string();
    assert!(message.contains("at value 3 of `t` the time 0.05 s comes after 0.1 s"), "{message}");
}

// Protects from a record that is none: what the file is, and what to type in MATLAB.
#[test]
fn other_files_get_a_sentence() {
    let file = PLAIN.file(&[PLAIN.doubles(&[4, 1], "t", &T)]);
    refused(b"", &["the file is empty", "-v7"]);
    refused(b"t,y\n0,1\n", &["no MATLAB file of version 5", "-v7"]);
    let mut hdf5 = b"MATLAB 7.3 MAT-file, Platform: GLNXA64".to_vec();
    hdf5.resize(512, 0);
    hdf5.extend(b"\x89HDF\r\n\x1a\n");
    refused(&hdf5, &["version 7.3 (HDF5), which cannot be read", "save('run.mat', 't', 'a1', '-v7')"]);
    refused(&file[..128], &["it holds no vector of numbers"]);
    refused(
        &file[..file.len() - 9],
        &["the file is damaged", "in the middle of its variable 1", "copy the file again"],
    );
    let only = |variable: Vec<u8>| PLAIN.file(&[variable]);
    refused(&only(PLAIN.variable((STRUCT, 0), &[1, 1], "s", &[])), &["no vector of numbers: `s` is a struct"]);
    refused(&only(PLAIN.doubles(&[2, 1], "t", &[0.0, f64::INFINITY])), &["value 2 of `t` is infinite"]);
    refused(&only(PLAIN.doubles(&[5, 1], "t", &T)), &["the numbers of variable `t` are not all there"]);
    let twice = PLAIN.file(&[PLAIN.doubles(&[2, 2], "a", &[1.0; 4]), PLAIN.doubles(&[2, 1], "a_1", &[1.0; 2])]);
    refused(&twice, &["both named `a_1`", "rename a variable"]);
    // a bomb: a compressed variable that claims to be large, and is not
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::default());
    packed.write_all(&[PLAIN.word(14), PLAIN.word(u32::MAX)].concat()).unwrap();
    let packed = packed.finish().unwrap();
    let message = parse(&only([PLAIN.word(15), PLAIN.word(packed.len() as u32), packed].concat())).unwrap_err();
    assert!(message.to_string().contains("compressed") || message.to_string().contains("memory"), "{message}");
    // known by its first bytes, whatever it is called
    assert_eq!(Record::parse_any(&file, Path::new("run")).unwrap().names(), ["t"]);
}

// Protects from bytes that mean harm: whatever single byte is another one, and wherever the file ends, there is a record or a sentence.
#[test]
fn mutated_files_never_panic() {
    for compressed in [false, true] {
        let file = workspace(Writer { big_endian: false, compressed });
        let scipy = include_bytes!("mat/scipy.mat");
        for file in [&file[..], scipy] {
            for end in 0..file.len() {
                let _ = parse(&file[..end]);
            }
            for place in 0..file.len() {
                for mask in [0x01, 0x10, 0x80, 0xff] {
                    let mut other = file.to_vec();
                    other[place] ^= mask;
                    let _ = parse(&other);
                }
            }
        }
    }
}
