//! Patterns: items into matches.

use super::items::{ITEMS, Item, Kind, Means, Part, TAGGED, TUNNEL, TUNNEL_KEY};
use super::range::{Asked, MEANINGS, MOST};
use super::words::{TextError, Word, Words};
use crate::error::Error;
use crate::field::{Field, Header, Layer};
use crate::matching::Match;
use crate::sizes::TAGS;

/// Types that announce a tag.
const TAG_TYPES: [u128; 3] = [0x8100, 0x88a8, 0x9100];
/// More fragments, and the offset.
const FRAGMENT: u128 = 0x3fff;

/// A field with what is asked of it.
type Given<'a> = (&'static Part, Asked<'a>);

/// What a pattern asks so far, and where in a frame it is.
struct Pattern {
    /// A frame has to match one of these.
    matches: Vec<Match>,
    layer: Layer,
    /// The floor of the last header of the layer.
    floor: Option<u8>,
    /// Items `vlan` of the layer.
    tags: u8,
}

/// Reads a pattern up to its `end`, which it gives too.
pub(super) fn read<'a>(words: &mut Words<'a>) -> Result<(Vec<Match>, Word<'a>), TextError> {
    let mut pattern = Pattern { matches: vec![Match::any()], layer: Layer::Outer, floor: None, tags: 0 };
    loop {
        let names = ITEMS.iter().map(|item| item.name).chain(["end"]);
        let (index, word) = words.choose("item of a pattern", names)?;
        let Some(item) = ITEMS.get(index) else { return Ok((pattern.matches, word)) };
        pattern.enter(item, word)?;
        let given = fields(words, item)?;
        pattern.ask(&given)?;
    }
}

/// The fields of an item, up to the slash behind it.
fn fields<'a>(words: &mut Words<'a>, item: &'static Item) -> Result<Vec<Given<'a>>, TextError> {
    let mut given: Vec<Given<'a>> = Vec::new();
    loop {
        let names = item.fields.iter().map(|part| part.name).chain(["/"]);
        let (index, word) = words.choose(&format!("field of `{}`", item.name), names)?;
        let Some(part) = item.fields.get(index) else { return Ok(given) };
        let (meaning, _) = words.choose(&format!("way to ask for `{}`", part.name), MEANINGS)?;
        let at = given.iter().position(|(p, _)| p.name == part.name).unwrap_or_else(|| {
            given.push((part, Asked::new(word, part.form)));
            given.len() - 1
        });
        given[at].1.add(meaning, words.take())?;
    }
}

impl Pattern {
    /// Comes to an item: headers go up in the stack, and those behind a tunnel's begin anew.
    fn enter(&mut self, item: &Item, word: Word<'_>) -> Result<(), TextError> {
        let Kind::Header(header, floor) = item.kind else { return Ok(()) };
        let tunnelled = self.floor.is_some_and(|last| last >= TUNNEL);
        if tunnelled && floor != TUNNEL_KEY {
            if self.layer == Layer::Inner {
                return Err(word.wrong("behind a second tunnel; allowed: items up to its header"));
            }
            (self.layer, self.floor, self.tags) = (Layer::Inner, None, 0);
        }
        let after_gre = self.matches.iter().all(|m| m.asks_for(self.layer, Header::Gre));
        if floor == TUNNEL_KEY && !after_gre {
            return Err(word.wrong("not behind gre; allowed: gre / gre_key"));
        }
        let second_tag = floor == TAGGED && self.floor == Some(TAGGED) && self.tags == 1;
        if self.floor.is_some_and(|last| floor <= last) && !second_tag {
            let why =
                "out of order; allowed: eth, up to two vlan, mpls or ipv4 or ipv6, a transport, a tunnel";
            return Err(word.wrong(why));
        }
        self.floor = Some(floor);
        self.tags += u8::from(floor == TAGGED);
        let header = if second_tag { Header::Qinq } else { header };
        let layer = self.layer;
        self.each(word, |m| m.has(layer, header))
    }

