//! The workspace drawn: its crates by floors.

use std::collections::BTreeMap;
use std::path::Path;

use petgraph::algo::has_path_connecting;
use petgraph::graph::{DiGraph, NodeIndex};

use crate::floors::floors;
use crate::manifests::dependencies;
use crate::read::ReadError;

/// A Mermaid flowchart of the crates below `crates` of `root`, from the top floor down. A crate stands one floor
/// above the highest that it depends on. An arrow leads to each crate that it depends on directly, but for those
/// that a crate between them depends on as well. This crate is left out: it looks at the house from outside.
///
/// The name of a floor is a node of its own. Mermaid sets the title of a subgraph in the middle of its upper edge, where
/// arrows run through it.
///
/// # Errors
/// A manifest cannot be read, is no TOML or names no package.
pub fn picture(root: &Path) -> Result<String, ReadError> {
    let mut graph = dependencies(root)?;
    graph.retain_nodes(|graph, n| graph[n] != env!("CARGO_PKG_NAME"));
    let mut text = String::from("flowchart TB\n");
    let floors = floors(&graph);
    for (number, floor) in floors.iter().enumerate().rev() {
        text += &format!("    subgraph floor{number} [\" \"]\n        name{number}[floor {number}]:::name\n");
        text += &format!("        {}\n    end\n", floor.concat().join("; "));
    }
    let names: Vec<String> = (0..floors.len()).rev().map(|number| format!("name{number}")).collect();
    text += &format!("    {}\n    classDef name fill:none,stroke:none\n", names.join(" ~~~ "));
    for (from, to) in arrows(&graph) {
        text += &format!("    {from} --> {}\n", to.join(" & "));
    }
    Ok(text)
}

/// From each node to those that its edges lead to, but for edges that follow from others, in the order of names. The
/// graph has no circle: Cargo allows none.
fn arrows(graph: &DiGraph<String, ()>) -> BTreeMap<&str, Vec<&str>> {
    let follows = |from: NodeIndex, to: NodeIndex| {
        let mut others = graph.neighbors(from).filter(|&between| between != to);
        others.any(|between| has_path_connecting(graph, between, to, None))
    };
    let mut arrows: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (from, to) in graph.edge_indices().filter_map(|edge| graph.edge_endpoints(edge)) {
        if !follows(from, to) {
            arrows.entry(&graph[from]).or_default().push(&graph[to]);
        }
    }
    arrows.values_mut().for_each(|to| to.sort_unstable());
    arrows
}
