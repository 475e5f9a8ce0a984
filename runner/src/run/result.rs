//! From what the clones left behind and what the kernel counted to the one report.

use crate::load::ledger::Ledger;
use crate::load::measure::Stop;
use crate::load::pattern::Kind;
use crate::load::worker::{Broken, Done, describe};
use crate::run::build::{direction, latency_sum_ns, syncs};
use crate::run::crew::Finished;
use crate::run::watch::Watched;
use crate::run::witness::Testimony;
use crate::system::clock::MILLISECOND_NS;
use crate::system::probes::Counters;
use leadline_protocol::evidence::FlushReport;
use leadline_protocol::plan::resolved::{ResolvedJob, Target};
use leadline_protocol::report::{
    CpuReport, DeviceReport, DirectionStats, EndedBy, ErrorReport, FirstError, JobReport,
    MemoryReport, PhaseTime, PhysicalDeviceReport, Reading, Report, SyncStats,
};
use rustix::io::Errno;
use std::collections::BTreeMap;

/// What stands in the report beside the counts.
pub struct Frame {
    /// The phases with their times.
    pub phases: Vec<PhaseTime>,
    /// Kernel names of the devices whose counters are summed.
    pub devices: Vec<String>,
    /// What is missing, with the reason.
    pub absent: BTreeMap<String, String>,
    /// Times that a processor was slowed because it was hot.
    pub thermal_throttles: Option<u64>,
    /// What was seen of the targets.
    pub testimony: Testimony,
}

/// The report of a run.
///
/// # Errors
/// The first clone that could not begin or go on.
pub fn report(
    jobs: &[ResolvedJob],
    finished: Vec<Finished>,
    watched: &Watched,
    frame: Frame,
) -> Result<Report, Broken> {
    let mut clones = Vec::new();
    for Finished {
        job,
        progress,
        done,
    } in finished
    {
        clones.push(CloneResult {
            job,
            progress,
            done: done?,
        });
    }
    let all: Vec<&CloneResult> = clones.iter().collect();
    let duration_ns = window_ns(&all);
    let Totals {
        read,
        write,
        trim,
        sync,
    } = totals(&all, duration_ns);
    let window = Counters::window(&watched.before, &watched.after);
    let writes = jobs.iter().any(|job| job.pattern.rw.writes());
    let jobs: Vec<JobReport> = jobs
        .iter()
        .enumerate()
        .map(|(index, job)| job_report(index, job, &all, watched.stopped))
        .collect();
    let begins = || clones.iter().map(|clone| clone.done.begin_ns);
    Ok(Report {
        started_at_ms: watched.started_at_ms,
        duration_ms: ms(duration_ns),
        ended_by: overall(jobs.iter().map(|job| job.ended_by)),
        phases: frame.phases,
        read,
        write,
        trim,
        sync,
        achieved_depth: achieved_depth(&all),
        start_skew_ns: begins().max().unwrap_or(0) - begins().min().unwrap_or(0),
        errors: errors(&jobs, &all),
        device: window.device.map(|counts| DeviceReport {
            name: frame.devices.join("+"),
            // The mean: what is busy is the sum over the devices, so the time is, too.
            utilization: utilization(
                counts.busy_ms,
                window.elapsed_ns * frame.devices.len() as u64,
            ),
            counts,
            physical_devices: window
                .physical_devices
                .iter()
                .map(|(name, counts)| leaf(name, *counts, window.elapsed_ns))
                .collect(),
        }),
        readings: Counters::readings(&watched.before, &watched.after)
            .into_iter()
            .map(|(device, start, end)| Reading { device, start, end })
            .collect(),
        cpu: window.cpu.map(|cpu| CpuReport {
            user_ms: ms(window.process.user_ns),
            system_ms: ms(window.process.system_ns),
            process_percent: share(
                window.process.user_ns + window.process.system_ns,
                window.elapsed_ns,
            ),
            host_percent: cpu.host_user + cpu.host_system,
            context_switches: window.process.context_switches,
            thermal_throttles: frame.thermal_throttles,
        }),
        memory: watched
            .before
            .memory
            .zip(watched.after.memory)
            .map(|(start, end)| MemoryReport { start, end }),
        pressure: window.pressure,
        storage: window.storage,
        flush: writes.then_some(FlushReport {
            dirty_bytes: frame.testimony.dirty_bytes,
            duration_ms: None,
        }),
        targets: frame.testimony.targets,
        gauge: None,
        transitions: frame.testimony.transitions,
        writeback: frame.testimony.writeback,
        requests: frame.testimony.requests,
        profile: frame.testimony.profile,
        absent: frame
            .absent
            .into_iter()
            .chain(frame.testimony.absent)
            .collect(),
        jobs,
    })
}

/// A flush that failed is counted as an I/O that did, of the job with this number.
pub fn add_failed_flush(report: &mut Report, job: usize, target: &Target, errno: Errno) {
    let Some(job) = report.jobs.get_mut(job) else {
        return;
    };
    job.errors += 1;
    report.errors.total += 1;
    report.errors.first.get_or_insert_with(|| FirstError {
        job: job.name.clone(),
        operation: "sync".into(),
        offset: target.offset,
        bytes: target.size,
        errno: errno.raw_os_error(),
        message: std::io::Error::from(errno).to_string(),
    });
    report.absent.insert(
        "flush".into(),
        format!("the flush failed: {}", std::io::Error::from(errno)),
    );
}

