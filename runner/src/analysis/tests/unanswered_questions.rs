//! Runs that resemble published tests but do not answer their question, or are not compared with
//! its limit.

use crate::analysis::tests::{
    findings::cpu,
    questions::{IOS, MS, answer, device_run, sentence, with_latencies},
    *,
};

/// Results from memory, throttled runs and incomplete runs answer no question about a disk.
#[test]
fn memory_throttled_and_incomplete_runs_answer_no_question() {
    let deep = json!({"iodepth": 32});
    let code = "random_iops";
    let measured = with_latencies(device_run("randread", 4, deep.clone()), MS, MS);
    assert!(answer(&measured, code).is_some());

    let from_memory = one_direction("randread", false, (IOS, 4), (0, 0));
    let from_memory = with_latencies(with_job(from_memory, deep.clone()), MS, MS);
    assert_eq!(answer(&from_memory, code), None, "page cache");

    let unknown = without_layers(device_run("randread", 4, deep.clone()));
    let unknown = with(unknown, |report| report.device = None);
    assert_eq!(
        answer(&with_latencies(unknown, MS, MS), code),
        None,
        "unknown layers"
    );

    let holes = one_direction("randread", true, (IOS, 4), (0, 0));
    let holes = with_latencies(with_job(holes, deep.clone()), MS, MS);
    assert_eq!(answer(&holes, code), None, "unwritten extents");

    let few = with(
        with_latencies(device_run("randread", 4, deep.clone()), MS, MS),
        |report| report.read.ios = 999,
    );
    assert_eq!(answer(&few, code), None, "999 I/Os");

    for ended_by in [
        EndedBy::Signal,
        EndedBy::ViolatedLimit,
        EndedBy::Error,
        EndedBy::Exitall,
    ] {
        let incomplete = with(measured.clone(), |report| report.ended_by = Some(ended_by));
        assert_eq!(answer(&incomplete, code), None, "{ended_by:?}");
    }
    let failed = with(measured.clone(), |report| report.errors.total = 1);
    assert_eq!(answer(&failed, code), None, "an I/O error");

    // If one direction does not reach the device, the question is not answered.
    let mixed = json!({"rw": "randrw", "rwmixread": 75, "iodepth": 64});
    let half = with(
        with_latencies(device_run("randread", 4, mixed), MS, MS),
        |report| {
            let layers = report.jobs[0].layers.as_mut().unwrap();
            layers.read = Some(exact(&[(StorageLayer::Unwritten, 1.0)]));
            let counts = &mut report.device.as_mut().unwrap().counts;
            (counts.read_ios, counts.read_bytes) = (0, 0);
            report.storage.as_mut().unwrap().read_bytes = 0;
        },
    );
    assert_eq!(answer(&half, code), None, "reads of unwritten extents");

    for limited in [
        json!({"rate_iops": {"read": 100, "write": 100, "trim": null}}),
        json!({"thinktime_us": 10}),
        json!({"verify": {"method": "crc32c", "interval": 4096, "reads_back": true, "only": false,
            "fatal": false, "backlog": {"writes": 16, "batch": 16}}}),
        json!({"direct": false, "mode": "raw"}),
        json!({"bs": same(&json!({"min": 4096, "max": 8192, "split": []}))}),
        // The pattern is sequential, or only partly random.
        json!({"percentage_random": same(&json!(0))}),
        json!({"percentage_random": same(&json!(99))}),
        json!({"rw_modifier": 64}),
        json!({"random_distribution": same(&json!({"kind": "zipf", "theta": 1.2}))}),
    ] {
        let job = crate::plan::tests::merge(deep.clone(), &limited);
        assert_eq!(sentence("randread", 4, job, code), None, "{limited}");
    }
}

/// Repeated access to the same blocks is not a random test.
#[test]
fn a_small_region_is_not_a_random_test() {
    let deep = json!({"iodepth": 32});
    for (blocks, is_answered) in [(1, false), (999, false), (1000, true)] {
        let (report, mut jobs) = with_latencies(device_run("randread", 4, deep.clone()), MS, MS);
        jobs[0].targets[0].size = blocks * 4096;
        let answer = answer(&(report, jobs), "random_iops");
        assert_eq!(answer.is_some(), is_answered, "{blocks} blocks");
    }
}

/// `rw=write:4m` leaves gaps, and `rw=write:-2m` writes backward.
#[test]
fn writes_with_gaps_are_not_sequential() {
    let deep = json!({"iodepth": 64});
    for modifier in [4 << 20, -(2 << 20)] {
        let job = crate::plan::tests::merge(deep.clone(), &json!({"rw_modifier": modifier}));
        assert_eq!(
            sentence("write", 1024, job, "throughput"),
            None,
            "{modifier}"
        );
    }
    let log = json!({"fdatasync": 1, "direct": false, "rw_modifier": 4096});
    assert_eq!(sentence("write", 4, log, "log_writes"), None);
}

