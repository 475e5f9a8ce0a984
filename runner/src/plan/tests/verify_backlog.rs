//! Tests of `verify_backlog`: when blocks are read back while the job writes.

use crate::plan::tests::{merge, plan, problems::check};
use leadline_protocol::plan::job::VerifyBacklog;
use serde_json::{Value, json};

fn job(changes: Value) -> Value {
    let plain = json!({"filename": "full", "rw": "write", "direct": 1,
        "verify": "crc32c", "verify_backlog": 32});
    merge(plain, &changes)
}

#[test]
fn reads_have_the_same_size_as_writes() {
    let plan = plan(job(json!({"iodepth": 4, "bs": "4k,16k"})));
    assert!(plan.problems.is_empty(), "{:?}", plan.problems);
    let job = &plan.jobs[0];
    let expected = VerifyBacklog {
        writes: 32,
        batch: 32,
    };
    assert_eq!(job.verify_backlog(), Some(expected));
    assert_eq!(job.pattern.bs.read, job.pattern.bs.write);
    assert!(job.reads() && job.has_write_buffers());
    assert_eq!((job.buffers(), job.largest_buffer()), (8, 16 << 10));
}

#[test]
fn batch_may_differ_from_the_backlog() {
    for batch in [1, 32, 100] {
        let plan = plan(job(json!({"verify_backlog_batch": batch})));
        let backlog = plan.jobs[0].verify_backlog().unwrap();
        assert_eq!((backlog.writes, backlog.batch), (32, batch));
    }
}

#[test]
fn jobs_that_read_nothing_back_get_a_note() {
    for changes in [
        json!({"verify": "none"}),
        json!({"do_verify": 0}),
        json!({"verify_only": 1}),
        json!({"rw": "randrw"}),
    ] {
        let plan = plan(job(changes.clone()));
        assert!(plan.problems.is_empty(), "{changes}: {:?}", plan.problems);
        assert_eq!(plan.jobs[0].verify_backlog(), None, "{changes}");
        let mut notes = plan.findings.iter();
        let is_named = notes.any(|note| {
            note.code == "option_unused" && note.sentence.starts_with("verify_backlog has no")
        });
        assert!(is_named, "{changes}: {:?}", plan.findings);
    }
    let disabled = plan(job(json!({"verify_backlog": 0})));
    assert_eq!(disabled.jobs[0].verify_backlog(), None);
}

#[test]
fn backlog_is_limited() {
    let limit = 1 << 20;
    assert!(
        plan(job(json!({"verify_backlog": limit})))
            .problems
            .is_empty()
    );
    check(
        job(json!({"verify_backlog": limit + 1})),
        "out_of_range",
        "verify_backlog",
        "at most 1048576",
    );
}
