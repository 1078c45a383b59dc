//! Who stands on what.

use std::collections::BTreeMap;

use petgraph::algo::tarjan_scc;
use petgraph::graph::{DiGraph, NodeIndex};

/// The nodes by floors, the ground floor first: each stands one floor above the highest that it has an edge to.
/// Those that have edges to each other in a circle stand on one floor, in one group.
pub(crate) fn floors<E>(graph: &DiGraph<String, E>) -> Vec<Vec<Vec<String>>> {
    let mut floor_of: BTreeMap<NodeIndex, usize> = BTreeMap::new();
    let mut floors: Vec<Vec<Vec<String>>> = Vec::new();
    // What a group has edges to comes before it.
    for group in tarjan_scc(graph) {
        let below = group.iter().flat_map(|&n| graph.neighbors(n));
        let below = below.filter_map(|n| floor_of.get(&n)).max().map_or(0, |floor| floor + 1);
        floor_of.extend(group.iter().map(|&n| (n, below)));
        floors.resize(floors.len().max(below + 1), Vec::new());
        let mut names: Vec<String> = group.into_iter().map(|n| graph[n].clone()).collect();
        names.sort();
        floors[below].push(names);
    }
    floors.iter_mut().for_each(|floor| floor.sort());
    floors
}
