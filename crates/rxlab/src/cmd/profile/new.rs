//! `rxlab profile new`: a profile to edit.

use std::path::Path;

use model::profile::{Server, declared};

use crate::fail::Fail;
use crate::show::file::Target;

/// Writes a profile after another one to a file, each constant below what it is and may be.
///
/// # Errors
/// The file cannot be written.
pub(super) fn run(file: &Path, from: &str, server: Server) -> Result<(), Fail> {
    if file.extension().is_none_or(|extension| extension != "toml") {
        return Err(Fail::new(format!("new: {}: allowed: a name that ends in .toml", file.display())));
    }
    let name = file.file_stem().and_then(|stem| stem.to_str()).unwrap_or("new").to_owned();
    let target = Target::asked("new", Some(file), &[])?;
    let text = commented(&Server { name, ..server }, from)?;
    target.map_or(Ok(()), |target| target.write(&text))
}

fn commented(server: &Server, from: &str) -> Result<String, Fail> {
    let mut text = format!(
        "# After {from}. What each field is and how to measure it: rxlab profile explain FIELD. A constant that you measure has\n# an origin \"measured: how\". rxlab profile check FILE.toml tells what is wrong, and what is assumed.\n"
    );
    let mut tables = String::new();
    for line in server.text().map_err(Fail::new)?.lines() {
        if let Some(name) = line.strip_prefix('[') {
            tables = name.trim_end_matches(']').to_owned();
        } else if let Some((key, _)) = line.split_once(" = { value = ") {
            let place = format!("{tables}.{key}");
            if let Some(d) = declared().find(|d| d.place == place) {
                text += &format!("# {} {}\n", d.about(), d.range);
            }
        }
        text += &format!("{line}\n");
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_the_same_server() {
        for name in
            ["rxbisect-testbed", "nic-testbed-cx5", "icelake-6346,nic=cx6dx:2,dram=8x3200", "genoa,nic=soft"]
        {
            let server = Server::by_name(name).unwrap();
            let text = commented(&server, name).unwrap();
            assert_eq!(Server::parse(&text).unwrap(), server, "{name}");
            assert!(text.contains("# LLC hit. 1 to 1000 ns\n"), "{text}");
        }
    }
}
