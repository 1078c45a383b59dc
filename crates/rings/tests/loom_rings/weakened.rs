//! Is every ordering in the ring files needed?

use std::path::Path;

use memory::checked::{Bounds, Site, listed, unmissed, weaken};

/// Each acquire, release and read-modify-write relaxed in turn: a scenario fails, or
/// docs/verification.md says why none does.
#[test]
fn every_ordering_is_missed_or_listed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let ours = |site: &Site| site.file.contains("rings/src/");
    let verdicts = weaken(Bounds { preemptions: 2 }, &crate::SCENARIOS, ours).unwrap();
    verdicts.iter().for_each(|verdict| println!("{verdict}"));
    assert!(verdicts.len() >= 16, "only {} sites ran", verdicts.len());
    let document = std::fs::read_to_string(root.join("docs/verification.md")).unwrap();
    let listed = listed(&document, |file| !file.starts_with("probe/"));
    assert_eq!(unmissed(&verdicts, &root).unwrap(), listed, "not missed (left), listed (right)");
}
