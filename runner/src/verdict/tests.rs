//! Known cases, the seeds' own figures among them: what was issued, what the device counted, and the class.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::judge;
use crate::event::{DeviceCounts, Memory};
use crate::job::EngineName;
use crate::plan::ResolvedJob;
use crate::plan::fixture::{resolved, target};
use crate::report::{
    CpuReport, DeviceReport, DirStats, EndedBy, ErrorReport, FirstError, Lat, MemoryReport, Report, SyncStats, Verdict,
    VerdictClass,
};

const KIB: u64 = 1024;
const SECONDS: f64 = 30.0;

fn dir(ios: u64, bytes: u64) -> DirStats {
    DirStats { ios, bytes, iops: ios as f64 / SECONDS, bytes_per_second: bytes as f64 / SECONDS, ..DirStats::default() }
}

fn report(read: DirStats, write: DirStats, counts: Option<DeviceCounts>) -> Report {
    let device = |counts| DeviceReport { name: "vda".into(), counts, utilization: 50.0, leaves: Vec::new() };
    Report {
        started_at_ms: 0,
        duration_ms: SECONDS * 1000.0,
        ended_by: EndedBy::Runtime,
        phases: Vec::new(),
        read,
        write,
        trim: DirStats::default(),
        sync: SyncStats::default(),
        jobs: Vec::new(),
        absent: if counts.is_none() { [("device".to_owned(), "/sys cannot be read".to_owned())].into() } else { BTreeMap::new() },
        device: counts.map(device),
        cpu: None,
        memory: None,
        pressure: None,
        storage: None,
        targets: Vec::new(),
        turns: Vec::new(),
        writeback: None,
        flush: None,
        requests: None,
        profile: None,
        errors: ErrorReport::default(),
        start_skew_ns: 0,
        achieved_depth: None,
    }
}

/// I/Os of `kib` KiB through or past the page cache, and I/Os and KiB that the device counted in the same direction.
fn one_way(rw: &str, direct: bool, (ios, kib): (u64, u64), (device_ios, device_kib): (u64, u64)) -> (Report, Vec<ResolvedJob>) {
    let job = resolved(json!({"rw": rw, "direct": direct, "mode": if direct { "direct" } else { "buffered" }}));
    let (flow, nothing) = (dir(ios, ios * kib * KIB), DirStats::default());
    let report = if job.rw.reads() {
        let counts = DeviceCounts { read_ios: device_ios, read_bytes: device_kib * KIB, ..DeviceCounts::default() };
        report(flow, nothing, Some(counts))
    } else {
        let counts = DeviceCounts { write_ios: device_ios, write_bytes: device_kib * KIB, ..DeviceCounts::default() };
        report(nothing, flow, Some(counts))
    };
    (report, vec![job])
}

fn verdict_of((report, jobs): &(Report, Vec<ResolvedJob>)) -> Verdict {
    let verdicts = judge(report, jobs).0;
    verdicts.read.or(verdicts.write).expect("a verdict")
}

fn codes(report: &Report, jobs: &[ResolvedJob]) -> Vec<String> {
    judge(report, jobs).1.into_iter().map(|finding| finding.code).collect()
}

#[test]
fn known_cases_have_their_class() {
    use VerdictClass::{Amplified, DeferredWrite, Device, Mixed, NoDevice, PageCache, Readahead, Unknown};
    let (read, rand, write) = ("read", "randread", "randwrite");
    for (name, rw, direct, issued, counted, class) in [
        ("seed 000, first run", rand, false, (2560, 4), (1121, 4484), Mixed),
        ("seed 000, second run", rand, false, (2560, 4), (0, 0), PageCache),
        ("seed 000, direct", rand, true, (2560, 4), (2560, 10240), Device),
        ("seed 003, readahead", read, false, (262_144, 4), (4156, 1_048_576), Readahead),
        ("seed 003, direct", read, true, (262_144, 4), (258_171, 1_032_684), Device),
        ("seed 002, cached writes", write, false, (4_740_000, 8), (1170, 285_480), DeferredWrite),
        ("warm with a little metadata", rand, false, (100_000, 4), (200, 3200), PageCache),
        ("large reads are split", read, true, (1000, 1024), (4000, 1_024_000), Device),
        ("cold random reads, no readahead", rand, false, (100_000, 4), (99_500, 398_000), Device),
        ("readahead of more than is used", rand, false, (10_000, 4), (10_000, 320_000), Amplified),
        ("half in memory", rand, false, (10_000, 4), (5000, 20_000), Mixed),
        ("writes that reached the disk in time", "write", false, (10_000, 4), (90, 39_000), Device),
        ("writes that did in part", "write", false, (10_000, 4), (70, 30_000), Mixed),
        ("journal beside small writes", write, true, (10_000, 4), (30_000, 120_000), Amplified),
        ("direct reads of unwritten blocks", rand, true, (10_000, 4), (0, 0), NoDevice),
        ("direct reads, partly unwritten", rand, true, (10_000, 4), (5000, 20_000), Mixed),
        ("direct writes", write, true, (10_000, 4), (10_100, 40_100), Device),
        ("too few to tell", rand, true, (3, 4), (0, 0), Unknown),
    ] {
        let verdict = verdict_of(&one_way(rw, direct, issued, counted));
        assert_eq!(verdict.class, class, "{name}: {}", verdict.sentence);
    }
}

