//! Which crate of the workspace depends on which: what their manifests say.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use petgraph::graph::DiGraph;
use toml::{Table, Value};

use crate::read::{ReadError, members};

/// The crates below `crates` of `root`, an edge from each to those that it needs to be built. What only its tests
/// or its build script need is left out, and so are crates of others. A dependency is known by its key.
pub(crate) fn dependencies(root: &Path) -> Result<DiGraph<String, ()>, ReadError> {
    let mut manifests = BTreeMap::new();
    for member in members(root)? {
        let (name, needs) = read(root, &Path::new("crates").join(member).join("Cargo.toml"))?;
        manifests.insert(name, needs);
    }
    let mut graph = DiGraph::new();
    let nodes: BTreeMap<&String, _> =
        manifests.keys().map(|name| (name, graph.add_node(name.clone()))).collect();
    for (name, needs) in &manifests {
        for need in needs.iter().filter_map(|need| nodes.get(need)) {
            graph.update_edge(nodes[name], *need, ());
        }
    }
    Ok(graph)
}

/// The name of a manifest's crate, and the keys of what it needs on any target.
fn read(root: &Path, path: &Path) -> Result<(String, Vec<String>), ReadError> {
    let shown = || PathBuf::from(path);
    let text = fs::read_to_string(root.join(path)).map_err(|error| ReadError::Io { path: shown(), error })?;
    let manifest: Table = toml::from_str(&text).map_err(|e| {
        let before = e.span().and_then(|at| text.get(..at.start)).unwrap_or_default();
        let what = e.message().lines().next().unwrap_or("no TOML").to_string();
        ReadError::Syntax { path: shown(), line: before.matches('\n').count() + 1, what }
    })?;
    let package = manifest.get("package").and_then(|package| package.get("name"));
    let Some(name) = package.and_then(Value::as_str) else {
        return Err(ReadError::Syntax { path: shown(), line: 1, what: "it names no package".into() });
    };
    let targets = manifest.get("target").and_then(Value::as_table);
    let on_targets = targets.into_iter().flat_map(Table::values).filter_map(|t| t.get("dependencies"));
    let tables = manifest.get("dependencies").into_iter().chain(on_targets).filter_map(Value::as_table);
    Ok((name.to_string(), tables.flat_map(Table::keys).cloned().collect()))
}
