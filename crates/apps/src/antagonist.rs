//! Programs that share the machine with packet processing: what presses on its memory (rxbisect §6.2).

use core::str::FromStr;

/// Threads of the other socket that press on this one's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Antagonist {
    /// What they run.
    pub kind: AntagonistKind,
    /// How many of them.
    pub threads: u32,
}

/// What an antagonist runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AntagonistKind {
    /// STREAM's triad: three streams in, one of them written back.
    Stream,
    /// PageRank: random reads of ranks along the edges of a graph.
    PageRank,
}

impl AntagonistKind {
    /// All of them.
    pub const ALL: [AntagonistKind; 2] = [AntagonistKind::Stream, AntagonistKind::PageRank];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            AntagonistKind::Stream => "stream",
            AntagonistKind::PageRank => "pagerank",
        }
    }
}

impl FromStr for Antagonist {
    type Err = String;

    /// `stream:4`, `pagerank:8`.
    fn from_str(text: &str) -> Result<Antagonist, String> {
        let found = text.split_once(':').and_then(|(name, threads)| {
            let kind = AntagonistKind::ALL.into_iter().find(|k| k.name() == name)?;
            Some(Antagonist { kind, threads: threads.parse().ok()? })
        });
        let names = AntagonistKind::ALL.map(|k| format!("{}:THREADS", k.name())).join(", ");
        found.ok_or_else(|| format!("{text}: allowed: {names}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_name_a_program_and_its_threads() {
        assert_eq!("stream:4".parse(), Ok(Antagonist { kind: AntagonistKind::Stream, threads: 4 }));
        assert_eq!("pagerank:0".parse(), Ok(Antagonist { kind: AntagonistKind::PageRank, threads: 0 }));
        for bad in ["", "stream", "stream:", "stream:-1", "sort:1", ":1", "stream:1:2"] {
            let error = bad.parse::<Antagonist>().unwrap_err();
            assert_eq!(error, format!("{bad}: allowed: stream:THREADS, pagerank:THREADS"));
        }
    }
}
