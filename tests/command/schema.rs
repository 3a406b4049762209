//! The published layout of `result.json`: every result that a test makes is held against `docs/result.schema.json`.

use serde_json::Value;
use std::sync::LazyLock;

static SCHEMA: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(include_str!("../../docs/result.schema.json")).unwrap());

/// What is wrong with a result, and where; nothing if it is as published.
pub fn faults(result: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    compare(&SCHEMA, result, "result", &mut faults);
    faults
}

fn is_of(value: &Value, kind: &str) -> bool {
    match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        "null" => value.is_null(),
        other => panic!("the schema speaks of `{other}`"),
    }
}

/// The part of JSON Schema that the file uses; a word that is not known here is a fault of the file.
fn compare(schema: &Value, value: &Value, place: &str, faults: &mut Vec<String>) {
    for (word, wanted) in schema.as_object().unwrap() {
        match word.as_str() {
            "$schema" | "$defs" | "title" | "description" => {}
            "$ref" => {
                let name = wanted.as_str().unwrap().strip_prefix("#/$defs/").unwrap();
                compare(&SCHEMA["$defs"][name], value, place, faults);
            }
            "const" if value != wanted => faults.push(format!("{place} is {value}")),
            "enum" if !wanted.as_array().unwrap().contains(value) => faults.push(format!("{place} is {value}")),
            "const" | "enum" => {}
            "type" => {
                let mut kinds = wanted.as_array().map_or(std::slice::from_ref(wanted), Vec::as_slice).iter();
                if !kinds.any(|kind| is_of(value, kind.as_str().unwrap())) {
                    faults.push(format!("{place} is {value}, not {wanted}"));
                }
            }
            "required" => {
                let Some(own) = value.as_object() else { continue };
                let missing = wanted.as_array().unwrap().iter().filter(|key| !own.contains_key(key.as_str().unwrap()));
                faults.extend(missing.map(|key| format!("{place} has no {key}")));
            }
            "properties" | "additionalProperties" => {}
            "items" => {
                for (k, entry) in value.as_array().into_iter().flatten().enumerate() {
                    compare(wanted, entry, &format!("{place}[{k}]"), faults);
                }
            }
            other => panic!("the schema speaks of `{other}`"),
        }
    }
    for (key, own) in value.as_object().into_iter().flatten() {
        let place = format!("{place}.{key}");
        match (&schema["properties"][key], &schema["additionalProperties"]) {
            (Value::Null, Value::Bool(false)) => faults.push(format!("{place} is not in docs/result.schema.json")),
            (Value::Null, Value::Null) => {}
            (Value::Null, others) => compare(others, own, &place, faults),
            (known, _) => compare(known, own, &place, faults),
        }
    }
}

// Protects against a schema that allows anything: a result with a slip is found out.
#[test]
fn slips_are_found() {
    let place = crate::run::Place::new();
    let result = place.json("identify oscillator --json --noise-level 0.01", 0);
    assert_eq!(faults(&result), Vec::<String>::new());
    for (key, value, fault) in [
        ("cost", "1.0".into(), "result.cost is \"1.0\""),
        ("schema", 2.into(), "result.schema is 2"),
        ("unheard_of", true.into(), "result.unheard_of is not in"),
        ("parameters", serde_json::json!([{"name": "c"}]), "result.parameters[0] has no \"value\""),
        ("rmse", serde_json::json!({"a": "small"}), "result.rmse.a is \"small\""),
    ] {
        let mut bent = result.clone();
        bent[key] = value;
        let found = faults(&bent);
        assert!(found.iter().any(|found| found.starts_with(fault)), "{fault}: {found:?}");
    }
}
