//! Every kind of bad input, each with the field that it names and a word that its sentence or remedy must have.

use crate::plan::tests::host::{GIB, MIB, TableHost};
use crate::plan::tests::{plan, plan_on};
use leadline_protocol::problem::{Problem, ProblemKind};
use serde_json::{Value, json};

fn check_on(host: &TableHost, job: Value, want: &[(&str, &str, &str)]) -> Vec<Problem> {
    let plan = plan_on(host, job.clone());
    let found: Vec<_> = plan
        .problems
        .iter()
        .map(|problem| {
            (
                problem.code.as_str(),
                problem.field.as_deref().unwrap_or(""),
            )
        })
        .collect();
    let wanted: Vec<_> = want
        .iter()
        .map(|(code, field, _)| (*code, *field))
        .collect();
    assert_eq!(found, wanted, "{job}\n{:#?}", plan.problems);
    for (problem, (.., word)) in plan.problems.iter().zip(want) {
        assert!(
            problem.to_string().contains(word),
            "{word:?} is missing: {problem}"
        );
        assert!(
            problem.detail.ends_with('.') && !problem.remedy.is_empty(),
            "{problem}"
        );
    }
    plan.problems
}

/// One job, one problem: code, option, a word of it.
fn check(job: Value, code: &str, option: &str, word: &str) -> Problem {
    check_on(
        &TableHost::default(),
        job,
        &[(code, &format!("jobs[0].{option}"), word)],
    )
    .remove(0)
}

#[test]
fn the_page_cache_must_be_chosen() {
    check(
        json!({"filename": "full"}),
        "direct_not_said",
        "direct",
        "direct=1",
    );
    assert!(
        plan(json!({"ioengine": "null"})).problems.is_empty(),
        "null touches no cache"
    );
}

#[test]
fn polling_needs_something_to_poll() {
    check(
        json!({"filename": "full", "direct": 0, "hipri": 1}),
        "hipri_needs_direct",
        "hipri",
        "direct=1",
    );
    check(
        json!({"filename": "full", "direct": 1, "spin": "2s"}),
        "out_of_range",
        "spin",
        "at most 1s",
    );
    assert!(
        plan(json!({"ioengine": "io_uring_nop", "hipri": 1, "size": "1m"}))
            .problems
            .is_empty()
    );
    for option in ["fsync", "fdatasync"] {
        let synced = |rw: &str, engine: &str| {
            let mut job =
                json!({"filename": "full", "direct": 1, "hipri": 1, "rw": rw, "ioengine": engine});
            job[option] = json!(32);
            job
        };
        check(
            synced("randwrite", "io_uring"),
            "hipri_without_syncs",
            option,
            "Leave hipri out",
        );
        check(
            synced("randrw", "io_uring"),
            "hipri_without_syncs",
            option,
            &format!("{option}=32"),
        );
        for (rw, engine) in [("randread", "io_uring"), ("randwrite", "psync")] {
            assert!(
                plan(synced(rw, engine)).problems.is_empty(),
                "{rw} by {engine} syncs through no polled ring"
            );
        }
    }
    let polled = |iodepth: u32| json!({"filename": "full", "direct": 1, "sqthread_poll": 1, "iodepth": iodepth});
    check(polled(16_385), "out_of_range", "iodepth", "sqthread_poll");
    assert!(plan(polled(16_384)).problems.is_empty());
}

#[test]
fn a_loop_device_of_our_own_needs_a_whole_file_and_root() {
    let at = |changes: Value| {
        let mut job = json!({"filename": "new", "size": "1m", "rw": "randwrite", "direct": 1, "loop_device": 1});
        changes
            .as_object()
            .unwrap()
            .iter()
            .for_each(|(name, value)| job[name] = value.clone());
        job
    };
    check(
        at(json!({"filename": "/dev/loop0"})),
        "loop_needs_file",
        "loop_device",
        "device already",
    );
    check(
        at(json!({"file_append": 1})),
        "loop_too_short",
        "loop_device",
        "file_append",
    );
    check(
        at(json!({"fallocate": "none"})),
        "loop_too_short",
        "loop_device",
        "fallocate",
    );
    check(
        at(json!({"filename": "/etc/new"})),
        "outside_roots",
        "filename",
        "target root",
    );
    let user = TableHost {
        is_root: false,
        ..TableHost::default()
    };
    check_on(
        &user,
        at(json!({})),
        &[("loop_unavailable", "jobs[0].loop_device", "root")],
    );
    // The device takes direct I/O, whatever the filesystem of its file does, and trims.
    assert!(
        plan(at(json!({"filename": "/shm/file"})))
            .problems
            .is_empty()
    );
    assert!(plan(at(json!({"rw": "trim"}))).problems.is_empty());
}

