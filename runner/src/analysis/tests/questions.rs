//! Answers to the questions behind published recipes: expected sentences and limits.

use crate::analysis::tests::*;
use leadline_protocol::finding::Finding;

pub(super) const MS: u64 = 1_000_000;
const GIB: u64 = 1 << 30;
/// Number of I/Os in each direction.
pub(super) const IOS: u64 = 300_000;

/// A run whose I/Os all reached the device, with `kib` per I/O. Mixed patterns have as many writes
/// as reads.
pub(super) fn device_run(rw: &str, kib: u64, job: Value) -> (Report, Vec<ResolvedJob>) {
    let run = one_direction(rw, true, (IOS, kib), (IOS, IOS * kib));
    let mut run = with_job(run, job);
    run.1[0].targets[0].size = GIB;
    let is_mixed = run.1[0].pattern.rw.reads() && run.1[0].pattern.rw.writes();
    if !is_mixed {
        return run;
    }
    let run = with(run, |report| {
        report.write = report.read.clone();
        let counts = &mut report.device.as_mut().unwrap().counts;
        (counts.write_ios, counts.write_bytes) = (counts.read_ios, counts.read_bytes);
        let storage = report.storage.as_mut().unwrap();
        storage.write_bytes = storage.read_bytes;
    });
    with_layers(run, exact(&[(StorageLayer::Device, 1.0)]))
}

/// Sets the mean and the p99 of all latencies.
pub(super) fn with_latencies(
    run: (Report, Vec<ResolvedJob>),
    mean_ns: u64,
    p99_ns: u64,
) -> (Report, Vec<ResolvedJob>) {
    with(run, |report| {
        for stats in [&mut report.read, &mut report.write] {
            if stats.ios > 0 {
                stats.lat_ns.mean = Some(mean_ns as f64);
                stats.lat_ns.percentiles = [("99".to_owned(), p99_ns)].into();
            }
        }
    })
}

pub(super) fn answer((report, jobs): &(Report, Vec<ResolvedJob>), code: &str) -> Option<Finding> {
    let (_, findings) = analyze(report, jobs, &HostFacts::default());
    findings.into_iter().find(|finding| finding.code == code)
}

/// The finding's sentence for latencies of 1 ms (mean) and 2 ms (p99).
pub(super) fn sentence(rw: &str, kib: u64, job: Value, code: &str) -> Option<String> {
    let run = with_latencies(device_run(rw, kib, job), MS, 2 * MS);
    answer(&run, code).map(|finding| finding.sentence)
}

#[test]
fn mixed_random_iops_are_compared_with_the_gitaly_requirements() {
    let job = json!({"rw": "randrw", "rwmixread": 75, "iodepth": 64});
    let text = sentence("randread", 4, job.clone(), "random_iops").unwrap();
    assert_eq!(
        text,
        "Random 4 KiB reads and writes, 64 in flight: 10.0 k read IOPS (mean latency 1.00 ms) and 10.0 k write IOPS (mean latency 1.00 ms). The read IOPS are at least the 8000 that GitLab requires for Gitaly. The write IOPS are at least the 2000 that GitLab requires for Gitaly."
    );
    let slow = with(
        with_latencies(device_run("randread", 4, job), MS, MS),
        |report| report.read.iops = 7999.0,
    );
    let finding = answer(&slow, "random_iops").unwrap();
    let text = &finding.sentence;
    assert!(
        text.contains("The read IOPS are below the 8000 that GitLab"),
        "{text}"
    );
    assert_eq!(finding.evidence["read_iops"], 7999.0);
    assert_eq!(finding.evidence["write_iops"], 10_000.0);
    assert!(
        finding.remedy.contains("Gitaly, Disk requirements"),
        "the source: {}",
        finding.remedy
    );
}

/// 4 KiB at depth 4 is the A1 test of memory cards; at higher depths, one direction alone is
/// compared with Harvester's disk requirement. Other sizes have no limit.
#[test]
fn random_iops_limits_depend_on_size_and_depth() {
    let text = |rw, kib, depth: u32| {
        sentence(rw, kib, json!({"iodepth": depth}), "random_iops").unwrap_or_default()
    };
    let a1 = text("randread", 4, 4);
    assert!(
        a1.ends_with("That is at least the 1500 that Application Performance Class A1 requires."),
        "{a1}"
    );
    let a1 = text("randwrite", 4, 4);
    assert!(a1.contains("at least the 500 that Application"), "{a1}");
    let deep = text("randread", 4, 32);
    assert!(
        deep.ends_with("That is at least the 5000 that Harvester requires of each disk."),
        "{deep}"
    );
    let cloud = text("randwrite", 16, 16);
    assert_eq!(
        cloud,
        "Random 16 KiB writes, 16 in flight: 10.0 k write IOPS (mean latency 1.00 ms)."
    );
    assert_eq!(text("randread", 4, 3), "", "depth");
    assert_eq!(text("randread", 128, 32), "", "size");
    assert_eq!(text("read", 4, 32), "", "sequential");
}

