//! Notes about options that fio applies differently.

use crate::plan::tests::{merge, plan};
use serde_json::{Value, json};

fn with(changes: &Value) -> Value {
    merge(
        json!({"filename": "full", "direct": 1, "rw": "randread", "runtime": "30s", "time_based": 1}),
        changes,
    )
}

/// Each case: the option that the note is about, and the changed options.
#[test]
fn notes_name_options_that_fio_applies_differently() {
    let cases = [
        ("rate_iops", json!({"rate_iops": 100, "bsrange": "4k-64k"})),
        (
            "rate_iops",
            json!({"rw": "randwrite", "rate_iops": ",100", "bssplit": "4k/50:8k/50"}),
        ),
        (
            "io_size",
            json!({"time_based": 0, "size": "64k", "io_size": "128k", "loops": 2}),
        ),
        (
            "offset_increment",
            json!({"numjobs": 2, "size": "1m", "offset_increment": "10%"}),
        ),
        (
            "fallocate",
            json!({"filename": "owned", "rw": "write", "size": "1m", "fallocate": "keep"}),
        ),
        (
            "size",
            json!({"filename": "new", "rw": "write", "filesize": "512k", "offset": "50%", "fallocate": "none"}),
        ),
        ("size", json!({"rw": "rw", "size": "70000"})),
        ("unlink", json!({"unlink": 1})),
        ("bs", json!({"rw": "randrw", "bs": "4k,8k"})),
        (
            "fsync",
            json!({"filename": "owned:full", "rw": "write", "size": "1m", "fsync": 4}),
        ),
        (
            "size",
            json!({"filename": "new", "filesize": "512k", "offset": "25%"}),
        ),
        ("size", json!({"filename": "owned:full", "size": "100k"})),
        ("size", json!({"rw": "randread:4", "size": "1000000"})),
        (
            "file_append",
            json!({"filename": "owned", "rw": "write", "size": "64k", "file_append": 1}),
        ),
        (
            "file_append",
            json!({"filename": "new", "rw": "write", "time_based": 0, "size": "64k", "io_size": "32k", "file_append": 1}),
        ),
        (
            "io_size",
            json!({"rw": "read", "time_based": 0, "size": "70000", "io_size": "50%"}),
        ),
        (
            "do_verify",
            json!({"filename": "new", "rw": "write", "time_based": 0, "size": "64k", "verify": "crc32c", "do_verify": 0}),
        ),
        (
            "fsync",
            json!({"filename": "new", "rw": "write", "time_based": 0, "size": "70000", "fsync": 17}),
        ),
        (
            "bs_unaligned",
            json!({"rw": "read", "direct": 0, "bsrange": "4k-12k", "bs_unaligned": 1}),
        ),
        ("bs", json!({"time_based": 0, "bsrange": "4k-64k"})),
        (
            "rw",
            json!({"rw": "rw", "time_based": 0, "size": "64k", "io_size": "128k"}),
        ),
        (
            "rw",
            json!({"rw": "read:8k", "size": "36k", "offset": "4k"}),
        ),
        (
            "fsync",
            json!({"filename": "new", "rw": "write", "size": "64k", "iodepth": 4, "fsync": 4}),
        ),
        (
            "bs",
            json!({"rw": "rw", "time_based": 0, "size": "512k", "bs": "128k,4k"}),
        ),
        (
            "bs",
            json!({"filename": "new", "rw": "write", "direct": 0, "ioengine": "mmap", "size": "64k", "bs": "1k", "fsync": 4}),
        ),
        (
            "end_fsync",
            json!({"filename": "new", "rw": "write", "time_based": 0, "size": "64k", "end_fsync": 1, "loops": 2}),
        ),
        ("startdelay", json!({"numjobs": 2, "startdelay": "1-2"})),
        (
            "zonemode",
            json!({"rw": "read", "size": "64k", "zonemode": "strided", "zonesize": "8k", "zoneskip": "4k"}),
        ),
        (
            "fallocate",
            json!({"filename": "new", "size": "1m", "fallocate": "native"}),
        ),
        (
            "thinktime_spin",
            json!({"thinktime": "1ms", "thinktime_spin": "5ms"}),
        ),
        ("filename", json!({"filename": "-", "size": "1m"})),
        (
            "verify",
            json!({"filename": "new", "rw": "write", "time_based": 0, "size": "64k", "io_size": "128k", "verify": "crc32c"}),
        ),
        (
            "verify_backlog",
            json!({"filename": "new", "rw": "write", "size": "64k", "verify": "crc32c", "verify_backlog": 4}),
        ),
    ];
    let options = |job: Value| -> Vec<Value> {
        let findings = plan(job).findings.into_iter();
        findings
            .filter(|finding| finding.code == "fio_difference")
            .map(|finding| finding.evidence["option"].clone())
            .collect()
    };
    assert_eq!(
        options(with(&json!({"time_based": 0}))),
        Vec::<Value>::new()
    );
    for same in [
        json!({"rw": "read:-4k", "bs": "4k"}),
        json!({"rw": "randread", "bs": "4k,8k"}),
        json!({"rw": "read", "size": "64k"}),
    ] {
        assert_eq!(options(with(&same)), Vec::<Value>::new(), "{same}");
    }
    for (option, changes) in cases {
        let found = options(with(&changes));
        assert!(found.contains(&option.into()), "{changes}: {found:?}");
    }
    let job = json!({"name": "a/b", "directory": "dir", "direct": 1, "size": "1m"});
    assert_eq!(options(job), ["name"]);
}
