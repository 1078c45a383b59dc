//! Values: numbers and addresses.

use core::net::{Ipv4Addr, Ipv6Addr};

use super::words::{TextError, Word};

/// How a value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// A number of so many bits, decimal or hexadecimal.
    Number(u32),
    /// An address of Ethernet.
    Mac,
    /// An address of IPv4, or its number.
    Ipv4,
    /// An address of IPv6.
    Ipv6,
}

impl Form {
    /// Bits of a value.
    pub(super) fn bits(self) -> u32 {
        match self {
            Form::Number(bits) => bits,
            Form::Mac => 48,
            Form::Ipv4 => 32,
            Form::Ipv6 => 128,
        }
    }

    /// The largest value.
    pub(super) fn largest(self) -> u128 {
        low(self.bits())
    }

    /// The value that `word` writes.
    pub(super) fn read(self, word: Word<'_>) -> Result<u128, TextError> {
        let value = match self {
            Form::Number(_) => number(word.text),
            Form::Mac => mac(word.text),
            Form::Ipv4 => {
                let address = word.text.parse::<Ipv4Addr>().ok();
                address.map(|a| u32::from(a).into()).or_else(|| number(word.text))
            }
            Form::Ipv6 => word.text.parse::<Ipv6Addr>().ok().map(u128::from),
        };
        value.filter(|v| *v <= self.largest()).ok_or_else(|| word.wrong(self.allowed()))
    }

    fn allowed(self) -> String {
        match self {
            Form::Number(_) => format!("allowed: 0 to {0} (0x{0:x}), decimal or hexadecimal", self.largest()),
            Form::Mac => "allowed: an Ethernet address such as 02:00:00:00:00:01".into(),
            Form::Ipv4 => "allowed: an IPv4 address such as 10.0.0.1".into(),
            Form::Ipv6 => "allowed: an IPv6 address such as 2001:db8::1".into(),
        }
    }
}

/// A number with the lowest `bits` bits set.
pub(super) fn low(bits: u32) -> u128 {
    u128::MAX.checked_shr(128 - bits.min(128)).unwrap_or(0)
}

/// Decimal, or hexadecimal behind `0x`. A leading zero would make it octal for testpmd, so none is allowed.
fn number(text: &str) -> Option<u128> {
    let (digits, radix) = match text.strip_prefix("0x") {
        Some(digits) => (digits, 16),
        None => (text, 10),
    };
    let plain = digits.starts_with(|c: char| c.is_ascii_hexdigit());
    let octal = radix == 10 && digits.len() > 1 && digits.starts_with('0');
    if plain && !octal { u128::from_str_radix(digits, radix).ok() } else { None }
}

fn mac(text: &str) -> Option<u128> {
    let bytes = text.split(':').map(|byte| (byte.len() <= 2).then(|| u8::from_str_radix(byte, 16).ok())?);
    let bytes: Vec<u8> = bytes.collect::<Option<_>>()?;
    let plain = !text.contains('+');
    (bytes.len() == 6 && plain).then(|| bytes.iter().fold(0, |all, byte| all << 8 | u128::from(*byte)))
}

#[cfg(test)]
mod tests {
    use super::super::words::Words;
    use super::*;

    #[test]
    fn values_are_read_or_told_what_is_allowed() {
        let read = |form: Form, text: &str| form.read(Words::new(text, 1).take());
        for (form, text, value) in [
            (Form::Number(16), "65535", 65535),
            (Form::Number(16), "0xFFFF", 65535),
            (Form::Number(3), "0", 0),
            (Form::Mac, "02:0:00:00:00:ff", 0x0200_0000_00ff),
            (Form::Ipv4, "10.0.0.1", 0x0a00_0001),
            (Form::Ipv4, "0xffffff00", 0xffff_ff00),
            (Form::Ipv6, "::1", 1),
            (Form::Ipv6, "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", u128::MAX),
        ] {
            assert_eq!(read(form, text), Ok(value), "{text}");
        }
        for (form, text) in [
            (Form::Number(16), "65536"),
            (Form::Number(16), "010"),
            (Form::Number(16), "+1"),
            (Form::Number(16), "-1"),
            (Form::Number(16), "0x"),
            (Form::Number(16), "0x+1"),
            (Form::Number(16), ""),
            (Form::Mac, "02:00:00:00:00"),
            (Form::Mac, "02:00:00:00:00:+1"),
            (Form::Mac, "002:00:00:00:00:01"),
            (Form::Ipv4, "10.0.0"),
            (Form::Ipv4, "10.0.0.256"),
            (Form::Ipv6, "1"),
            (Form::Ipv6, "10.0.0.1"),
        ] {
            let error = read(form, text).unwrap_err();
            assert!(error.what.contains("allowed: "), "{text}: {error}");
        }
        assert_eq!([0, 1, 128].map(low), [0, 1, u128::MAX]);
    }
}
