//! Flows that no core receives, from their text.

use std::str::FromStr;

use memory::Ps;
use model::{Bypass, Placed};

use crate::fail::Fail;

const ALLOWED: &str = "FLOWS:GBPS[,message=BYTES][,batch=WRITES][,region=KIB][,to=cache|memory][,credits=keep|give][,host=none|linefs][,from=US][,until=US]";

/// `8:10`, `2:40,message=1048576,to=memory`, `1:5+2:9,from=30`: so many flows of so many Gbps on each of `ports` ports.
///
/// # Errors
/// Names what is allowed.
pub(super) fn read(text: &str, ports: u32) -> Result<Vec<Bypass>, Fail> {
    let groups = text.split('+').map(|group| one(group, ports));
    Ok(groups.collect::<Result<Vec<_>, _>>()?.concat())
}

/// Flows that are alike.
fn one(text: &str, ports: u32) -> Result<Vec<Bypass>, Fail> {
    let refused = || Fail::new(format!("--bypass {text}: allowed: {ALLOWED}"));
    let mut parts = text.split(',');
    let (flows, gbps) = parts.next().and_then(|head| head.split_once(':')).ok_or_else(refused)?;
    // Chunks of 64 KiB into 16 MiB, which is more than the cache that I/O has: a write is as long as a file's chunk.
    let (until, region) = (Ps::from_us(1 << 40), 16 << 20);
    let gbps = number(gbps).ok_or_else(refused)?;
    let mut flow = Bypass {
        port: 0,
        gbps,
        message: 65_536,
        batch: 16,
        region,
        placed: Placed::Cache,
        keeps_credits: false,
        files: false,
        from: Ps::ZERO,
        until,
    };
    for part in parts {
        let (key, value) = part.split_once('=').ok_or_else(refused)?;
        set(&mut flow, key, value).ok_or_else(refused)?;
    }
    let flows: usize = number(flows).filter(|n| (1..=16).contains(n)).ok_or_else(refused)?;
    let of_port = |port| std::iter::repeat_n(Bypass { port, ..flow }, flows);
    Ok((0..ports).flat_map(of_port).collect())
}

/// Sets what `key` stands for; none where it is not known, or the value is none of it.
fn set(flow: &mut Bypass, key: &str, value: &str) -> Option<()> {
    let time = || number::<u64>(value).filter(|us| *us <= 1 << 40).map(Ps::from_us);
    match key {
        "message" => flow.message = number(value)?,
        "batch" => flow.batch = number(value)?,
        "region" => flow.region = number::<u64>(value).filter(|kib| *kib <= 1 << 20)? << 10,
        "to" => {
            flow.placed = match value {
                "cache" => Placed::Cache,
                "memory" => Placed::Memory,
                _ => return None,
            }
        }
        "credits" => flow.keeps_credits = ["give", "keep"].iter().position(|how| *how == value)? == 1,
        "host" => {
            flow.files = match value {
                "none" => false,
                "linefs" => true,
                _ => return None,
            }
        }
        "from" => flow.from = time()?,
        "until" => flow.until = time()?,
        _ => return None,
    }
    Some(())
}

fn number<T: FromStr>(text: &str) -> Option<T> {
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_says_how_many_flows_each_port_has_and_what_they_write() {
        let flows =
            read("2:7.5,to=memory,host=linefs,message=4096,region=8,from=3,until=9,batch=1,credits=keep", 2)
                .unwrap();
        assert_eq!(flows.iter().map(|f| f.port).collect::<Vec<_>>(), [0, 0, 1, 1]);
        let expected = Bypass {
            port: 1,
            gbps: 7.5,
            message: 4096,
            batch: 1,
            region: 8192,
            placed: Placed::Memory,
            keeps_credits: true,
            files: true,
            from: Ps::from_us(3),
            until: Ps::from_us(9),
        };
        assert_eq!(flows[3], expected);
        let two = read("1:2+2:3,from=7", 1).unwrap();
        assert_eq!(
            two.iter().map(|f| (f.gbps, f.from)).collect::<Vec<_>>(),
            [(2.0, Ps::ZERO), (3.0, Ps::from_us(7)), (3.0, Ps::from_us(7))]
        );
        for bad in [
            "",
            "2",
            "2:",
            ":3",
            "0:3",
            "17:3",
            "2:x",
            "2:3,to=disk",
            "2:3,host=x",
            "2:3,message",
            "2:3,size=1",
            "-1:3",
        ] {
            let error = read(bad, 1).unwrap_err().to_string();
            assert_eq!(error, format!("--bypass {bad}: allowed: {ALLOWED}"));
        }
    }
}
