//! Tests guard decisions for a fixture host's devices and for real files.

use crate::system::{
    guard::*,
    host::{
        fixture::{Fixture, STACK, skip},
        resolved_path::Stat,
    },
};
use rustix::{
    fs::{CWD, FileType, Mode, makedev, mknodat},
    io::Errno,
};
use std::{
    fs,
    os::unix::fs::{MetadataExt, symlink},
};

#[test]
fn rejects_writing_to_devices_in_use() {
    let guard = Guard::new(
        Fixture::new(&format!(
            "{STACK}\n sys/devices/sdr/dev = 4008:96\n sys/devices/sdr/ro = 1"
        ))
        .inventory(),
        &Permissions::below(&["/nowhere".into()]),
    );
    for (name, code, part) in [
        ("sda", "device_in_use", "sda1: mounted at /boot"),
        ("sda1", "device_in_use", "mounted at /boot"),
        ("sda2", "device_in_use", "part of dm-0 (vg-home)"),
        ("dm-0", "device_in_use", "part of dm-1"),
        ("dm-1", "device_in_use", "mounted at / (xfs)"),
        ("sdb", "device_in_use", "part of md0"),
        ("md0", "raw_write_refused", "no stable identity"),
        ("sde", "device_in_use", "btrfs filesystem mounted at /pool"),
        ("sdf", "device_in_use", "swap"),
        ("sdr", "read_only", "read-only"),
        ("loop9090", "device_in_use", "also attached to loop9091"),
        ("loop9092", "raw_write_refused", "no stable identity"),
    ] {
        let problem = guard.check_write(&guard.host.blocks[name]).unwrap_err();
        assert_eq!(problem.code, code, "{name}: {problem}");
        assert!(
            problem.detail.contains(part) && !problem.remedy.is_empty(),
            "{name}: {problem}"
        );
    }
}

/// A host whose only device is a loop device attached to a file.
fn host_with_loop_device_on(path: &Path, more: &str) -> Inventory {
    Fixture::new(&format!(
        "sys/devices/loop9099/dev = 4007:9099
        sys/devices/loop9099/size = 8
        sys/devices/loop9099/loop/backing_file = {}
        {more}",
        path.display()
    ))
    .inventory()
}

#[test]
fn loop_devices_on_files_below_a_root_need_no_permission() {
    let dir = tempfile::tempdir().unwrap();
    let base = fs::canonicalize(dir.path()).unwrap();
    for name in ["root/f", "root/var/f", "root/linked", "outside"] {
        let path = base.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, [0; 4096]).unwrap();
    }
    fs::hard_link(base.join("root/linked"), base.join("link")).unwrap();
    let permissions = Permissions::below(&[base.join("root")]);
    let check = |name: &str, more: &str, want: Result<(), &str>| {
        let host = host_with_loop_device_on(&base.join(name), more);
        let guard = Guard::new(host, &permissions).with_data_directory(Some(base.join("root/var")));
        let checked = guard.check_write(&guard.host.blocks["loop9099"]);
        let checked = checked.map_err(|problem| problem.code);
        assert_eq!(checked, want.map_err(str::to_owned), "{name}");
    };
    let swap = format!(
        "proc/swaps = Filename Type Size Used Priority\\n{} file 1 0 -2",
        base.join("root/f").display()
    );
    check("root/f", "", Ok(()));
    check("root/f", "sys/devices/loop9099/ro = 1", Err("read_only"));
    check("root/f", &swap, Err("swap_file"));
    check("root/var/f", "", Err("raw_write_refused"));
    check("root/linked", "", Err("hard_linked"));
    check("root/missing", "", Err("raw_write_refused"));
    check("outside", "", Err("raw_write_refused"));
}

#[test]
fn loop_devices_on_devices_and_replaced_files_need_permission() {
    let dir = tempfile::tempdir().unwrap();
    let base = fs::canonicalize(dir.path()).unwrap();
    let permissions = Permissions::below(std::slice::from_ref(&base));
    let code = |host: Inventory| {
        let guard = Guard::new(host, &permissions);
        let checked = guard.check_write(&guard.host.blocks["loop9099"]);
        checked.err().map(|problem| problem.code)
    };
    let file = base.join("f");
    fs::write(&file, [0; 4096]).unwrap();
    let host = host_with_loop_device_on(&file, "");
    assert_eq!(code(host.clone()), None);
    fs::rename(&file, base.join("old")).unwrap();
    fs::write(&file, [0; 4096]).unwrap();
    assert_eq!(code(host).as_deref(), Some("raw_write_refused"));

    let node = base.join("node");
    let mode = Mode::from_raw_mode(0o600);
    let number = makedev(4008, 200);
    if mknodat(CWD, &node, FileType::BlockDevice, mode, number).is_err() {
        return skip("cannot create device nodes");
    }
    let host = host_with_loop_device_on(&node, "");
    assert_eq!(code(host).as_deref(), Some("raw_write_refused"));
    // No driver handles this device number, so the device cannot be opened.
    let host = "sys/devices/sdx/dev = 4008:200\n sys/devices/sdx/size = 8";
    let guard = Guard::new(Fixture::new(host).inventory(), &permissions);
    let admitted = guard.admit(&ResolvedPath::find(&node), Purpose::Read);
    assert_eq!(admitted.unwrap_err().code, "permission_denied");
}