#[test]
fn the_sentence_says_it_to_anybody() {
    let check =
        |rw, direct, issued, counted, want: &str| assert_eq!(verdict_of(&one_way(rw, direct, issued, counted)).sentence, want);
    check("randread", false, (25_600_000, 4), (0, 0), "853,333 IOPS came from memory: 0 of 25,600,000 reads reached vda.");
    check(
        "randread",
        true,
        (300_000, 4),
        (300_012, 1_200_048),
        "10,000 IOPS came from vda: it counted 300,012 reads for 300,000 issued.",
    );
    check(
        "randread",
        false,
        (2560, 4),
        (1121, 4484),
        "43.8 % of the bytes came from vda, the rest from memory: 1,121 of 2,560 reads reached vda.",
    );
    check(
        "read",
        false,
        (262_144, 4),
        (4156, 1_048_576),
        "8,738 IOPS came through readahead: vda had read the bytes before they were asked for, in 4,156 reads of 252 KiB for 262,144 issued.",
    );
    check(
        "randwrite",
        false,
        (3_000_000, 4),
        (100, 120_000),
        "100,000 IOPS went into memory: only 1.0 % of the 11.4 GiB had reached vda when the measurement ended.",
    );
    check("randwrite", true, (3000, 4), (9000, 36_000), "vda wrote 3.0 bytes for each byte asked: 35.2 MiB for 11.7 MiB.");
}

#[test]
fn shares_add_up_and_evidence_can_be_checked() {
    let verdict = verdict_of(&one_way("randread", false, (2560, 4), (1121, 4484)));
    assert!((verdict.shares["device"] - 0.4379).abs() < 0.0001 && (verdict.shares.values().sum::<f64>() - 1.0).abs() < 1e-9);
    assert_eq!(
        (verdict.evidence["issued_ios"], verdict.evidence["device_ios"], verdict.evidence["device_bytes"]),
        (2560, 1121, 4484 * KIB)
    );
    let (mut written, jobs) = one_way("randwrite", false, (10_000, 4), (0, 0));
    let memory = |dirty| Memory { dirty, writeback: 5, ..Memory::default() };
    written.memory = Some(MemoryReport { start: memory(10), end: memory(1000) });
    let verdict = verdict_of(&(written, jobs));
    assert_eq!((verdict.evidence["dirty_start_bytes"], verdict.evidence["dirty_end_bytes"]), (15, 1005));
}

#[test]
fn without_counters_nothing_is_guessed() {
    let jobs = [resolved(json!({"rw": "randread"}))];
    let report = report(dir(1000, 4_096_000), DirStats::default(), None);
    let (verdicts, findings) = judge(&report, &jobs);
    let verdict = verdicts.read.unwrap();
    assert_eq!((verdict.class, verdict.shares.len()), (VerdictClass::Unknown, 0));
    assert!(verdict.sentence.contains("/sys cannot be read") && verdicts.write.is_none());
    assert!(findings.iter().any(|finding| finding.code == "device_counters_absent"));
}

#[test]
fn what_has_no_device_asked_none() {
    let mut bare = target(0, 1 << 20);
    (bare.device, bare.filesystem) = (None, Some("tmpfs".into()));
    for (different, word) in [(json!({"mode": "null", "ioengine": "null"}), "runner alone"), (json!({"targets": [bare]}), "tmpfs")]
    {
        let (verdicts, findings) = judge(&report(dir(1000, 4_096_000), DirStats::default(), None), &[resolved(different)]);
        let verdict = verdicts.read.unwrap();
        assert_eq!(verdict.class, VerdictClass::NoDevice);
        assert!(verdict.sentence.contains(word), "{}", verdict.sentence);
        assert!(word != "tmpfs" || findings.iter().all(|finding| finding.code != "device_counters_absent"));
    }
}

#[test]
fn both_directions_are_judged_apart() {
    let counts =
        DeviceCounts { read_ios: 7000, read_bytes: 28_672_000, write_ios: 2, write_bytes: 8192, ..DeviceCounts::default() };
    let job = resolved(json!({"rw": "randrw", "rwmixread": 70, "direct": false, "mode": "buffered"}));
    let verdicts = judge(&report(dir(7000, 28_672_000), dir(3000, 12_288_000), Some(counts)), &[job]).0;
    assert_eq!(verdicts.read.unwrap().class, VerdictClass::Device);
    assert_eq!(verdicts.write.unwrap().class, VerdictClass::DeferredWrite);
}

