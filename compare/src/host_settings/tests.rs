//! Tests which host facts affect comparisons and fingerprints.

use crate::{
    compare, fingerprint,
    group::{ComparedRun, Group},
};
use leadline_protocol::{
    compare::{Assessment, ComparabilityLevel},
    plan::job::ResolvedJob,
    run::Run,
};
use serde_json::{Value, json};

const JOB: &str = r#"{
    "name": "job", "mode": "direct", "targets": [], "size": 1048576, "io_size": 1048576, "offset": 0, "offset_increment": 0,
    "rw": "read", "rw_modifier": null, "rwmixread": null,
    "bs": {"read": {"min": 4096, "max": 4096, "split": []}, "write": {"min": 4096, "max": 4096, "split": []},
        "trim": {"min": 4096, "max": 4096, "split": []}},
    "blockalign": {"read": 4096, "write": 4096, "trim": 4096},
    "random_distribution": {"read": {"kind": "random"}, "write": {"kind": "random"}, "trim": {"kind": "random"}},
    "percentage_random": {"read": 100, "write": 100, "trim": 100}, "norandommap": false, "randseed": 137,
    "iodepth": 1, "iodepth_batch_submit": null, "iodepth_batch_complete_min": null, "numjobs": 1, "direct": true,
    "ioengine": "io_uring", "runtime_ms": null, "time_based": false, "ramp_ms": 0, "startdelay_ms": 0, "loops": 1, "number_ios": null,
    "invalidate": true, "pre_read": false, "fadvise_hint": "0", "drop_caches": false, "sync": "none", "fsync": 0, "fdatasync": 0,
    "end_fsync": false, "fallocate": "written", "overwrite": false, "file_append": false, "create_on_open": false, "unlink": false,
    "rate": {"read": null, "write": null, "trim": null}, "rate_iops": {"read": null, "write": null, "trim": null},
    "rate_process": "linear",
    "thinktime_us": 0, "thinktime_blocks": 1, "zero_buffers": false, "scramble_buffers": true, "refill_buffers": false, "buffer_compress_percentage": 0,
    "dedupe_percentage": 0, "cpus_allowed": [], "nice": 0
}"#;

fn latencies() -> Value {
    json!({"min": 1, "max": 2, "mean": 1.0, "stddev": 1.0, "count": 1, "percentiles": {}, "buckets": []})
}

fn report() -> Value {
    let lat = latencies();
    let direction = json!({"ios": 9, "bytes": 9, "iops": 9.0, "bytes_per_second": 9.0, "slat_ns": lat, "clat_ns": lat, "lat_ns": lat});
    json!({"started_at_ms": 0, "duration_ms": 1000.0, "ended_by": "runtime", "phases": [], "read": direction, "write": direction,
        "trim": direction, "sync": {"ios": 0, "lat_ns": lat}, "jobs": [], "device": null, "cpu": null, "memory": null, "pressure": null,
        "errors": {"total": 0, "first": null}, "start_skew_ns": 0, "achieved_depth": null, "absent": {}})
}

/// A file on LVM on a partition of a disk.
fn storage() -> Value {
    let device = |name: &str, kind: &str, identity: Option<&str>, is_physical: bool| {
        json!({"name": name, "kind": kind, "is_physical": is_physical, "identity": identity, "model": null, "size_bytes": 4096,
            "scheduler": null, "read_ahead_bytes": null, "nr_requests": null, "write_cache": null})
    };
    let mut volume = device("dm-0", "dm", Some("dm:LVM-abc"), false);
    volume["read_ahead_bytes"] = json!(131072);
    let partition = device("sda2", "partition", Some("serial:X_1-part2"), false);
    let mut disk = device("sda", "disk", Some("serial:X_1"), true);
    disk["model"] = json!("X");
    disk["scheduler"] = json!("none");
    disk["read_ahead_bytes"] = json!(131072);
    disk["nr_requests"] = json!(256);
    disk["write_cache"] = json!("write back");
    json!({"mounts": [{"point": "/data", "filesystem": "ext4", "options": "rw,relatime"}], "devices": [volume, partition, disk]})
}

