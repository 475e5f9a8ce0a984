//! Worker results per job and in total, and why the workers ended.

use crate::{
    load::{
        measure::{exit::LoopExit, unfinished::UnfinishedIo},
        pattern::io::Kind,
        stats::IoStats,
    },
    run::{
        direction_stats::{direction_stats, latency_sum_ns, sync_stats},
        report::{layers::job_layers, measured_worker::MeasuredWorker, stalls::stalls},
        sampler::MeasuredWindow,
    },
    system::{clock::NS_PER_MS, probes::rusage::CpuTimes},
};
use leadline_protocol::{
    format::duration,
    plan::job::ResolvedJob,
    report::{
        EndedBy, JobReport, LatencyTargetReport, ThreadUsage,
        stats::{DirectionStats, SyncStats},
    },
};

/// Statistics of reads, writes and trims, and of syncs. `duration_ns`: length of the measured
/// window.
pub(super) fn totals(
    workers: &[&MeasuredWorker],
    duration_ns: u64,
) -> ([DirectionStats; 3], SyncStats) {
    let stats = |kind| -> Vec<&IoStats> {
        workers
            .iter()
            .map(|worker| worker.stats().of(kind))
            .collect()
    };
    let unfinished = |kinds: &[Kind]| -> Vec<UnfinishedIo> {
        let all = workers.iter().flat_map(|worker| &worker.outcome.unfinished);
        all.filter(|io| kinds.contains(&io.kind)).copied().collect()
    };
    let directions = [Kind::Read, Kind::Write, Kind::Trim];
    (
        directions.map(|kind| direction_stats(&stats(kind), &unfinished(&[kind]), duration_ns)),
        sync_stats(
            &stats(Kind::Sync),
            &unfinished(&[Kind::Sync, Kind::Datasync]),
        ),
    )
}

/// Time from the start of the first measured window to the end of the last one, in ns. Workers that
/// finished in their ramp are excluded: their `measure_ns` is the scheduled end of the ramp,
/// possibly long after the run.
pub(super) fn window_ns(workers: &[&MeasuredWorker]) -> u64 {
    let measured = || workers.iter().filter(|worker| worker.measured_ns() > 0);
    let begin = measured().map(|worker| worker.outcome.measure_ns).min();
    let end = measured().map(|worker| worker.outcome.end_ns).max();
    end.unwrap_or(0) - begin.unwrap_or(0)
}

pub(super) fn job_report(
    index: usize,
    job: &ResolvedJob,
    all: &[&MeasuredWorker],
    window: &MeasuredWindow,
    origin_ns: u64,
) -> JobReport {
    let mut workers = all.to_vec();
    workers.retain(|worker| worker.job == index);
    let duration_ns = window_ns(&workers);
    let ([read, write, trim], sync) = totals(&workers, duration_ns);
    let ios = read.ios + write.ios + trim.ios + sync.ios;
    let mut cpu = Some(CpuTimes::default());
    let mut errors = 0;
    for worker in &workers {
        cpu = cpu.zip(worker.outcome.cpu).map(|(sum, cpu)| sum.plus(cpu));
        errors += worker.stats().errors.get() + worker.progress.ramp.errors.get();
    }
    let per_io = |ns: fn(CpuTimes) -> u64| {
        let sum = ns(cpu.filter(|_| ios > 0)?);
        Some(sum as f64 / ios as f64)
    };
    let is_steady = window.steady_states.is_attained(index);
    let ends = workers.iter();
    let stop = match window {
        _ if is_steady => Some(EndedBy::SteadyState),
        window if window.arrivals.is_overloaded(index) => Some(EndedBy::Overload),
        window if window.ended_by_exitall.contains(&index) => Some(EndedBy::Exitall),
        window if window.limits.are_violated() => Some(EndedBy::ViolatedLimit),
        window => window.stopped.then_some(EndedBy::Signal),
    };
    let ends = ends.map(|worker| ended_by(job, worker, stop));
    let first = workers.first();
    JobReport {
        name: job.name.clone(),
        engine: job.ring.ioengine,
        workers: workers.len() as u32,
        duration_ms: duration_ns as f64 / NS_PER_MS as f64,
        ended_by: overall_ended_by(ends),
        user_ns_per_io: per_io(|cpu| cpu.user_ns),
        system_ns_per_io: per_io(|cpu| cpu.system_ns),
        usage: cpu.map(|cpu| ThreadUsage {
            context_switches: cpu.context_switches,
            major_faults: cpu.major_faults,
            minor_faults: cpu.minor_faults,
        }),
        errors,
        decisions: first.map_or_else(Vec::new, |worker| worker.outcome.decisions.clone()),
        layers: Some(job_layers(job, &workers)),
        verify: None,
        steady_state: window.steady_states.report(index, origin_ns),
        latency_target: latency_target(job, &workers),
        violated_limit: window.limits.violated(index).cloned(),
        arrivals: window.arrivals.report(index, ramp_completed(&workers)),
        stalls: Some(stalls(&workers, [&read, &write, &trim], origin_ns)),
        read,
        write,
        trim,
        sync,
    }
}

