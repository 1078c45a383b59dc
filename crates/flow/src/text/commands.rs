//! The commands of a file, and the rules that they leave.

use std::collections::BTreeMap;
use std::collections::hash_map::{DefaultHasher, HashMap};
use std::hash::BuildHasherDefault;

use super::actions::{self, Known, Spread};
use super::value::Form;
use super::words::{TextError, Word, Words};
use super::{RuleFile, TextRule, pattern};
use crate::action::{Action, Vxlan};
use crate::mask::Mask;
use crate::matching::Match;

/// How commands begin that have nothing to do with rules.
const IGNORED: [&[&str]; 14] = [
    &["set", "verbose"],
    &["set", "fwd"],
    &["set", "promisc"],
    &["set", "allmulti"],
    &["set", "nbcore"],
    &["flow", "list"],
    &["flow", "isolate"],
    &["rx_vxlan_port", "add", "4789"],
    &["port"],
    &["show"],
    &["clear"],
    &["start"],
    &["stop"],
    &["quit"],
];
/// What a line may begin with.
const ALLOWED: &str = "allowed: flow, set vxlan, set vxlan-tos-ttl, # for a comment; \
    ignored: set verbose, set fwd, set promisc, set allmulti, set nbcore, port, show, clear, start, stop, quit";

const NUMBER: Form = Form::Number(32);

/// Obeys the commands of a file.
///
/// # Errors
/// The first thing that is not allowed, where it is, and what is.
pub fn read(text: &str) -> Result<RuleFile, TextError> {
    let mut obeyed = Obeyed::default();
    for (number, line) in (1..).zip(text.lines()) {
        obeyed.line(Words::new(line, number))?;
    }
    let rules = obeyed.rules.into_values().collect();
    Ok(RuleFile { rules, spreads: obeyed.spreads, ignored: obeyed.ignored })
}

/// What commands have led to so far.
#[derive(Default)]
struct Obeyed {
    rules: BTreeMap<u32, TextRule>,
    /// Rules by group, priority and match, of which there is one each. Never iterated.
    taken: HashMap<(u16, u32, Match), u32, BuildHasherDefault<DefaultHasher>>,
    spreads: Vec<Spread>,
    vxlan: Option<Vxlan>,
    port: Option<u128>,
    ignored: u32,
}

/// What stands before a pattern.
#[derive(Default)]
struct Attributes {
    group: u16,
    priority: u32,
}

impl Obeyed {
    fn line(&mut self, mut words: Words<'_>) -> Result<(), TextError> {
        if words.peek().text.is_empty() {
            return Ok(());
        }
        if IGNORED.iter().any(|start| begins(words, start)) {
            self.ignored += 1;
            return Ok(());
        }
        let word = words.take();
        match word.text {
            "flow" => self.flow(&mut words)?,
            "set" if matches!(words.peek().text, "vxlan" | "vxlan-tos-ttl") => {
                words.take();
                self.vxlan = Some(actions::vxlan(&mut words)?);
            }
            "set" => return Err(words.take().wrong(ALLOWED)),
            _ => return Err(word.wrong(ALLOWED)),
        }
        words.end()
    }

    fn flow(&mut self, words: &mut Words<'_>) -> Result<(), TextError> {
        let verbs = ["create", "validate", "destroy", "flush", "query"];
        let (verb, word) = words.choose("command of `flow`", verbs)?;
        self.port(words.take())?;
        match verb {
            0 => self.create(words, word),
            1 => self.rule(words).map(|_| ()),
            2 => self.destroy(words),
            3 => {
                self.rules.clear();
                self.taken.clear();
                Ok(())
            }
            _ => self.query(words),
        }
    }

    /// The rules of a file are one port's, from whose wire the frames come.
    fn port(&mut self, word: Word<'_>) -> Result<(), TextError> {
        let port = Form::Number(16).read(word)?;
        let first = *self.port.get_or_insert(port);
        if port == first {
            Ok(())
        } else {
            Err(word.wrong(format!("another port; allowed: {first} as before")))
        }
    }

    fn create(&mut self, words: &mut Words<'_>, word: Word<'_>) -> Result<(), TextError> {
        let mut rule = self.rule(words)?;
        // As in testpmd: one more than the newest rule that there is.
        let number = self.rules.last_key_value().map_or(Some(0), |(last, _)| last.checked_add(1));
        rule.number = number.ok_or_else(|| word.wrong("no number is left"))?;
        for matching in &rule.matches {
            self.taken.insert((rule.group, rule.priority, *matching), rule.number);
        }
        self.rules.insert(rule.number, rule);
        Ok(())
    }

    /// A rule that the tables would take, without a number.
    fn rule(&mut self, words: &mut Words<'_>) -> Result<TextRule, TextError> {
        let Attributes { group, priority } = attributes(words)?;
        let first = words.peek();
        let (matches, pattern_end) = pattern::read(words)?;
        for matching in &matches {
            Mask::new(matching.mask()).map_err(|error| pattern_end.wrong(error))?;
            if let Some(twin) = self.taken.get(&(group, priority, *matching)) {
                let line = self.rules.get(twin).map_or(0, |rule| rule.line);
                let why =
                    format!("rule {twin} of line {line} has this pattern at this priority; allowed: another");
                return Err(first.wrong(why));
            }
        }
        let pattern = words.between(first, pattern_end);
        words.expect("actions")?;
        let first = words.peek();
        let mut known = Known { spreads: &mut self.spreads, vxlan: self.vxlan.unwrap_or(actions::VXLAN) };
        let (actions, end) = actions::read(words, &matches[0], &mut known)?;
        let does = words.between(first, end);
        let line = words.line();
        Ok(TextRule { number: 0, line, group, priority, pattern, does, matches, actions, queried: false })
    }

    /// Numbers that no rule has are passed over, as in testpmd.
    fn destroy(&mut self, words: &mut Words<'_>) -> Result<(), TextError> {
        words.expect("rule")?;
        loop {
            let number = NUMBER.read(words.take())? as u32;
            if let Some(rule) = self.rules.remove(&number) {
                for matching in &rule.matches {
                    self.taken.remove(&(rule.group, rule.priority, *matching));
                }
            }
            if !words.take_if("rule") {
                return Ok(());
            }
        }
    }

    fn query(&mut self, words: &mut Words<'_>) -> Result<(), TextError> {
        let word = words.take();
        let number = NUMBER.read(word)? as u32;
        let rule = self.rules.get_mut(&number).ok_or_else(|| word.wrong("there is no such rule yet"))?;
        let count = words.expect("count")?;
        if !rule.actions.contains(&Action::Count) {
            return Err(count.wrong(format!("rule {number} of line {} has no action `count`", rule.line)));
        }
        rule.queried = true;
        Ok(())
    }
}

/// Whether a line begins with these words.
fn begins(mut words: Words<'_>, start: &[&str]) -> bool {
    start.iter().all(|word| words.take_if(word))
}

/// The attributes, up to `pattern`. Of one that comes twice the last one counts.
fn attributes(words: &mut Words<'_>) -> Result<Attributes, TextError> {
    let mut found = Attributes::default();
    loop {
        match words.choose("attribute", ["group", "priority", "ingress", "pattern"])?.0 {
            0 => found.group = Form::Number(16).read(words.take())? as u16,
            1 => found.priority = NUMBER.read(words.take())? as u32,
            2 => {}
            _ => return Ok(found),
        }
    }
}
