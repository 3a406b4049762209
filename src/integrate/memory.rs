//! Memory that a run takes, asked for before the run begins: what cannot fit is refused in a sentence, not ended by the system halfway.

use crate::{Error, Result};
use std::path::Path;

/// Remedy where there are too many steps for the memory.
pub const FEWER_STEPS: &str = "take larger steps, or end earlier";

/// Bytes above which the system is asked what it can give: asking takes a tenth of a millisecond.
pub(crate) const LARGE: f64 = 16e6;

/// Bytes that are assumed where the system does not tell: more than any desk has, so that only slips of the pen are refused. The allocator
/// has the last word.
const ASSUMED: f64 = 64e9;

/// The part of what there is that may be asked for: the rest of the program needs some, too.
const PART: f64 = 0.9;

/// The part of that which a run takes for its states before it goes on with checkpoints.
const PART_OF_RUN: f64 = 0.25;

/// Bytes that a run may take for its states where nobody says how many.
pub(crate) fn usual() -> f64 {
    PART_OF_RUN * available().unwrap_or(ASSUMED)
}

/// Bytes of so many numbers.
pub fn bytes_of(numbers: usize) -> f64 {
    size_of::<f64>() as f64 * numbers as f64
}

/// Refuses `bytes` for `what` if there are not so many.
///
/// # Errors
/// [`Error::Memory`].
pub fn check(what: impl FnOnce() -> String, bytes: f64, remedy: &str) -> Result<()> {
    if bytes < LARGE {
        return Ok(());
    }
    let available = available();
    if bytes <= available.unwrap_or(ASSUMED) {
        return Ok(());
    }
    Err(Error::Memory { what: what(), needed: bytes, available, remedy: remedy.to_string() })
}

/// Makes room for `count` numbers in all in `list`, which keeps what it has.
///
/// # Errors
/// [`Error::Memory`], before anything is taken.
pub(crate) fn reserve(list: &mut Vec<f64>, count: usize, what: impl Fn() -> String, remedy: &str) -> Result<()> {
    if count <= list.capacity() {
        return Ok(());
    }
    check(&what, bytes_of(count), remedy)?;
    list.try_reserve_exact(count - list.len()).map_err(|_| Error::Memory {
        what: what(),
        needed: bytes_of(count),
        available: available(),
        remedy: remedy.to_string(),
    })
}

/// Bytes that this process can still take, where the system tells: of the machine, of its control group (containers, batch systems) and of its
/// address space (`ulimit -v`).
pub(crate) fn available() -> Option<f64> {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let machine = kilobytes(&read("/proc/meminfo"), "MemAvailable:");
    let group = group(&read("/proc/self/cgroup"), Path::new("/sys/fs/cgroup"));
    let limit = address_space(&read("/proc/self/limits"));
    let address_space = limit.map(|limit| limit - kilobytes(&read("/proc/self/status"), "VmSize:").unwrap_or(0.0));
    let least = [machine, group, address_space].into_iter().flatten().reduce(f64::min);
    least.map(|bytes| PART * bytes.max(0.0))
}

/// Bytes of a size as people write it: `200MB`, `1.5 GiB`; kB, MB, GB and TB are powers of 1000, KiB, MiB, GiB and TiB of 1024.
///
/// # Errors
/// [`Error::Invalid`] for anything else, and for nothing at all.
pub fn bytes(text: &str) -> Result<f64> {
    const UNITS: [(&str, f64); 9] = [
        ("B", 1.0),
        ("kB", 1e3),
        ("MB", 1e6),
        ("GB", 1e9),
        ("TB", 1e12),
        ("KiB", 1024.0),
        ("MiB", 1_048_576.0),
        ("GiB", 1_073_741_824.0),
        ("TiB", 1_099_511_627_776.0),
    ];
    let wrong = |problem: &str| {
        let remedy = "write a number with kB, MB, GB, KiB, MiB or GiB behind it, such as 200MB";
        Err(Error::invalid(format!("a memory limit of `{}`", text.trim()), problem, remedy))
    };
    let place =
        text.trim().find(|c: char| c.is_ascii_alphabetic() && !matches!(c, 'e' | 'E')).unwrap_or(text.trim().len());
    let (number, unit) = text.trim().split_at(place);
    let Ok(number) = number.trim().parse::<f64>() else { return wrong("it is not a size") };
    if !(number.is_finite() && number > 0.0) {
        return wrong("it is not positive");
    }
    let Some((_, size)) = UNITS.iter().find(|(known, _)| known.eq_ignore_ascii_case(unit.trim())) else {
        return wrong(if unit.trim().is_empty() { "its unit is missing" } else { "its unit is not known" });
    };
    Ok(number * size)
}

