//! Compares this host's device list with sysfs and with devices that the test creates.

use crate::scratch::{Loop, Mounted, directory, image, run};
use leadline_protocol::device::{Device, DeviceKind};
use leadline_runner::{
    cli::text,
    plan::host_view::{HostView, PathKind},
    system::{
        guard::permissions::Permissions,
        host::{device_list::device_list, doctor::doctor, view::View},
    },
};
use std::{fs, path::Path};

const MIB: u64 = 1 << 20;

fn find(path: &str, root: &Path) -> Device {
    device_list(&Permissions::below(&[root.into()]))
        .devices
        .into_iter()
        .find(|device| device.path == path)
        .unwrap()
}

#[test]
fn lists_a_loop_device_with_a_filesystem() {
    let dir = directory();
    let file = dir.path().join("disk");
    image(&file, 64 * MIB);
    let Some(disk) = Loop::attach(&file, &[]) else {
        return;
    };
    let empty = find(&disk.0, dir.path());
    assert_eq!(
        (empty.kind, empty.size_bytes, empty.filesystem.as_deref()),
        (DeviceKind::Loop, 64 * MIB, None)
    );
    assert_eq!(empty.backing_file.as_deref(), file.to_str());
    assert_eq!(empty.identity.unwrap(), format!("loop:{}", file.display()));
    run("mkfs.ext4", &["-q", &disk.0]).unwrap();
    assert_eq!(
        find(&disk.0, dir.path()).filesystem.as_deref(),
        Some("ext4"),
        "the filesystem is not detected by its signature"
    );
    let point = dir.path().join("mnt");
    let _mounted = Mounted::new(&disk.0, &point);
    let mounted = find(&disk.0, dir.path());
    assert_eq!(
        (
            mounted.mounts[0].point.as_str(),
            mounted.mounts[0].filesystem.as_str()
        ),
        (point.to_str().unwrap(), "ext4")
    );
    assert_eq!(
        mounted.used_by,
        [format!("mounted at {} (ext4)", point.display())]
    );
    assert!(mounted.read_access.allowed && !mounted.write_access.allowed);
    assert!(mounted.write_access.reason.unwrap().contains("Unmount"));
}

#[test]
fn every_device_has_its_size_parents_and_access() {
    let list = device_list(&Permissions::default());
    for device in &list.devices {
        for access in [&device.read_access, &device.write_access] {
            assert_eq!(access.allowed, access.reason.is_none(), "{device:?}");
        }
        // Other tests attach and detach loop devices concurrently.
        if device.name.starts_with("loop") {
            continue;
        }
        let path = format!("/sys/class/block/{}/size", device.name);
        let sectors: u64 = fs::read_to_string(path).unwrap().trim().parse().unwrap();
        assert_eq!(device.size_bytes, sectors * 512, "{}", device.name);
        assert!(
            device
                .parents
                .iter()
                .all(|parent| list.devices.iter().any(|known| known.name == *parent)),
            "{device:?}"
        );
    }
    let text = text::devices::render(&list, 100);
    assert!(
        list.devices
            .iter()
            .all(|device| text.contains(&device.name)),
        "{text}"
    );
}

#[test]
fn path_facts_include_the_underlying_device() {
    let dir = directory();
    let file = dir.path().join("disk");
    image(&file, 64 * MIB);
    let Some(disk) = Loop::attach(&file, &[]) else {
        return;
    };
    run("mkfs.ext4", &["-q", &disk.0]).unwrap();
    let point = dir.path().join("mnt");
    let _mounted = Mounted::new(&disk.0, &point);
    let view = View::new(&Permissions::below(&[dir.path().into()]));
    let new = view.path(point.join("new").to_str().unwrap());
    assert_eq!(
        (new.kind, new.device.as_deref(), new.filesystem.as_deref()),
        (PathKind::Missing, Some(disk.name()), Some("ext4"))
    );
    assert_eq!(new.direct_alignment.unwrap().offset, 512);
    assert!((1..64 * MIB).contains(&new.free_bytes));
    let device = view.path(&disk.0);
    assert_eq!(
        (
            device.kind,
            device.length,
            device.device.as_deref(),
            device.filesystem
        ),
        (PathKind::Device, 64 * MIB, Some(disk.name()), None)
    );
    assert_eq!(device.direct_alignment.unwrap().offset, 512);
    assert_eq!(device.write_problem.unwrap().code, "device_in_use");
    assert!(device.read_problem.is_none());
}

#[test]
fn reports_4_kib_sectors() {
    let dir = directory();
    let file = dir.path().join("disk");
    image(&file, 16 * MIB);
    let Some(disk) = Loop::attach(&file, &["--sector-size", "4096"]) else {
        return;
    };
    let facts = View::new(&Permissions::below(&[dir.path().into()])).path(&disk.0);
    assert_eq!(facts.direct_alignment.unwrap().offset, 4096);
    assert_eq!(find(&disk.0, dir.path()).logical_block_bytes, Some(4096));
}

#[test]
fn btrfs_subvolumes_are_on_the_filesystem_device() {
    let dir = directory();
    let file = dir.path().join("disk");
    image(&file, 128 * MIB);
    let Some(disk) = Loop::attach(&file, &[]) else {
        return;
    };
    run("mkfs.btrfs", &["-q", "-f", &disk.0]).unwrap();
    let point = dir.path().join("mnt");
    let _mounted = Mounted::new(&disk.0, &point);
    run(
        "btrfs",
        &["subvolume", "create", point.join("sub").to_str().unwrap()],
    )
    .unwrap();
    let facts = View::new(&Permissions::below(std::slice::from_ref(&point))).path("sub/new");
    assert_eq!(
        (facts.filesystem.as_deref(), facts.device.as_deref()),
        (Some("btrfs"), Some(disk.name()))
    );
    let upper = point.join("sub/image");
    image(&upper, 8 * MIB);
    let Some(above) = Loop::attach(&upper, &[]) else {
        return;
    };
    assert_eq!(find(&above.0, dir.path()).parents, [disk.name()]);
    assert_eq!(
        View::new(&Permissions::below(&[point]))
            .path("sub/image")
            .write_problem
            .unwrap()
            .code,
        "backs_loop"
    );
}

#[test]
fn doctor_tries_direct_io_in_the_data_directory() {
    let dir = directory();
    let found = doctor(dir.path(), &[]);
    let direct = found
        .checks
        .iter()
        .find(|check| check.name == "o_direct")
        .unwrap();
    assert!(
        direct.detail.contains(dir.path().to_str().unwrap()),
        "{direct:?}"
    );
    assert!(text::doctor::render(&found, 100).contains("o_direct"));
}