/// etcd writes its log through the page cache, so a flush includes the data. With direct or
/// synchronous writes, a flush has little to write, and its p99 is unrelated to commits.
#[test]
fn flushes_after_durable_writes_are_not_compared_with_flush_limits() {
    for job in [
        json!({"direct": true}),
        json!({"direct": false, "sync": "dsync"}),
    ] {
        let job = crate::plan::tests::merge(job, &json!({"fdatasync": 1}));
        let run = with_latencies(device_run("write", 4, job), 17 * MS, 107 * MS);
        let run = with(run, |report| {
            report.write.iops = 60.0;
            report.sync.ios = 1500;
            report.sync.lat_ns.percentiles = [("99".to_owned(), 13_400)].into();
        });
        assert_eq!(answer(&run, "log_writes"), None);
        let text = answer(&run, "journal_writes").unwrap().sentence;
        assert_eq!(
            text,
            "Each write waits for fdatasync: 60.0 writes per second, write p99 107 ms, fdatasync p99 13.4 µs. The commit rate is below the 200 that Proxmox VE expects."
        );
    }
}

/// A burst of a few seconds does not prove a sustained rate, but etcd's test, which writes 22 MB,
/// requires only a percentile of 1,000 flushes.
#[test]
fn short_runs_are_compared_only_with_flush_limits() {
    let burst = with_latencies(device_run("randread", 4, json!({"iodepth": 32})), MS, MS);
    let burst = with(burst, |report| report.duration_ms = 9_999.0);
    let text = answer(&burst, "random_iops").unwrap().sentence;
    assert!(
        text.ends_with("read IOPS (mean latency 1.00 ms)."),
        "{text}"
    );
    let log = with(
        device_run("write", 4, json!({"fdatasync": 1, "direct": false})),
        |report| {
            report.duration_ms = 2_000.0;
            report.sync.ios = 1000;
            report.sync.lat_ns.percentiles = [("99".to_owned(), 3 * MS)].into();
        },
    );
    let text = answer(&log, "log_writes").unwrap().sentence;
    assert!(
        text.ends_with("That is below the 10.0 ms that etcd requires."),
        "{text}"
    );
}

/// The disk of a busy host may be faster than the run suggests. If the run meets a limit anyway,
/// the answer omits this caveat.
#[test]
fn missed_limits_on_a_busy_host_are_qualified() {
    let text = |iops: f64, idle_percent: f64| {
        let run = with_latencies(device_run("randread", 4, json!({"iodepth": 32})), MS, MS);
        let run = with(run, |report| {
            report.read.iops = iops;
            report.cpu = Some(cpu(5.0, 100.0 - idle_percent));
        });
        answer(&run, "random_iops").unwrap().sentence
    };
    assert!(text(4000.0, 0.0).ends_with(
        "That is below the 5000 that Harvester requires of each disk. The disk may be faster, however: other causes slowed this run (busy_host)."
    ));
    assert!(text(4000.0, 50.0).ends_with("Harvester requires of each disk."));
    assert!(text(6000.0, 0.0).ends_with("Harvester requires of each disk."));
}

/// Jobs that run sequentially are not a single workload.
#[test]
fn jobs_at_different_times_are_not_one_workload() {
    let (report, jobs) = with_latencies(device_run("randread", 4, json!({"iodepth": 16})), MS, MS);
    let mut pair = vec![jobs[0].clone(), jobs[0].clone()];
    assert!(answer(&(report.clone(), pair.clone()), "random_iops").is_some());
    pair[1].timing.startdelay_ms = 2000;
    assert_eq!(answer(&(report, pair), "random_iops"), None);
}

/// The sum of two disks is not a result for one disk.
#[test]
fn results_from_different_disks_are_not_added() {
    let (report, jobs) = with_latencies(device_run("randread", 4, json!({"iodepth": 32})), MS, MS);
    let mut pair = vec![jobs[0].clone(), jobs[0].clone()];
    pair[1].targets[0].device = Some("vdb".into());
    assert_eq!(answer(&(report.clone(), pair), "random_iops"), None);
    let mut job = jobs[0].clone();
    job.targets.push(job.targets[0].clone());
    job.targets[1].device = None;
    assert_eq!(answer(&(report, vec![job]), "random_iops"), None);
}

/// A bandwidth result requires fewer I/Os than a percentile: SAP HANA's test uses 16 MiB I/Os.
#[test]
fn throughput_requires_fewer_ios() {
    let large = |ios: u64| {
        let run = with_latencies(device_run("read", 16 << 10, json!({"iodepth": 8})), MS, MS);
        answer(&with(run, |report| report.read.ios = ios), "throughput").is_some()
    };
    assert!(!large(99));
    assert!(large(100));
}
