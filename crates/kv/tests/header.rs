//! `dpdk/kv/rxlab_kv.h` is what cbindgen makes of `src/lib.rs`. After a change of the calls:
//! `RXLAB_WRITE_HEADER=1 cargo test -p kv --test header`.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::path::Path;

use cbindgen::{Builder, Config, Language, Style};

#[test]
fn the_header_is_the_calls() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut config = Config {
        language: Language::C,
        style: Style::Tag,
        pragma_once: true,
        header: Some("/* Made from crates/kv/src/lib.rs by its test `header`: do not edit. */".into()),
        no_includes: true,
        sys_includes: vec!["stdint.h".into()],
        ..Config::default()
    };
    config.export.rename.insert("KvHandle".into(), "rxlab_kv".into());
    let built = Builder::new().with_src(root.join("src/lib.rs")).with_config(config).generate().unwrap();
    let mut text = Vec::new();
    built.write(&mut text);
    let file = root.join("../../dpdk/kv/rxlab_kv.h");
    if std::env::var_os("RXLAB_WRITE_HEADER").is_some() {
        std::fs::write(&file, &text).unwrap();
    }
    assert_eq!(std::fs::read_to_string(file).unwrap(), String::from_utf8(text).unwrap());
}
