//! From a path in the text to the modules that it leads to.

use std::collections::BTreeSet;

use crate::tree::{FileId, How, Name, ScopeId, Seen, Tree, What};

/// What a path leads to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Found {
    Module(ScopeId),
    /// An item and the scope that defines it.
    Item(ScopeId, String),
}

/// A module that a path depends on.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Target {
    pub(crate) file: FileId,
    /// What is named there.
    pub(crate) item: Option<String>,
}

/// The modules that `name` depends on: those that define what it leads to, and those that it spells out on
/// the way. None if it leads out of the crate.
pub(crate) fn targets(tree: &Tree, name: &Name) -> Vec<Target> {
    let mut resolver = Resolver { tree, open: BTreeSet::new() };
    let mut through = Vec::new();
    let mut found = resolver.walk(name.scope, &name.path, &mut through);
    if let (How::Macro, true, Some(last)) = (name.how, found.is_empty(), name.path.last()) {
        found.extend(tree.macros.get(last).map(|&scope| Found::Item(scope, last.clone())));
    }
    let defined = found.into_iter().filter_map(|found| match found {
        Found::Item(scope, item) => Some((scope, Some(item))),
        Found::Module(scope) if name.how == How::Import => Some((scope, None)),
        // A variable with the name of a module.
        Found::Module(_) => None,
    });
    let passed = through.into_iter().map(|scope| (scope, None));
    defined.chain(passed).map(|(scope, item)| Target { file: tree.scopes[scope].file, item }).collect()
}

struct Resolver<'a> {
    tree: &'a Tree,
    /// Imports that are being followed, by scope and number; a second time they lead nowhere. The globs
    /// are counted behind the entries.
    open: BTreeSet<(ScopeId, usize)>,
}

impl Resolver<'_> {
    /// What `path`, written in scope `from`, leads to. `through` gets the modules that it spells out.
    fn walk(&mut self, from: ScopeId, path: &[String], through: &mut Vec<ScopeId>) -> Vec<Found> {
        let (mut here, mut rest) = self.start(from, path);
        while let Some((next, after)) = rest.split_first() {
            let is_module = |f: &Found| if let Found::Module(m) = f { Some(*m) } else { None };
            let modules: BTreeSet<ScopeId> = here.iter().filter_map(is_module).collect();
            if modules.is_empty() {
                // What follows belongs to a type.
                break;
            }
            through.extend(&modules);
            here = modules.iter().flat_map(|&m| self.look_up(m, next, from)).collect();
            if here.is_empty() {
                // A macro made it.
                return modules.into_iter().map(|m| Found::Item(m, next.clone())).collect();
            }
            rest = after;
        }
        here
    }

    /// Where the first words of a path lead, and the words that are left.
    fn start<'p>(&mut self, from: ScopeId, path: &'p [String]) -> (Vec<Found>, &'p [String]) {
        let Some((first, mut rest)) = path.split_first() else { return (Vec::new(), path) };
        let mut scope = match first.as_str() {
            "crate" => 0,
            "self" => from,
            "super" => self.above(from),
            _ => return (self.look_up(from, first, from), rest),
        };
        while let Some((_, after)) = rest.split_first().filter(|(next, _)| *next == "super") {
            (scope, rest) = (self.above(scope), after);
        }
        (vec![Found::Module(scope)], rest)
    }

    fn above(&self, scope: ScopeId) -> ScopeId {
        self.tree.scopes[scope].above.unwrap_or(scope)
    }

    /// What `name` is in `scope` for someone in scope `from`.
    fn look_up(&mut self, scope: ScopeId, name: &str, from: ScopeId) -> Vec<Found> {
        let tree = self.tree;
        let here = &tree.scopes[scope];
        let mut found = Vec::new();
        let mut known = false;
        for (number, entry) in here.entries.iter().enumerate() {
            if entry.name != name || !sees(tree, entry.seen, from) {
                continue;
            }
            known = true;
            match &entry.what {
                What::Item => found.push(Found::Item(scope, name.to_string())),
                What::Module(module) => found.push(Found::Module(*module)),
                What::Import(path) => {
                    found.extend(self.once((scope, number), |r| r.walk(scope, path, &mut Vec::new())));
                }
            }
        }
        // What a scope names itself hides what its globs bring.
        let globs = here.globs.iter().enumerate().filter(|(_, glob)| !known && sees(tree, glob.seen, from));
        for (number, glob) in globs {
            let key = (scope, here.entries.len() + number);
            found.extend(self.once(key, |r| r.in_glob(scope, &glob.path, name)));
        }
        found.sort();
        found.dedup();
        found
    }

    /// What `name` is in the modules that `path` leads to, all of which `scope` imports.
    fn in_glob(&mut self, scope: ScopeId, path: &[String], name: &str) -> Vec<Found> {
        let mut found = Vec::new();
        for target in self.walk(scope, path, &mut Vec::new()) {
            if let Found::Module(module) = target {
                found.extend(self.look_up(module, name, scope));
            }
        }
        found
    }

    /// Follows an import, unless it is being followed already: two modules may import all of each other.
    fn once(&mut self, import: (ScopeId, usize), follow: impl FnOnce(&mut Self) -> Vec<Found>) -> Vec<Found> {
        if !self.open.insert(import) {
            return Vec::new();
        }
        let found = follow(self);
        self.open.remove(&import);
        found
    }
}

/// Whether what is `seen` so can be named in scope `from`.
fn sees(tree: &Tree, seen: Seen, from: ScopeId) -> bool {
    match seen {
        Seen::Everywhere => true,
        Seen::Below(scope) => tree.is_below(from, scope),
        Seen::Only(scope) => scope == from,
    }
}
