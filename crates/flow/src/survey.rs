//! What can be told of rules without a frame: how many masks a group has, and which rules never win.

use std::collections::BTreeMap;
use std::collections::hash_map::{DefaultHasher, HashMap};
use std::hash::BuildHasherDefault;

use crate::field::WORDS;
use crate::rule::Rule;

type Words = [u64; WORDS];
/// Of each value under a mask the rule with the best priority: priority and index. Never iterated.
type Best = HashMap<Words, (u32, usize), BuildHasherDefault<DefaultHasher>>;

/// What rules have in common.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// Different masks of each group, each of which costs a look-up of its own.
    pub masks: BTreeMap<u16, usize>,
    /// For each rule the index of one with a better priority that matches all that it matches, if there is one. A rule
    /// that several others take all frames from together is not found.
    pub shadowed: Vec<Option<usize>>,
}

/// Looks at rules, in a time that grows with the rules times the masks of their group.
pub fn survey(rules: &[Rule<'_>]) -> Survey {
    let mut groups: BTreeMap<u16, BTreeMap<Words, Best>> = BTreeMap::new();
    for (index, rule) in rules.iter().enumerate() {
        let masks = groups.entry(rule.group).or_default();
        let best = masks.entry(*rule.matching.mask()).or_default();
        let known = best.entry(rule.matching.value().words).or_insert((rule.priority, index));
        *known = (*known).min((rule.priority, index));
    }
    let shadowed = rules.iter().map(|rule| groups.get(&rule.group).and_then(|masks| shadow(rule, masks)));
    Survey {
        shadowed: shadowed.collect(),
        masks: groups.iter().map(|(group, masks)| (*group, masks.len())).collect(),
    }
}

/// The best of the rules that match all that `rule` matches, if its priority is better.
fn shadow(rule: &Rule<'_>, masks: &BTreeMap<Words, Best>) -> Option<usize> {
    let (value, own) = (rule.matching.value().words, rule.matching.mask());
    let wider = masks.iter().filter(|(mask, _)| mask.iter().zip(own).all(|(mask, own)| mask & !own == 0));
    let covering =
        wider.filter_map(|(mask, best)| best.get(&core::array::from_fn(|at| value[at] & mask[at])));
    let (priority, index) = covering.min()?;
    (*priority < rule.priority).then_some(*index)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Acts, Ask, Draft, Shape};
    use proptest::prelude::*;

    fn draft() -> impl Strategy<Value = Draft> {
        let acts = Acts { fate: 0, extra: 0, value: 0 };
        (0..2_u8, any::<u8>(), 0..20_u8, any::<u8>(), any::<u8>()).prop_map(
            move |(group, priority, kind, value, bits)| Draft {
                group,
                priority,
                ask: Ask { kind, value, bits },
                acts,
            },
        )
    }

    // Under Miri a case takes some ten seconds.
    const CASES: u32 = if cfg!(miri) { 4 } else { 256 };

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(CASES) })]

        #[test]
        fn a_shadowed_rule_never_wins(
            drafts in prop::collection::vec(draft(), 1..40),
            shapes in prop::collection::vec(any::<[u8; 3]>(), 40),
        ) {
            let rules: Vec<_> = drafts.iter().filter_map(|draft| draft.rule().ok()).collect();
            let found = survey(&rules);
            for (rule, by) in rules.iter().zip(&found.shadowed) {
                let Some(by) = by.map(|by| &rules[by]) else { continue };
                prop_assert!(by.group == rule.group && by.priority < rule.priority);
                for [kind, value, more] in &shapes {
                    let key = Shape { kind: *kind, value: *value, more: *more }.key();
                    prop_assert!(!rule.matching.matches(&key) || by.matching.matches(&key));
                }
            }
            // No pair is missed: each mask and value of one that covers is the other's, or free.
            for (rule, by) in rules.iter().zip(&found.shadowed) {
                let covers = |other: &Rule<'_>| {
                    let words = other.matching.mask().iter().zip(&other.matching.value().words);
                    let own = rule.matching.mask().iter().zip(&rule.matching.value().words);
                    words.zip(own).all(|((m, v), (own, value))| m & !own == 0 && value & m == *v)
                };
                let any = rules.iter().any(|o| o.group == rule.group && o.priority < rule.priority && covers(o));
                prop_assert_eq!(any, by.is_some());
            }
        }
    }
}
