//! Help, plain text, exit codes.

use tempfile::TempDir;

use crate::common::{met, refused, rxlab, shown, word};
use crate::small;

#[test]
fn output_is_plain_where_it_is_no_terminal() {
    for args in [small(&[]), vec!["profile", "list"], vec!["experiment", "list"], vec!["--help"]] {
        let out = rxlab(&args);
        assert!(out.status.success(), "{args:?}");
        assert!(!out.stdout.contains(&0x1b), "{args:?}");
        assert!(out.stderr.is_empty(), "{args:?}");
    }
}

#[test]
fn every_command_has_help_with_examples() {
    for command in
        [&["compare"][..], &["trace"], &["flow"], &["experiment"], &["profile"], &["live"], &["bench"], &[]]
    {
        let args: Vec<&str> = command.iter().copied().chain(["--help"]).collect();
        let help = shown(&args);
        assert!(help.contains("Examples:"), "{command:?}");
    }
    let help = shown("compare --help");
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    for old in ["nics", "nic-load", "nic-cores"] {
        assert!(!help.contains(old), "{old}");
        // What an old command line says is taken all the same, and refused by the new name.
        refused(&["compare", &format!("--{old}"), "0"], &["--port"]);
    }
    for default in [
        "[default: 1024]",
        "[default: 128]",
        "[default: rxbisect-testbed]",
        "[default: fixed:1500,flows=10M]",
    ] {
        assert!(help.contains(default), "{default}");
    }
}

#[test]
fn a_condition_that_is_met_ends_with_one() {
    let with = |more: &[&'static str]| {
        small(&[&["--limit-ms", "10", "--interfaces", "privring,shring"], more].concat())
    };
    let dir = TempDir::new().unwrap();
    let page = dir.path().join("r.html");
    let args = with(&["--fail-if", "shring.sent>1", "--fail-if", "drops>100"]);
    met(
        &[&args[..], &["--html", word(&page)]].concat(),
        &["--fail-if", "'shring.sent>1'", "shring", "throughput_gbps 1"],
    );
    assert!(page.exists(), "the report is written all the same");
    met(&with(&["--json", "--fail-if", "mpps>0"]), &["privring", " more"]);
    let good = rxlab(&with(&["--fail-if", "drops>100", "--fail-if", "p99<0"]));
    assert!(good.status.success() && good.stderr.is_empty(), "{good:?}");
    refused("compare --fail-if drips>0", &["drips", "drops, p99, sent, no_drop, offered_gbps"]);
    refused("compare --fail-if drops", &["drops", "NAME OP NUMBER"]);
    refused("compare --fail-if corec.drops>0", &["corec", "privring, shring, rxbisect"]);
    // A rate that was not searched meets nothing, and is not said to.
    let out = rxlab(&with(&["--fail-if", "no_drop<1000"]));
    assert_eq!((out.status.code(), out.stdout.is_empty()), (Some(2), false));
    assert!(String::from_utf8_lossy(&out.stderr).contains("no row has a value of no_drop_gbps"));
}
