//! Findings and their reruns.

use crate::analysis::tests::*;
use leadline_protocol::{
    counters::Memory,
    evidence::FlushReport,
    finding::Finding,
    job::{engine::EngineName, steady_state::SteadyState, value::FioValue},
    report::{
        CpuReport, FirstError, MemoryReport, ToleratedError,
        host_change::HostChange,
        limit::ViolatedLimit,
        stats::LatencyStats,
        steady_state::{SteadyStateReport, SteadyWindow},
    },
};
use serde_json::{Value, json};

/// Finding codes for direct random reads, which cause no findings by default. `fields` replaces job
/// fields, and `change` modifies the report.
fn codes_after(fields: Value, change: impl FnOnce(&mut Report)) -> Vec<String> {
    let run = with_job(
        one_direction("randread", true, (30_000, 4), (30_000, 120_000)),
        fields,
    );
    let (report, jobs) = with(run, |report| {
        report.achieved_depth = Some(1.0);
        report.cpu = Some(cpu(40.0, 20.0));
        change(report);
    });
    codes(&report, &jobs)
}

pub(super) fn cpu(process_percent: f64, host_percent: f64) -> CpuReport {
    CpuReport {
        user_ms: 1.0,
        system_ms: 1.0,
        process_percent,
        host_percent,
        context_switches: 1,
        thermal_throttles: None,
    }
}

const NONE: [&str; 0] = [];

#[test]
fn codes_by_cause() {
    let depth = |iodepth: u32, more: Value| {
        let mut job = json!({"iodepth": iodepth});
        more.as_object()
            .unwrap()
            .iter()
            .for_each(|(name, value)| job[name] = value.clone());
        job
    };
    let nothing = |_: &mut Report| {};
    assert_eq!(codes_after(json!({}), nothing), NONE);
    assert_eq!(
        codes_after(json!({}), |report| report.duration_ms = 9_000.0),
        ["short_run"]
    );
    assert_eq!(
        codes_after(json!({}), |report| report.ended_by = Some(EndedBy::Signal)),
        ["stopped_early"]
    );
    assert_eq!(
        codes_after(depth(32, json!({})), |report| report.achieved_depth =
            Some(20.0)),
        ["depth_not_reached"]
    );
    assert_eq!(
        codes_after(depth(32, json!({})), |report| report.achieved_depth =
            Some(28.0)),
        NONE
    );
    assert_eq!(
        codes_after(depth(32, json!({"thinktime_us": 5})), nothing),
        NONE
    );
    assert_eq!(
        codes_after(depth(32, json!({"ioengine": EngineName::Psync})), nothing),
        ["depth_is_one"]
    );
    assert_eq!(
        codes_after(json!({}), |report| report.cpu = Some(cpu(97.0, 50.0))),
        ["cpu_bound"]
    );
    for polling in [
        json!({"spin_us": 50}),
        json!({"hipri": true}),
        json!({"sqthread_poll": true}),
    ] {
        assert_eq!(
            codes_after(polling, |report| report.cpu = Some(cpu(100.0, 50.0))),
            NONE
        );
    }
    assert_eq!(
        codes_after(json!({"numjobs": 2}), |report| report.cpu =
            Some(cpu(97.0, 50.0))),
        NONE
    );
    assert_eq!(
        codes_after(json!({"numjobs": 2}), |report| report.cpu =
            Some(cpu(97.0, 99.0))),
        ["busy_host"]
    );
    let hot = |times| {
        move |report: &mut Report| report.cpu.as_mut().unwrap().thermal_throttles = Some(times)
    };
    assert_eq!(codes_after(json!({}), hot(0)), NONE);
    assert_eq!(codes_after(json!({}), hot(7)), ["thermal_throttling"]);
    let counts = |report: &mut Report, change: fn(&mut DeviceCounts)| {
        change(&mut report.device.as_mut().unwrap().counts)
    };
    assert_eq!(
        codes_after(json!({}), |report| counts(report, |counts| counts
            .write_bytes =
            100 << 20)),
        ["foreign_io"]
    );
    assert_eq!(
        codes_after(json!({}), |report| counts(report, |counts| counts
            .write_bytes =
            1 << 20)),
        NONE
    );
    assert_eq!(
        codes_after(json!({}), |report| counts(report, |counts| counts
            .read_bytes =
            200 << 20)),
        ["foreign_io"]
    );
    assert_eq!(
        codes_after(json!({}), |report| report.targets[0]
            .direct
            .loop_direct_io = Some(false)),
        ["loop_without_direct_io"]
    );
    let empty = |report: &mut Report| {
        report.targets[0].extents.before = Some(Extents {
            hole: 40 << 20,
            ..Extents::default()
        })
    };
    assert_eq!(codes_after(json!({}), empty), ["unwritten_blocks"]);
    assert_eq!(
        codes_after(json!({}), |report| report.targets[0]
            .direct
            .reads_past_cache = Some(false)),
        ["direct_io_fallback"]
    );
}

