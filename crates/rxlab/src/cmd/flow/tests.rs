//! Tests of what is written, on a capture of a few frames.

#[test]
fn todo() {}
