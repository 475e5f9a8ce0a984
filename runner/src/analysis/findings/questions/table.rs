//! The questions, with the jobs that match them, the values that answer them, and published limits.
//! The first matching question applies.

use crate::analysis::findings::questions::{
    answer::{self, AnswerFn},
    limit::{Limit, Metric::*},
    workload::Workload,
};

pub(crate) struct Question {
    /// Code of the finding.
    pub code: &'static str,
    pub is_asked: fn(&Workload) -> bool,
    /// Minimum number of I/Os for an answer, or of flushes if each write is flushed.
    pub min_ios: u64,
    pub answer: AnswerFn,
    pub limits: &'static [Limit],
    /// How to get a comparable result.
    pub advice: &'static str,
}

/// Minimum number of I/Os for a p99, which leaves 10 I/Os above it.
const FOR_P99: u64 = 1000;
/// Minimum number of I/Os for a rate.
const FOR_RATE: u64 = 100;
/// Maximum size of a log record, in bytes.
const MAX_RECORD: u64 = 16 << 10;
/// Maximum size of a database page, in bytes.
const MAX_PAGE: u64 = 16 << 10;
/// Minimum size of I/Os in recipes that measure bandwidth, in bytes.
const MIN_BANDWIDTH_BYTES: u64 = 64 << 10;
/// Lowest queue depth in recipes that measure IOPS (memory cards and dbench's latency test).
const MIN_IOPS_DEPTH: u64 = 4;
/// Queue depth of memory card tests.
const CARD_DEPTH: u64 = 4;
const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;
const MS: f64 = 1e6;
const MB: f64 = 1e6;

const CARD: &str = "SD Association, Application Performance Class A1, as tested by Raspberry Pi Diagnostics (sd_bench.fio)";
const CARD_BY: &str = "Application Performance Class A1 requires";
const GITALY: &str = "GitLab documentation, Gitaly, Disk requirements";
const GITALY_BY: &str = "GitLab requires for Gitaly";
const HARVESTER: &str = "Harvester documentation, Hardware and network requirements";
const HARVESTER_BY: &str = "Harvester requires of each disk";
const SQL_SERVER: &str = "Microsoft, Troubleshoot slow SQL Server performance caused by I/O issues (10 to 15 ms; its script uses 10 ms)";
const SQL_SERVER_BY: &str = "Microsoft documents for SQL Server";
const HANA: &str = "Microsoft, SAP HANA Azure virtual machine storage configurations, minimum throughput characteristics that SAP recommends";
const ESSD: &str = "Alibaba Cloud, Block storage performance, average single-channel random write latency for 4 KB";
const RUN_LONGER: &str =
    "Run it for at least a minute, on data that is larger than the disk's caches.";

