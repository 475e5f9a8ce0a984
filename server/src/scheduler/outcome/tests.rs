//! Tests final statuses and reasons.

use RunStatus::{Cancelled, Failed, Interrupted};
use leadline_protocol::{
    problem::Problem,
    report::{FirstError, limit::ViolatedLimit},
};
use serde_json::json;

use super::*;

fn run_end(exit: RunnerExit, stop: Option<StopRequest>, report: Option<&Report>) -> RunEnd<'_> {
    RunEnd {
        exit,
        stop,
        report,
        failure: None,
        protocol_error: None,
        stderr_tail: None,
        out_of_memory: false,
    }
}

#[test]
fn only_sigkill_is_attributed_to_out_of_memory() {
    let reason = |signal| {
        let end = RunEnd {
            out_of_memory: true,
            ..run_end(RunnerExit::Signal(signal), None, None)
        };
        end.final_status().1.unwrap()
    };
    assert!(reason(9).contains("because memory was exhausted. Free memory"));
    assert!(reason(11).contains("(SIGSEGV). This can be an error in Leadline."));
}

/// Checks the status of a run that ended without a report, and part of the reason.
fn check(exit: RunnerExit, stop: Option<StopRequest>, expect: RunStatus, part: &str) {
    let end = RunEnd {
        stderr_tail: Some("panicked"),
        ..run_end(exit, stop, None)
    };
    check_end(&end, expect, part);
}

fn check_end(end: &RunEnd, expect: RunStatus, part: &str) {
    let (status, reason) = end.final_status();
    let reason = reason.unwrap_or_default();
    assert_eq!(status, expect, "{end:?}");
    assert!(reason.contains(part), "{reason:?} does not contain {part}");
}

#[test]
fn final_status_without_report() {
    use RunnerExit::{Code, NotStarted, Signal, Unkillable};
    let cancel = Some(StopRequest::Cancel);
    let shutdown = Some(StopRequest::Shutdown);
    check(
        Code(101),
        None,
        Failed,
        "no report: exit code 101; last stderr line: panicked",
    );
    check(Code(0), None, Failed, "no report: exit code 0");
    check(Signal(9), None, Failed, "killed by signal 9 (SIGKILL)");
    check(Signal(9), None, Failed, "Find out who did");
    check(Signal(31), None, Failed, "killed by signal 31;");
    check(
        NotStarted("no such file".into()),
        None,
        Failed,
        "no such file",
    );
    let reason_of = |exit, stop| run_end(exit, stop, None).final_status().1;
    let killed = "Cancelled. The runner did not stop in time and was killed.";
    assert_eq!(reason_of(Code(143), cancel).as_deref(), Some("Cancelled."));
    assert_eq!(reason_of(Signal(15), cancel).as_deref(), Some("Cancelled."));
    assert_eq!(reason_of(Signal(9), cancel).as_deref(), Some(killed));
    check(Unkillable, cancel, Cancelled, "was killed");
    check(Code(143), shutdown, Interrupted, "server was stopped");
}

#[test]
fn final_status_after_failures_and_invalid_events() {
    let problem = Problem::guard(
        "mounted",
        "jobs[0].filename",
        "/dev/vda is mounted.",
        "Use another device.",
    );
    let failure = Failure {
        exit_code: 3,
        problems: vec![problem],
    };
    let mut end = RunEnd {
        failure: Some(&failure),
        ..run_end(RunnerExit::Code(3), None, None)
    };
    check_end(&end, Failed, "/dev/vda is mounted.");
    end.stop = Some(StopRequest::Shutdown);
    end.protocol_error = Some("invalid event");
    check_end(&end, Failed, "stopped: invalid event");
}

/// A 10 s report in which a worker was stalled for `stalled_ms`.
fn report(ended_by: &str, workers: u32, stalled_ms: f64) -> Report {
    let latency = json!({"count": 0, "percentiles": {}, "buckets": []});
    let direction = json!({"ios": 0, "bytes": 0, "iops": 0.0, "bytes_per_second": 0.0,
        "slat_ns": latency, "clat_ns": latency, "lat_ns": latency});
    let sync = json!({"ios": 0, "lat_ns": latency});
    let stalls = json!({"threshold_ms": 1e3, "count": 1, "total_ms": stalled_ms,
        "longest_ms": stalled_ms, "share": stalled_ms / 1e4, "workers": 1, "spans": []});
    let job = json!({"name": "randread", "engine": "psync", "workers": workers,
        "duration_ms": 1e4, "ended_by": ended_by, "read": direction, "write": direction,
        "trim": direction, "sync": sync, "errors": 0, "decisions": [], "stalls": stalls});
    serde_json::from_value(
        json!({"started_at_ms": 1, "duration_ms": 1e4, "ended_by": ended_by,
        "phases": [], "read": direction, "write": direction, "trim": direction, "sync": sync,
        "jobs": [job], "errors": {"total": 0, "first": null}, "start_skew_ns": 0, "absent": {}}),
    )
    .expect("a report")
}

