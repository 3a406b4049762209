//! In which keys two descriptions of a problem differ.

use serde_json::Value;
use std::collections::BTreeMap;

/// Prefix of keys that follow from all others: shown only where nothing else differs.
const COMPUTED: &str = "computed.";
/// Most keys that are named.
const MOST_NAMED: usize = 3;

/// Values by their keys, joined by dots.
fn flat(prefix: &str, value: &Value, found: &mut BTreeMap<String, Value>) {
    let key = |own: &str| if prefix.is_empty() { own.to_string() } else { format!("{prefix}.{own}") };
    match value {
        Value::Object(map) => map.iter().for_each(|(own, value)| flat(&key(own), value, found)),
        Value::Array(list) if list.iter().any(|value| value.is_object() || value.is_array()) => {
            list.iter().enumerate().for_each(|(k, value)| flat(&key(&(k + 1).to_string()), value, found));
        }
        Value::Null => {}
        value => drop(found.insert(prefix.to_string(), value.clone())),
    }
}

/// Differences in words: each key with what it `was` and `is`; `None` if nothing differs.
pub(super) fn differences(then: &Value, now: &Value, [was, is]: [&str; 2]) -> Option<String> {
    let (mut before, mut after) = (BTreeMap::new(), BTreeMap::new());
    flat("", then, &mut before);
    flat("", now, &mut after);
    let keys = before.keys().chain(after.keys().filter(|key| !before.contains_key(*key)));
    let mut changed: Vec<&String> = keys.filter(|key| before.get(*key) != after.get(*key)).collect();
    changed.sort();
    let is_stated = |key: &&String| !key.starts_with(COMPUTED);
    let stated = changed.iter().copied().any(|key| is_stated(&key));
    changed.retain(|key| !stated || is_stated(key));
    let shown = |value: Option<&Value>| value.map_or("not given".to_string(), Value::to_string);
    let one = |key: &&String| {
        let name = key.strip_prefix(COMPUTED).unwrap_or(key);
        format!("`{name}` {was} {}, and {is} {}", shown(before.get(*key)), shown(after.get(*key)))
    };
    let mut named: Vec<String> = changed.iter().take(MOST_NAMED).map(one).collect();
    if changed.len() > MOST_NAMED {
        named.push(format!("and {} keys more", changed.len() - MOST_NAMED));
    }
    let why = if stated { "" } else { " (the model, the program or the processor is another)" };
    (!named.is_empty()).then(|| named.join("; ") + why)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Protects the words on a changed problem: each key with both values, those that follow from others only where nothing else differs.
    #[test]
    fn changed_keys_are_named() {
        let problem =
            |seed: i32, cost: f64| json!({"starts": {"seed": seed}, "data": ["a"], "computed": {"cost": cost}});
        let changes = |a: &Value, b: &Value| differences(a, b, ["was", "is"]);
        assert_eq!(changes(&problem(1, 0.5), &problem(1, 0.5)), None);
        assert_eq!(changes(&problem(1, 0.5), &problem(2, 0.6)).unwrap(), "`starts.seed` was 1, and is 2");
        let computed = changes(&problem(1, 0.5), &problem(1, 0.6)).unwrap();
        assert_eq!(computed, "`cost` was 0.5, and is 0.6 (the model, the program or the processor is another)");
        let changed =
            changes(&json!({"a": 1, "b": {"c": [[1], 2]}}), &json!({"b": {"c": [[1], 3]}, "d": "x"})).unwrap();
        assert_eq!(changed, "`a` was 1, and is not given; `b.c.2` was 2, and is 3; `d` was not given, and is \"x\"");
    }
}