#[test]
fn the_runs_loop_devices_need_no_permission() {
    let guard = Guard::new(Fixture::new(STACK).inventory(), &Permissions::default());
    let devices = ["loop9090", "loop9092"].map(|name| guard.host.blocks[name].dev);
    let guard = guard.with_run_loops(devices.into());
    let check = |name: &str| guard.check_write(&guard.host.blocks[name]);
    assert_eq!(check("loop9092"), Ok(()));
    assert_eq!(check("loop9090").unwrap_err().code, "device_in_use");
}

#[test]
fn devices_without_a_medium_are_rejected() {
    let host = Fixture::new("sys/devices/sdx/dev = 4008:200").inventory();
    let guard = Guard::new(host, &Permissions::default());
    let stat = Stat {
        dev: guard.host.blocks["sdx"].dev,
        inode: 1,
        rdev: guard.host.blocks["sdx"].dev,
        links: 1,
        length: 0,
    };
    for purpose in [Purpose::Read, Purpose::Write] {
        let admitted = guard.admit_device(Path::new("/dev/sdx"), stat, purpose);
        assert_eq!(admitted.unwrap_err().code, "no_medium");
    }
}

#[test]
fn remedies_depend_on_the_cause() {
    let guard = Guard::new(Fixture::new(STACK).inventory(), &Permissions::default());
    for (name, remedy) in [
        ("sda1", "Unmount /boot first"),
        ("sdf", "Free the device first"),
        ("dm-0", "Free the device first"),
    ] {
        let problem = guard.check_write(&guard.host.blocks[name]).unwrap_err();
        assert!(problem.remedy.contains(remedy), "{name}: {problem}");
    }
    for (error, remedy) in [
        (Errno::PERM, "chattr -i -a"),
        (Errno::ACCESS, "Run as a user"),
    ] {
        let problem = file::permission_denied(Path::new("/data/f"))(error);
        assert_eq!(problem.code, "permission_denied");
        assert!(problem.remedy.contains(remedy), "{problem}");
    }
}

#[test]
fn raw_writes_require_a_listed_unique_identity() {
    let disks = Fixture::new(
        r"
        sys/devices/sdx/dev = 4008:200
        sys/devices/sdx/device @
        sys/devices/sdx/serial = ONE
        sys/devices/sdy/dev = 4008:208
        sys/devices/sdy/device @
        sys/devices/sdy/serial = TWO
        sys/devices/sdz/dev = 4008:216
        sys/devices/sdz/device @
        sys/devices/sdz/serial = TWO",
    );
    let listed = ["serial:ONE".to_owned(), "serial:TWO".into()];
    let check = |listed: &[String], name: &str| {
        let guard = Guard::new(disks.inventory(), &Permissions::new(&[], listed));
        let checked = guard.check_write(&guard.host.blocks[name]);
        checked.map_err(|problem| (problem.code.clone(), problem.to_string()))
    };
    assert_eq!(check(&listed, "sdx"), Ok(()));
    let (code, text) = check(&[], "sdx").unwrap_err();
    assert_eq!(code, "raw_write_refused");
    assert!(text.contains("--allow-raw-write 'serial:ONE'"), "{text}");
    assert_eq!(
        check(&["serial:TWO".into()], "sdx").unwrap_err().0,
        "raw_write_refused"
    );
    let (code, text) = check(&listed, "sdy").unwrap_err();
    assert_eq!(code, "ambiguous_identity");
    assert!(text.contains("/dev/sdz"), "{text}");
}

