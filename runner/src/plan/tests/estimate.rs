//! Planned phases and the estimate.

use crate::plan::{
    estimate::estimate,
    fixture::resolved,
    phases::plan_phases,
    tests::{accepted, host::GIB, plan},
};
use leadline_protocol::{phase::Phase, plan::job::ResolvedJob};
use serde_json::{Value, json};

#[test]
fn phases_and_estimate_for_a_mixed_job() {
    let plan = accepted(
        json!({"filename": "new", "size": "1g", "direct": 0, "rw": "randrw", "rwmixread": 75, "runtime": "30s", "ramp_time": "5s",
        "startdelay": "2s", "iodepth": 8, "numjobs": 2, "end_fsync": 1, "unlink": 1, "drop_caches": 1}),
    );
    let phases: Vec<Phase> = plan.phases.iter().map(|phase| phase.phase).collect();
    assert_eq!(
        phases,
        [
            Phase::Layout,
            Phase::Guard,
            Phase::DropCaches,
            Phase::Invalidate,
            Phase::Ramp,
            Phase::Measure,
            Phase::Flush,
            Phase::CleanUp
        ]
    );
    let estimate = plan.estimate;
    assert_eq!(
        (
            estimate.seconds,
            estimate.layout_bytes,
            estimate.measure_write_bytes
        ),
        // 25 of every 100 I/Os are writes. A worker's last, partial round of 44 I/Os may include
        // all 25 of that round's writes.
        (Some(37.0), GIB, Some(2 * (2621 * 25 + 25) * 4096))
    );
    assert_eq!(estimate.buffer_bytes, 8 * 2 * 2 * 4096);
    assert!(
        estimate.seconds_note.is_some_and(
            |note| note.contains("upper bound") && note.contains("Layout writes 1 GiB")
        )
    );
}

#[test]
fn estimate_uses_time_size_and_count_limits() {
    let estimated = |job: Value| accepted(job).estimate;
    assert_eq!(
        estimated(json!({"filename": "full", "direct": 1})).seconds,
        None
    );
    let timed = estimated(
        json!({"filename": "full", "direct": 1, "rw": "write", "runtime": 10, "time_based": 1}),
    );
    assert_eq!(
        (timed.seconds, timed.seconds_note, timed.measure_write_bytes),
        (Some(10.0), None, None)
    );
    assert_eq!(
        estimated(json!({"filename": "full", "direct": 1, "rw": "write", "number_ios": 10}))
            .measure_write_bytes,
        Some(40960)
    );
    assert_eq!(
        estimated(json!({"filename": "full", "direct": 1, "ioengine": "psync", "iodepth": 64}))
            .buffer_bytes,
        4096
    );
}

#[test]
fn window_spans_from_the_first_to_the_last_job() {
    for (times, ramp, measure) in [
        // `startdelay`, `ramp_time` and `runtime` of each job, in ms.
        (vec![(0, 0, Some(30_000))], None, Some(30.0)),
        (vec![(0, 5000, Some(30_000))], Some(5.0), Some(30.0)),
        (vec![(2000, 0, Some(30_000))], Some(2.0), Some(30.0)),
        (vec![(2000, 5000, None)], Some(7.0), None),
        (
            vec![(0, 5000, Some(30_000)), (0, 0, Some(30_000))],
            None,
            Some(35.0),
        ),
        (
            vec![(0, 5000, Some(30_000)), (1000, 10_000, Some(10_000))],
            Some(5.0),
            Some(30.0),
        ),
        (
            vec![(0, 5000, Some(10_000)), (10_000, 5000, Some(10_000))],
            Some(5.0),
            Some(20.0),
        ),
    ] {
        let job = |(delay, ramp, runtime): &(u64, u64, Option<u64>)| {
            resolved(json!({"startdelay_ms": delay, "ramp_ms": ramp, "runtime_ms": runtime}))
        };
        let jobs: Vec<ResolvedJob> = times.iter().map(job).collect();
        let seconds = |phase| {
            plan_phases(&jobs, 0)
                .into_iter()
                .find(|planned| planned.phase == phase)
                .map(|planned| planned.seconds)
        };
        assert_eq!(
            (seconds(Phase::Ramp), seconds(Phase::Measure)),
            (ramp.map(Some), Some(measure)),
            "{times:?}"
        );
        assert_eq!(
            estimate(&jobs).seconds,
            measure.map(|measure| ramp.unwrap_or(0.0) + measure),
            "{times:?}"
        );
    }
}

#[test]
fn rejected_jobs_have_no_phases() {
    let rejected = plan(json!({"filename": "/data/dir", "rw": "write", "size": "1m", "direct": 0}));
    assert!(!rejected.problems.is_empty());
    assert!(rejected.phases.is_empty());
}
