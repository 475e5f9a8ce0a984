//! Resolved jobs for tests: a default 1 MiB job with some fields replaced.

use leadline_protocol::plan::{
    job::ResolvedJob,
    target::{Target, TargetKind},
};
use serde_json::{Value, json};

const DEFAULT_JOB: &str = r#"{
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

/// Sequential 4 KiB reads of a 1 MiB file, with the fields in `changes` replaced.
pub(crate) fn resolved(changes: Value) -> ResolvedJob {
    let mut job: Value = serde_json::from_str(DEFAULT_JOB).expect("JSON");
    job["targets"] = json!([target(0, 1 << 20)]);
    for (name, value) in changes.as_object().expect("an object") {
        job[name] = value.clone();
    }
    serde_json::from_value(job).expect("a resolved job")
}

/// A `PerDirection` with the same value for every direction.
pub(crate) fn same(value: &Value) -> Value {
    json!({"read": value, "write": value, "trim": value})
}

/// A file with a region of `size` bytes at `offset`.
pub(crate) fn target(offset: u64, size: u64) -> Target {
    Target {
        path: "/data/file".into(),
        kind: TargetKind::File,
        length: offset + size,
        existed: true,
        layout_bytes: 0,
        layout_offset: None,
        filesystem: Some("ext4".into()),
        device: Some("vda".into()),
        identity: None,
        alignment: 512,
        offset,
        size,
        worker: None,
    }
}