#[test]
fn places_that_are_no_targets() {
    let at = |filename: &str, rw: &str| json!({"filename": filename, "rw": rw, "size": "1m", "direct": 0});
    check(
        at("/dev/vdz", "read"),
        "missing_device",
        "filename",
        "none is ever created",
    );
    check(
        at("/dev/disk/by-id/x", "write"),
        "missing_device",
        "filename",
        "/dev/disk/by-id/x",
    );
    check(
        at("/nowhere/deep/x", "read"),
        "missing_directory",
        "filename",
        "mkdir -p /nowhere/deep",
    );
    check(
        at("/data/dir", "read"),
        "is_a_directory",
        "filename",
        "directory=/data/dir",
    );
    check(
        at("/data/fifo", "read"),
        "not_a_target",
        "filename",
        "neither",
    );
    check(
        at("full", "trim"),
        "trim_needs_device",
        "rw",
        "block device",
    );
    check(
        at("full:/dev/loop0", "read"),
        "mixed_targets",
        "filename",
        "jobs of their own",
    );
    check(
        at("full:full", "read"),
        "file_named_twice",
        "filename",
        "twice",
    );
    check(
        json!({"filename": "/data/full", "directory": "/data", "direct": 0}),
        "place_said_twice",
        "directory",
        "Leave directory out",
    );
    check(
        json!({"filename": "full", "nrfiles": 2, "direct": 0}),
        "place_said_twice",
        "nrfiles",
        "names 1",
    );
    check(
        json!({"nrfiles": 5000, "size": "1g", "direct": 0}),
        "too_many_files",
        "nrfiles",
        "4096",
    );
    check(
        json!({"nrfiles": 0, "size": "1g", "direct": 0}),
        "too_many_files",
        "nrfiles",
        "nrfiles=0",
    );
    check(
        json!({"directory": "/nowhere/deep", "size": "1m", "direct": 0, "numjobs": 9}),
        "missing_directory",
        "directory",
        "mkdir",
    );
}

#[test]
fn the_guard_has_the_last_word() {
    for (filename, rw, code) in [
        ("/etc/passwd", "read", "outside_roots"),
        ("/etc/new", "write", "outside_roots"),
        ("/dev/vdb", "write", "raw_write_refused"),
        ("/dev/vdb", "randtrim", "raw_write_refused"),
    ] {
        let problem = check(
            json!({"filename": filename, "rw": rw, "size": "1m", "direct": 0}),
            code,
            "filename",
            "",
        );
        assert_eq!(problem.kind, ProblemKind::Guard);
    }
    assert!(
        plan(json!({"filename": "/dev/vdb", "rw": "randread", "direct": 1}))
            .problems
            .is_empty()
    );
    assert!(
        plan(json!({"filename": "/dev/loop0", "rw": "randwrite", "direct": 1}))
            .problems
            .is_empty()
    );
    assert_eq!(
        plan(json!({"filename": "/dev/vdb", "rw": "write", "direct": 1}))
            .jobs
            .len(),
        1,
        "what is refused by the guard is still shown"
    );
}

#[test]
fn direct_io_needs_its_multiples() {
    let job = |different: Value| {
        let mut job = json!({"filename": "/dev/loop0", "rw": "randread", "direct": 1});
        different
            .as_object()
            .unwrap()
            .iter()
            .for_each(|(name, value)| job[name] = value.clone());
        job
    };
    check(
        json!({"filename": "full", "bs": 3000, "direct": 1}),
        "not_aligned",
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
        "not_aligned",
        "bs",
        "multiples of 4096 bytes",
    );
    check(
        job(json!({"bs": "4k,512", "rw": "randrw"})),
        "not_aligned",
        "bs",
        "512",
    );
    check(
        job(json!({"bsrange": "2k-64k"})),
        "not_aligned",
        "bsrange",
        "2048",
    );
    check(job(json!({"offset": 512})), "not_aligned", "offset", "512");
    check(
        job(json!({"blockalign": 1024})),
        "not_aligned",
        "blockalign",
        "1024",
    );
    check(job(json!({"rw": "read:1000"})), "not_aligned", "rw", "1000");
    check(
        job(json!({"rw": "randtrim", "direct": 0, "bs": 512})),
        "not_aligned",
        "bs",
        "Trims",
    );
    check(
        json!({"filename": "odd", "rw": "write", "direct": 1, "file_append": 1, "size": "1m"}),
        "not_aligned",
        "file_append",
        "1000",
    );
    let problem = check(
        json!({"filename": "/shm/file", "direct": 1, "size": "1m"}),
        "direct_not_possible",
        "direct",
        "tmpfs has no O_DIRECT",
    );
    assert_eq!(problem.kind, ProblemKind::Environment);
}

