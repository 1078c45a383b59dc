//! `dpdk/driver/rxlab_pmd.h` is what cbindgen makes of `src/ffi`. After a change of the calls:
//! `RXLAB_WRITE_HEADER=1 cargo test -p pmd --test header`.

use std::path::Path;

use cbindgen::{Builder, Config, EnumConfig, ExportConfig, Language, RenameRule, Style};

/// Rust's names and C's.
const NAMES: [(&str, &str); 40] = [
    ("Args", "rxlab_args"),
    ("Buf", "uint64_t"),
    ("ChannelPort", "rxlab_channel"),
    ("Completion", "rxlab_completion"),
    ("Counters", "rxlab_counters"),
    ("Event", "rxlab_event"),
    ("Field", "rxlab_field"),
    ("Filter", "rxlab_filter"),
    ("FlowAct", "rxlab_flow_act"),
    ("FlowAction", "rxlab_flow_action"),
    ("FlowAge", "rxlab_flow_age"),
    ("FlowCount", "rxlab_flow_count"),
    ("FlowFault", "rxlab_flow_fault"),
    ("FlowPart", "rxlab_flow_part"),
    ("FlowRule", "rxlab_flow_rule"),
    ("FlowTerm", "rxlab_flow_term"),
    ("FlowTermKind", "rxlab_flow_term_kind"),
    ("FlowVxlan", "rxlab_flow_vxlan"),
    ("Give", "rxlab_give"),
    ("Header", "rxlab_header"),
    ("HostCounters", "rxlab_host_counters"),
    ("Idle", "rxlab_idle"),
    ("Layer", "rxlab_layer"),
    ("Lent", "rxlab_lent"),
    ("Lower", "rxlab_lower"),
    ("LowerFrame", "rxlab_frame"),
    ("NicCoreHandle", "rxlab_nic_core"),
    ("Outcome", "rxlab_outcome"),
    ("Piece", "rxlab_piece"),
    ("Port", "rxlab_port"),
    ("Refill", "rxlab_refill"),
    ("Room", "rxlab_room"),
    ("RssConf", "rxlab_rss"),
    ("RxCounters", "rxlab_rx_counters"),
    ("RxQueue", "rxlab_rxq"),
    ("Segment", "rxlab_segment"),
    ("SourceKind", "rxlab_source"),
    ("Start", "rxlab_start"),
    ("Told", "rxlab_told"),
    ("TxCounters", "rxlab_tx_counters"),
];

fn generated() -> Result<String, Box<dyn std::error::Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut rename: std::collections::HashMap<String, String, _> =
        NAMES.iter().map(|(rust, c)| ((*rust).into(), (*c).into())).collect();
    rename.insert("TxQueue".into(), "rxlab_txq".into());
    rename.insert("AtomicU64".into(), "uint64_t".into());
    rename.insert("AtomicU32".into(), "uint32_t".into());
    let constants = [
        "QUEUES",
        "THREADS",
        "HALVES",
        "TAG",
        "OUTCOMES",
        "HOST_COUNTERS",
        "LEVELS",
        "MACS",
        "GROUPS",
        "RETA",
        "KEY",
        "FLOW_TEXT",
        "FLAG",
        "LAST_MARK",
        "ELSEWHERE",
        "VLAN_WORDS",
    ];
    let bits = ["IP_GOOD", "IP_BAD", "L4_GOOD", "L4_BAD", "HASHED", "META", "FOLLOWS", "MORE"];
    for name in constants.into_iter().chain(bits) {
        rename.insert(name.into(), format!("RXLAB_{name}"));
    }
    let dynamic = ["PERSISTS", "SETTLE", "TRIAL", "SHORTEST", "LONGEST", "TOLERATED", "GAIN"];
    // `ALLOutcome` is cbindgen's name for Outcome::ALL.
    let not_ours = [
        "Buf",
        "MARK",
        "MOST_QUEUES",
        "CACHE",
        "AHEAD",
        "TOGETHER",
        "WORDS",
        "CHECKSUMS",
        "ALLOutcome",
        "NONE",
    ]
    .iter()
    .chain(&dynamic);
    let not_ours = not_ours.map(|name| (*name).to_owned()).collect();
    let config = Config {
        language: Language::C,
        style: Style::Tag,
        pragma_once: true,
        cpp_compat: true,
        usize_is_size_t: true,
        header: Some("/* Made from crates/pmd/src/ffi by the crate's test `header`: do not edit. */".into()),
        enumeration: EnumConfig {
            rename_variants: RenameRule::ScreamingSnakeCase,
            prefix_with_name: true,
            ..EnumConfig::default()
        },
        // No call takes these, but their numbers are places in `rxlab_rx_counters` or stand in structs.
        export: ExportConfig {
            rename,
            include: ["Outcome", "Field", "Header", "Layer", "FlowAct", "FlowTermKind"]
                .map(Into::into)
                .into(),
            exclude: not_ours,
            ..ExportConfig::default()
        },
        ..Config::default()
    };
    let parts = ["src/lib.rs", "../rings/src/lib.rs", "../flow/src/field.rs"];
    // Not all of `nic`: a port and its counters have names of their own there.
    let of_nic = ["../nic/src/pipeline/filter.rs", "../nic/src/pipeline/bits.rs"];
    let parts = parts.iter().chain(&of_nic);
    let builder = parts.fold(Builder::new().with_config(config), |b, src| b.with_src(root.join(src)));
    let mut text = Vec::new();
    builder.generate()?.write(&mut text);
    Ok(String::from_utf8(text)?)
}

#[test]
fn the_header_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../dpdk/driver/rxlab_pmd.h");
    let made = generated().unwrap();
    if std::env::var_os("RXLAB_WRITE_HEADER").is_some() {
        std::fs::write(&path, &made).unwrap();
    }
    let there = std::fs::read_to_string(&path).unwrap();
    assert!(
        there == made,
        "dpdk/driver/rxlab_pmd.h is out of date: RXLAB_WRITE_HEADER=1 cargo test -p pmd --test header"
    );
}
