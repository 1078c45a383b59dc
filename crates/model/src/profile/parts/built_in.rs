//! The files of `profiles/parts`.

macro_rules! files {
    ($folder:literal: $($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../../../../profiles/parts/", $folder, "/", $name, ".toml")))),*]
    };
}

/// Families of processors.
pub(super) const PROCESSORS: &[(&str, &str)] = files![
    "processors":
    "broadwell",
    "skylake",
    "cascadelake",
    "icelake",
    "sapphirerapids",
    "emeraldrapids",
    "naples",
    "rome",
    "milan",
    "genoa",
    "turin",
    "turin-sdci",
    "altra",
];
/// Cards.
pub(super) const CARDS: &[(&str, &str)] = files![
    "cards":
    "82599",
    "bf2",
    "bf3",
    "cx4",
    "cx5",
    "cx6dx",
    "cx7",
    "e810",
    "xl710",
    "soft",
];
/// Kinds of memory.
pub(super) const MEMORY: &[(&str, &str)] = files![
    "memory":
    "ddr3",
    "ddr4",
    "ddr5",
];
/// What servers of parts have in common.
pub(super) const COMMON: &str = include_str!("../../../../../profiles/parts/common.toml");
