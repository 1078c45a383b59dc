use std::fs;
use std::path::Path;

use tempfile::TempDir;

use super::*;

/// A machine of the test's own: files with what they have.
fn machine(files: &[(&str, &str)]) -> TempDir {
    let root = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let at = root.path().join(path);
        fs::create_dir_all(at.parent().unwrap()).unwrap();
        fs::write(at, text).unwrap();
    }
    root
}

fn detect(root: &Path) -> Result<Detected, String> {
    read(&Sources::at(root)).map_err(|e| e.to_string())
}

const CPU: &str = "sys/devices/system/cpu";
const NIC: &str = "sys/bus/pci/devices/0000:17:00";

/// A server of two cores with two ports of a ConnectX-6 Dx in a slot of half its width.
fn server() -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = Vec::new();
    let mut file = |path: String, text: &str| all.push((path, text.to_owned()));
    let info = "vendor_id: GenuineIntel\ncpu family: 6\nmodel: 106\nmodel name: Intel(R) Xeon(R) Gold 6346 CPU @ 3.10GHz\nstepping: 6\nflags: fpu constant_tsc\n";
    file("proc/cpuinfo".into(), info);
    file(format!("{CPU}/online"), "0-3");
    for cpu in 0..4 {
        file(format!("{CPU}/cpu{cpu}/topology/physical_package_id"), "0");
        file(
            format!("{CPU}/cpu{cpu}/topology/thread_siblings_list"),
            if cpu % 2 == 0 { "0,2" } else { "1,3" },
        );
        for (n, level, size, ways, sets, shared) in [
            (2, "2", "1280K", "20", "1024", if cpu % 2 == 0 { "0,2" } else { "1,3" }),
            (3, "3", "36864K", "12", "49152", "0-3"),
        ] {
            let cache = format!("{CPU}/cpu{cpu}/cache/index{n}");
            for (key, text) in [
                ("level", level),
                ("type", "Unified"),
                ("size", size),
                ("ways_of_associativity", ways),
                ("number_of_sets", sets),
                ("shared_cpu_list", shared),
            ] {
                file(format!("{cache}/{key}"), text);
            }
        }
    }
    file("sys/devices/system/node/node0/cpulist".into(), "0-3");
    for function in 0..2 {
        for (key, text) in [
            ("class", "0x020000"),
            ("vendor", "0x15b3"),
            ("device", "0x101d"),
            ("numa_node", "0"),
            ("current_link_speed", "16.0 GT/s PCIe"),
            ("current_link_width", "8"),
        ] {
            file(format!("{NIC}.{function}/{key}"), text);
        }
    }
    file("sys/fs/resctrl/info/L3/cbm_mask".into(), "fff");
    file("sys/fs/resctrl/info/L3/shareable_bits".into(), "c00");
    file("sys/fs/resctrl/schemata".into(), "L3:0=fff\nMB:0=100");
    file("sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages".into(), "16");
    file(format!("{CPU}/isolated"), "1,3");
    all
}

fn at(files: &[(String, String)]) -> TempDir {
    machine(&files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect::<Vec<_>>())
}

#[test]
fn what_files_tell_is_in_the_profile_with_the_file() {
    let root = at(&server());
    let d = detect(root.path()).unwrap();
    let s = &d.server;
    assert_eq!((d.part.as_str(), s.cores, s.ghz, d.processor.threads), ("icelake", 2, 3.1, 2));
    let c = &s.caches;
    assert_eq!(
        (c.l2_kib, c.l2_ways, c.slices, c.sets_per_slice, c.ways, c.ddio_ways),
        (1280, 20, 24, 2048, 12, 2)
    );
    assert_eq!((s.nic.ports, s.nic.name.as_str()), (2, "NVIDIA ConnectX-6 Dx"));
    // Eight lanes of 16 GT/s, for two functions.
    assert!((s.constants.pcie.gbytes.value - 15.754 / 2.0).abs() < 1e-3, "{}", s.constants.pcie.gbytes.value);
    let from =
        |what: &str| d.read.iter().find(|t| t.what == what).map(|t| (t.value.as_str(), t.from.as_str()));
    assert_eq!(from("caches.ddio_ways"), Some(("2", "/sys/fs/resctrl/info/L3/shareable_bits")));
    assert_eq!(from("caches.ways"), Some(("12", "/sys/devices/system/cpu/cpu0/cache/index3")));
    assert_eq!(from("isolated CPUs"), Some(("1,3", "/sys/devices/system/cpu/isolated")));
    assert_eq!(from("huge pages of 1048576 KiB").map(|(value, _)| value), Some("16, 0 free"));
    assert!(d.assumed.iter().any(|t| t.what == "constants.dram.peak_gbytes"), "nothing tells of modules");
    // The profile is a file's, too.
    let again = model::profile::Server::parse(&s.text().unwrap()).unwrap();
    assert_eq!(&again, s);
    crate::show::schema::tests::holds("profile detect", &d);
}