/// SQL Server pages are 8 KiB.
#[test]
fn database_pages_are_compared_with_the_sql_server_limit() {
    let job = json!({"rw": "randrw", "rwmixread": 75, "iodepth": 4, "numjobs": 8});
    let fast = sentence("randread", 8, job.clone(), "random_iops").unwrap();
    for expected in [
        "Random 8 KiB reads and writes, 32 in flight",
        "The mean read latency is below the 10.0 ms that Microsoft",
        "The mean write latency is below the 10.0 ms that Microsoft",
    ] {
        assert!(fast.contains(expected), "{fast}");
    }
    let slow = with_latencies(device_run("randread", 8, job), 10 * MS, 20 * MS);
    let slow = answer(&slow, "random_iops").unwrap().sentence;
    assert!(
        slow.contains("The mean read latency is not below the 10.0 ms"),
        "{slow}"
    );
}

#[test]
fn throughput_is_compared_with_the_limits_for_its_size() {
    let deep = json!({"iodepth": 64});
    // 10,000 I/Os per second, 1 MiB each.
    let log = sentence("write", 1024, deep.clone(), "throughput").unwrap();
    assert_eq!(
        log,
        "Sequential 1 MiB writes, 64 in flight: 10000 MiB/s (10486 MB/s) written. That is at least the 250 MB/s that SAP HANA requires for its log."
    );
    let data = sentence("read", 16 << 10, deep.clone(), "throughput").unwrap();
    assert!(
        data.contains("at least the 400 MB/s that SAP HANA requires for its data"),
        "{data}"
    );
    let card = sentence("write", 512, json!({"iodepth": 4}), "throughput").unwrap();
    assert!(
        card.contains("at least the 10.0 MB/s that Application Performance Class A1"),
        "{card}"
    );
    let plain = sentence("randread", 64, deep.clone(), "throughput").unwrap();
    assert_eq!(
        plain,
        "Random 64 KiB reads, 64 in flight: 625 MiB/s (655 MB/s) read."
    );
    assert_eq!(sentence("read", 32, deep, "throughput"), None, "size");
}

/// Each block of a synthetic full backup is read once and written once; in a reverse incremental
/// backup, it is read once and written twice.
#[test]
fn mixed_backup_tests_report_the_backup_rate() {
    let backup = |rwmixread: u32| {
        let job = json!({"rw": "randrw", "rwmixread": rwmixread, "iodepth": 2});
        sentence("randread", 512, job, "backup_rate")
    };
    // 10,000 reads and 10,000 writes per second, 512 KiB each.
    assert_eq!(
        backup(50).unwrap(),
        "Random 512 KiB reads and writes, 2 in flight: 10000 MiB/s (10486 MB/s) in total. A synthetic full backup needs 2 I/Os per block, so this is 5000 MiB/s (5243 MB/s) of backup data."
    );
    let reverse = backup(33).unwrap();
    assert!(
        reverse.contains("A reverse incremental backup needs 3 I/Os per block, so this is 3333"),
        "{reverse}"
    );
    assert_eq!(backup(70), None);
}

#[test]
fn single_ios_are_compared_with_documented_latencies() {
    let read = sentence("randread", 4, json!({}), "single_io_latency").unwrap();
    assert_eq!(
        read,
        "One random 4 KiB read at a time takes 1.00 ms on average (p99 2.00 ms)."
    );
    let write = sentence("randwrite", 4, json!({}), "single_io_latency").unwrap();
    assert!(
        write.ends_with(
            "That is not below the 200 µs that Alibaba Cloud documents for ESSDs. That is below the 2.00 ms that Alibaba Cloud documents for standard SSDs."
        ),
        "{write}"
    );
    for job in [
        json!({"numjobs": 2}),
        json!({"iodepth": 2}),
        json!({"sync": "dsync"}),
        json!({"rw": "randrw", "rwmixread": 50}),
    ] {
        assert_eq!(
            sentence("randread", 4, job.clone(), "single_io_latency"),
            None,
            "{job}"
        );
    }
}

