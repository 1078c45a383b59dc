//! A profile as a file has it.

use toml::{Table, Value};

use super::{ProfileError, Server};

impl Server {
    /// The profile's text: tables as serde writes them, a constant to a line.
    ///
    /// # Errors
    /// Never in practice: every value has a form in TOML.
    pub fn text(&self) -> Result<String, ProfileError> {
        let written = |e: toml::ser::Error| ProfileError(e.to_string());
        let mut root = Table::try_from(self).map_err(written)?;
        root.retain(|name, _| !["constants", "apps", "tables"].contains(&name));
        let mut text = toml::to_string(&Value::Table(root)).map_err(written)?;
        let mut component = "";
        for (declared, c) in self.stated() {
            let (tables, key) = declared.place.rsplit_once('.').unwrap_or(("", declared.place));
            if tables != component {
                component = tables;
                text += &format!("\n[{component}]\n");
            }
            let origin = Value::String(c.origin.clone());
            text += &format!("{key} = {{ value = {}, origin = {origin} }}\n", c.value);
        }
        Ok(text)
    }
}
