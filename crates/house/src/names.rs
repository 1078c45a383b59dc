//! The paths in one item.

use std::collections::BTreeSet;

use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};
use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};
use syn::{Attribute, Item, Meta, Path, Token, UseTree};

use crate::tree::How;

/// What one item names.
#[derive(Default)]
pub(crate) struct Names {
    pub(crate) found: Vec<Found>,
    /// `use` items inside functions.
    pub(crate) uses: Vec<Used>,
    /// Variables that the item binds: a word of one of these is no path.
    variables: BTreeSet<String>,
    /// Type parameters.
    parameters: BTreeSet<String>,
}

pub(crate) struct Found {
    pub(crate) path: Vec<String>,
    pub(crate) line: usize,
    pub(crate) how: How,
}

/// One leaf of a `use`.
pub(crate) struct Used {
    pub(crate) path: Vec<String>,
    pub(crate) line: usize,
    pub(crate) leaf: Leaf,
}

pub(crate) enum Leaf {
    /// The name by which it is known from here on.
    Known(String),
    /// `as _`.
    Unnamed,
    /// All that the path has.
    Glob,
}

/// What `item` names.
pub(crate) fn of(item: &Item) -> Names {
    let mut bound = Bound::default();
    bound.visit_item(item);
    let mut names = Names { variables: bound.variables, parameters: bound.parameters, ..Names::default() };
    names.visit_item(item);
    names
}

/// The leaves of a `use`; none if it names another crate by `::`.
pub(crate) fn leaves(item: &syn::ItemUse) -> Vec<Used> {
    let mut all = Vec::new();
    if item.leading_colon.is_none() {
        unfold(&item.tree, &[], &mut all);
    }
    all
}

fn unfold(tree: &UseTree, before: &[String], all: &mut Vec<Used>) {
    let with = |ident: &Ident| {
        // `use a::{self}` is `a`.
        let name = text(ident);
        let more = if name == "self" && !before.is_empty() { None } else { Some(name) };
        before.iter().cloned().chain(more).collect::<Vec<_>>()
    };
    match tree {
        UseTree::Path(p) => unfold(&p.tree, &with(&p.ident), all),
        UseTree::Group(group) => group.items.iter().for_each(|tree| unfold(tree, before, all)),
        UseTree::Name(n) => {
            let path = with(&n.ident);
            let leaf = path.last().map_or(Leaf::Unnamed, |name| Leaf::Known(name.clone()));
            all.push(Used { path, line: line(&n.ident), leaf });
        }
        UseTree::Rename(r) => {
            let leaf = if r.rename == "_" { Leaf::Unnamed } else { Leaf::Known(text(&r.rename)) };
            all.push(Used { path: with(&r.ident), line: line(&r.ident), leaf });
        }
        UseTree::Glob(g) => {
            let line = g.star_token.spans[0].start().line;
            all.push(Used { path: before.to_vec(), line, leaf: Leaf::Glob });
        }
    }
}

/// Whether only tests compile what has these attributes.
pub(crate) fn is_test(attributes: &[Attribute]) -> bool {
    let needs_test = |a: &Attribute| a.path().is_ident("cfg") && a.parse_args().is_ok_and(|m| means_test(&m));
    attributes.iter().any(needs_test)
}

fn means_test(condition: &Meta) -> bool {
    let parts = |list: &syn::MetaList| {
        list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated).unwrap_or_default()
    };
    match condition {
        Meta::Path(path) => path.is_ident("test"),
        Meta::List(list) if list.path.is_ident("all") => parts(list).iter().any(means_test),
        Meta::List(list) if list.path.is_ident("any") => parts(list).iter().all(means_test),
        _ => false,
    }
}

impl Names {
    fn add(&mut self, path: Vec<String>, line: usize, how: How) {
        let (Some(first), one) = (path.first(), path.len() == 1) else { return };
        let bound = self.parameters.contains(first) || one && self.variables.contains(first);
        let own = first == "Self" || one && first == "self";
        if how == How::Macro || !bound && !own {
            self.found.push(Found { path, line, how });
        }
    }

    fn add_path(&mut self, path: &Path, how: How) {
        if let (None, Some(first)) = (path.leading_colon, path.segments.first()) {
            self.add(path.segments.iter().map(|s| text(&s.ident)).collect(), line(&first.ident), how);
        }
    }

    /// Whatever looks like a path among a macro's tokens. Words alone are taken only where `words` says so:
    /// in a macro's definition they belong to whoever calls it.
    fn scan(&mut self, tokens: TokenStream, words: bool) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while at < tokens.len() {
            match &tokens[at] {
                TokenTree::Group(group) => self.scan(group.stream(), words),
                TokenTree::Ident(first) => {
                    let (path, end) = path_at(&tokens, at);
                    if let Some(how) = meaning(&tokens, at, end, &path).filter(|_| words || path.len() > 1) {
                        self.add(path, line(first), how);
                    }
                    at = end;
                    continue;
                }
                _ => {}
            }
            at += 1;
        }
    }
}