#[test]
fn regions_must_be_there() {
    let on = |filename: &str, different: Value| {
        let mut job = json!({"filename": filename, "direct": 0});
        different
            .as_object()
            .unwrap()
            .iter()
            .for_each(|(name, value)| job[name] = value.clone());
        job
    };
    check(on("new", json!({})), "size_missing", "size", "1g");
    check(
        on("empty", json!({"runtime": "10s", "time_based": 1})),
        "size_missing",
        "size",
        "no length",
    );
    check(
        on("new", json!({"size": "50%"})),
        "percent_of_nothing",
        "size",
        "not there yet",
    );
    check(
        on("new", json!({"size": "1m", "offset": "50%"})),
        "percent_of_nothing",
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
    // Figures that no arithmetic may overflow by.
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
        "filesize",
        "only",
    );
}

#[test]
fn sizes_that_cannot_be() {
    check(
        json!({"filename": "full", "direct": 0, "bs": "4k", "bsrange": "4k-8k"}),
        "sizes_said_twice",
        "bs",
        "bs and bsrange",
    );
    check(
        json!({"filename": "full", "direct": 0, "bssplit": "4k/50:8k/50", "bsrange": "4k-8k"}),
        "sizes_said_twice",
        "bsrange",
        "",
    );
    check(
        json!({"filename": "full", "direct": 0, "bssplit": "4k/50:6k/50"}),
        "split_not_multiple",
        "bssplit",
        "fio would round",
    );
    check(
        json!({"filename": "full", "direct": 0, "bs": 0}),
        "out_of_range",
        "bs",
        "0 bytes",
    );
    check(
        json!({"filename": "full", "direct": 0, "rw": "randread", "blockalign": 0}),
        "out_of_range",
        "blockalign",
        "",
    );
}

#[test]
fn figures_that_would_do_nothing() {
    let job = |option: &str, value: Value| json!({"filename": "full", "direct": 0, "bs": "8k", option: value});
    check(
        job("iodepth_batch_complete_min", json!(0)),
        "out_of_range",
        "iodepth_batch_complete_min",
        "spin=",
    );
    check(
        job("io_size", json!("4k")),
        "block_larger_than_io_size",
        "io_size",
        "I/O of 8 KiB",
    );
    assert!(plan(job("io_size", json!("8k"))).problems.is_empty());
}

#[test]
fn figures_out_of_range() {
    for (option, value) in [
        ("iodepth", json!(0)),
        ("iodepth", json!(100_000)),
        ("numjobs", json!(0)),
        ("numjobs", json!(5000)),
        ("loops", json!(0)),
        ("number_ios", json!(0)),
        ("nice", json!(20)),
        ("nice", json!(-21)),
        ("thinktime_blocks", json!(0)),
        ("runtime", json!("500us")),
        ("runtime", json!("366d")),
        ("ramp_time", json!("366d")),
        ("startdelay", json!("366d")),
        ("thinktime", json!("366d")),
        ("filesize", json!(0)),
        ("randseed", json!(u64::MAX)),
    ] {
        let mut job = json!({"filename": "full", "direct": 0, "thinktime": 1, "ioengine": "psync"});
        job[option] = value;
        check(job, "out_of_range", option, "");
    }
}

#[test]
fn figures_that_do_not_go_together() {
    check(
        json!({"filename": "full", "direct": 0, "time_based": 1}),
        "runtime_missing",
        "runtime",
        "runtime=30s",
    );
    check(
        json!({"filename": "full", "direct": 0, "rate": "1m", "rate_iops": 10}),
        "rate_said_twice",
        "rate_iops",
        "Keep the one",
    );
    check(
        json!({"filename": "short", "direct": 0, "size": "1g", "fallocate": "none"}),
        "nothing_to_read",
        "fallocate",
        "64 MiB",
    );
    check(
        json!({"filename": "new", "direct": 0, "size": "1g", "fallocate": "keep"}),
        "nothing_to_read",
        "fallocate",
        "0 B",
    );
    check(
        json!({"filename": "new", "direct": 0, "size": "1g", "create_on_open": 1}),
        "nothing_to_read",
        "create_on_open",
        "",
    );
    check(
        json!({"filename": "full", "direct": 0, "size": "1g", "file_append": 1}),
        "nothing_to_read",
        "file_append",
        "",
    );
}