/// Finding codes for buffered I/O. `fields` replaces job fields, and `change` modifies the report.
fn buffered(
    rw: &str,
    fields: Value,
    counted: (u64, u64),
    change: impl FnOnce(&mut Report),
) -> Vec<String> {
    let (report, jobs) = with(
        with_job(one_direction(rw, false, (30_000, 4), counted), fields),
        change,
    );
    codes(&report, &jobs)
}

#[test]
fn page_cache_findings() {
    let warm =
        |report: &mut Report| report.targets[0].residency.start.as_mut().unwrap().cached = 20 << 20;
    assert_eq!(
        buffered("randread", json!({}), (0, 0), |_| {}),
        ["served_from_cache"]
    );
    assert_eq!(
        buffered("randread", json!({}), (0, 0), warm),
        ["served_from_cache", "warm_cache"]
    );
    assert_eq!(
        buffered("randread", json!({"pre_read": true}), (0, 0), warm),
        ["served_from_cache"]
    );
    let dirty = |report: &mut Report| {
        report.targets[0].residency.start.as_mut().unwrap().dirty = Some(4096)
    };
    assert_eq!(
        buffered("randread", json!({}), (0, 0), dirty),
        ["served_from_cache", "invalidate_keeps_dirty"]
    );
    let after_a_write_ramp = buffered("randrw", json!({"ramp_ms": 5000}), (0, 0), dirty);
    assert_eq!(
        after_a_write_ramp,
        ["served_from_cache", "overwrite"],
        "possibly written by the ramp"
    );
    let after_a_read_ramp = buffered("randread", json!({"ramp_ms": 5000}), (0, 0), dirty);
    assert_eq!(
        after_a_read_ramp,
        ["served_from_cache", "invalidate_keeps_dirty"],
        "a read ramp leaves no dirty pages"
    );
    let elsewhere = |report: &mut Report| {
        dirty(report);
        let written = TargetReport {
            jobs: vec!["writer".into()],
            ..report.targets[0].clone()
        };
        report.targets[0].residency.start.as_mut().unwrap().dirty = Some(0);
        report.targets.push(written);
    };
    assert_eq!(
        buffered("randread", json!({}), (0, 0), elsewhere),
        ["served_from_cache"],
        "dirty, but not read"
    );
    assert_eq!(
        buffered("randread", json!({}), (15_000, 60_000), |_| {}),
        ["partly_from_cache"]
    );
    assert_eq!(
        buffered("read", json!({}), (500, 120_000), |_| {}),
        ["readahead"]
    );
    assert_eq!(
        buffered(
            "randread",
            json!({"mode": "raw"}),
            (30_000, 120_000),
            |_| {}
        ),
        ["raw_buffered"]
    );
}

