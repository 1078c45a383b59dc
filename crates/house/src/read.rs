//! From the sources of a crate to its [`Tree`].

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use syn::{Item, ItemMod, Visibility};

use crate::names::{self, Leaf, Used};
use crate::tree::{Entry, File, FileId, Glob, How, Name, Scope, ScopeId, Seen, Tree, What};

/// Why sources could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The system refused a file.
    #[error("cannot read {}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A file is no Rust, or no manifest.
    #[error("{}:{line}: {what}", path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        /// What is wrong with it.
        what: String,
    },
    /// A `mod` without a file.
    #[error("{}: module `{module}` has no file: none of {tried}", path.display())]
    NoFile {
        /// Where it is declared.
        path: PathBuf,
        /// Its name.
        module: String,
        /// Where it was looked for.
        tried: String,
    },
    /// There is no such crate.
    #[error("no crate in {}: it has neither src/lib.rs nor src/main.rs", .0.display())]
    NoCrate(PathBuf),
}

/// All crates below `crates` of `root`, in the order of their names.
///
/// # Errors
/// A file cannot be read or is no Rust.
pub fn read_workspace(root: &Path) -> Result<Vec<Tree>, ReadError> {
    let mut trees = Vec::new();
    for name in members(root)? {
        trees.extend(read_crate(root, &name)?);
    }
    Ok(trees)
}

/// The directories below `crates` of `root` that hold a crate, in order.
pub(crate) fn members(root: &Path) -> Result<Vec<String>, ReadError> {
    let crates = root.join("crates");
    let mut names = entries(&crates)?;
    names.retain(|name| crates.join(name).join("Cargo.toml").is_file());
    Ok(names)
}

/// The library and the programs of crate `name` below `crates` of `root`.
///
/// # Errors
/// There is no such crate, or a file of it cannot be read or is no Rust.
pub fn read_crate(root: &Path, name: &str) -> Result<Vec<Tree>, ReadError> {
    let home = Path::new("crates").join(name);
    let src = home.join("src");
    let mut starts: Vec<PathBuf> = ["lib.rs", "main.rs"].iter().map(|file| src.join(file)).collect();
    if root.join(src.join("bin")).is_dir() {
        for program in entries(&root.join(src.join("bin")))? {
            starts.push(src.join("bin").join(&program));
            starts.push(src.join("bin").join(&program).join("main.rs"));
        }
    }
    starts.retain(|start| root.join(start).is_file());
    if starts.is_empty() {
        return Err(ReadError::NoCrate(home));
    }
    starts.into_iter().map(|start| Reader::new(root, name).read(start)).collect()
}

