//! What is found of a system that is no run of an interface: numbers by name.

use serde_json::{Map, Value, json};

/// Numbers that are found in one go.
pub(crate) struct Measured {
    /// By name.
    pub fields: Vec<(&'static str, f64)>,
    /// The command line that finds them again.
    pub reproduce: String,
}

impl Measured {
    /// A field; NaN for an unknown one.
    pub(crate) fn value(&self, name: &str) -> f64 {
        self.fields.iter().find(|f| f.0 == name).map_or(f64::NAN, |f| f.1)
    }

    /// Every field and the command line, as data.
    pub(crate) fn data(&self) -> Map<String, Value> {
        let fields = self.fields.iter().map(|(name, v)| ((*name).to_string(), json!(v)));
        let mut data: Map<String, Value> = fields.collect();
        data.insert("reproduce".into(), self.reproduce.clone().into());
        data
    }
}