#[test]
fn cached_pages_after_a_ramp() {
    let warm = |ramp_ms: u64| {
        let run = with_job(
            one_direction("randread", false, (30_000, 4), (0, 0)),
            json!({"ramp_ms": ramp_ms}),
        );
        let (report, jobs) = with_target(run, |target| {
            target.residency.start.as_mut().unwrap().cached = 20 << 20
        });
        let found = analyze(&report, &jobs, &HostFacts::default()).1;
        let found = found
            .into_iter()
            .find(|finding| finding.code == "warm_cache")
            .unwrap();
        (
            found.sentence,
            found.patch.unwrap().contains_key("ramp_time"),
        )
    };
    assert_eq!(
        warm(0),
        (
            "50 % of the region was in the page cache before the first read.".into(),
            false
        )
    );
    assert_eq!(
        warm(5000),
        (
            "50 % of the region was in the page cache at the start of the measurement, after the ramp."
                .into(),
            true
        )
    );
}

#[test]
fn write_findings() {
    let all = (30_000, 120_000);
    let share =
        |share: f64| move |report: &mut Report| report.targets[0].state.written_share = Some(share);
    let explicit = json!({"file_state": "overwrite", "overwrite": true});
    assert_eq!(buffered("randwrite", explicit.clone(), all, |_| {}), NONE);
    assert_eq!(buffered("randwrite", json!({}), all, |_| {}), ["overwrite"]);
    assert_eq!(
        buffered("randwrite", json!({}), all, share(0.0)),
        ["initial_write"]
    );
    assert_eq!(
        buffered("randwrite", json!({"file_append": true}), all, share(0.0)),
        ["append"]
    );
    let left = |report: &mut Report| {
        report.flush = Some(FlushReport {
            dirty_bytes: Some(4096),
            duration_ms: None,
        })
    };
    assert_eq!(
        buffered("randwrite", explicit.clone(), all, left),
        ["not_flushed"]
    );
    assert_eq!(
        buffered(
            "randwrite",
            json!({"file_state": "overwrite", "overwrite": true, "end_fsync": true}),
            all,
            left
        ),
        NONE
    );
    assert_eq!(
        buffered("randwrite", explicit, (0, 0), left),
        ["deferred_write"]
    );
}

#[test]
fn flushes_are_counted_by_the_disk() {
    let run = |name: &str, of_device: u64, of_disk: u64| {
        let (report, jobs) = with(
            one_direction("randwrite", true, (30_000, 4), (30_000, 120_000)),
            |report| {
                let device = report.device.as_mut().unwrap();
                (
                    device.name,
                    device.counts.flush_ios,
                    device.physical_devices[0].counts.flush_ios,
                ) = (name.into(), of_device, of_disk);
            },
        );
        let found = analyze(&report, &jobs, &HostFacts::default()).1;
        found
            .into_iter()
            .find(|finding| finding.code == "device_cache")
            .map(|finding| finding.sentence)
    };
    let never = "vda received no flush: written data may still be in its volatile cache.";
    assert_eq!(run("vda", 0, 0).as_deref(), Some(never));
    assert_eq!(
        run("vda1", 0, 0).as_deref(),
        Some(never),
        "the cache belongs to the disk"
    );
    assert_eq!(run("vda1", 0, 3), None, "a partition counts no flushes");
    assert_eq!(run("vda", 3, 3), None);
}

#[test]
fn dirty_limits() {
    let limits = HostFacts {
        dirty_background_bytes: Some(1 << 30),
        dirty_bytes: Some(3 << 30),
        ..HostFacts::default()
    };
    let check = |dirty: u64, counted: (u64, u64), want: &str| {
        let (report, jobs) = with(
            one_direction("randwrite", false, (1_000_000, 4), counted),
            |report| {
                report.memory = Some(MemoryReport {
                    start: Memory::default(),
                    end: Memory {
                        dirty,
                        ..Memory::default()
                    },
                });
            },
        );
        let found: Vec<String> = analyze(&report, &jobs, &limits)
            .1
            .into_iter()
            .map(|finding| finding.code)
            .collect();
        assert!(
            found.contains(&want.into()),
            "{want} is missing in {found:?}"
        );
    };
    check(5 << 20, (0, 0), "dirty_limit_not_reached");
    check(2 << 30, (900_000, 3_600_000), "writeback_throttled");
}