fn host() -> Value {
    json!({"hostname": "h", "kernel": "6.1", "machine": "x86_64", "cpus": 2, "governor": "performance", "memlock_bytes": 65536,
        "runner": "0.1.0", "absent": {}, "vulnerabilities": {"spectre_v2": "Mitigation: Retpolines; STIBP: disabled"}, "storage": storage()})
}

/// A run on a file on `device`.
fn run(number: u64, host: Value, device: &str) -> Run {
    let target = json!({"path": "/data/file", "kind": "file", "length": 1048576, "existed": true, "layout_bytes": 0,
        "filesystem": "ext4", "device": device, "alignment": 512, "offset": 0, "size": 1048576, "worker": null});
    let mut job: Value = serde_json::from_str(JOB).unwrap();
    job["targets"] = json!([target]);
    let run = json!({"number": number, "status": "done", "name": "r", "host": "local", "tags": [], "notes": "", "created_at_ms": 0, "jobs": 1,
        "target": "/data/file", "rw": "read", "bs": "4k", "iodepth": 1, "numjobs": 1, "direct": true, "requested": {"jobs": [], "sample_ms": 100},
        "sample_ms": 100, "resolved": [job], "host_facts": host, "report": report(), "verdict": null, "findings": [], "last_seq": 9, "samples": 1});
    serde_json::from_value(run).unwrap()
}

fn assess(runs: [&Run; 2]) -> Assessment {
    let group = |run| Group {
        label: "g".into(),
        runs: vec![ComparedRun::new(run, None)],
    };
    compare(&runs.map(group), 0, 2.0)
}

fn fingerprint(run: &Run) -> String {
    fingerprint::host(&ComparedRun::new(run, None)).unwrap()
}

/// A run whose host facts have this value replaced.
fn changed(pointer: &str, value: Value) -> Run {
    changed_on(pointer, value, "dm-0")
}

fn changed_on(pointer: &str, value: Value, device: &str) -> Run {
    let mut host = host();
    *host.pointer_mut(pointer).expect(pointer) = value;
    run(2, host, device)
}

/// Formats the differences as `name: value / value`; harmful ones are marked with `!`.
fn differences(assessment: &Assessment) -> Vec<String> {
    let text = |value: &Option<String>| value.clone().unwrap_or("none".into());
    let rows = assessment.host_differences.iter();
    rows.map(|row| {
        let mark = if row.is_harmful { "!" } else { "" };
        let values: Vec<String> = row.values.iter().map(text).collect();
        format!("{}{mark}: {}", row.name, values.join(" / "))
    })
    .collect()
}

#[test]
fn each_fact_is_compared() {
    let before = run(1, host(), "dm-0");
    let options = "/storage/mounts/0/options";
    for (pointer, value, expected) in [
        ("/kernel", json!("6.2"), "kernel!: 6.1 / 6.2"),
        (
            "/governor",
            json!("powersave"),
            "governor!: performance / powersave",
        ),
        (
            "/vulnerabilities/spectre_v2",
            json!("Vulnerable; STIBP: disabled"),
            "vulnerabilities.spectre_v2!: Mitigation: Retpolines / Vulnerable",
        ),
        (
            "/vulnerabilities",
            json!({}),
            "vulnerabilities.spectre_v2!: Mitigation: Retpolines / none",
        ),
        (
            "/storage/mounts/0/filesystem",
            json!("xfs"),
            "filesystem!: ext4 / xfs",
        ),
        (
            options,
            json!("rw,relatime,data=journal"),
            "mount_options!: relatime,rw / data=journal,relatime,rw",
        ),
        (
            "/storage/devices/2/identity",
            json!("serial:X_2"),
            "device.identity!: dm:LVM-abc, serial:X_1-part2, serial:X_1 / dm:LVM-abc, serial:X_1-part2, serial:X_2",
        ),
        (
            "/storage/devices/2/model",
            json!("Y"),
            "device.model!: X / Y",
        ),
        (
            "/storage/devices/2/size_bytes",
            json!(8192),
            "device.size_bytes!: 4096 / 8192",
        ),
        (
            "/storage/devices/2/scheduler",
            json!("mq-deadline"),
            "device.scheduler!: -, none / -, mq-deadline",
        ),
        (
            "/storage/devices/0/read_ahead_bytes",
            json!(4096),
            "device.read_ahead_bytes!: 131072 131072 / 4096 131072",
        ),
        (
            "/storage/devices/2/nr_requests",
            json!(64),
            "device.nr_requests!: - 256 / - 64",
        ),
        (
            "/storage/devices/2/write_cache",
            json!("write through"),
            "device.write_cache!: -, write back / -, write through",
        ),
    ] {
        let after = changed(pointer, value);
        let found = assess([&before, &after]);
        assert_eq!(differences(&found), [expected]);
        assert_eq!(
            found.comparability.level,
            ComparabilityLevel::WithDifferences
        );
        assert_ne!(fingerprint(&before), fingerprint(&after), "{pointer}");
    }
}