/// The words from `at` on that `::` joins, and where they end.
fn path_at(tokens: &[TokenTree], at: usize) -> (Vec<String>, usize) {
    let mut path = Vec::new();
    let mut end = at;
    while let Some(TokenTree::Ident(word)) = tokens.get(end) {
        path.push(text(word));
        end += 1;
        let joined = is(tokens.get(end), ':') && is(tokens.get(end + 1), ':');
        if !joined || !matches!(tokens.get(end + 2), Some(TokenTree::Ident(_))) {
            break;
        }
        end += 2;
    }
    (path, end)
}

/// How the path that `at..end` spells is used, if it is a path at all.
fn meaning(tokens: &[TokenTree], at: usize, end: usize, path: &[String]) -> Option<How> {
    let before = |n: usize| at.checked_sub(n).and_then(|i| tokens.get(i));
    let field = is(before(1), '.') && !is(before(2), '.');
    let absolute = is(before(1), ':') && is(before(2), ':');
    let variable = is(before(1), '$') && path[0] != "crate";
    if field || absolute || variable || is(before(1), '\'') {
        return None;
    }
    if is(tokens.get(end), '!') && !is(tokens.get(end + 1), '=') {
        return Some(How::Macro);
    }
    let called =
        matches!(tokens.get(end), Some(TokenTree::Group(g)) if g.delimiter() == Delimiter::Parenthesis);
    (path.len() > 1 || called || is_upper(&path[0])).then_some(How::Path)
}

fn is(token: Option<&TokenTree>, what: char) -> bool {
    matches!(token, Some(TokenTree::Punct(p)) if p.as_char() == what)
}

fn is_upper(word: &str) -> bool {
    word.starts_with(char::is_uppercase)
}

/// A word without the `r#` that lets it be a keyword.
pub(crate) fn text(ident: &Ident) -> String {
    let word = ident.to_string();
    word.strip_prefix("r#").map_or(word.clone(), str::to_string)
}

fn line(ident: &Ident) -> usize {
    ident.span().start().line
}

impl<'ast> Visit<'ast> for Names {
    fn visit_item(&mut self, item: &'ast Item) {
        if !is_test(attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.uses.extend(leaves(item));
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if !is_test(&item.attrs) {
            visit::visit_impl_item_fn(self, item);
        }
    }

    fn visit_local(&mut self, local: &'ast syn::Local) {
        if !is_test(&local.attrs) {
            visit::visit_local(self, local);
        }
    }

    fn visit_item_macro(&mut self, item: &'ast syn::ItemMacro) {
        if item.ident.is_some() {
            self.scan(item.mac.tokens.clone(), false);
        } else {
            visit::visit_item_macro(self, item);
        }
    }

    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        self.add_path(&mac.path, How::Macro);
        self.scan(mac.tokens.clone(), true);
    }

    fn visit_path(&mut self, path: &'ast Path) {
        self.add_path(path, How::Path);
        visit::visit_path(self, path);
    }

    fn visit_pat_ident(&mut self, pattern: &'ast syn::PatIdent) {
        // A constant or a variant without fields looks like a variable.
        if is_upper(&text(&pattern.ident)) {
            self.add(vec![text(&pattern.ident)], line(&pattern.ident), How::Path);
        }
        visit::visit_pat_ident(self, pattern);
    }

    // `derive`, `serde`, `pub(crate)`: no names of ours.
    fn visit_attribute(&mut self, _: &'ast Attribute) {}
    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}
}

/// What an item binds.
#[derive(Default)]
struct Bound {
    variables: BTreeSet<String>,
    parameters: BTreeSet<String>,
}

impl<'ast> Visit<'ast> for Bound {
    fn visit_pat_ident(&mut self, pattern: &'ast syn::PatIdent) {
        let name = text(&pattern.ident);
        if !is_upper(&name) {
            self.variables.insert(name);
        }
        visit::visit_pat_ident(self, pattern);
    }

    fn visit_type_param(&mut self, parameter: &'ast syn::TypeParam) {
        self.parameters.insert(text(&parameter.ident));
    }

    fn visit_const_param(&mut self, parameter: &'ast syn::ConstParam) {
        self.parameters.insert(text(&parameter.ident));
    }
}

/// The attributes of an item.
pub(crate) fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(i) => &i.attrs,
        Item::Enum(i) => &i.attrs,
        Item::ExternCrate(i) => &i.attrs,
        Item::Fn(i) => &i.attrs,
        Item::ForeignMod(i) => &i.attrs,
        Item::Impl(i) => &i.attrs,
        Item::Macro(i) => &i.attrs,
        Item::Mod(i) => &i.attrs,
        Item::Static(i) => &i.attrs,
        Item::Struct(i) => &i.attrs,
        Item::Trait(i) => &i.attrs,
        Item::TraitAlias(i) => &i.attrs,
        Item::Type(i) => &i.attrs,
        Item::Union(i) => &i.attrs,
        Item::Use(i) => &i.attrs,
        _ => &[],
    }
}