/// The names in a directory, in order.
fn entries(directory: &Path) -> Result<Vec<String>, ReadError> {
    let failed = |error| ReadError::Io { path: directory.to_path_buf(), error };
    let mut names = Vec::new();
    for entry in fs::read_dir(directory).map_err(failed)? {
        names.push(entry.map_err(failed)?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

struct Reader<'a> {
    root: &'a Path,
    tree: Tree,
}

/// Where the files of the modules that a scope declares lie.
struct Place {
    /// The file that is read.
    path: PathBuf,
    /// Where its children are.
    children: PathBuf,
    /// What `#[path]` counts from.
    paths: PathBuf,
}

impl<'a> Reader<'a> {
    fn new(root: &'a Path, name: &str) -> Reader<'a> {
        let tree = Tree {
            name: name.to_string(),
            files: Vec::new(),
            scopes: Vec::new(),
            names: Vec::new(),
            macros: BTreeMap::new(),
        };
        Reader { root, tree }
    }

    fn read(mut self, start: PathBuf) -> Result<Tree, ReadError> {
        self.file(start, Vec::new(), None, true)?;
        Ok(self.tree)
    }

    /// Reads a file and what it declares; `owner` says whether its children lie beside it. Its scope, or
    /// none if only tests compile it.
    fn file(
        &mut self,
        path: PathBuf,
        module: Vec<String>,
        above: Option<ScopeId>,
        owner: bool,
    ) -> Result<Option<ScopeId>, ReadError> {
        let shown = path.clone();
        let text = fs::read_to_string(self.root.join(&path))
            .map_err(|error| ReadError::Io { path: shown.clone(), error })?;
        let parsed = syn::parse_file(&text).map_err(|e| {
            let line = e.span().start().line;
            ReadError::Syntax { path: shown, line, what: e.to_string() }
        })?;
        if names::is_test(&parsed.attrs) {
            return Ok(None);
        }
        let file = self.tree.files.len();
        let above_file = above.map(|scope| self.tree.scopes[scope].file);
        self.tree.files.push(File { path: path.clone(), module, above: above_file });
        let beside = path.parent().unwrap_or(Path::new("")).to_path_buf();
        let children = if owner { beside.clone() } else { path.with_extension("") };
        let scope = self.scope(file, above);
        self.items(scope, &parsed.items, &Place { path, children, paths: beside })?;
        Ok(Some(scope))
    }

    fn scope(&mut self, file: FileId, above: Option<ScopeId>) -> ScopeId {
        self.tree.scopes.push(Scope { file, above, entries: Vec::new(), globs: Vec::new() });
        self.tree.scopes.len() - 1
    }

    fn items(&mut self, scope: ScopeId, items: &[Item], place: &Place) -> Result<(), ReadError> {
        for item in items.iter().filter(|item| !names::is_test(names::attributes(item))) {
            match item {
                Item::Mod(module) => self.module(scope, module, place)?,
                Item::Use(item) => {
                    let seen = self.seen(scope, &item.vis);
                    names::leaves(item).into_iter().for_each(|used| self.import(scope, used, seen));
                }
                _ => {
                    self.define(scope, item);
                    self.names(scope, item);
                }
            }
        }
        Ok(())
    }

    fn module(&mut self, scope: ScopeId, module: &ItemMod, place: &Place) -> Result<(), ReadError> {
        let name = names::text(&module.ident);
        let below = match &module.content {
            Some((_, items)) => {
                let inner = self.scope(self.tree.scopes[scope].file, Some(scope));
                let children = place.children.join(&name);
                let place = Place { path: place.path.clone(), paths: children.clone(), children };
                self.items(inner, items, &place)?;
                Some(inner)
            }
            None => {
                let (path, owner) = self.find(module, &name, place)?;
                let mut of = self.path_of(scope);
                of.push(name.clone());
                self.file(path, of, Some(scope), owner)?
            }
        };
        if let Some(below) = below {
            let seen = self.seen(scope, &module.vis);
            self.tree.scopes[scope].entries.push(Entry { name, what: What::Module(below), seen });
        }
        Ok(())
    }

    /// The path of a scope's module, as far as files tell.
    fn path_of(&self, scope: ScopeId) -> Vec<String> {
        self.tree.files[self.tree.scopes[scope].file].module.clone()
    }

    /// The file of a module, and whether its children lie beside it.
    fn find(&self, module: &ItemMod, name: &str, place: &Place) -> Result<(PathBuf, bool), ReadError> {
        let tried = match told_path(module) {
            Some(told) => vec![(place.paths.join(told), true)],
            None => {
                let flat = place.children.join(format!("{name}.rs"));
                vec![(flat, false), (place.children.join(name).join("mod.rs"), true)]
            }
        };
        if let Some(found) = tried.iter().find(|(path, _)| self.root.join(path).is_file()) {
            return Ok(found.clone());
        }
        let tried = tried.iter().map(|(path, _)| path.display().to_string()).collect::<Vec<_>>().join(", ");
        Err(ReadError::NoFile { path: place.path.clone(), module: name.to_string(), tried })
    }

    fn seen(&self, scope: ScopeId, visibility: &Visibility) -> Seen {
        match visibility {
            Visibility::Public(_) => Seen::Everywhere,
            Visibility::Restricted(to) if to.path.is_ident("super") => {
                Seen::Below(self.tree.scopes[scope].above.unwrap_or(scope))
            }
            Visibility::Restricted(to) if !to.path.is_ident("self") => Seen::Everywhere,
            _ => Seen::Below(scope),
        }
    }

    fn import(&mut self, scope: ScopeId, used: Used, seen: Seen) {
        let Used { path, line, leaf } = used;
        self.tree.names.push(Name { scope, path: path.clone(), line, how: How::Import });
        let here = &mut self.tree.scopes[scope];
        match leaf {
            Leaf::Known(name) => here.entries.push(Entry { name, what: What::Import(path), seen }),
            Leaf::Glob => here.globs.push(Glob { path, seen }),
            Leaf::Unnamed => {}
        }
    }

    /// Puts the name of `item` into its scope.
    fn define(&mut self, scope: ScopeId, item: &Item) {
        if let Item::Macro(item) = item {
            if let Some(ident) = &item.ident {
                self.tree.macros.insert(names::text(ident), scope);
                self.entry(scope, ident, Seen::Below(scope));
            }
            return;
        }
        let (ident, visibility) = match item {
            Item::Const(i) => (&i.ident, &i.vis),
            Item::Enum(i) => (&i.ident, &i.vis),
            Item::Fn(i) => (&i.sig.ident, &i.vis),
            Item::Static(i) => (&i.ident, &i.vis),
            Item::Struct(i) => (&i.ident, &i.vis),
            Item::Trait(i) => (&i.ident, &i.vis),
            Item::TraitAlias(i) => (&i.ident, &i.vis),
            Item::Type(i) => (&i.ident, &i.vis),
            Item::Union(i) => (&i.ident, &i.vis),
            _ => return,
        };
        let seen = self.seen(scope, visibility);
        self.entry(scope, ident, seen);
    }

    fn entry(&mut self, scope: ScopeId, ident: &syn::Ident, seen: Seen) {
        let entry = Entry { name: names::text(ident), what: What::Item, seen };
        self.tree.scopes[scope].entries.push(entry);
    }

    fn names(&mut self, scope: ScopeId, item: &Item) {
        let names = names::of(item);
        names.uses.into_iter().for_each(|used| self.import(scope, used, Seen::Only(scope)));
        let of_scope = |n: names::Found| Name { scope, path: n.path, line: n.line, how: n.how };
        self.tree.names.extend(names.found.into_iter().map(of_scope));
    }
}

/// What `#[path = "..."]` says.
fn told_path(module: &ItemMod) -> Option<String> {
    let told = module.attrs.iter().find(|a| a.path().is_ident("path"))?;
    let value = &told.meta.require_name_value().ok()?.value;
    match value {
        syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => Some(text.value()),
        _ => None,
    }
}
