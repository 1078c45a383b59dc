//! The children of one module and the arrows between them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;

use petgraph::algo::tarjan_scc;
use petgraph::graph::{DiGraph, NodeIndex};

use crate::arrows::{Arrow, arrows};
use crate::floors::floors;
use crate::tree::{FileId, Tree};

/// A module with children, and what its children with all below them name of each other.
#[derive(Debug)]
pub struct Room {
    /// The module's path.
    pub name: String,
    /// A child and what lies below it, by the child's name; the weight of an edge is its arrows.
    graph: DiGraph<String, Vec<Arrow>>,
}

/// Children of a room each of which depends on the next, and the last on the first.
#[derive(Debug)]
pub struct Circle {
    /// From each to the next, in order.
    pub links: Vec<Link>,
}

/// One child's dependence on another.
#[derive(Debug)]
pub struct Link {
    /// Who depends.
    pub from: String,
    /// On whom.
    pub to: String,
    /// The places, at least one.
    pub arrows: Vec<Arrow>,
}

/// The rooms of a tree, the root's first.
pub fn rooms(tree: &Tree) -> Vec<Room> {
    let mut rooms: BTreeMap<FileId, Room> = BTreeMap::new();
    let mut nodes: BTreeMap<FileId, NodeIndex> = BTreeMap::new();
    for (child, file) in tree.files.iter().enumerate() {
        let (Some(parent), Some(name)) = (file.above, file.module.last()) else { continue };
        let empty = || Room { name: tree.module(parent), graph: DiGraph::new() };
        nodes.insert(child, rooms.entry(parent).or_insert_with(empty).graph.add_node(name.clone()));
    }
    for arrow in arrows(tree) {
        let Some((room, from, to)) = fork(tree, &arrow) else { continue };
        let Some(graph) = rooms.get_mut(&room).map(|room| &mut room.graph) else { continue };
        let edge = graph.find_edge(nodes[&from], nodes[&to]);
        let edge = edge.unwrap_or_else(|| graph.add_edge(nodes[&from], nodes[&to], Vec::new()));
        graph[edge].push(arrow);
    }
    rooms.into_values().collect()
}

/// The lowest file above both ends of an arrow, and its two children that the ends lie in. None if the ends
/// are one file, or one is above the other: those may name each other.
fn fork(tree: &Tree, arrow: &Arrow) -> Option<(FileId, FileId, FileId)> {
    let (mut from, mut to) = (tree.upwards(arrow.from), tree.upwards(arrow.to));
    let mut room = 0;
    while from.last()? == to.last()? {
        room = from.pop()?;
        to.pop();
    }
    Some((room, from.pop()?, to.pop()?))
}

impl Room {
    /// For each arrow that is part of a circle the shortest circle that it is part of: the shortest first,
    /// none twice. None at all: the room has no circle.
    pub fn circles(&self) -> Vec<Circle> {
        let mut found = BTreeSet::new();
        for group in tarjan_scc(&self.graph).into_iter().filter(|group| group.len() > 1) {
            for &from in &group {
                let next = self.graph.neighbors(from).filter(|to| group.contains(to));
                found.extend(next.map(|to| self.turned(self.way(to, from))));
            }
        }
        let mut found: Vec<Vec<NodeIndex>> = found.into_iter().collect();
        found
            .sort_by_key(|circle| (circle.len(), circle.iter().map(|&n| &self.graph[n]).collect::<Vec<_>>()));
        found.iter().map(|circle| self.circle(circle)).collect()
    }

    /// The shortest way from one child to another that it leads to.
    fn way(&self, from: NodeIndex, to: NodeIndex) -> Vec<NodeIndex> {
        let mut before = BTreeMap::from([(from, from)]);
        let mut open = VecDeque::from([from]);
        while let Some(here) = open.pop_front().filter(|&here| here != to) {
            for next in self.sorted(self.graph.neighbors(here)) {
                before.entry(next).or_insert_with(|| {
                    open.push_back(next);
                    here
                });
            }
        }
        let mut way = vec![to];
        while let Some(&last) = way.last().filter(|&&last| last != from) {
            way.push(before[&last]);
        }
        way.reverse();
        way
    }

    /// The same circle, from the child on whose name comes first.
    fn turned(&self, mut circle: Vec<NodeIndex>) -> Vec<NodeIndex> {
        let first = circle.iter().enumerate().min_by_key(|(_, n)| &self.graph[**n]).map_or(0, |(at, _)| at);
        circle.rotate_left(first);
        circle
    }

    fn sorted(&self, nodes: impl Iterator<Item = NodeIndex>) -> Vec<NodeIndex> {
        let mut nodes: Vec<NodeIndex> = nodes.collect();
        nodes.sort_by_key(|&n| &self.graph[n]);
        nodes
    }

    fn circle(&self, nodes: &[NodeIndex]) -> Circle {
        let next = nodes.iter().cycle().skip(1);
        Circle { links: nodes.iter().zip(next).filter_map(|(&a, &b)| self.link(a, b)).collect() }
    }

    fn link(&self, from: NodeIndex, to: NodeIndex) -> Option<Link> {
        let arrows = self.graph[self.graph.find_edge(from, to)?].clone();
        Some(Link { from: self.graph[from].clone(), to: self.graph[to].clone(), arrows })
    }

    /// The children by floors, the ground floor first: each depends on lower floors only. Those that depend
    /// on each other in a circle stand on one floor, in one group.
    pub fn floors(&self) -> Vec<Vec<Vec<String>>> {
        floors(&self.graph)
    }
}

impl fmt::Display for Circle {
    /// `a -> b -> a`, and below it an example of each arrow.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for link in &self.links {
            write!(f, "{} -> ", link.from)?;
        }
        writeln!(f, "{}", self.links.first().map_or("", |link| &link.from))?;
        self.links.iter().try_for_each(|link| writeln!(f, "  {link}"))
    }
}

impl fmt::Display for Link {
    /// `a -> b: file:line names crate::b::Item`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(first) = self.arrows.first() else { return Ok(()) };
        write!(f, "{} -> {}: {first}", self.from, self.to)?;
        let lines: BTreeSet<_> = self.arrows.iter().map(|arrow| (&arrow.path, arrow.line)).collect();
        if lines.len() > 1 {
            write!(f, " (one of {} lines)", lines.len())?;
        }
        Ok(())
    }
}

impl fmt::Display for Arrow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{} names {}", self.path.display(), self.line, self.names)?;
        let last = |path: &str| path.rsplit("::").take(2).map(str::to_string).collect::<Vec<_>>();
        if last(&self.names) != last(&self.written) {
            write!(f, " as {}", self.written)?;
        }
        Ok(())
    }
}