#[test]
fn admits_only_files_below_the_roots() {
    let dir = tempfile::tempdir().unwrap();
    let base = fs::canonicalize(dir.path()).unwrap();
    for name in ["data", "data2"] {
        fs::create_dir(base.join(name)).unwrap();
        fs::write(base.join(name).join("f"), "x").unwrap();
    }
    symlink(base.join("data2"), base.join("data/link-out")).unwrap();
    fs::hard_link(base.join("data2/f"), base.join("data/hard")).unwrap();
    let guard = Guard::live(&Permissions::below(&[base.join("data")]));
    let check = |path: &str, purpose: Purpose, want: Result<(), &str>| {
        let admitted = guard.admit(&ResolvedPath::find(&base.join(path)), purpose);
        assert_eq!(
            admitted
                .as_ref()
                .map(|_| ())
                .map_err(|problem| problem.code.as_str()),
            want,
            "{path} {purpose:?}"
        );
    };
    for purpose in [Purpose::Read, Purpose::Write] {
        check("data/f", purpose, Ok(()));
        check("data/new", purpose, Ok(()));
        check("data2/f", purpose, Err("outside_roots"));
        check("data2/new", purpose, Err("outside_roots"));
        check("data/link-out/f", purpose, Err("outside_roots"));
        check("data/../data2/f", purpose, Err("outside_roots"));
        check("data", purpose, Err("not_a_file"));
    }
    check("data/hard", Purpose::Read, Ok(()));
    check("data/hard", Purpose::Write, Err("hard_linked"));
}

#[test]
fn rejects_files_used_by_the_server() {
    let dir = tempfile::tempdir().unwrap();
    let base = fs::canonicalize(dir.path()).unwrap();
    fs::create_dir_all(base.join("var/targets")).unwrap();
    let check = |root: &str, path: &str, want: Result<(), &str>| {
        let guard = Guard::live(&Permissions::below(&[base.join(root)]))
            .with_data_directory(Some(base.join("var")));
        let admitted = guard.admit(&ResolvedPath::find(&base.join(path)), Purpose::Write);
        assert_eq!(
            admitted
                .as_ref()
                .map(|_| ())
                .map_err(|problem| problem.code.as_str()),
            want,
            "{root} {path}"
        );
    };
    check("", "var/leadline.db", Err("results"));
    check("var", "var/token", Err("results"));
    check("", "var/targets/f", Err("results"));
    check("", "various", Ok(()));
    check("var/targets", "var/targets/f", Ok(()));
    let roots = [base.clone(), base.join("var/targets")];
    let guard =
        Guard::live(&Permissions::below(&roots)).with_data_directory(Some(base.join("var")));
    assert!(guard.is_in_data_directory(&base.join("var/leadline.db")));
    assert!(!guard.is_in_data_directory(&base.join("var/targets/f")));
}

#[test]
fn roots_must_be_the_directories_that_the_caller_expects() {
    let dir = tempfile::tempdir().unwrap();
    let base = fs::canonicalize(dir.path()).unwrap();
    let roots = [base.join("a"), base.join("b")];
    let id = |root: &PathBuf| {
        fs::create_dir(root).unwrap();
        let metadata = fs::metadata(root).unwrap();
        format!("{}:{}", metadata.dev(), metadata.ino())
    };
    let ids: Vec<String> = roots.iter().map(id).collect();
    let check = |ids: &[String], problems: &[&str]| {
        let permissions = Permissions::below(&roots).with_root_ids(ids);
        let found = permissions.problems().into_iter();
        let codes: Vec<String> = found.map(|problem| problem.code).collect();
        assert_eq!(codes, problems, "{ids:?}");
        assert_eq!(permissions.roots().count(), 2);
        assert!(permissions.root_containing(&base.join("a/f")).is_some());
        let is_open = permissions.root_containing(&base.join("b/f")).is_some();
        assert_eq!(is_open, problems.is_empty());
    };
    check(&ids, &[]);
    check(&[], &[]);
    check(&ids[..1], &[]);
    let replaced = [ids[0].clone(), ids[0].clone()];
    check(&replaced, &["target_root_replaced"]);
    fs::remove_dir(&roots[1]).unwrap();
    check(&[], &["target_root_missing"]);
    fs::write(&roots[1], "a file").unwrap();
    check(&[], &["target_root_missing"]);
}

#[test]
fn admits_files_anywhere_if_there_are_no_roots() {
    let dir = tempfile::tempdir().unwrap();
    let guard = Guard::live(&Permissions::default());
    assert!(
        guard
            .admit(&ResolvedPath::find(&dir.path().join("new")), Purpose::Write)
            .is_ok()
    );
}

#[test]
fn rejects_paths_under_dev_that_are_not_devices() {
    let guard = Guard::live(&Permissions::default());
    for path in ["/dev/nvme9n9", "/dev/null", "/dev", "/dev/no/such"] {
        for purpose in [Purpose::Read, Purpose::Write] {
            assert_eq!(
                guard
                    .admit(&ResolvedPath::find(Path::new(path)), purpose)
                    .unwrap_err()
                    .code,
                "not_a_block_device",
                "{path}"
            );
        }
    }
}