#[test]
fn host_findings() {
    let host = |clock: &str, governor: Option<&str>| HostFacts {
        clocksource: Some(clock.into()),
        governor: governor.map(Into::into),
        ..HostFacts::default()
    };
    let (report, jobs) = one_direction("randread", true, (30_000, 4), (30_000, 120_000));
    let check = |host: HostFacts, want: &[&str]| {
        let found: Vec<String> = analyze(&report, &jobs, &host)
            .1
            .into_iter()
            .map(|finding| finding.code)
            .collect();
        assert_eq!(found, want);
    };
    check(host("tsc", Some("performance")), &[]);
    check(host("hpet", None), &["slow_clock"]);
    check(host("tsc", Some("powersave")), &["frequency_governor"]);
}

#[test]
fn settings_that_changed_during_the_run() {
    let changed = |setting: &str| HostChange {
        setting: setting.into(),
        before: Some("none".into()),
        after: Some("bfq".into()),
    };
    for (changes, sentence) in [
        (
            vec![changed("I/O scheduler of sda")],
            "I/O scheduler of sda changed from none to bfq during the measurement.",
        ),
        (
            vec![changed("I/O scheduler of sda"), changed("x"), changed("y")],
            "I/O scheduler of sda changed from none to bfq during the measurement, as did 2 other settings.",
        ),
    ] {
        let (mut report, jobs) = one_direction("randread", true, (30_000, 4), (30_000, 120_000));
        report.host_changes = changes;
        let finding = analyze(&report, &jobs, &HostFacts::default()).1.remove(0);
        assert_eq!(
            (finding.code.as_str(), finding.sentence.as_str()),
            ("host_changed", sentence)
        );
    }
}

#[test]
fn violated_limit() {
    let (mut report, jobs) = one_direction("randread", true, (30_000, 4), (30_000, 120_000));
    report.jobs[0].violated_limit = Some(ViolatedLimit {
        option: "rate_iops_min".into(),
        direction: "read".into(),
        limit: 100,
        value: 99,
        summary: "A worker's reads reached 99 IOPS.".into(),
    });
    let finding = analyze(&report, &jobs, &HostFacts::default()).1.remove(0);
    assert_eq!(finding.code, "violated_limit");
    assert_eq!(
        finding.sentence,
        "Job job ended early. A worker's reads reached 99 IOPS."
    );
    assert!(
        finding.remedy.contains("rate_iops_min"),
        "{}",
        finding.remedy
    );
}

#[test]
fn first_failed_io() {
    let first = FirstError {
        job: "a".into(),
        operation: "read".into(),
        offset: 4096,
        bytes: 4096,
        errno: 5,
        message: "Input/output error".into(),
    };
    let (mut report, jobs) = one_direction("randread", true, (30_000, 4), (30_000, 120_000));
    report.errors = ErrorReport {
        total: 3,
        first: Some(first),
        tolerated: Vec::new(),
    };
    let finding = analyze(&report, &jobs, &HostFacts::default()).1.remove(0);
    assert_eq!(
        finding.sentence,
        "3 I/Os failed. First: read of 4 KiB at offset 4,096 in job a: Input/output error."
    );
    report.errors.tolerated.push(ToleratedError {
        job: "a".into(),
        operation: "read".into(),
        errno: 5,
        message: "Input/output error".into(),
        count: 2,
        offsets: vec![4096, 8192],
    });
    let finding = analyze(&report, &jobs, &HostFacts::default()).1.remove(0);
    assert!(
        finding
            .sentence
            .ends_with("The job continued after 2 of them (continue_on_error)."),
        "{}",
        finding.sentence
    );
}