#[test]
fn final_status_after_stalls() {
    use RunnerExit::{Code, Signal, Unkillable};
    let check = |report: &Report, exit, stop, status, part| {
        check_end(&run_end(exit, stop, Some(report)), status, part);
    };
    let stalled = report("runtime", 1, 9_400.0);
    let reason = "Job randread completed no I/O for 9.40 s of 10.0 s.";
    // Also if the runner did not exit after its report and was killed with SIGKILL.
    for exit in [Code(1), Code(0), Signal(9), Unkillable] {
        check(&stalled, exit, None, Failed, reason);
    }
    let one_of_two = report("runtime", 2, 9_400.0);
    check(&one_of_two, Code(1), None, Failed, "One worker of job");
    let short = report("runtime", 1, 1_000.0);
    check(&short, Code(0), None, RunStatus::Done, "");
    let stopped = report("signal", 1, 9_400.0);
    let cancel = Some(StopRequest::Cancel);
    check(&stopped, Code(143), cancel, Cancelled, "report covers");
    check(&stopped, Unkillable, cancel, Cancelled, "report covers");
    check(&stopped, Code(143), None, Interrupted, "by a signal");
    let mut failed = stalled;
    failed.errors.first = Some(FirstError {
        job: "randread".into(),
        operation: "read".into(),
        offset: 0,
        bytes: 4096,
        errno: 5,
        message: "Input/output error".into(),
    });
    check(&failed, Code(1), None, Failed, "Input/output error");
}

#[test]
fn final_status_after_bad_blocks() {
    let verified = |kinds: &[&str]| {
        let failures: Vec<_> = kinds
            .iter()
            .map(|kind| {
                json!({"path": "/data/file", "offset": 8192, "bytes": 4096, "kind": kind,
                    "detail": "", "found_offset": null, "bad_offset": null, "errno": null})
            })
            .collect();
        let verify = json!({"checked_blocks": 4096, "checked_bytes": 0, "cached_bytes": null,
            "skipped_blocks": 0, "duration_ms": 1.0, "bad_blocks": 2, "failures": failures,
            "not_run": null});
        let mut report = report("runtime", 1, 0.0);
        report.jobs[0].verify = Some(serde_json::from_value(verify).expect("a result"));
        report
    };
    let check = |report: &Report, exit, reason: &str| {
        let found = run_end(exit, None, Some(report)).final_status();
        assert_eq!(found, (Failed, Some(reason.to_owned())));
    };
    let stale = verified(&["stale", "torn"]);
    let reason = "Bad blocks in job randread: 2 of 4,096. \
        First: offset 8,192 of /data/file (stale).";
    check(&stale, RunnerExit::Code(1), reason);
    check(&stale, RunnerExit::Code(0), reason);
    let unlisted = "Bad blocks in job randread: 2 of 4,096.";
    check(&verified(&[]), RunnerExit::Code(1), unlisted);
}

#[test]
fn final_status_after_a_violated_limit() {
    let mut slow = report("violated_limit", 1, 0.0);
    slow.jobs[0].violated_limit = Some(ViolatedLimit {
        option: "max_latency".into(),
        direction: "read".into(),
        limit: 10_000,
        value: 12_000,
        summary: "A read took 12 ms, more than max_latency=10 ms.".into(),
    });
    let reason = "Job randread: A read took 12 ms, more than max_latency=10 ms.";
    for exit in [RunnerExit::Code(1), RunnerExit::Code(0)] {
        let found = run_end(exit, None, Some(&slow)).final_status();
        assert_eq!(found, (Failed, Some(reason.to_owned())));
    }
}

#[test]
fn reasons_describe_how_the_runner_exited() {
    let healthy = report("runtime", 1, 0.0);
    let check = |report, exit, stderr_tail, reason: &str| {
        let end = RunEnd {
            stderr_tail,
            ..run_end(exit, None, report)
        };
        let expect = (Failed, Some(reason.to_owned()));
        assert_eq!(end.final_status(), expect);
    };
    for (signal, name) in [
        (6, " (SIGABRT)"),
        (7, " (SIGBUS)"),
        (9, " (SIGKILL)"),
        (11, " (SIGSEGV)"),
        (15, " (SIGTERM)"),
        (31, ""),
    ] {
        let remedy = match signal {
            9 | 15 => {
                "The server did not send this signal. Find out who did (see the kernel log and the \
                 service's log), then rerun."
            }
            _ => "This can be an error in Leadline. Please report it, with the server's log.",
        };
        let reason =
            format!("The runner sent no report: killed by signal {signal}{name}. {remedy}");
        check(None, RunnerExit::Signal(signal), None, &reason);
    }
    check(
        None,
        RunnerExit::Unkillable,
        None,
        "The runner sent no report: still running after SIGKILL. Check the kernel log for a device that does not respond.",
    );
    check(
        None,
        RunnerExit::NotStarted("no such file".into()),
        None,
        "The runner could not be started: no such file",
    );
    check(
        Some(&healthy),
        RunnerExit::Code(70),
        Some("out of memory"),
        "The runner failed after its report: exit code 70; last stderr line: out of memory.",
    );
    check(
        Some(&healthy),
        RunnerExit::NotStarted("no such file".into()),
        None,
        "The runner failed after its report: not started.",
    );
}