fn latency_target(job: &ResolvedJob, workers: &[&MeasuredWorker]) -> Option<LatencyTargetReport> {
    let options = job.timing.latency_target?;
    let results = workers.iter().map(|worker| worker.progress.depth());
    let (depths, attained): (Vec<u32>, Vec<bool>) = results.unzip();
    let attained = attained.iter().all(|attained| *attained);
    let lowest = depths.iter().min().copied().unwrap_or(0);
    let percent = options.percentile;
    let limit = duration(options.target_us as f64 / 1000.0);
    let summary = if attained {
        format!(
            "{percent} % of the I/Os completed within {limit} at a depth of {lowest} per worker."
        )
    } else {
        format!(
            "The search for a depth at which {percent} % of the I/Os complete within {limit} did not finish; the last test used a depth of {lowest} per worker."
        )
    };
    Some(LatencyTargetReport {
        depths,
        attained,
        summary,
    })
}

/// Reads, writes and trims that completed before the measured window.
fn ramp_completed(workers: &[&MeasuredWorker]) -> u64 {
    let directions = workers
        .iter()
        .flat_map(|worker| &worker.progress.ramp.directions[..3]);
    directions.map(|stats| stats.ios.get()).sum()
}

/// `stop`: the reason if the worker was stopped before it reached its limits.
fn ended_by(job: &ResolvedJob, worker: &MeasuredWorker, stop: Option<EndedBy>) -> EndedBy {
    let runtime_ns = job.timing.runtime_ms.map(|ms| ms * NS_PER_MS);
    let is_over = runtime_ns.is_some_and(|runtime_ns| worker.measured_ns() >= runtime_ns);
    let number_ios = job.timing.number_ios;
    match worker.outcome.exit {
        LoopExit::Failed(_) => EndedBy::Error,
        LoopExit::TimeUp if is_over => EndedBy::Runtime,
        // An error in one worker stops all workers.
        LoopExit::TimeUp => stop.unwrap_or(EndedBy::Error),
        LoopExit::Finished if worker.progress.depth().1 => EndedBy::LatencyTarget,
        LoopExit::Finished if number_ios.is_some_and(|max| worker.ios_toward_limit() >= max) => {
            EndedBy::NumberIos
        }
        LoopExit::Finished => EndedBy::Size,
    }
}

/// Order of precedence: errors, signals, violated limits, time limits, other limits.
pub(super) fn overall_ended_by(ends: impl Iterator<Item = EndedBy>) -> EndedBy {
    let precedence = |end: &EndedBy| match end {
        EndedBy::Size => 0,
        EndedBy::NumberIos => 1,
        EndedBy::SteadyState | EndedBy::Overload | EndedBy::LatencyTarget => 2,
        EndedBy::Exitall => 3,
        EndedBy::Runtime => 4,
        EndedBy::ViolatedLimit => 5,
        EndedBy::Signal => 6,
        EndedBy::Error => 7,
    };
    ends.max_by_key(precedence).unwrap_or(EndedBy::Size)
}

/// Total time that the I/Os in flight at the end spent in the measured window.
fn unfinished_ns(worker: &MeasuredWorker) -> u64 {
    let ages = worker.outcome.unfinished.iter().map(|io| io.age_ns);
    ages.map(|age_ns| age_ns.min(worker.measured_ns())).sum()
}