#[test]
fn harmless_facts_do_not_affect_fingerprints() {
    let before = run(1, host(), "dm-0");
    let kvm = json!({"spectre_v2": "Mitigation: Retpolines; STIBP: always-on", "itlb_multihit": "KVM: Mitigation: VMX disabled"});
    let mut renamed = storage();
    renamed["devices"].as_array_mut().unwrap().reverse();
    renamed["devices"][0]["name"] = json!("sdb");
    let options = json!("relatime,rw,subvol=/b,upperdir=/tmp/7");
    for (pointer, value) in [
        ("/vulnerabilities", kvm),
        ("/storage", renamed),
        ("/storage/mounts/0/options", options),
        ("/storage/mounts/0/point", json!("/other")),
        ("/storage/devices/1/nr_requests", json!(1)),
    ] {
        let after = changed(pointer, value);
        let found = assess([&before, &after]);
        assert_eq!(differences(&found), [""; 0], "{pointer}");
        assert_eq!(found.comparability.level, ComparabilityLevel::Comparable);
        assert_eq!(fingerprint(&before), fingerprint(&after), "{pointer}");
    }
    for (pointer, value) in [("/memlock_bytes", json!(null)), ("/runner", json!("0.2.0"))] {
        let after = changed(pointer, value);
        assert_eq!(differences(&assess([&before, &after])).len(), 1);
        assert_eq!(fingerprint(&before), fingerprint(&after), "{pointer}");
    }
}

/// A run on a temporary loop device, recorded with or without its storage.
fn loop_run(number: u32, has_storage: bool) -> Run {
    let name = format!("loop{number}");
    let mut host = host();
    let mut storage = storage();
    let mut attached = storage["devices"][0].clone();
    attached["name"] = json!(name);
    attached["kind"] = json!("loop");
    attached["identity"] = json!(format!("loop:/data/{number}"));
    attached["size_bytes"] = json!(number);
    storage["devices"]
        .as_array_mut()
        .unwrap()
        .insert(0, attached);
    host["storage"] = if has_storage { storage } else { json!(null) };
    let mut run = run(number.into(), host, &name);
    let job: &mut ResolvedJob = &mut run.resolved.as_mut().unwrap()[0];
    job.targets[0].kind = serde_json::from_value(json!("loop")).unwrap();
    job.targets[0].filesystem = None;
    run
}

#[test]
fn loop_device_numbers_are_ignored() {
    for has_storage in [true, false] {
        let runs = [loop_run(1, has_storage), loop_run(12, has_storage)];
        let found = assess([&runs[0], &runs[1]]);
        assert_eq!(differences(&found), [""; 0]);
        assert_eq!(found.setting_differences, []);
        assert_eq!(found.comparability.level, ComparabilityLevel::Comparable);
        assert_eq!(fingerprint(&runs[0]), fingerprint(&runs[1]));
    }
}

#[test]
fn disks_below_loop_devices_are_compared() {
    let before = loop_run(1, true);
    let mut after = loop_run(2, true);
    let storage = after.host_facts.as_mut().unwrap().storage.as_mut();
    storage.unwrap().devices[3].scheduler = Some("bfq".into());
    let found = differences(&assess([&before, &after]));
    assert_eq!(found, ["device.scheduler!: -, -, none / -, -, bfq"]);
    assert_ne!(fingerprint(&before), fingerprint(&after));
}