pub(crate) const QUESTIONS: &[Question] = &[
    // Log writes through the page cache: etcd, PostgreSQL's WAL (pg_test_fsync), MySQL's redo log.
    Question {
        code: "log_writes",
        is_asked: |workload| {
            is_commit(workload) && !workload.random && workload.flush_writes_data()
        },
        min_ios: FOR_P99,
        answer: answer::log_writes,
        limits: &[
            // "The 99th percentile of fdatasync should be less than 10 ms."
            Limit {
                metric: FlushP99,
                value: 10.0 * MS,
                by: "etcd requires",
                source: "etcd documentation, FAQ; Red Hat OpenShift, Recommended etcd practices",
                applies_to: |_| true,
            },
            // "For heavily loaded clusters, 500 sequential IOPS"; 50 is the minimum, which a p99 of
            // 10 ms implies.
            Limit {
                metric: WriteIops,
                value: 500.0,
                by: "etcd recommends for heavy loads",
                source: "etcd documentation, Hardware recommendations, Disks",
                applies_to: |_| true,
            },
        ],
        advice: "Run it for at least a minute, under the load that is expected in production.",
    },
    // Journals: Ceph, O_DSYNC, and random writes that are flushed one by one.
    Question {
        code: "journal_writes",
        is_asked: |workload| {
            let is_durable = workload.sync_writes || workload.flush.is_some();
            is_durable && workload.in_flight == workload.workers && is_short_write(workload)
        },
        min_ios: FOR_P99,
        answer: answer::journal_writes,
        limits: &[
            // "SSDs should have >10k iops" for direct sequential 4k writes with sync=1 by one job.
            Limit {
                metric: WriteIops,
                value: 10_000.0,
                by: "the Ceph cheat sheet expects of an SSD",
                source: "J. Jelten, Ceph cheat sheet, Device performance",
                applies_to: |workload| {
                    let is_one = workload.workers == 1 && workload.direct;
                    workload.flush.is_none() && !workload.random && is_one
                },
            },
            // "FSYNCS/SECOND: value should be greater than 200".
            Limit {
                metric: WriteIops,
                value: 200.0,
                by: "Proxmox VE expects",
                source: "Proxmox VE administration guide, pveperf(1), FSYNCS/SECOND",
                applies_to: |workload| workload.flush.is_some() && workload.workers == 1,
            },
        ],
        advice: RUN_LONGER,
    },
    // Synthetic full and reverse incremental backups: Veeam KB2014 with the default block size.
    Question {
        code: "backup_rate",
        is_asked: |workload| {
            let is_block = workload.bytes == Some(512 * KIB);
            workload.random && is_block && is_load_test(workload) && answer::is_backup(workload)
        },
        min_ios: FOR_RATE,
        answer: answer::backup_rate,
        limits: &[],
        advice: "Source: Veeam knowledge base, KB2014 and KB2893. Test with the block size of the backup job.",
    },
    // Maximum IOPS: documentation of cloud providers, GitLab, dbench, memory cards, databases.
    Question {
        code: "random_iops",
        is_asked: |workload| {
            let is_page = workload.bytes.is_some_and(|bytes| bytes <= MAX_PAGE);
            workload.random
                && is_page
                && is_load_test(workload)
                && workload.in_flight >= MIN_IOPS_DEPTH
        },
        min_ios: FOR_P99,
        answer: answer::random_iops,
        limits: &[
            Limit {
                metric: ReadIops,
                value: 8000.0,
                by: GITALY_BY,
                source: GITALY,
                applies_to: is_gitaly,
            },
            Limit {
                metric: WriteIops,
                value: 2000.0,
                by: GITALY_BY,
                source: GITALY,
                applies_to: is_gitaly,
            },
            Limit {
                metric: ReadIops,
                value: 1500.0,
                by: CARD_BY,
                source: CARD,
                applies_to: |workload| is_card(workload) && !workload.writes,
            },
            Limit {
                metric: WriteIops,
                value: 500.0,
                by: CARD_BY,
                source: CARD,
                applies_to: |workload| is_card(workload) && !workload.reads,
            },
            // "5,000+ random IOPS per disk".
            Limit {
                metric: ReadIops,
                value: 5000.0,
                by: HARVESTER_BY,
                source: HARVESTER,
                applies_to: |workload| is_disk_test(workload) && !workload.writes,
            },
            Limit {
                metric: WriteIops,
                value: 5000.0,
                by: HARVESTER_BY,
                source: HARVESTER,
                applies_to: |workload| is_disk_test(workload) && !workload.reads,
            },
            Limit {
                metric: ReadMean,
                value: 10.0 * MS,
                by: SQL_SERVER_BY,
                source: SQL_SERVER,
                applies_to: |workload| workload.bytes == Some(8 * KIB) && workload.reads,
            },
            Limit {
                metric: WriteMean,
                value: 10.0 * MS,
                by: SQL_SERVER_BY,
                source: SQL_SERVER,
                applies_to: |workload| workload.bytes == Some(8 * KIB) && workload.writes,
            },
        ],
        advice: "Compare a cloud disk with the limit for its type and size, and repeat the test with more I/Os in flight: the IOPS are the disk's limit only if they no longer increase.",
    },
    // Bandwidth: documentation of cloud providers, Veeam's full backup, SAP HANA, memory cards.
    Question {
        code: "throughput",
        is_asked: |workload| {
            let bytes = workload.bytes.unwrap_or(0);
            bytes >= MIN_BANDWIDTH_BYTES && is_load_test(workload)
        },
        min_ios: FOR_RATE,
        answer: answer::throughput,
        limits: &[
            // "Read/write on /hana/log of 250 MB/s with 1 MB I/O sizes".
            Limit {
                metric: WriteRate,
                value: 250.0 * MB,
                by: "SAP HANA requires for its log",
                source: HANA,
                applies_to: |workload| is_stream(workload, MIB..=MIB) && !workload.reads,
            },
            // "Read activity of at least 400 MB/s for /hana/data for 16 MB and 64 MB I/O sizes".
            Limit {
                metric: ReadRate,
                value: 400.0 * MB,
                by: "SAP HANA requires for its data",
                source: HANA,
                applies_to: |workload| is_stream(workload, 16 * MIB..=64 * MIB) && !workload.writes,
            },
            // "Write activity of at least 250 MB/s for /hana/data with 16 MB and 64 MB I/O sizes".
            Limit {
                metric: WriteRate,
                value: 250.0 * MB,
                by: "SAP HANA requires for its data",
                source: HANA,
                applies_to: |workload| is_stream(workload, 16 * MIB..=64 * MIB) && !workload.reads,
            },
            Limit {
                metric: WriteRate,
                value: 10.0 * MB,
                by: CARD_BY,
                source: CARD,
                applies_to: |workload| {
                    let is_one = workload.workers == 1 && workload.in_flight == CARD_DEPTH;
                    is_one && is_stream(workload, 512 * KIB..=512 * KIB) && !workload.reads
                },
            },
        ],
        advice: "Compare a cloud disk with the limits for its type and size, and with the virtual machine's limit.",
    },
    // Latency: documentation of cloud providers, kbench.
    Question {
        code: "single_io_latency",
        is_asked: |workload| {
            let is_page = workload.bytes.is_some_and(|bytes| bytes <= MAX_PAGE);
            let is_one = workload.in_flight == 1 && !workload.is_mixed();
            workload.random && is_page && is_one && is_load_test(workload) && !workload.sync_writes
        },
        min_ios: FOR_P99,
        answer: answer::single_io_latency,
        limits: &[
            Limit {
                metric: WriteMean,
                value: 0.2 * MS,
                by: "Alibaba Cloud documents for ESSDs",
                source: ESSD,
                applies_to: |workload| workload.writes && workload.bytes == Some(4 * KIB),
            },
            Limit {
                metric: WriteMean,
                value: 2.0 * MS,
                by: "Alibaba Cloud documents for standard SSDs",
                source: ESSD,
                applies_to: |workload| workload.writes && workload.bytes == Some(4 * KIB),
            },
        ],
        advice: RUN_LONGER,
    },
];

