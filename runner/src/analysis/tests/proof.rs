//! Tests of the rows in a verdict's proof.

use crate::analysis::tests::*;
use leadline_protocol::{
    counters::Memory,
    report::{MemoryReport, device::Reading},
    verdict::{Layer, Proof},
};

fn proof_rows(rw: &str, change: impl FnOnce(&mut Report)) -> Vec<Proof> {
    let run = with(
        one_direction(rw, false, (10_000, 4), (5000, 20_000)),
        |report| {
            let counts = report.device.as_ref().unwrap().counts;
            let start = DeviceCounts {
                read_ios: 100,
                read_bytes: 512_000,
                write_ios: 7,
                ..DeviceCounts::default()
            };
            let end = DeviceCounts {
                read_ios: 100 + counts.read_ios,
                read_bytes: 512_000 + counts.read_bytes,
                write_ios: 7 + counts.write_ios,
                write_bytes: counts.write_bytes,
                ..DeviceCounts::default()
            };
            report.readings = vec![Reading {
                device: "vda".into(),
                start,
                end,
            }];
            let memory = |cached, dirty| Memory {
                cached,
                dirty,
                ..Memory::default()
            };
            report.memory = Some(MemoryReport {
                start: memory(1000, 50),
                end: memory(900, 80),
            });
            change(report);
        },
    );
    verdict_of(&run).proof
}

#[test]
fn differences_and_commands() {
    let rows = proof_rows("randread", |_| {});
    let row = |name: &str| {
        rows.iter()
            .find(|row| row.name == name)
            .unwrap_or_else(|| panic!("{name} is missing in {rows:#?}"))
    };
    let reads = row("reads completed by vda");
    assert_eq!(
        (reads.before, reads.after, reads.difference, reads.layer),
        (Some(100), Some(5100), 5000, Layer::Device)
    );
    assert_eq!(
        reads.command.as_deref(),
        Some("awk '{print $1}' /sys/class/block/vda/stat")
    );
    assert_eq!(
        row("bytes read by vda").command.as_deref(),
        Some("awk '{print $3*512}' /sys/class/block/vda/stat")
    );
    assert_eq!(row("reads issued").difference, 10_000);
    assert_eq!(
        row("bytes read from storage by this process").difference,
        20_000 * 1024
    );
    assert_eq!(row("Cached (whole host)").difference, -100);
    for row in &rows {
        let known = row.before.zip(row.after);
        assert!(
            known.is_none_or(|(before, after)| after as i64 - before as i64 == row.difference),
            "{row:?}"
        );
        let is_counted_by_runner =
            row.layer == Layer::Application || row.name.contains(" looked up, found ");
        assert!(row.command.is_some() || is_counted_by_runner, "{row:?}");
    }
    assert!(rows.is_sorted_by_key(|row| row.layer), "from top to bottom");
}

#[test]
fn proof_for_writes_includes_dirty_data() {
    let rows = proof_rows("randwrite", |_| {});
    let names: Vec<&str> = rows.iter().map(|row| row.name.as_str()).collect();
    for name in [
        "/data/file dirty or in writeback",
        "Dirty (whole host)",
        "writes completed by vda",
    ] {
        assert!(names.contains(&name), "{name} is missing in {names:?}");
    }
    assert!(!names.contains(&"reads completed by vda"), "{names:?}");
}

#[test]
fn paths_are_quoted() {
    let rows = proof_rows("randread", |report| {
        report.targets[0].path = "/data/it's mine; $HOME".into()
    });
    let command = rows.iter().find_map(|row| {
        row.command
            .as_deref()
            .filter(|command| command.starts_with("filefrag"))
    });
    assert_eq!(command, Some(r"filefrag -v '/data/it'\''s mine; $HOME'"));
}

#[test]
fn devices_are_cached_in_buffers() {
    let rows = proof_rows("randread", |report| {
        report.targets[0].kind = TargetKind::Device
    });
    assert!(rows.iter().any(|row| row.name == "Buffers (whole host)"));
    assert!(rows.iter().all(|row| {
        row.command
            .as_deref()
            .is_none_or(|command| !command.contains("fincore"))
    }));
}

#[test]
fn charged_bytes_have_a_command() {
    let rows = proof_rows("randread", |report| {
        charge(report, true, &[("vda", 20_000 * KIB)]);
        let mut partition = report.cgroup.as_ref().unwrap().devices[0].clone();
        partition.device = "vda1".into();
        report.cgroup.as_mut().unwrap().devices.push(partition);
    });
    let mut rows = rows
        .iter()
        .filter(|row| row.name == "bytes read by this run on vda");
    let row = rows.next().unwrap();
    assert_eq!(
        (row.layer, row.difference),
        (Layer::Device, 20_000 * KIB as i64)
    );
    let command =
        "grep \"^$(cat /sys/class/block/vda/dev) \" /sys/fs/cgroup/unit/leadline-run-7/io.stat";
    assert_eq!(row.command.as_deref(), Some(command));
    assert!(rows.next().is_none(), "a disk counts once");
}
