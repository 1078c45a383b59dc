//! A configuration as text: `layout=pad,ring=64`. What is not named is as by default.

use std::fmt;
use std::str::FromStr;

use rings::Choice;
use rings::ccnic::{Back, Layout};

use crate::config::{Config, EVENTS, told};
use crate::error::Error;

impl FromStr for Config {
    type Err = Error;

    /// `KEY=VALUE,...` of `layout`, `back`, `ring`, `buffers`, `bytes` and `events`.
    fn from_str(text: &str) -> Result<Config, Error> {
        let mut config = Config::default();
        for pair in text.split(',').filter(|pair| !pair.is_empty()) {
            let Some((key, value)) = pair.split_once('=') else {
                return Err(Error::Config(format!("`{pair}`: a size without a value; allowed: KEY=VALUE")));
            };
            config.set(key, value)?;
        }
        config.check()?;
        Ok(config)
    }
}

impl Config {
    fn set(&mut self, key: &str, value: &str) -> Result<(), Error> {
        match key {
            "layout" => self.layout = one_of(Layout::ALL, key, value)?,
            "back" => self.back = one_of(Back::ALL, key, value)?,
            "events" => self.events = one_of(&EVENTS, key, value)?,
            "ring" => self.ring = number(key, value)?,
            "buffers" => self.buffers = number(key, value)?,
            "bytes" => self.bytes = number(key, value)?,
            _ => {
                let names = self.words().map(|(name, _)| name).join(", ");
                return Err(Error::Config(format!("no size `{key}`; allowed: {names}")));
            }
        }
        Ok(())
    }
}

fn one_of<T: Copy>(all: &[(&str, T)], key: &str, value: &str) -> Result<T, Error> {
    let found = all.iter().find(|(name, _)| *name == value).map(|(_, one)| *one);
    found.ok_or_else(|| {
        let names: Vec<_> = all.iter().map(|(name, _)| *name).collect();
        Error::Config(format!("{key}={value}; allowed: {}", names.join(", ")))
    })
}

fn number(key: &str, value: &str) -> Result<u32, Error> {
    value.parse().map_err(|_| Error::Config(format!("{key}={value}; allowed: a number")))
}

impl fmt::Display for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let told = self.words().map(|(name, value)| format!("{name}={}", told(name, value)));
        f.write_str(&told.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_taken_and_given_back() {
        let all = "layout=pad,back=clear,ring=64,buffers=512,bytes=1500,events=off";
        let config: Config = all.parse().unwrap();
        assert_eq!(config.to_string(), all);
        assert_eq!("".parse::<Config>().unwrap(), Config::default());
        assert_eq!("ring=64".parse::<Config>().unwrap(), Config { ring: 64, ..Config::default() });
    }

    #[test]
    fn what_is_not_allowed_is_named() {
        for (text, said) in [
            ("layout=round", "layout=round; allowed: group, pad, pack, dense"),
            ("events=1", "events=1; allowed: off, on"),
            ("ring=many", "ring=many; allowed: a number"),
            ("ring=63", "a ring of 63; allowed: a power of two from 2 to 2^20"),
            ("ring", "`ring`: a size without a value; allowed: KEY=VALUE"),
            ("rings=64", "no size `rings`; allowed: layout, back, ring, buffers, bytes, events"),
        ] {
            assert_eq!(text.parse::<Config>().unwrap_err().to_string(), said);
        }
    }
}
