//! Buffer sizes, and registration of buffers within the locked memory limit.

use crate::plan::tests::{
    accepted,
    host::{GIB, MIB, TableHost},
    merge, plan, plan_on,
};
use leadline_protocol::plan::job::BufferRegistration;
use serde_json::{Value, json};

#[test]
fn buffers_are_registered_within_the_memlock_limit() {
    for (changes, want) in [
        (json!({}), true),
        (json!({"iodepth": 2048}), true),
        (json!({"iodepth": 2049}), false),
        (json!({"iodepth": 1024, "numjobs": 3}), false),
        (json!({"fixedbufs": 0}), false),
        (json!({"iodepth": 4096, "fixedbufs": 1}), true),
        (json!({"ioengine": "psync", "fixedbufs": 1}), false),
    ] {
        let job = merge(json!({"filename": "full", "direct": 1}), &changes);
        let registration = plan(job).jobs[0].ring.fixedbufs;
        assert_eq!(bool::from(registration), want, "{changes}");
    }
}

#[test]
fn registration_is_required_only_if_requested() {
    let registration = |changes: Value| {
        let job = merge(json!({"filename": "full", "direct": 1}), &changes);
        plan(job).jobs[0].ring.fixedbufs
    };
    assert_eq!(registration(json!({})), BufferRegistration::Preferred);
    assert_eq!(
        registration(json!({"fixedbufs": 1})),
        BufferRegistration::Required
    );
    assert_eq!(
        registration(json!({"fixedbufs": 0})),
        BufferRegistration::Off
    );
}

#[test]
fn memlock_limit_applies_to_all_jobs_together() {
    let job = |changes: Value| merge(json!({"filename": "full", "direct": 1}), &changes);
    // The limit is 8 MiB.
    let half = || job(json!({"iodepth": 1024}));
    for (jobs, want) in [
        (vec![half(), half()], vec![true, true]),
        (
            vec![half(), half(), job(json!({}))],
            vec![false, false, false],
        ),
        (
            vec![half(), half(), job(json!({"fixedbufs": 0}))],
            vec![true, true, false],
        ),
        (
            vec![half(), half(), job(json!({"ioengine": "psync"}))],
            vec![true, true, false],
        ),
        (
            vec![half(), half(), job(json!({"fixedbufs": 1}))],
            vec![false, false, true],
        ),
        (
            vec![job(json!({"iodepth": 2, "bs": "512m,4k"})), half()],
            vec![false, false],
        ),
        (
            vec![job(json!({"iodepth": 3, "bs": "512m,4k"})), half()],
            vec![false, true],
        ),
        (vec![job(json!({"mem": "thp", "numjobs": 4}))], vec![true]),
        (vec![job(json!({"mem": "thp", "numjobs": 5}))], vec![false]),
    ] {
        let plan = accepted(json!({"jobs": jobs}));
        assert_eq!(
            plan.jobs
                .iter()
                .map(|job| bool::from(job.ring.fixedbufs))
                .collect::<Vec<_>>(),
            want,
            "{jobs:?}"
        );
    }
    let huge =
        json!({"filename": "full", "direct": 1, "mem": "mmaphuge", "iodepth": 513, "numjobs": 2});
    assert_eq!(
        accepted(huge).estimate.buffer_bytes,
        8 * MIB,
        "whole pages for each worker"
    );
}

#[test]
fn buffer_size_is_the_largest_io_in_used_directions() {
    let buffers = |changes: Value| {
        let job = merge(
            json!({"filename": "full", "direct": 1, "bs": "4k,64m,128m", "iodepth": 256}),
            &changes,
        );
        let plan = plan_on(
            &TableHost {
                memory: 64 * GIB,
                ..TableHost::default()
            },
            job.clone(),
        );
        assert!(plan.problems.is_empty(), "{job}\n{:#?}", plan.problems);
        (plan.jobs[0].largest_buffer(), plan.estimate.buffer_bytes)
    };
    assert_eq!(buffers(json!({"rw": "randread"})), (4096, MIB));
    assert_eq!(buffers(json!({"rw": "randwrite"})), (64 * MIB, 16 * GIB));
    assert_eq!(
        buffers(json!({"rw": "randrw"})),
        (64 * MIB, 32 * GIB),
        "separate buffers for reads and writes"
    );
    assert_eq!(
        buffers(json!({"rw": "randtrim", "filename": "/dev/loop0"})),
        (1, 4096),
        "trims transfer no data, one at a time"
    );
    assert_eq!(
        buffers(json!({"rw": "randrw", "ioengine": "null"})),
        (1, MIB)
    );
}

#[test]
fn locked_memory_is_limited() {
    // At most 8 MiB can be locked.
    let job =
        |lockmem: &str| json!({"filename": "full", "direct": 1, "numjobs": 2, "lockmem": lockmem});
    let planned = accepted(job("4m"));
    assert_eq!(planned.jobs[0].target.lockmem, 4 * MIB);
    let problem = plan(job("5m")).problems.remove(0);
    assert_eq!(problem.code, "insufficient_memory");
    assert_eq!(problem.field.as_deref(), Some("jobs[0].lockmem"));
    assert!(problem.detail.contains("10 MiB"), "{problem}");
}