/// A run recorded before host facts included vulnerabilities and storage.
fn old_run(device: &str) -> Run {
    let mut host = host();
    for name in ["vulnerabilities", "storage"] {
        host.as_object_mut().unwrap().remove(name);
    }
    run(1, host, device)
}

#[test]
fn facts_of_earlier_versions_are_unknown() {
    let found = assess([&old_run("dm-0"), &run(2, host(), "dm-0")]);
    assert_eq!(found.comparability.level, ComparabilityLevel::Comparable);
    assert_eq!(found.comparability.sentence, "Same test on the same host.");
    assert_eq!(
        found.comparability.reasons,
        [
            "Not recorded in all runs, so not compared: device.identity, device.model, device.nr_requests, device.read_ahead_bytes, 5 more."
        ]
    );
    let rows = differences(&found);
    assert_eq!(rows.len(), 9);
    assert_eq!(rows[1], "device.model: unknown / X");
    assert!(rows.iter().all(|row| !row.contains('!')));

    let old = assess([&old_run("dm-0"), &old_run("dm-0")]);
    assert_eq!(differences(&old), [""; 0]);
    assert_eq!(old.comparability.reasons, [""; 0]);
}

#[test]
fn device_names_are_compared_if_storage_was_not_recorded() {
    let found = differences(&assess([&old_run("sda"), &run(2, host(), "sdb")]));
    assert!(found.contains(&"targets.device!: sda / sdb".to_owned()));
    assert_ne!(fingerprint(&old_run("sda")), fingerprint(&old_run("sdb")));
}

#[test]
fn run_without_host_facts_is_unknown() {
    let mut cancelled = run(1, host(), "dm-0");
    cancelled.host_facts = None;
    let found = assess([&cancelled, &run(2, host(), "dm-0")]);
    assert_eq!(found.comparability.level, ComparabilityLevel::Comparable);
    assert_eq!(fingerprint::host(&ComparedRun::new(&cancelled, None)), None);
}

#[test]
fn machines_are_identified_by_name_and_devices() {
    let machine = |run: &Run| fingerprint::machine(&ComparedRun::new(run, None)).unwrap();
    let before = run(1, host(), "dm-0");
    for (pointer, value) in [
        ("/kernel", json!("6.2")),
        ("/governor", json!("powersave")),
        ("/cpus", json!(64)),
        ("/vulnerabilities", json!({})),
        ("/storage/mounts/0/filesystem", json!("xfs")),
        ("/storage/mounts/0/options", json!("rw,data=journal")),
        ("/storage/devices/2/scheduler", json!("mq-deadline")),
        ("/storage/devices/2/model", json!("X with new firmware")),
        ("/storage/devices/2/name", json!("sdb")),
    ] {
        assert_eq!(
            machine(&before),
            machine(&changed(pointer, value)),
            "{pointer}"
        );
    }
    for (pointer, value) in [
        ("/hostname", json!("other")),
        ("/storage/devices/2/identity", json!("serial:X_2")),
    ] {
        assert_ne!(
            machine(&before),
            machine(&changed(pointer, value)),
            "{pointer}"
        );
    }
    let unrecorded = |device| changed_on("/storage", json!(null), device);
    assert_eq!(machine(&unrecorded("sda")), machine(&unrecorded("sda")));
    assert_ne!(machine(&unrecorded("sda")), machine(&unrecorded("sdb")));
}

/// Another job may have extended the file: `size` and `offset` are the accessed region.
#[test]
fn job_fingerprints_ignore_the_file_length() {
    let fingerprint = |length, size| {
        let mut run = run(1, host(), "dm-0");
        let target = &mut run.resolved.as_mut().unwrap()[0].targets[0];
        (target.length, target.size) = (length, size);
        fingerprint::job(&ComparedRun::new(&run, None)).unwrap()
    };
    assert_eq!(fingerprint(1 << 20, 1 << 20), fingerprint(2 << 20, 1 << 20));
    assert_ne!(fingerprint(2 << 20, 1 << 20), fingerprint(2 << 20, 2 << 20));
}
