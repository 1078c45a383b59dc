//! `include/ccnic.h` is what cbindgen makes of `src`. After a change of the calls:
//! `RXLAB_WRITE_HEADER=1 cargo test -p ccnic-c --test header`.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::path::Path;

use cbindgen::{Builder, Config, ExportConfig, Language, Style};

const NAMES: [(&str, &str); 3] =
    [("ChannelHandle", "ccnic_channel"), ("ListenerHandle", "ccnic_listener"), ("SegmentC", "ccnic_segment")];

const ABOUT: &str = "/* Frames between two processes over shared memory: see README.md beside this directory. Link with -lccnic.
 *
 * A call that can fail returns a negative errno and leaves a line for ccnic_error():
 *
 *   EINVAL           an argument, a size or a call that is not allowed
 *   ERANGE           bytes outside a buffer, or a buffer that the link does not have
 *   EPIPE            the other side is gone
 *   EPROTONOSUPPORT  the other side is configured otherwise
 *   EPROTO           the other side is no channel
 *   EADDRNOTAVAIL    the path: nobody listens there, or it cannot be listened at
 *   EFAULT           a fault of this library
 *   others           of the system
 *
 * Made from crates/ccnic-c/src by the crate's test `header`: do not edit. */";

/// What the crate asserts of its own side too.
const LAYOUTS: &str = "#if defined(__cplusplus)
#define CCNIC_ASSERT(what) static_assert(what, #what)
#else
#define CCNIC_ASSERT(what) _Static_assert(what, #what)
#endif
CCNIC_ASSERT(sizeof(struct ccnic_segment) == 16);
CCNIC_ASSERT(offsetof(struct ccnic_segment, buf) == 0);
CCNIC_ASSERT(offsetof(struct ccnic_segment, off) == 8);
CCNIC_ASSERT(offsetof(struct ccnic_segment, len) == 10);
CCNIC_ASSERT(offsetof(struct ccnic_segment, last) == 12);
#undef CCNIC_ASSERT";

fn generated() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = Config {
        language: Language::C,
        style: Style::Tag,
        pragma_once: true,
        cpp_compat: true,
        no_includes: true,
        sys_includes: ["stddef.h", "stdint.h"].map(Into::into).into(),
        header: Some(ABOUT.into()),
        trailer: Some(LAYOUTS.into()),
        export: ExportConfig {
            rename: NAMES.map(|(rust, c)| (rust.into(), c.into())).into(),
            exclude: ["TOGETHER", "NONE_C"].map(Into::into).into(),
            ..ExportConfig::default()
        },
        ..Config::default()
    };
    let parts =
        ["answer", "given", "ends", "bursts", "bytes"].map(|part| root.join(format!("src/{part}.rs")));
    let builder = parts.iter().fold(Builder::new().with_config(config), |b, src| b.with_src(src));
    let mut text = Vec::new();
    builder.generate().unwrap().write(&mut text);
    String::from_utf8(text).unwrap()
}

#[test]
fn the_header_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("include/ccnic.h");
    let made = generated();
    if std::env::var_os("RXLAB_WRITE_HEADER").is_some() {
        std::fs::write(&path, &made).unwrap();
    }
    assert!(
        std::fs::read_to_string(&path).unwrap() == made,
        "include/ccnic.h is out of date: RXLAB_WRITE_HEADER=1 cargo test -p ccnic-c --test header"
    );
}