/// `KEY   123 kB` in bytes.
fn kilobytes(text: &str, key: &str) -> Option<f64> {
    let line = text.lines().find_map(|line| line.strip_prefix(key))?;
    Some(1024.0 * line.split_whitespace().next()?.parse::<f64>().ok()?)
}

/// The soft limit of /proc/self/limits, bytes; none if there is none.
fn address_space(text: &str) -> Option<f64> {
    let line = text.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Bytes that the control groups of /proc/self/cgroup (versions 1 and 2), and those around them, leave.
fn group(text: &str, root: &Path) -> Option<f64> {
    let mut least: Option<f64> = None;
    for line in text.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { continue };
        let (root, limit, usage, cache) = match controllers {
            "" => (root.to_path_buf(), "memory.max", "memory.current", "inactive_file "),
            list if list.split(',').any(|name| name == "memory") => {
                (root.join("memory"), "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file ")
            }
            _ => continue,
        };
        // in a container the path may be the host's: then only the root is there
        let own = root.join(path.trim_start_matches('/'));
        for folder in own.ancestors().take_while(|folder| folder.starts_with(&root)) {
            let read = |name: &str| std::fs::read_to_string(folder.join(name)).ok();
            let number = |name: &str| read(name)?.trim().parse::<f64>().ok();
            let (Some(limit), Some(usage)) = (number(limit), number(usage)) else { continue };
            // what files leave in memory gives way
            let stat = read("memory.stat").unwrap_or_default();
            let cached = stat.lines().find_map(|line| line.strip_prefix(cache)?.trim().parse::<f64>().ok());
            let left = limit - usage + cached.unwrap_or(0.0);
            least = Some(least.map_or(left, |least| least.min(left)));
        }
    }
    least
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Protects runs from the system's end by the killer of processes: no memory holds this, and the sentence says so, with sizes.
    #[test]
    fn what_cannot_fit_is_refused() {
        let mut list = vec![1.0];
        let error = reserve(&mut list, 1 << 60, || "the states".to_string(), "take fewer").unwrap_err().to_string();
        assert!(error.starts_with("the states: 9.22 EB of memory are needed, and "), "{error}");
        assert!(error.ends_with("; take fewer"), "{error}");
        assert_eq!(list, [1.0]);
        reserve(&mut list, 1000, || "few".to_string(), "").unwrap();
        assert!(list.capacity() >= 1000);
    }

    /// Protects limits that people give: units, spaces and capitals; and what is no size.
    #[test]
    fn sizes_are_read() {
        for (text, expected) in
            [("200MB", 2e8), ("1.5 GiB", 1.5 * 1_073_741_824.0), (" 3 kb ", 3e3), ("1e2KiB", 102_400.0), ("7B", 7.0)]
        {
            assert_eq!(bytes(text).unwrap(), expected, "{text}");
        }
        for (text, problem) in [
            ("", "not a size"),
            ("MB", "not a size"),
            ("much", "not a size"),
            ("200", "unit is missing"),
            ("2 Mbit", "unit is not known"),
            ("0MB", "not positive"),
            ("-3GB", "not positive"),
            ("1e999 GB", "not positive"),
            ("NaN B", "not a size"),
        ] {
            let error = bytes(text).unwrap_err().to_string();
            assert!(error.contains(problem) && error.contains("200MB"), "{text}: {error}");
        }
    }

    /// Protects the reading of what systems say: the tightest limit counts, groups around count, `max` and `unlimited` are none.
    #[test]
    fn limits_are_read() {
        let meminfo = "MemTotal:       16000 kB\nMemAvailable:   1000 kB\n";
        assert_eq!(kilobytes(meminfo, "MemAvailable:"), Some(1_024_000.0));
        let limits =
            |soft: &str| format!("Max cpu time  unlimited\nMax address space         {soft}   unlimited   bytes\n");
        assert_eq!(address_space(&limits("300000")), Some(300_000.0));
        assert_eq!(address_space(&limits("unlimited")), None);
        let root = std::env::temp_dir().join(format!("costate-memory-{}", std::process::id()));
        let write = |name: &str, text: &str| {
            let path = root.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("job/memory.max", "5000\n");
        write("job/memory.current", "3000\n");
        write("job/memory.stat", "anon 2000\ninactive_file 500\n");
        write("job/step/memory.max", "max\n");
        write("job/step/memory.current", "10\n");
        write("memory/memory.limit_in_bytes", "9223372036854771712\n");
        write("memory/memory.usage_in_bytes", "1000\n");
        assert_eq!(group("0::/job/step\n", &root), Some(2500.0));
        assert!(group("4:cpu,memory:/docker/away\n", &root).unwrap() > 9e18);
        assert_eq!(group("0::/\n3:cpu:/job\n", &root), None);
        std::fs::remove_dir_all(&root).unwrap();
    }
}