/// A report of direct random reads that has nothing to mind, with something changed.
fn changed(different: Value, change: impl FnOnce(&mut Report)) -> Vec<String> {
    let (mut report, _) = one_way("randread", true, (30_000, 4), (30_000, 120_000));
    report.achieved_depth = Some(1.0);
    report.cpu = Some(cpu(40.0, 20.0));
    change(&mut report);
    codes(&report, &[resolved(different)])
}

fn cpu(percent_of_one: f64, machine_percent: f64) -> CpuReport {
    CpuReport { user_ms: 1.0, system_ms: 1.0, percent_of_one, machine_percent, context_switches: 1 }
}

#[test]
fn findings_come_when_they_are_true() {
    let depth = |iodepth: u32, more: Value| {
        let mut job = json!({"iodepth": iodepth});
        more.as_object().unwrap().iter().for_each(|(name, value)| job[name] = value.clone());
        job
    };
    let nothing = |_: &mut Report| {};
    assert_eq!(changed(json!({}), nothing), Vec::<String>::new());
    assert_eq!(changed(json!({}), |report| report.duration_ms = 9_000.0), ["short_run"]);
    assert_eq!(changed(json!({}), |report| report.ended_by = EndedBy::Signal), ["stopped_early"]);
    assert_eq!(changed(depth(32, json!({})), |report| report.achieved_depth = Some(20.0)), ["depth_not_reached"]);
    assert_eq!(changed(depth(32, json!({})), |report| report.achieved_depth = Some(28.0)), Vec::<String>::new());
    assert_eq!(changed(depth(32, json!({"thinktime_us": 5})), nothing), Vec::<String>::new());
    assert_eq!(changed(depth(32, json!({"ioengine": EngineName::Psync})), nothing), ["depth_is_one"]);
    assert_eq!(changed(json!({}), |report| report.cpu = Some(cpu(97.0, 50.0))), ["cpu_bound"]);
    assert_eq!(changed(json!({"numjobs": 2}), |report| report.cpu = Some(cpu(97.0, 50.0))), Vec::<String>::new());
    assert_eq!(changed(json!({"numjobs": 2}), |report| report.cpu = Some(cpu(97.0, 99.0))), ["busy_host"]);
    assert_eq!(changed(json!({}), |report| report.device.as_mut().unwrap().counts.write_bytes = 100 << 20), ["other_io"]);
    assert_eq!(changed(json!({}), |report| report.device.as_mut().unwrap().counts.write_bytes = 1 << 20), Vec::<String>::new());
    assert_eq!(changed(json!({}), |report| report.device.as_mut().unwrap().counts.read_bytes = 200 << 20), ["more_than_asked"]);
}

#[test]
fn failed_ios_are_told_with_the_first() {
    let first = FirstError {
        job: "a".into(),
        operation: "read".into(),
        offset: 4096,
        bytes: 4096,
        errno: 5,
        message: "Input/output error".into(),
    };
    let (mut report, jobs) = one_way("randread", true, (30_000, 4), (30_000, 120_000));
    report.errors = ErrorReport { total: 3, first: Some(first) };
    let finding = judge(&report, &jobs).1.remove(0);
    assert_eq!(finding.sentence, "3 I/Os failed; the first was a read of 4 KiB at 4,096 of job a: Input/output error.");
}

#[test]
fn a_number_that_is_not_the_devices_says_so() {
    for (rw, direct, issued, counted, code) in [
        ("randread", false, (25_600, 4), (0, 0), "cache_answered"),
        ("read", false, (262_144, 4), (4156, 1_048_576), "readahead_answered"),
        ("randwrite", false, (30_000, 4), (100, 1200), "deferred_write"),
        ("randread", true, (30_000, 4), (0, 0), "direct_not_honoured"),
    ] {
        let (report, jobs) = one_way(rw, direct, issued, counted);
        assert_eq!(codes(&report, &jobs), [code]);
    }
}

#[test]
fn falling_behind_a_rate_is_told() {
    let lat = |p99: u64| Lat { count: 100, percentiles: [("99".to_owned(), p99)].into(), ..Lat::default() };
    let told = |service_ns: u64, intended_ns: Option<u64>| {
        let (mut report, jobs) = one_way("randread", true, (100, 4), (100, 400));
        (report.read.lat_ns, report.read.intended_lat_ns) = (lat(service_ns), intended_ns.map(lat));
        judge(&report, &jobs).1.iter().any(|finding| finding.code == "late_starts")
    };
    assert!(told(1_000_000, Some(400_000_000)));
    assert!(!told(1_000_000, Some(1_500_000)), "a timer that is late is no finding");
    assert!(!told(50_000, Some(200_000)), "nor are microseconds");
    assert!(!told(1_000_000, None));
}
