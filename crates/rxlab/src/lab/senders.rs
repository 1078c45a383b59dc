//! Hosts that answer to congestion, from their text.

use std::str::FromStr;

use traffic::{Network, Sender};

use crate::fail::Fail;

const ALLOWED: &str = "dctcp:SENDERS[+SENDERS..], each with [,from=US][,until=US][,window=FRAMES], the first with [,rtt=US][,mark=KIB|off][,queue=KIB]";
/// The round trip unless told otherwise, us (A150).
const RTT: u64 = 10;
/// Senders of a port.
const MOST: usize = 1024;
/// The longest time, us.
const LONGEST: u64 = 1 << 40;

/// Senders of each port, and what lies between.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Senders {
    /// How many, and what each is but for its core; ps.
    groups: Vec<(usize, Sender)>,
    rtt: u64,
    /// Where the switch marks from, bytes; `u64::MAX`: the senders share one host, and no switch is between.
    mark: Option<u64>,
    queue: Option<u64>,
    /// See [`Network::watched`].
    watched: u64,
}

impl Senders {
    /// `dctcp:8`, `dctcp:6,rtt=20+2,from=1000,until=2000`; `host_cc` is the period of HostCC's samples, us.
    ///
    /// # Errors
    /// Names what is allowed.
    pub(crate) fn read(text: &str, host_cc: Option<u64>) -> Result<Senders, Fail> {
        let refused = || Fail::new(format!("--senders {text}: allowed: {ALLOWED}"));
        if host_cc.is_some_and(|us| !(1..=100_000).contains(&us)) {
            return Err(Fail::new("--hostcc: allowed: 1 to 100000 us from one sample to the next"));
        }
        let watched = host_cc.unwrap_or(0) * 1_000_000;
        let mut all = Senders { groups: Vec::new(), rtt: RTT * 1_000_000, mark: None, queue: None, watched };
        let groups = text.strip_prefix("dctcp:").ok_or_else(refused)?;
        for (nth, group) in groups.split('+').enumerate() {
            let mut parts = group.split(',');
            let count = parts.next().and_then(number).filter(|n| (1..=MOST).contains(n));
            let sender = Sender { core: 0, from: 0, until: u64::MAX, window: None };
            all.groups.push((count.ok_or_else(refused)?, sender));
            for part in parts {
                let (key, value) = part.split_once('=').ok_or_else(refused)?;
                all.set(nth == 0, key, value).ok_or_else(refused)?;
            }
        }
        if all.groups.iter().any(|(_, sender)| sender.from >= sender.until) || all.count() > MOST {
            return Err(refused());
        }
        Ok(all)
    }

    fn set(&mut self, first: bool, key: &str, value: &str) -> Option<()> {
        if (first, key, value) == (true, "mark", "off") {
            self.mark = Some(u64::MAX);
            return Some(());
        }
        let value: u64 = number(value).filter(|n| *n <= LONGEST)?;
        let (_, sender) = self.groups.last_mut()?;
        match key {
            "from" => sender.from = value * 1_000_000,
            "until" => sender.until = value * 1_000_000,
            "rtt" if first && (1..=1_000_000).contains(&value) => self.rtt = value * 1_000_000,
            "window" if (1..=65_536).contains(&value) => sender.window = Some(value as u32),
            "mark" if first && value > 0 => self.mark = Some(value * 1024),
            "queue" if first && value > 1 => self.queue = Some(value * 1024),
            _ => return None,
        }
        Some(())
    }

    /// How many there are of a port.
    pub(crate) fn count(&self) -> usize {
        self.groups.iter().map(|group| group.0).sum()
    }

    /// Those of a port of `cores`, one after the other.
    pub(crate) fn of_port(&self, cores: u32) -> Vec<Sender> {
        let each = |(count, sender): &(usize, Sender)| std::iter::repeat_n(*sender, *count);
        let all = self.groups.iter().flat_map(each).enumerate();
        all.map(|(n, sender)| Sender { core: (n as u32 % cores.max(1)) as u16, ..sender }).collect()
    }

    /// What lies between them and a port of `gbps`, of which `others` take their part.
    pub(crate) fn network(&self, gbps: f64, others: Vec<(u64, u64, f64)>) -> Network {
        let usual = Network::new(gbps, self.rtt);
        let mark = self.mark.unwrap_or(usual.mark);
        Network {
            mark,
            queue: self.queue.unwrap_or(usual.queue.max(mark.saturating_mul(2))),
            others,
            watched: self.watched,
            ..usual
        }
    }
}

fn number<T: FromStr>(text: &str) -> Option<T> {
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_says_how_many_senders_come_and_go() {
        let all = Senders::read("dctcp:2,rtt=20,mark=50,window=9+1,from=3,until=9", Some(5)).unwrap();
        let sender = |core, from, until, window| Sender { core, from, until, window };
        let expected = [
            sender(0, 0, u64::MAX, Some(9)),
            sender(1, 0, u64::MAX, Some(9)),
            sender(0, 3_000_000, 9_000_000, None),
        ];
        assert_eq!(all.of_port(2), expected);
        let network = all.network(200.0, vec![(0, 1, 50.0)]);
        assert_eq!((network.rtt, network.mark, network.watched), (20_000_000, 51_200, 5_000_000));
        assert_eq!(Senders::read("dctcp:8", None).unwrap().network(200.0, Vec::new()).mark, 250_000 / 7);
        let one_host = Senders::read("dctcp:8,mark=off", None).unwrap().network(200.0, Vec::new());
        assert_eq!((one_host.mark, one_host.queue), (u64::MAX, u64::MAX));
        for bad in [
            "",
            "dctcp:8+1,mark=off",
            "8",
            "dctcp:",
            "dctcp:0",
            "tcp:8",
            "dctcp:8,until=0",
            "dctcp:8+1,rtt=3",
            "dctcp:2,mark",
            "dctcp:9999",
        ] {
            let error = Senders::read(bad, None).unwrap_err().to_string();
            assert_eq!(error, format!("--senders {bad}: allowed: {ALLOWED}"));
        }
        assert!(Senders::read("dctcp:8", Some(0)).is_err());
    }
}