struct CloneResult {
    job: usize,
    progress: std::sync::Arc<crate::load::worker::progress::Progress>,
    done: Done,
}

impl CloneResult {
    fn ledger(&self) -> &Ledger {
        &self.progress.measure
    }

    /// Length of its measured window.
    fn measured_ns(&self) -> u64 {
        self.done.end_ns - self.done.measure_ns
    }

    /// I/Os that `number_ios` bounds: those of the ramp too, and no syncs.
    fn ios(&self) -> u64 {
        let kinds = || [Kind::Read, Kind::Write, Kind::Trim].into_iter();
        let ledgers = [&self.progress.ramp, self.ledger()];
        ledgers
            .into_iter()
            .flat_map(|ledger| kinds().map(move |kind| ledger.tally(kind).ios.get()))
            .sum()
    }
}

struct Totals {
    read: DirectionStats,
    write: DirectionStats,
    trim: DirectionStats,
    sync: SyncStats,
}

fn totals(clones: &[&CloneResult], duration_ns: u64) -> Totals {
    let of = |kind| {
        clones
            .iter()
            .map(|clone| clone.ledger().tally(kind))
            .collect::<Vec<_>>()
    };
    Totals {
        read: direction(&of(Kind::Read), duration_ns),
        write: direction(&of(Kind::Write), duration_ns),
        trim: direction(&of(Kind::Trim), duration_ns),
        sync: syncs(&of(Kind::Sync)),
    }
}

/// From the first clone's measured beginning to the last one's end. One that was done in its ramp has no part in it: its beginning is
/// when the ramp would have ended, which may be long after the run was stopped.
fn window_ns(clones: &[&CloneResult]) -> u64 {
    let measured = || clones.iter().filter(|clone| clone.measured_ns() > 0);
    let begin = measured()
        .map(|clone| clone.done.measure_ns)
        .min()
        .unwrap_or(0);
    let end = measured().map(|clone| clone.done.end_ns).max().unwrap_or(0);
    end - begin
}

fn job_report(index: usize, job: &ResolvedJob, all: &[&CloneResult], stopped: bool) -> JobReport {
    let clones: Vec<&CloneResult> = all
        .iter()
        .copied()
        .filter(|clone| clone.job == index)
        .collect();
    let duration_ns = window_ns(&clones);
    let Totals {
        read,
        write,
        trim,
        sync,
    } = totals(&clones, duration_ns);
    let ios = read.ios + write.ios + trim.ios + sync.ios;
    let per_io = |sum: u64| (ios > 0).then(|| sum as f64 / ios as f64);
    JobReport {
        name: job.name.clone(),
        engine: job.ring.ioengine,
        workers: clones.len() as u32,
        duration_ms: ms(duration_ns),
        ended_by: overall(clones.iter().map(|clone| ended_by(job, clone, stopped))),
        user_ns_per_io: per_io(clones.iter().map(|clone| clone.done.cpu.user_ns).sum()),
        system_ns_per_io: per_io(clones.iter().map(|clone| clone.done.cpu.system_ns).sum()),
        errors: clones
            .iter()
            .map(|clone| clone.ledger().errors.get() + clone.progress.ramp.errors.get())
            .sum(),
        decisions: clones
            .first()
            .map(|clone| clone.done.decisions.clone())
            .unwrap_or_default(),
        read,
        write,
        trim,
        sync,
    }
}

fn ended_by(job: &ResolvedJob, clone: &CloneResult, stopped: bool) -> EndedBy {
    let in_time = || {
        job.timing
            .runtime_ms
            .is_some_and(|ms| clone.measured_ns() >= ms * MILLISECOND_NS)
    };
    match clone.done.stop {
        Stop::Failed(_) => EndedBy::Error,
        Stop::Until if in_time() => EndedBy::Runtime,
        Stop::Until if stopped => EndedBy::Signal,
        // All are stopped when an I/O of one of them fails.
        Stop::Until => EndedBy::Error,
        Stop::Finished
            if job
                .timing
                .number_ios
                .is_some_and(|most| clone.ios() >= most) =>
        {
            EndedBy::NumberIos
        }
        Stop::Finished => EndedBy::Size,
    }
}

/// What ended the whole: an error before a signal, a signal before everything else, and otherwise the last that ended.
fn overall(ends: impl Iterator<Item = EndedBy>) -> EndedBy {
    let rank = |end: &EndedBy| match end {
        EndedBy::Error => 4,
        EndedBy::Signal => 3,
        EndedBy::Runtime => 2,
        EndedBy::NumberIos => 1,
        EndedBy::Size => 0,
    };
    ends.max_by_key(rank).unwrap_or(EndedBy::Size)
}

