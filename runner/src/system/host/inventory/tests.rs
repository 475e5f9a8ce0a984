//! Tests for the fixture host's inventory.

use crate::system::host::{
    fixture::{Fixture, STACK},
    identity::{identity, model},
    inventory::*,
    queue_settings::QueueSettings,
};

#[test]
fn device_kinds_come_from_sysfs() {
    let host = Fixture::new(STACK).inventory();
    for (name, want) in [
        ("sda", DeviceKind::Disk),
        ("sda1", DeviceKind::Partition),
        ("dm-0", DeviceKind::Dm),
        ("md0", DeviceKind::Md),
        ("loop9090", DeviceKind::Loop),
    ] {
        assert_eq!(host.blocks[name].kind, want, "{name}");
    }
    assert_eq!(host.blocks["sda"].size_bytes, 512_000);
}

#[test]
fn finds_physical_devices_through_every_layer() {
    let host = Fixture::new(STACK).inventory();
    for (name, want) in [
        ("sda", vec!["sda"]),
        ("sda1", vec!["sda"]),
        ("dm-1", vec!["sda"]),
        ("md0", vec!["sdb", "sdc"]),
        ("loop9090", vec!["loop9090"]),
        ("absent", vec![]),
    ] {
        assert_eq!(host.physical_devices(name), want, "{name}");
    }
}

/// Each attribute of a device contains 1 MiB of text, a negative number, nothing, or invalid UTF-8.
#[test]
fn devices_with_invalid_attributes_are_listed_without_them() {
    let long = "9".repeat(1 << 20);
    for wrong in [long.as_str(), "-7", r"\n", "\u{fffd}\u{fffd}"] {
        let host = Fixture::new(&format!(
            r"
            sys/devices/sda/dev = 4008:0
            sys/devices/sda/size = {wrong}
            sys/devices/sda/ro = {wrong}
            sys/devices/sda/hidden = {wrong}
            sys/devices/sda/serial = {wrong}
            sys/devices/sda/wwid = {wrong}
            sys/devices/sda/device/model = {wrong}
            sys/devices/sda/queue/iostats = {wrong}
            sys/devices/sda/queue/read_ahead_kb = {wrong}
            sys/devices/sda/queue/nr_requests = {wrong}
            sys/devices/sda/queue/logical_block_size = {wrong}
            sys/devices/sda/loop/backing_file = {wrong}
            sys/devices/sdb/dev = {wrong}
            proc/swaps = {wrong}
            proc/self/mountinfo = {wrong}
            "
        ))
        .inventory();
        let [block] = host.blocks.values().collect::<Vec<_>>()[..] else {
            panic!("a device without a number is not listed: {:?}", host.blocks);
        };
        assert_eq!((block.name.as_str(), block.size_bytes), ("sda", 0));
        assert!(!block.read_only && block.has_iostats);
        let queue = QueueSettings::read(block);
        assert_eq!((queue.read_ahead_bytes, queue.nr_requests), (None, None));
        for text in [identity(&host, block), model(block)].into_iter().flatten() {
            assert!(text.len() <= 4096 + "serial:".len(), "{} bytes", text.len());
        }
        assert_eq!(host.uses(block), []);
    }
}

#[test]
fn cyclic_device_stack_terminates() {
    let host = Fixture::new("sys/devices/dm-7/dev = 4053:7\n sys/devices/dm-7/slaves/dm-8 @\n sys/devices/dm-8/dev = 4053:8\n sys/devices/dm-8/slaves/dm-7 @").inventory();
    assert_eq!(host.physical_devices("dm-7"), Vec::<String>::new());
    assert_eq!(
        host.lower_devices("dm-7"),
        BTreeSet::from(["dm-7", "dm-8"].map(String::from))
    );
}

#[test]
fn lists_every_use() {
    let host = Fixture::new(STACK).inventory();
    for (name, want) in [
        (
            "sda",
            vec![
                "its partition sda1: mounted at /boot (ext4)",
                "its partition sda2: part of dm-0 (vg-home)",
            ],
        ),
        ("sda1", vec!["mounted at /boot (ext4)"]),
        ("dm-0", vec!["part of dm-1 (crypt)"]),
        ("dm-1", vec!["mounted at / (xfs)"]),
        ("sdb", vec!["part of md0"]),
        ("md0", vec![]),
        ("sdd", vec!["mounted at /pool (btrfs)"]),
        (
            "sde",
            vec!["member of the btrfs filesystem mounted at /pool"],
        ),
        ("sdf", vec!["swap"]),
        (
            "loop9090",
            vec!["its backing file is also attached to loop9091"],
        ),
        ("loop9092", vec![]),
    ] {
        let uses: Vec<String> = host
            .uses(&host.blocks[name])
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(uses, want, "{name}");
    }
}

#[test]
fn mount_points_in_uses_are_printable() {
    let host = Fixture::new(
        "sys/devices/sda/dev = 4008:0
         proc/self/mountinfo = 1 0 4008:0 / /a\u{1b}[31m\u{202e}b rw - fuse.\u{1b} /dev/sda rw",
    );
    let host = host.inventory();
    let uses = host.uses(&host.blocks["sda"]);
    assert_eq!(
        uses[0].to_string(),
        "mounted at /a\u{fffd}[31m\u{fffd}b (fuse.\u{fffd})"
    );
}

#[test]
fn device_names_in_uses_are_printable() {
    let host = Fixture::new(
        "sys/devices/sda/dev = 4008:0
         sys/devices/sda/holders/md\u{7f}\u{202e}0 @",
    );
    let host = host.inventory();
    let uses = host.uses(&host.blocks["sda"]);
    assert_eq!(uses[0].to_string(), "part of md\u{fffd}\u{fffd}0");
}

#[test]
fn filesystem_members_include_all_btrfs_devices() {
    let host = Fixture::new(STACK).inventory();
    assert_eq!(host.filesystem_members("sdd"), ["sdd", "sde"]);
    assert_eq!(host.filesystem_members("sda1"), ["sda1"]);
}
