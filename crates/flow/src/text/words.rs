//! A line as words, and errors that say where they are.

use core::fmt::Display;

/// What is wrong with a file, where, and what is allowed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {what}")]
pub struct TextError {
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
    /// What is wrong, and what is allowed.
    pub what: String,
}

/// Characters of a word that an error shows.
const SHOWN: usize = 40;

/// A word and where it is; empty at the end of the line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Word<'a> {
    pub(super) text: &'a str,
    line: &'a str,
    number: u32,
    at: usize,
}

impl Word<'_> {
    /// An error at this word.
    pub(super) fn wrong(self, why: impl Display) -> TextError {
        let column = self.line[..self.at].chars().count() as u32 + 1;
        let mut shown: String = self.text.chars().take(SHOWN).flat_map(char::escape_debug).collect();
        if self.text.chars().nth(SHOWN).is_some() {
            shown += "...";
        }
        let what =
            if shown.is_empty() { format!("the line ends here: {why}") } else { format!("`{shown}`: {why}") };
        TextError { line: self.number, column, what }
    }

    /// Its first byte in the line.
    pub(super) fn at(self) -> usize {
        self.at
    }
}

/// The words of a line, one after the other. A comment ends it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Words<'a> {
    line: &'a str,
    number: u32,
    at: usize,
}

impl<'a> Words<'a> {
    /// Those of `line`, the file's line `number` from 1.
    pub(super) fn new(line: &'a str, number: u32) -> Words<'a> {
        let end = line.find('#').unwrap_or(line.len());
        Words { line: line[..end].trim_end(), number, at: 0 }
    }

    /// The file's line that this is.
    pub(super) fn line(&self) -> u32 {
        self.number
    }

    /// The next word, which stays.
    pub(super) fn peek(&self) -> Word<'a> {
        let rest = &self.line[self.at..];
        let word = rest.trim_start();
        let at = self.at + rest.len() - word.len();
        let text = word.split(char::is_whitespace).next().unwrap_or_default();
        Word { text, line: self.line, number: self.number, at }
    }

    /// The next word.
    pub(super) fn take(&mut self) -> Word<'a> {
        let word = self.peek();
        self.at = word.at + word.text.len();
        word
    }

    /// Takes the next word if it is `text`.
    pub(super) fn take_if(&mut self, text: &str) -> bool {
        let is = self.peek().text == text;
        if is {
            self.take();
        }
        is
    }

    /// Takes `text`, or else says that it alone is allowed.
    pub(super) fn expect(&mut self, text: &str) -> Result<Word<'a>, TextError> {
        let word = self.take();
        if word.text == text { Ok(word) } else { Err(word.wrong(format!("allowed: {text}"))) }
    }

    /// Takes a word that `names` has, and tells which. `what` is the kind of thing that they are.
    pub(super) fn choose(
        &mut self,
        what: &str,
        names: impl IntoIterator<Item = &'static str> + Clone,
    ) -> Result<(usize, Word<'a>), TextError> {
        let word = self.take();
        match names.clone().into_iter().position(|name| name == word.text) {
            Some(index) => Ok((index, word)),
            None => {
                let all: Vec<&str> = names.into_iter().collect();
                Err(word.wrong(format!("no {what}; allowed: {}", all.join(", "))))
            }
        }
    }

    /// That the line has no more words.
    pub(super) fn end(&mut self) -> Result<(), TextError> {
        let word = self.take();
        if word.text.is_empty() { Ok(()) } else { Err(word.wrong("allowed: nothing more on this line")) }
    }

    /// What stands from `from` up to `to`, with one space between words.
    pub(super) fn between(&self, from: Word<'_>, to: Word<'_>) -> String {
        let text = self.line.get(from.at()..to.at()).unwrap_or_default();
        let words: Vec<&str> = text.split_whitespace().collect();
        words.join(" ").trim_end_matches([' ', '/']).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_characters_and_comments_end_a_line() {
        let mut words = Words::new("  é\u{3000}flow  x#y", 7);
        assert_eq!(words.take().wrong("w").to_string(), "line 7, column 3: `é`: w");
        assert_eq!(words.expect("flow").map(|w| w.wrong("w").column), Ok(5));
        let error = words.choose("fruit", ["apple", "pear"]).unwrap_err();
        assert_eq!(error.to_string(), "line 7, column 11: `x`: no fruit; allowed: apple, pear");
        assert_eq!(words.peek().wrong("w").to_string(), "line 7, column 12: the line ends here: w");
        assert!(words.end().is_ok() && words.end().is_ok());
        let escape = Words::new(&format!("\u{1b}[1m{}", "é".repeat(99)), 1).take().wrong("").what;
        assert!(escape.contains("\\u{1b}[1m") && escape.contains("...") && escape.len() < 120, "{escape}");
    }
}