#[test]
fn what_this_host_cannot_do() {
    let poor = TableHost {
        memory: 256 * MIB,
        free: 10 * GIB,
        is_root: false,
        io_uring: false,
        ..TableHost::default()
    };
    let check = |job, code, option: &str, word| {
        let problem = check_on(&poor, job, &[(code, &format!("jobs[0].{option}"), word)]).remove(0);
        assert_eq!(problem.kind, ProblemKind::Environment);
    };
    check(
        json!({"filename": "full", "direct": 0}),
        "io_uring_unavailable",
        "ioengine",
        "ioengine_fallback=psync",
    );
    let psync = |option: &str, value: Value| json!({"filename": "full", "direct": 0, "ioengine": "psync", option: value});
    check(
        psync("drop_caches", json!(1)),
        "needs_root",
        "drop_caches",
        "root",
    );
    check(psync("nice", json!(-5)), "needs_root", "nice", "root");
    check(
        psync("cpus_allowed", json!("0-3")),
        "no_such_cpu",
        "cpus_allowed",
        "2, 3",
    );
    check(
        psync("size", json!("11g")),
        "disk_too_small",
        "size",
        "10 GiB free",
    );
    check(
        psync("bs", json!("256m")),
        "memory_too_small",
        "bs",
        "128 MiB",
    );
    check_on(
        &TableHost {
            memory: GIB,
            ..TableHost::default()
        },
        json!({"filename": "full", "direct": 1, "iodepth": 1024, "bs": "1m", "numjobs": 4}),
        &[("memory_too_small", "jobs[0].iodepth", "1024")],
    );
}

#[test]
fn empty_entries_need_a_kernel_that_answers_them() {
    let nop = || json!({"ioengine": "io_uring_nop", "rw": "randread", "size": "1m"});
    let old = TableHost {
        kernel: (6, 1),
        ..TableHost::default()
    };
    let problem = check_on(
        &old,
        nop(),
        &[(
            "kernel_too_old",
            "jobs[0].ioengine",
            "needs Linux 6.10, this is 6.1",
        )],
    )
    .remove(0);
    assert_eq!(problem.kind, ProblemKind::Environment);
    assert!(
        plan_on(
            &TableHost {
                kernel: (6, 10),
                ..TableHost::default()
            },
            nop()
        )
        .problems
        .is_empty()
    );
    assert!(
        plan_on(&old, json!({"filename": "full", "direct": 1}))
            .problems
            .is_empty(),
        "true I/O does not need it"
    );
}

#[test]
fn the_disk_must_hold_all_jobs_and_a_reserve() {
    let jobs = |size: &str| json!({"jobs": [{"name": "a", "rw": "write", "size": size, "direct": 1, "numjobs": 2}, {"name": "b", "size": size, "direct": 1}]});
    let host = TableHost {
        free: 9 * GIB,
        ..TableHost::default()
    };
    assert!(plan_on(&host, jobs("2800m")).problems.is_empty());
    let problems = check_on(
        &host,
        jobs("3000m"),
        &[("disk_too_small", "jobs[0].size", "8.79 GiB on vda")],
    );
    assert!(problems[0].remedy.contains("8.55 GiB"), "{}", problems[0]);
}

#[test]
fn all_bad_fields_are_told_at_once() {
    let job = json!({"jobs": [
        {"name": "a", "filename": "full", "iodepth": 0, "loops": 0, "nice": 99, "bs": 3000, "direct": 1},
        {"name": "b", "filename": "/dev/vdz", "time_based": 1},
    ]});
    check_on(
        &TableHost::default(),
        job,
        &[
            ("out_of_range", "jobs[0].loops", ""),
            ("out_of_range", "jobs[0].iodepth", ""),
            ("out_of_range", "jobs[0].nice", ""),
            ("not_aligned", "jobs[0].bs", ""),
            ("direct_not_said", "jobs[1].direct", ""),
            ("runtime_missing", "jobs[1].runtime", ""),
            ("missing_device", "jobs[1].filename", ""),
        ],
    );
}