/// Little's law: the sum of all latencies divided by the sum of the measured times.
pub(super) fn achieved_depth(workers: &[&MeasuredWorker]) -> Option<f64> {
    let measured_ns: u64 = workers.iter().map(|worker| worker.measured_ns()).sum();
    let completed_ns = latency_sum_ns(workers.iter().map(|worker| worker.stats()));
    let unfinished_ns: u64 = workers.iter().map(|worker| unfinished_ns(worker)).sum();
    let latency_ns = completed_ns + unfinished_ns;
    (measured_ns > 0 && latency_ns > 0).then(|| latency_ns as f64 / measured_ns as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::measure::exit::IoError;
    use crate::load::pattern::io::Io;
    use crate::load::worker::task::WorkerOutcome;
    use crate::plan::fixture::resolved;
    use crate::system::clock::NS_PER_SECOND;
    use serde_json::json;
    use std::sync::Arc;

    /// A worker whose measured window is `from_s` to `to_s`, in seconds.
    fn measured(from_s: u64, to_s: u64, exit: LoopExit) -> MeasuredWorker {
        MeasuredWorker {
            job: 0,
            progress: Arc::default(),
            layers: Vec::new(),
            silences: Vec::new(),
            outcome: WorkerOutcome {
                begin_ns: 0,
                measure_ns: from_s * NS_PER_SECOND,
                end_ns: to_s * NS_PER_SECOND,
                exit,
                cpu: None,
                unfinished: Vec::new(),
                decisions: Vec::new(),
                written: None,
                errors: Vec::new(),
                write_samples: Vec::new(),
            },
        }
    }

    #[test]
    fn workers_that_finished_in_the_ramp_are_excluded() {
        // A 60 s ramp, stopped after 10 s.
        let finished = measured(60, 60, LoopExit::Finished);
        let stopped = measured(10, 11, LoopExit::TimeUp);
        let late = measured(12, 15, LoopExit::TimeUp);
        assert_eq!(window_ns(&[&finished, &stopped]), NS_PER_SECOND);
        assert_eq!(window_ns(&[&finished, &finished]), 0);
        assert_eq!(window_ns(&[&stopped, &late]), 5 * NS_PER_SECOND);
    }

    #[test]
    fn ended_by_depends_on_exit_and_limits() {
        let failed = LoopExit::Failed(IoError {
            io: Io {
                offset: 0,
                len: 4096,
                target: 0,
                kind: Kind::Read,
            },
            errno: 5,
        });
        let timed = json!({"runtime_ms": 2000});
        let endless = json!({});
        let counted = json!({"number_ios": 1000});
        for (job, to_s, ios, exit, is_steady, stopped, expected) in [
            (
                &timed,
                2,
                0,
                LoopExit::TimeUp,
                false,
                false,
                EndedBy::Runtime,
            ),
            (
                &timed,
                2,
                0,
                LoopExit::TimeUp,
                false,
                true,
                EndedBy::Runtime,
            ),
            (
                &timed,
                2,
                0,
                LoopExit::TimeUp,
                true,
                false,
                EndedBy::Runtime,
            ),
            (&timed, 1, 0, LoopExit::TimeUp, false, true, EndedBy::Signal),
            (
                &endless,
                1,
                0,
                LoopExit::TimeUp,
                false,
                true,
                EndedBy::Signal,
            ),
            (
                &timed,
                1,
                0,
                LoopExit::TimeUp,
                true,
                false,
                EndedBy::SteadyState,
            ),
            // Another job is stopped later.
            (
                &endless,
                1,
                0,
                LoopExit::TimeUp,
                true,
                true,
                EndedBy::SteadyState,
            ),
            // Another worker failed.
            (&timed, 1, 0, LoopExit::TimeUp, false, false, EndedBy::Error),
            (
                &endless,
                1,
                0,
                LoopExit::TimeUp,
                false,
                false,
                EndedBy::Error,
            ),
            (&timed, 1, 0, failed, true, true, EndedBy::Error),
            (
                &endless,
                1,
                256,
                LoopExit::Finished,
                false,
                false,
                EndedBy::Size,
            ),
            (
                &counted,
                1,
                256,
                LoopExit::Finished,
                false,
                false,
                EndedBy::Size,
            ),
            (
                &counted,
                1,
                1000,
                LoopExit::Finished,
                false,
                false,
                EndedBy::NumberIos,
            ),
        ] {
            let worker = measured(0, to_s, exit);
            worker.progress.ramp.of(Kind::Read).ios.add(ios / 2);
            worker.stats().of(Kind::Write).ios.add(ios - ios / 2);
            worker.stats().of(Kind::Sync).ios.add(1000);
            let ended_by = {
                let stop = is_steady.then_some(EndedBy::SteadyState);
                let stop = stop.or(stopped.then_some(EndedBy::Signal));
                ended_by(&resolved(job.clone()), &worker, stop)
            };
            assert_eq!(ended_by, expected, "{job} {ios} {exit:?} {stopped}");
        }
    }
}