#[test]
fn amplification_under_an_array() {
    let on_mirror = |rw: &str, counted: (u64, u64), each_kib: u64| {
        let (report, jobs) = with(one_direction(rw, true, (30_000, 4), counted), |report| {
            let counts = DeviceCounts {
                read_bytes: each_kib * KIB,
                write_bytes: each_kib * KIB,
                ..DeviceCounts::default()
            };
            let device = report.device.as_mut().unwrap();
            device.name = "md0".into();
            device.physical_devices = ["sda", "sdb"]
                .map(|name| PhysicalDeviceReport {
                    name: name.into(),
                    counts,
                    utilization: 50.0,
                })
                .into();
        });
        analyze(&report, &jobs, &HostFacts::default())
            .1
            .into_iter()
            .find(|finding| finding.code == "lower_device_amplification")
    };
    let run = on_mirror("randwrite", (30_000, 120_000), 120_000).unwrap();
    assert_eq!(
        run.sentence,
        "sda+sdb under md0 wrote 2.0 × the bytes written to md0: 234 MiB for 117 MiB."
    );
    assert!(
        on_mirror("randread", (30_000, 120_000), 120_000)
            .unwrap()
            .sentence
            .contains("read 2.0 × the bytes read from md0")
    );
    assert!(
        on_mirror("randread", (30_000, 120_000), 60_000).is_none(),
        "a mirror reads one copy"
    );
    assert!(
        on_mirror("randread", (0, 0), 60_000).is_none(),
        "the array served no reads"
    );
}

#[test]
fn rerun_direct() {
    let direct = |finding: &Finding| finding.patch.as_ref().map(|patch| patch["direct"] == 1);
    for (rw, counted) in [("randread", (0, 0)), ("read", (500, 120_000))] {
        let (report, jobs) = one_direction(rw, false, (30_000, 4), counted);
        let finding = analyze(&report, &jobs, &HostFacts::default()).1.remove(0);
        assert_eq!(
            (direct(&finding), finding.patch_label.as_deref()),
            (Some(true), Some("Rerun direct"))
        );
    }
}

#[test]
fn late_starts() {
    let lat = |p99: u64| LatencyStats {
        count: 100,
        percentiles: [("99".to_owned(), p99)].into(),
        ..LatencyStats::default()
    };
    let run = |service_ns: u64, intended_ns: Option<u64>| {
        let (report, jobs) = with(
            one_direction("randread", true, (100, 4), (100, 400)),
            |report| {
                (report.read.lat_ns, report.read.intended_lat_ns) =
                    (lat(service_ns), intended_ns.map(lat));
            },
        );
        codes(&report, &jobs).contains(&"coordinated_omission".into())
    };
    assert!(run(1_000_000, Some(400_000_000)));
    assert!(!run(1_000_000, Some(1_500_000)), "timer delay");
    assert!(!run(50_000, Some(200_000)), "microseconds");
    assert!(!run(1_000_000, None));
}

/// The question behind the most frequently copied fio command: `--rw=write --fdatasync=1
/// --bs=2300`.
#[test]
fn log_writes_are_compared_with_the_etcd_limit() {
    let sentence_of = |flushes: u64, p99_ns: u64, kib: u64, changes: Value| {
        let job = json!({"fdatasync": 1, "iodepth": 1, "numjobs": 1});
        let run = with_job(
            one_direction("write", false, (300, kib), (600, 300 * kib)),
            crate::plan::tests::merge(job, &changes),
        );
        let (report, jobs) = with(run, |report| {
            report.sync.ios = flushes;
            report.sync.lat_ns.percentiles = [("99".to_owned(), p99_ns)].into();
        });
        let (_, findings) = analyze(&report, &jobs, &HostFacts::default());
        let mut findings = findings.into_iter();
        findings
            .find(|finding| finding.code == "log_writes")
            .map(|finding| finding.sentence)
    };
    let sentence = |p99_ns, kib, changes| sentence_of(1000, p99_ns, kib, changes);
    assert_eq!(sentence_of(999, 3_100_000, 4, json!({})), None);
    let fast = sentence(3_100_000, 4, json!({})).unwrap();
    for expected in [
        "10.0 commits per second",
        "fdatasync p99 3.1",
        "below the 10",
    ] {
        assert!(fast.contains(expected), "{fast}");
    }
    let slow = sentence(12_000_000, 4, json!({"fdatasync": 0, "fsync": 1})).unwrap();
    assert!(
        slow.contains("fsync p99 12") && slow.contains("not below"),
        "{slow}"
    );
    for (kib, changes) in [
        (4, json!({"fdatasync": 0})),
        (4, json!({"fdatasync": 8})),
        (4, json!({"rw": "randwrite"})),
        (4, json!({"numjobs": 2})),
        (4, json!({"iodepth": 8})),
        (64, json!({})),
    ] {
        assert_eq!(sentence(3_100_000, kib, changes.clone()), None, "{changes}");
    }
}