    fn ask(&mut self, given: &[Given<'_>]) -> Result<(), TextError> {
        let tag = match given.iter().find(|(part, _)| part.means == Means::Index) {
            Some((_, asked)) => tag(asked)?,
            None => Field::Tag0,
        };
        for (part, asked) in given {
            match part.means {
                Means::Index => {}
                Means::Bits { field: Field::Tag0, shift } => self.bits(tag, shift, asked)?,
                Means::Bits { field: Field::VlanTci, shift } if self.tags == 2 => {
                    self.bits(Field::QinqTci, shift, asked)?;
                }
                Means::Bits { field, shift } => self.bits(field, shift, asked)?,
                Means::EthType => self.ethertype(Header::Vlan, asked)?,
                Means::InnerType if self.tags == 2 => self.bits(Field::EthType, 0, asked)?,
                Means::InnerType => self.ethertype(Header::Qinq, asked)?,
                Means::HasVlan => self.presence(Header::Vlan, flag(asked)?, asked.word)?,
                Means::HasMoreVlan if self.tags == 2 => {
                    return Err(asked.word.wrong("behind two tags; allowed: in the first item vlan"));
                }
                Means::HasMoreVlan => self.presence(Header::Qinq, flag(asked)?, asked.word)?,
                Means::Fragment => self.presence(Header::Fragment, fragment(asked)?, asked.word)?,
            }
        }
        Ok(())
    }

    /// Changes all matches alike.
    fn each(
        &mut self,
        word: Word<'_>,
        change: impl Fn(Match) -> Result<Match, Error>,
    ) -> Result<(), TextError> {
        for matching in &mut self.matches {
            *matching = change(*matching).map_err(|error| word.wrong(error))?;
        }
        Ok(())
    }

    /// Bits of a field, from `shift` on: as many matches for each that there is as there are alternatives.
    fn bits(&mut self, field: Field, shift: u32, asked: &Asked<'_>) -> Result<(), TextError> {
        let alternatives = asked.alternatives()?;
        let all = self.matches.len() * alternatives.len();
        if all > MOST {
            let why = format!("the ranges of the rule take {all} masks and more; {MOST} are allowed");
            return Err(asked.word.wrong(why));
        }
        let mut matches = Vec::with_capacity(all);
        for matching in &self.matches {
            for (value, mask) in &alternatives {
                let more = match mask {
                    // Every value: the header is asked for already.
                    0 => Ok(*matching),
                    _ => matching.masked(self.layer, field, value << shift, mask << shift),
                };
                matches.push(more.map_err(|error| asked.word.wrong(error))?);
            }
        }
        self.matches = matches;
        Ok(())
    }

    /// A type in front of which `tag` may not stand: the key has the type behind all tags.
    fn ethertype(&mut self, tag: Header, asked: &Asked<'_>) -> Result<(), TextError> {
        let alternatives = asked.alternatives()?;
        if alternatives.iter().all(|(_, mask)| *mask == 0) {
            return Ok(());
        }
        let announces = |kind: &u128| alternatives.iter().any(|(value, mask)| kind & mask == *value);
        if let Some(kind) = TAG_TYPES.iter().find(|kind| announces(kind)) {
            let why = format!("it takes in {kind:#x}, the type of a tag; allowed: an item vlan instead");
            return Err(asked.word.wrong(why));
        }
        self.presence(tag, false, asked.word)?;
        self.bits(Field::EthType, 0, asked)
    }

    fn presence(&mut self, header: Header, there: bool, word: Word<'_>) -> Result<(), TextError> {
        let layer = self.layer;
        self.each(word, |m| if there { m.has(layer, header) } else { m.lacks(layer, header) })
    }
}

fn flag(asked: &Asked<'_>) -> Result<bool, TextError> {
    let value = asked.exact().ok_or_else(|| asked.word.wrong("allowed: `is 0` or `is 1`"))?;
    Ok(value == 1)
}

fn tag(asked: &Asked<'_>) -> Result<Field, TextError> {
    let index = asked.exact().and_then(|index| Field::tag(index as u8));
    index.ok_or_else(|| asked.word.wrong(format!("allowed: `is 0` to `is {}`", TAGS - 1)))
}

/// The key says whether a packet is a fragment, not which one.
fn fragment(asked: &Asked<'_>) -> Result<bool, TextError> {
    if asked.is_range(1, FRAGMENT, FRAGMENT) {
        return Ok(true);
    }
    if asked.alternatives().is_ok_and(|all| all == [(0, FRAGMENT)]) {
        return Ok(false);
    }
    let whole = "`spec 0` with `mask 0x3fff` for no fragment";
    Err(asked.word.wrong(format!("allowed: {whole}, or `spec 1`, `last 0x3fff` and `mask 0x3fff` for any")))
}