/// Whether there is only one short write in flight at a time, as in a log that commits each record.
fn is_commit(workload: &Workload) -> bool {
    is_short_write(workload) && workload.in_flight == 1
}

fn is_short_write(workload: &Workload) -> bool {
    workload.writes && !workload.reads && workload.max_bytes <= MAX_RECORD
}

/// Whether the disk is tested without the page cache and without flushes.
fn is_load_test(workload: &Workload) -> bool {
    workload.direct && workload.flush.is_none()
}

/// Whether the block size and mix are those of GitLab's own test: 4 KiB, 75 % reads.
fn is_gitaly(workload: &Workload) -> bool {
    workload.bytes == Some(4 * KIB) && workload.rwmixread == Some(75)
}

fn is_card(workload: &Workload) -> bool {
    workload.bytes == Some(4 * KIB) && workload.workers == 1 && workload.in_flight == CARD_DEPTH
}

/// Whether this measures a disk's maximum 4 KiB IOPS, at a higher depth than memory card tests.
fn is_disk_test(workload: &Workload) -> bool {
    workload.bytes == Some(4 * KIB) && workload.in_flight > CARD_DEPTH
}

fn is_stream(workload: &Workload, bytes: std::ops::RangeInclusive<u64>) -> bool {
    let is_sized = workload.bytes.is_some_and(|size| bytes.contains(&size));
    !workload.random && is_sized
}