#[test]
fn too_many_clones_in_all() {
    let job = |name: &str| json!({"name": name, "filename": "full", "direct": 1, "numjobs": 1000});
    let plan = plan(json!({"jobs": [job("a"), job("b")]}));
    assert_eq!(plan.problems[0].field.as_deref(), Some("jobs[1].numjobs"));
}

#[test]
fn states_and_what_contradicts_them() {
    let state = |file: &str, rw: &str, more: Value| {
        let mut job =
            json!({"filename": "new", "size": "1m", "direct": 0, "rw": rw, "file_state": file});
        more.as_object()
            .unwrap()
            .iter()
            .for_each(|(name, value)| job[name] = value.clone());
        job
    };
    for (file, rw, more, word) in [
        ("fresh", "write", json!({"overwrite": 1}), "overwrite=1"),
        ("fresh", "write", json!({"file_append": 1}), "file_append=1"),
        (
            "fresh",
            "write",
            json!({"fallocate": "written"}),
            "fallocate=written",
        ),
        ("fresh", "randread", json!({}), "rw=randread"),
        ("fresh", "randrw", json!({}), "rw=randrw"),
        ("written", "read", json!({"overwrite": 0}), "overwrite=0"),
        (
            "written",
            "write",
            json!({"fallocate": "native"}),
            "fallocate=native",
        ),
        (
            "written",
            "write",
            json!({"create_on_open": 1}),
            "create_on_open=1",
        ),
        ("overwrite", "read", json!({}), "rw=read"),
        (
            "overwrite",
            "write",
            json!({"file_append": 1}),
            "file_append=1",
        ),
        (
            "append",
            "write",
            json!({"file_append": 0}),
            "file_append=0",
        ),
        ("append", "write", json!({"overwrite": 1}), "overwrite=1"),
    ] {
        let problem = check(
            state(file, rw, more),
            "state_contradicted",
            "file_state",
            word,
        );
        assert!(
            problem.to_string().contains(&format!("file_state={file}")),
            "{problem}"
        );
    }
    for (cache, option, value) in [
        ("cold", "invalidate", 0),
        ("cold", "pre_read", 1),
        ("warm", "invalidate", 1),
        ("warm", "pre_read", 0),
    ] {
        let mut job = json!({"filename": "full", "direct": 0, "cache_state": cache});
        job[option] = json!(value);
        check(
            job,
            "state_contradicted",
            "cache_state",
            &format!("{option}={value}"),
        );
    }
    let both = json!([
        state("fresh", "write", json!({})),
        json!({"filename": "new", "size": "1m", "direct": 0})
    ]);
    check_on(
        &TableHost::default(),
        json!({"jobs": both}),
        &[(
            "state_contradicted",
            "jobs[1].file_state",
            "one job and used by another",
        )],
    );
}

#[test]
fn a_state_destroys_nothing_that_was_found() {
    let on = |file: &str, state: &str, rw: &str| json!({"filename": file, "size": "1m", "direct": 0, "rw": rw, "file_state": state});
    check(
        on("full", "fresh", "write"),
        "file_found",
        "file_state",
        "remove this one yourself",
    );
    check(
        on("sparse", "written", "read"),
        "file_found",
        "file_state",
        "overwrite=1",
    );
    let rewritten = json!({"filename": "linked-sparse", "size": "1m", "direct": 0, "rw": "read", "overwrite": 1});
    check(rewritten, "hard_linked", "overwrite", "2 names");
    for job in [
        on("ours", "fresh", "write"),
        on("ours-sparse", "written", "read"),
        on("full", "written", "read"),
        on("new", "fresh", "write"),
    ] {
        assert!(plan(job.clone()).problems.is_empty(), "{job}");
    }
}

#[test]
fn a_name_that_has_become_another_device_is_refused() {
    let asked = |devices: Value| json!({"jobs": [{"filename": "/dev/vdb", "rw": "randread", "direct": 1}], "devices": devices});
    for (devices, refused) in [
        (json!([]), false),
        (json!(["serial:vdb-1"]), false),
        (json!(["serial:vda-1", "serial:vdb-1"]), false),
        (json!(["serial:vda-1"]), true),
        (json!(["vdb"]), true),
    ] {
        let codes: Vec<String> = plan(asked(devices.clone()))
            .problems
            .into_iter()
            .map(|problem| problem.code)
            .collect();
        assert_eq!(
            codes,
            if refused {
                vec!["identity_changed"]
            } else {
                Vec::new()
            },
            "{devices}"
        );
    }
}
