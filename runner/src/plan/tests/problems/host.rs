//! Jobs that the host does not support.

use crate::plan::tests::{
    host::{GIB, MIB, TableHost},
    merge, plan_on,
    problems::check_on,
};
use leadline_protocol::problem::ProblemKind;
use serde_json::{Value, json};

#[test]
fn options_unsupported_by_the_host() {
    let poor = TableHost {
        memory: 256 * MIB,
        free: 10 * GIB,
        is_root: false,
        io_uring: false,
        ..TableHost::default()
    };
    let check = |job, code, option: &str, text| {
        let problem = check_on(&poor, job, &[(code, &format!("jobs[0].{option}"), text)]).remove(0);
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
        "root_required",
        "drop_caches",
        "root",
    );
    check(psync("nice", json!(-5)), "root_required", "nice", "root");
    check(
        psync("prioclass", json!(1)),
        "root_required",
        "prioclass",
        "root",
    );
    check(
        psync("cpus_allowed", json!("0-3")),
        "cpu_unavailable",
        "cpus_allowed",
        "2, 3",
    );
    check(
        merge(psync("size", json!("11g")), &json!({"rw": "write"})),
        "insufficient_space",
        "size",
        "10 GiB free",
    );
    check(
        psync("bs", json!("256m")),
        "insufficient_memory",
        "bs",
        "128 MiB",
    );
    check_on(
        &TableHost {
            memory: GIB,
            ..TableHost::default()
        },
        json!({"filename": "full", "direct": 1, "iodepth": 1024, "bs": "1m", "numjobs": 4}),
        &[("insufficient_memory", "jobs[0].iodepth", "1024")],
    );
    let small = TableHost {
        huge_pages: Some(2 * MIB),
        ..TableHost::default()
    };
    let huge = json!({"filename": "full", "direct": 1, "mem": "mmaphuge", "numjobs": 2});
    check_on(
        &small,
        huge.clone(),
        &[("insufficient_huge_pages", "jobs[0].mem", "4 MiB")],
    );
    check_on(&small, merge(huge, &json!({"numjobs": 1})), &[]);
}

#[test]
fn io_uring_nop_requires_linux_6_10() {
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
            "requires Linux 6.10; this host runs 6.1",
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
        "other engines do not require it"
    );
}

#[test]
fn holes_that_a_job_fills_need_space() {
    let host = TableHost {
        free: GIB / 2,
        ..TableHost::default()
    };
    let job = |size: &str| json!({"filename": "/data/sparse", "rw": "randwrite", "size": size, "direct": 1});
    assert!(plan_on(&host, job("400m")).problems.is_empty());
    check_on(
        &host,
        job("1g"),
        &[("insufficient_space", "jobs[0].size", "need 1 GiB on vda")],
    );
    let reads = json!({"filename": "/data/sparse", "rw": "randread", "size": "1g", "direct": 1});
    assert!(plan_on(&host, reads).problems.is_empty());
    // All blocks of this file are already allocated.
    let full = json!({"filename": "/data/full", "rw": "randwrite", "size": "1g", "direct": 1});
    assert!(plan_on(&host, full).problems.is_empty());
}

#[test]
fn polling_requires_a_driver_that_polls() {
    let job = json!({"filename": "/dev/loop0", "rw": "randread", "direct": 1, "hipri": 1});
    let problems = &[("hipri_unsupported", "jobs[0].hipri", "loop0")];
    check_on(&TableHost::default(), job, problems);
}

#[test]
fn disk_must_have_space_for_all_jobs_and_a_reserve() {
    let jobs = |size: &str| json!({"jobs": [{"name": "a", "rw": "write", "size": size, "direct": 1, "numjobs": 2}, {"name": "b", "size": size, "direct": 1}]});
    let host = TableHost {
        free: 9 * GIB,
        ..TableHost::default()
    };
    assert!(plan_on(&host, jobs("2800m")).problems.is_empty());
    let problems = check_on(
        &host,
        jobs("3000m"),
        &[("insufficient_space", "jobs[0].size", "8.79 GiB on vda")],
    );
    assert!(problems[0].remedy.contains("8.55 GiB"), "{}", problems[0]);
}

#[test]
fn aio_contexts_are_limited() {
    let job = json!({"name": "a", "filename": "full", "direct": 1, "ioengine": "libaio",
        "iodepth": 64, "numjobs": 4});
    let other = merge(job.clone(), &json!({"name": "b", "numjobs": 1}));
    let jobs = json!({"jobs": [job, other]});
    let host = |aio| TableHost {
        aio,
        ..TableHost::default()
    };
    assert!(plan_on(&host(Some(320)), jobs.clone()).problems.is_empty());
    let few = (
        "aio_limit",
        "jobs[0].iodepth",
        "needs 320 I/Os in flight (iodepth × numjobs); the host has 319",
    );
    check_on(&host(Some(319)), jobs.clone(), &[few]);
    let none = ("aio_unavailable", "jobs[0].ioengine", "CONFIG_AIO");
    check_on(&host(None), jobs, &[none]);
}