#[test]
fn durable_writes_are_counted() {
    let journal = |rw, kib, job| sentence(rw, kib, job, "journal_writes");
    assert_eq!(
        journal("write", 4, json!({"sync": "sync"})).unwrap(),
        "Each write is durable before the next one starts, as in a Ceph journal: 10.0 k writes per second, mean 1.00 ms, p99 2.00 ms. That is at least the 10.0 k that the Ceph cheat sheet expects of an SSD."
    );
    // Random writes, each followed by a flush.
    let flushes = with(
        with_latencies(
            device_run("randwrite", 4, json!({"fsync": 1, "direct": false})),
            MS,
            MS,
        ),
        |report| {
            report.write.iops = 150.0;
            report.sync.ios = 4500;
            report.sync.lat_ns.percentiles = [("99".to_owned(), 7 * MS)].into();
        },
    );
    let text = answer(&flushes, "journal_writes").unwrap().sentence;
    assert_eq!(
        text,
        "Each write waits for fsync: 150 writes per second, fsync p99 7.00 ms. That is below the 200 that Proxmox VE expects."
    );
    for (kib, job) in [
        (64, json!({"sync": "sync"})),
        (4, json!({"sync": "sync", "iodepth": 8})),
        (4, json!({"fsync": 8})),
        (4, json!({})),
    ] {
        assert_eq!(journal("write", kib, job.clone()), None, "{job}");
    }
}

/// No limits are published for multiple writers, each of which waits only for its own writes.
#[test]
fn durable_writes_by_multiple_workers_have_no_limit() {
    let dsync = json!({"sync": "dsync", "numjobs": 4});
    assert_eq!(
        sentence("write", 4, dsync, "journal_writes").unwrap(),
        "Each write is durable before the same worker starts its next one (4 workers), as in a Ceph journal: 10.0 k writes per second, mean 1.00 ms, p99 2.00 ms."
    );
    let (report, jobs) =
        with_latencies(device_run("write", 4, json!({"sync": "sync"})), MS, 2 * MS);
    let pair = vec![jobs[0].clone(), jobs[0].clone()];
    let text = answer(&(report, pair), "journal_writes").unwrap().sentence;
    assert!(
        text.contains("the same worker starts its next one (2 workers), as in"),
        "{text}"
    );
    let flushes = |code, job| {
        let run = with_latencies(device_run("write", 4, job), MS, 2 * MS);
        let run = with(run, |report| {
            report.write.iops = 900.0;
            report.sync.ios = 1000;
            report.sync.lat_ns.percentiles = [("99".to_owned(), 3 * MS)].into();
        });
        answer(&run, code).unwrap().sentence
    };
    // A database log has one writer.
    let logs = json!({"fdatasync": 1, "direct": false, "numjobs": 3});
    assert_eq!(
        flushes("journal_writes", logs),
        "Each write waits for fdatasync: 900 writes per second, fdatasync p99 3.00 ms."
    );
    let journals = json!({"fsync": 1, "direct": true, "numjobs": 3});
    assert_eq!(
        flushes("journal_writes", journals),
        "Each write waits for fsync: 900 writes per second, write p99 2.00 ms, fsync p99 3.00 ms."
    );
}

/// A log's commit rate has separate limits.
#[test]
fn log_commit_rate_is_compared_with_its_limits() {
    let log = |iops: f64| {
        let run = device_run("write", 4, json!({"fdatasync": 1, "direct": false}));
        let run = with(run, |report| {
            report.write.iops = iops;
            report.sync.ios = 1000;
            report.sync.lat_ns.percentiles = [("99".to_owned(), 3 * MS)].into();
        });
        answer(&run, "log_writes").unwrap().sentence
    };
    assert_eq!(
        log(700.0),
        "Each write waits for fdatasync, as in a database log: 700 commits per second, fdatasync p99 3.00 ms. That is below the 10.0 ms that etcd requires. The commit rate is at least the 500 that etcd recommends for heavy loads."
    );
    assert!(
        log(499.0)
            .ends_with("The commit rate is below the 500 that etcd recommends for heavy loads.")
    );
}

/// Identical jobs that run at the same time are one workload.
#[test]
fn identical_jobs_are_one_workload() {
    let (report, jobs) = with_latencies(device_run("randwrite", 4, json!({"iodepth": 16})), MS, MS);
    let pair = vec![jobs[0].clone(), jobs[0].clone()];
    let text = answer(&(report.clone(), pair), "random_iops")
        .unwrap()
        .sentence;
    assert!(text.contains("32 in flight"), "{text}");
    let (_, other) = device_run("randread", 4, json!({"iodepth": 16}));
    let unequal = vec![jobs[0].clone(), other[0].clone()];
    assert_eq!(answer(&(report, unequal), "random_iops"), None);
}