#[test]
fn a_machine_without_what_the_model_needs_is_told() {
    let without = |word: &str| {
        let files: Vec<_> = server().into_iter().filter(|(path, _)| !path.contains(word)).collect();
        detect(at(&files).path()).map(|_| ()).unwrap_err()
    };
    assert!(
        without("index3").contains("an LLC behind the L2s (L3) is missing, which the model needs; found: L2")
    );
    assert!(without("cpuinfo").contains("no processor: /proc/cpuinfo is missing"));
    let error = detect(Path::new("/no/such/place")).map(|_| ()).unwrap_err();
    assert!(error.contains("/no/such/place: no directory"), "{error}");
    let strange = machine(&[("proc/cpuinfo", "vendor_id: Zhaoxin\ncpu family: 7\nmodel: 59\n")]);
    let error = detect(strange.path()).map(|_| ()).unwrap_err();
    assert!(
        error.contains("vendor `Zhaoxin`, family 7, model 59") && error.contains("--as PROCESSOR"),
        "{error}"
    );
}

#[test]
fn files_with_anything_in_them_are_no_panic() {
    let junk = ["", "-1", "999999999999999999999", "0-", "\u{fffd}\u{0}", "K", "4294967295K"];
    let files = server();
    let root = at(&files);
    // Those of one CPU and one function stand for all.
    let one = |path: &str| !["cpu1/", "cpu2/", "cpu3/", "00.1/"].iter().any(|other| path.contains(other));
    for (n, (path, text)) in files.iter().enumerate().filter(|(_, (path, _))| one(path)) {
        let at = root.path().join(path);
        fs::write(&at, junk[n % junk.len()]).unwrap();
        if let Ok(d) = detect(root.path()) {
            d.server.validate().unwrap();
        }
        fs::write(&at, text).unwrap();
    }
}

/// Machines that others dumped, in the cache of `experiments/dumps`.
fn dumps() -> Option<std::path::PathBuf> {
    let home = || Some(Path::new(&std::env::var_os("HOME")?).join(".cache"));
    let cache = std::env::var_os("XDG_CACHE_HOME").map(std::path::PathBuf::from).or_else(home)?;
    let dumps = cache.join("rxlab/dumps");
    dumps.join("complete").is_file().then(|| dumps.join("machines"))
}

#[test]
#[ignore = "reads 90 machines: make dumps"]
fn every_dump_is_a_profile_or_told_what_is_missing() {
    let Some(machines) = dumps() else {
        eprintln!("skipped: no dumps of machines; experiments/dumps fetches them");
        return;
    };
    let mut profiles = 0;
    for entry in fs::read_dir(machines).unwrap() {
        let at = entry.unwrap().path();
        let sources = Sources {
            root: Some(at.join("root")).filter(|root| root.is_dir()),
            cpuid: Some(at.join("cpuid")).filter(|cpuid| cpuid.is_dir()),
            ..Sources::default()
        };
        match read(&sources) {
            Ok(d) => {
                d.server.validate().unwrap();
                profiles += 1;
            }
            Err(e) => {
                let e = e.to_string();
                assert!(["missing", "no part describes"].iter().any(|w| e.contains(w)), "{at:?}: {e}");
            }
        }
    }
    assert!(profiles >= 30, "{profiles} profiles");
}

#[test]
fn servers_since_broadwell_are_known_by_their_dumps() {
    let Some(machines) = dumps() else {
        eprintln!("skipped: no dumps of machines; experiments/dumps fetches them");
        return;
    };
    // Part, cores, LLC in MiB, ways of it, ways of DDIO, as the vendors' lists have them.
    for (name, part, cores, mib, ways, ddio) in [
        ("Intel-Broadwell-2xXeon-E5-2650Lv4", "broadwell", 14, 35.0, 20, 2),
        ("Intel-Haswell-2xXeon-E5-2680v3", "broadwell", 12, 30.0, 20, 2),
        ("Intel-Skylake-2xXeon6140", "skylake", 18, 24.75, 11, 2),
        ("Intel-CascadeLake-2xXeon6230", "cascadelake", 20, 27.5, 11, 2),
        ("AMD-17h-Zen-2xEpyc-7451", "naples", 24, 64.0, 16, 0),
        ("AMD-19h-Zen3-2xEpyc-7763", "milan", 64, 256.0, 16, 0),
    ] {
        let sources = Sources { cpuid: Some(machines.join(name).join("cpuid")), ..Sources::default() };
        let d = read(&sources).unwrap();
        // What is published of a part is so of no other processor.
        let exact = d.processor.model != 63;
        assert_eq!(d.server.constants.dram.peak_gbytes.origin.starts_with("assumed: as "), !exact, "{name}");
        let c = &d.server.caches;
        let llc = d.server.llc_bytes() as f64 / f64::from(1 << 20);
        assert_eq!(
            (d.part.as_str(), d.server.cores, llc, c.ways, c.ddio_ways, d.processor.sockets),
            (part, cores, mib, ways, ddio, 2),
            "{name}"
        );
    }
}
