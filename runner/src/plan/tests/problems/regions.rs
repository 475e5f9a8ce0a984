//! Misaligned I/O, and regions that do not fit.

use crate::plan::tests::{merge, plan, problems::check};
use leadline_protocol::problem::ProblemKind;
use serde_json::{Value, json};

#[test]
fn direct_io_requires_alignment() {
    let job = |changes: Value| {
        merge(
            json!({"filename": "/dev/loop0", "rw": "randread", "direct": 1}),
            &changes,
        )
    };
    check(
        json!({"filename": "full", "bs": 3000, "direct": 1}),
        "misaligned",
        "bs",
        "such as 3072",
    );
    assert!(
        plan(json!({"filename": "full", "bs": 3000, "direct": 0}))
            .problems
            .is_empty()
    );
    check(
        job(json!({"bs": 512})),
        "misaligned",
        "bs",
        "aligned to 4096 bytes",
    );
    check(
        job(json!({"bs": "4k,512", "rw": "randrw"})),
        "misaligned",
        "bs",
        "512",
    );
    check(
        job(json!({"bsrange": "2k-64k"})),
        "misaligned",
        "bsrange",
        "2048",
    );
    check(job(json!({"offset": 512})), "misaligned", "offset", "512");
    check(
        job(json!({"blockalign": 1024})),
        "misaligned",
        "blockalign",
        "1024",
    );
    check(job(json!({"rw": "read:1000"})), "misaligned", "rw", "1000");
    check(
        job(json!({"rw": "randtrim", "direct": 0, "bs": 512})),
        "misaligned",
        "bs",
        "Trims",
    );
    check(
        json!({"filename": "odd", "rw": "write", "direct": 1, "file_append": 1, "size": "1m"}),
        "misaligned",
        "file_append",
        "1000",
    );
    let problem = check(
        json!({"filename": "/shm/file", "direct": 1, "size": "1m"}),
        "direct_unsupported",
        "direct",
        "tmpfs has no O_DIRECT",
    );
    assert_eq!(problem.kind, ProblemKind::Environment);
}

#[test]
fn regions_must_fit_in_targets() {
    let on = |filename: &str, changes: Value| {
        merge(json!({"filename": filename, "direct": 0}), &changes)
    };
    check(on("new", json!({})), "missing_size", "size", "1g");
    check(
        on("empty", json!({"runtime": "10s", "time_based": 1})),
        "missing_size",
        "size",
        "no size can be derived",
    );
    check(
        on("new", json!({"size": "50%"})),
        "percent_of_unknown_size",
        "size",
        "missing or empty",
    );
    check(
        on("new", json!({"size": "1m", "offset": "50%"})),
        "percent_of_unknown_size",
        "offset",
        "filesize",
    );
    check(
        on("/dev/loop0", json!({"size": "2g"})),
        "region_beyond_end",
        "size",
        "only 1 GiB",
    );
    check(
        on("/dev/loop0", json!({"size": "1m", "offset": "2g"})),
        "region_beyond_end",
        "offset",
        "starts at 2 GiB",
    );
    check(
        on("full", json!({"offset": "2g"})),
        "region_beyond_end",
        "offset",
        "starts at 2 GiB",
    );
    check(
        on("/dev/loop0", json!({"size": "600m", "offset": "50%"})),
        "region_beyond_end",
        "size",
        "1 GiB",
    );
    check(
        on(
            "/dev/loop0",
            json!({"offset_increment": "600m", "numjobs": 2, "size": "600m"}),
        ),
        "region_beyond_end",
        "offset_increment",
        "1.17 GiB",
    );
    check(
        on("full", json!({"offset_increment": "600m", "numjobs": 3})),
        "region_beyond_end",
        "offset_increment",
        "only 1 GiB",
    );
    check(
        on("/dev/vdb", json!({"bs": "2g"})),
        "out_of_range",
        "bs",
        "1 GiB",
    );
    check(
        on("short", json!({"bs": "128m"})),
        "block_larger_than_region",
        "bs",
        "128 MiB",
    );
    check(
        on("new", json!({"size": "1k"})),
        "block_larger_than_region",
        "size",
        "1 KiB",
    );
    check(
        on("new", json!({"size": "2g", "filesize": "1g"})),
        "region_beyond_end",
        "size",
        "1 GiB",
    );
    // Extreme values must not overflow.
    check(
        on(
            "new",
            json!({"size": "4k", "offset": "18446744073709551615"}),
        ),
        "out_of_range",
        "offset",
        "2^53",
    );
    check(
        on("new", json!({"size": "4k", "offset_increment": "8p"})),
        "out_of_range",
        "offset_increment",
        "2^53",
    );
    check(
        on(
            "new",
            json!({"size": "4k", "offset_increment": "4p", "numjobs": 3}),
        ),
        "out_of_range",
        "offset_increment",
        "2^53",
    );
    check(
        on("new", json!({"size": "8p"})),
        "out_of_range",
        "size",
        "2^53",
    );
    check(
        on(
            "new",
            json!({"filesize": "18446744073709551615", "offset": "100%"}),
        ),
        "region_beyond_end",
        "offset",
        "only",
    );
}

