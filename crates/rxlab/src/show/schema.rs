//! The JSON Schemas of what commands write with `--json`, and the version that all of it has.
//!
//! `docs/schema` has a JSON Schema (draft 2020-12) for each command, and `common.json` with the parts that several
//! share. What [`of`] gives needs no other file.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::fail::Fail;

/// The shape of all JSON output: it changes with what programs that read it must know.
const VERSION: u32 = 2;

/// An object of JSON output with the version of its shape.
#[derive(Serialize)]
pub(crate) struct Versioned<'a, T> {
    schema_version: u32,
    #[serde(flatten)]
    value: &'a T,
}

impl<'a, T: Serialize> Versioned<'a, T> {
    /// Of `value`, which is an object in JSON.
    pub(crate) fn new(value: &'a T) -> Self {
        Versioned { schema_version: VERSION, value }
    }
}

macro_rules! schemas {
    ($($command:literal in $file:literal),* $(,)?) => {
        [$(($command, include_str!(concat!("../../../../docs/schema/", $file, ".json")))),*]
    };
}

/// Each command that has `--json`, and its schema.
const SCHEMAS: [(&str, &str); 25] = schemas![
    "advise" in "advise",
    "advise flows" in "advise-flows",
    "bench flow" in "bench-flow",
    "bench live" in "bench-live",
    "bench model" in "bench-model",
    "bench threads" in "bench-threads",
    "calibrate" in "calibrate",
    "compare" in "compare",
    "experiment list" in "experiment-list",
    "experiment run" in "experiment-run",
    "fit" in "fit",
    "flow" in "flow",
    "link" in "link",
    "live" in "live",
    "loopback" in "loopback",
    "profile check" in "profile-check",
    "profile detect" in "profile-detect",
    "profile explain" in "profile-explain",
    "profile list" in "profile-list",
    "profile show" in "profile-show",
    "queue" in "queue",
    "rules" in "rules",
    "tcp" in "tcp",
    "trace" in "trace",
    "why" in "why",
];
/// Parts of several.
const COMMON: &str = include_str!("../../../../docs/schema/common.json");

/// Each command that has `--json`, and what its schema says of it.
///
/// # Errors
/// Never in practice: every schema is JSON.
pub(crate) fn all() -> Result<Vec<(&'static str, String)>, Fail> {
    let one = |(command, text): &(&'static str, &str)| {
        Ok((*command, read(text)?["description"].as_str().unwrap_or_default().to_string()))
    };
    SCHEMAS.iter().map(one).collect()
}

/// The schema of `command`, which refers to nothing outside itself.
///
/// # Errors
/// A command that has no JSON.
pub(crate) fn of(command: &str) -> Result<Value, Fail> {
    let Some((_, text)) = SCHEMAS.iter().find(|(name, _)| *name == command) else {
        let all: Vec<&str> = SCHEMAS.iter().map(|(name, _)| *name).collect();
        return Err(Fail::new(format!("schema: no JSON of `{command}`; allowed: {}", all.join(", "))));
    };
    let mut schema = read(&text.replace("common.json#/", "#/"))?;
    let common = read(COMMON)?;
    let mut parts = schema["$defs"].as_object().cloned().unwrap_or_default();
    let mut missing = BTreeSet::new();
    loop {
        references(&schema, &mut missing);
        parts.values().for_each(|part| references(part, &mut missing));
        missing.retain(|name| !parts.contains_key(name));
        if missing.is_empty() {
            break;
        }
        for name in std::mem::take(&mut missing) {
            let part = common["$defs"].get(&name).cloned();
            parts.insert(name.clone(), part.ok_or_else(|| Fail::new(format!("schema: no part `{name}`")))?);
        }
    }
    if !parts.is_empty() {
        schema["$defs"] = Map::into(parts);
    }
    Ok(schema)
}

/// The names of all parts that `schema` refers to.
fn references(schema: &Value, found: &mut BTreeSet<String>) {
    match schema {
        Value::Object(map) => {
            let name = map.get("$ref").and_then(Value::as_str).and_then(|r| r.strip_prefix("#/$defs/"));
            found.extend(name.map(str::to_string));
            map.values().for_each(|inner| references(inner, found));
        }
        Value::Array(all) => all.iter().for_each(|inner| references(inner, found)),
        _ => {}
    }
}

fn read(text: &str) -> Result<Value, Fail> {
    serde_json::from_str(text).map_err(|e| Fail::new(format!("schema: {e}")))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Panics unless `value` is what `command` may write.
    pub(crate) fn holds(command: &str, value: &impl Serialize) {
        let value = serde_json::to_value(Versioned::new(value)).unwrap();
        let validator = jsonschema::validator_for(&of(command).unwrap()).unwrap();
        let wrong: Vec<String> =
            validator.iter_errors(&value).map(|e| format!("{}: {e}", e.instance_path())).collect();
        assert!(wrong.is_empty(), "{command}: {}", wrong.join("; "));
    }

    #[test]
    fn no_part_has_the_name_of_a_common_one() {
        let common = read(COMMON).unwrap();
        for (command, text) in SCHEMAS {
            let own = read(text).unwrap()["$defs"].as_object().cloned().unwrap_or_default();
            assert!(own.keys().all(|name| common["$defs"].get(name).is_none()), "{command}: {own:?}");
        }
    }

    #[test]
    fn the_version_is_the_one_that_is_written() {
        assert_eq!(read(COMMON).unwrap()["$defs"]["schema_version"]["const"], VERSION);
    }
}