/// Little's law: the sum of all latencies over the time that all clones had.
fn achieved_depth(clones: &[&CloneResult]) -> Option<f64> {
    let time_ns: u64 = clones.iter().map(|clone| clone.measured_ns()).sum();
    let latency_ns = latency_sum_ns(clones.iter().map(|clone| clone.ledger()));
    (time_ns > 0 && latency_ns > 0).then(|| latency_ns as f64 / time_ns as f64)
}

fn errors(jobs: &[JobReport], clones: &[&CloneResult]) -> ErrorReport {
    let failed = clones.iter().find_map(|clone| match &clone.done.stop {
        Stop::Failed(error) => Some((clone.job, error)),
        Stop::Until | Stop::Finished => None,
    });
    let first = failed.map(|(job, error)| {
        let (operation, message) = describe(error);
        let (offset, bytes) = (error.io.offset, u64::from(error.io.len));
        FirstError {
            job: jobs[job].name.clone(),
            operation,
            offset,
            bytes,
            errno: error.errno,
            message,
        }
    });
    ErrorReport {
        total: jobs.iter().map(|job| job.errors).sum(),
        first,
    }
}

fn leaf(
    name: &str,
    counts: leadline_protocol::counters::DeviceCounts,
    elapsed_ns: u64,
) -> PhysicalDeviceReport {
    PhysicalDeviceReport {
        name: name.into(),
        utilization: utilization(counts.busy_ms, elapsed_ns),
        counts,
    }
}

fn ms(ns: u64) -> f64 {
    ns as f64 / MILLISECOND_NS as f64
}

fn share(part_ns: u64, whole_ns: u64) -> f64 {
    if whole_ns == 0 {
        0.0
    } else {
        100.0 * part_ns as f64 / whole_ns as f64
    }
}

/// The kernel counts busy time in ticks, so that it may exceed a short window: 100 % is the most.
fn utilization(busy_ms: u64, elapsed_ns: u64) -> f64 {
    share(busy_ms * MILLISECOND_NS, elapsed_ns).min(100.0)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::load::measure::IoError;
    use crate::load::pattern::Io;
    use crate::plan::fixture::resolved;
    use crate::system::clock::SECOND_NS;

    /// A clone that was measured between these moments, in s.
    fn measured(from_s: u64, to_s: u64, stop: Stop) -> CloneResult {
        let (measure_ns, end_ns) = (from_s * SECOND_NS, to_s * SECOND_NS);
        let done = Done {
            begin_ns: 0,
            measure_ns,
            end_ns,
            stop,
            cpu: Default::default(),
            decisions: Vec::new(),
        };
        CloneResult {
            job: 0,
            progress: Arc::default(),
            done,
        }
    }

    #[test]
    fn who_was_done_in_the_ramp_has_no_part_in_the_window() {
        // Of a ramp of 60 s, stopped after 10 s.
        let (done, stopped) = (
            measured(60, 60, Stop::Finished),
            measured(10, 11, Stop::Until),
        );
        assert_eq!(window_ns(&[&done, &stopped]), SECOND_NS);
        assert_eq!(window_ns(&[&done, &done]), 0);
        assert_eq!(
            window_ns(&[&stopped, &measured(12, 15, Stop::Until)]),
            5 * SECOND_NS
        );
    }

    #[test]
    fn what_ended_a_clone() {
        let failed = Stop::Failed(IoError {
            io: Io {
                offset: 0,
                len: 4096,
                target: 0,
                kind: Kind::Read,
            },
            errno: 5,
        });
        let (timed, endless) = (json!({"runtime_ms": 2000}), json!({}));
        let counted = json!({"number_ios": 1000});
        for (job, to_s, ios, stop, stopped, want) in [
            (&timed, 2, 0, Stop::Until, false, EndedBy::Runtime),
            (&timed, 2, 0, Stop::Until, true, EndedBy::Runtime),
            (&timed, 1, 0, Stop::Until, true, EndedBy::Signal),
            (&endless, 1, 0, Stop::Until, true, EndedBy::Signal),
            // By another clone's error.
            (&timed, 1, 0, Stop::Until, false, EndedBy::Error),
            (&endless, 1, 0, Stop::Until, false, EndedBy::Error),
            (&timed, 1, 0, failed, true, EndedBy::Error),
            (&endless, 1, 256, Stop::Finished, false, EndedBy::Size),
            (&counted, 1, 256, Stop::Finished, false, EndedBy::Size),
            (&counted, 1, 1000, Stop::Finished, false, EndedBy::NumberIos),
        ] {
            let clone = measured(0, to_s, stop);
            clone.progress.ramp.tally(Kind::Read).ios.add(ios / 2);
            clone.ledger().tally(Kind::Write).ios.add(ios - ios / 2);
            clone.ledger().tally(Kind::Sync).ios.add(1000);
            assert_eq!(
                ended_by(&resolved(job.clone()), &clone, stopped),
                want,
                "{job} {ios} {stop:?} {stopped}"
            );
        }
    }

    #[test]
    fn several_devices_are_as_busy_as_they_are_on_average() {
        assert_eq!(utilization(500 + 500, 2 * SECOND_NS), 50.0);
        assert_eq!(
            (utilization(1010, SECOND_NS), utilization(0, 0)),
            (100.0, 0.0)
        );
    }
}