/// A job with one file per worker reports one problem, not one problem per file.
#[test]
fn misaligned_blocks_are_reported_once() {
    let job = json!({"directory": "/data", "size": "1m", "bs": 1000, "numjobs": 500, "direct": 1});
    check(job, "misaligned", "bs", "1000");
}

#[test]
fn absolute_zones_must_fit_the_region() {
    let job = |zones: &str| {
        json!({"filename": "full", "direct": 1, "rw": "randread", "size": "1m",
            "random_distribution": zones})
    };
    check(
        job("zoned_abs:50/512k:50/1m"),
        "zones_beyond_region",
        "random_distribution",
        "end at 1.50 MiB, beyond the region of 1 MiB",
    );
    let fitting = plan(job("zoned_abs:50/512k:50/512k"));
    assert!(fitting.problems.is_empty(), "{:?}", fitting.problems);
}

#[test]
fn sequences_must_fit_the_region() {
    let job = |blocks: &str| {
        json!({"filename": "full", "direct": 1, "rw": "randread", "size": "48k",
            "random_distribution": blocks})
    };
    check(
        job("sequence:2:12:1"),
        "blocks_beyond_region",
        "random_distribution",
        "Block 12 of the sequence ends at 52 KiB, beyond the region of 48 KiB",
    );
    let fitting = plan(job("sequence:2:11:1"));
    assert!(fitting.problems.is_empty(), "{:?}", fitting.problems);
}

#[test]
fn offsets_in_percent_are_aligned() {
    let offset = |align: Value| {
        let job = json!({"filename": "full", "direct": 1, "offset": "33%", "size": "1m"});
        let plan = plan(merge(job, &align));
        plan.jobs[0].target.offset
    };
    let exact = (1u64 << 30) * 33 / 100;
    assert_eq!(offset(json!({})), exact.next_multiple_of(4096));
    let aligned = offset(json!({"offset_align": "1m"}));
    assert_eq!(aligned, exact.next_multiple_of(1 << 20));
    check(
        json!({"filename": "full", "direct": 1, "offset_align": 0}),
        "out_of_range",
        "offset_align",
        "greater than 0",
    );
}

/// Part of the filesystem must stay free. As in fio, `fill_device` is limited only by a `size` or
/// `filesize` in bytes.
#[test]
fn fill_device_needs_a_device_or_a_size() {
    let fill = |changes: Value| {
        merge(
            json!({"filename": "full", "rw": "write", "direct": 1, "fill_device": 1}),
            &changes,
        )
    };
    for changes in [
        json!({}),
        json!({"size": "50%"}),
        json!({"io_size": "1m"}),
        json!({"rw": "randrw"}),
    ] {
        let problem = check(
            fill(changes),
            "fills_filesystem",
            "fill_device",
            "would fill the filesystem of /data/full",
        );
        assert_eq!(problem.kind, ProblemKind::Invalid);
    }
    for accepted in [
        json!({"size": "1m"}),
        json!({"size": "1m", "io_size": "512k"}),
        json!({"filesize": "1m"}),
        json!({"rw": "read"}),
        json!({"fill_device": 0}),
        json!({"filename": "/dev/loop0"}),
        json!({"filename": "/dev/loop0", "size": "50%"}),
    ] {
        let plan = plan(fill(accepted.clone()));
        assert!(
            plan.problems
                .iter()
                .all(|problem| problem.code != "fills_filesystem"),
            "{accepted}: {:?}",
            plan.problems
        );
    }
}