#[test]
fn steady_state_that_was_not_reached() {
    let steady_state = |attained: bool, mean_iops: f64| {
        move |report: &mut Report| {
            report.jobs[0].steady_state = Some(SteadyStateReport {
                test: SteadyState::parse("iops:1%").unwrap(),
                attained,
                attained_s: attained.then_some(20.0),
                summary: "Steady state not reached: a reason.".into(),
                window: Some(SteadyWindow {
                    start_ms: 0.0,
                    end_ms: 10_000.0,
                    mean_iops,
                    mean_bytes_per_second: 4096.0 * mean_iops,
                    max_deviation: 20.0,
                    slope: 0.0,
                    value: Some(2.0),
                }),
                iops: Vec::new(),
                bytes_per_second: Vec::new(),
                lat_ns: Vec::new(),
            });
        }
    };
    let runtime = json!({"runtime_ms": 30_000, "time_based": true});
    assert_eq!(codes_after(runtime.clone(), steady_state(true, 10.0)), NONE);
    assert_eq!(
        codes_after(runtime.clone(), steady_state(true, 0.0)),
        ["steady_state_without_io"]
    );
    let run = with_job(
        one_direction("randread", true, (30_000, 4), (30_000, 120_000)),
        runtime,
    );
    let (report, jobs) = with(run, steady_state(false, 10.0));
    let (_, findings) = analyze(&report, &jobs, &HostFacts::default());
    let finding = findings
        .iter()
        .find(|finding| finding.code == "steady_state_not_reached")
        .expect("a finding");
    assert_eq!(finding.sentence, "Steady state not reached: a reason.");
    assert_eq!(
        json!(finding.patch),
        json!({"runtime": "120000ms", "time_based": 1})
    );
}

/// Plans reject multiple workers that verify what they write to the same region.
#[test]
fn no_rerun_with_more_jobs_if_they_would_share_a_verified_region() {
    let verify = json!({"method": "crc32c", "interval": 4096, "reads_back": true, "only": false, "fatal": false});
    let reruns = |fields: Value| {
        let run = with_job(
            one_direction("randwrite", true, (30_000, 4), (30_000, 120_000)),
            fields,
        );
        let (report, jobs) = with(run, |report| {
            report.achieved_depth = Some(10.0);
            report.cpu = Some(cpu(97.0, 50.0));
        });
        let (_, findings) = analyze(&report, &jobs, &HostFacts::default());
        let labels = |code: &str| {
            let mut found = findings.iter().filter(|finding| finding.code == code);
            let finding = found.next().unwrap_or_else(|| panic!("no {code}"));
            finding.patch_label.clone()
        };
        [labels("depth_not_reached"), labels("cpu_bound")]
    };
    let offered = Some("Rerun with 2 jobs".to_owned());
    assert_eq!(reruns(json!({"iodepth": 32})), [offered.clone(), offered]);
    assert_eq!(
        reruns(json!({"iodepth": 32, "verify": verify})),
        [None, None]
    );
}
