//! The phases of a run up to its report: layout, guard, wait for idle devices, page cache
//! preparation, ramp, measurement and flush.

use crate::{
    load::{verify::written_blocks::WrittenBlocks, worker::task::WorkerError},
    plan::phases::has_layout,
    run::{
        cache_preparation,
        context::{RunContext, unless_stopped},
        error::RunError,
        flush::{files_to_flush, flush},
        idle_wait::wait_for_idle,
        observers::Observers,
        open_targets::OpenTargets,
        report::{ReportContext, report},
        sampler::{Sampler, State},
        stop_signal::StopSignal,
        target_observers::{Observation, TargetObservers},
        verify::{take_written_blocks, verify, workers_to_verify},
        worker_pool::{FinishedWorker, WorkerPool},
    },
    system::{
        clock::{NS_PER_MS, wall_ms},
        host::{
            facts::host_facts, settings_snapshot::SettingsSnapshot, target_storage::target_storage,
        },
        probes::thermal::throttles,
        target::{
            cancellable::{HUNG_TIMEOUT, run_with_timeout},
            layout_data::LayoutData,
        },
    },
};
use leadline_protocol::{
    event::{Accepted, EventBody},
    host::HostFacts,
    phase::Phase,
    plan::{job::ResolvedJob, window::window_ms},
    report::Report,
};
use std::collections::BTreeSet;

/// Seed of the data written by the layout.
const LAYOUT_SEED: u64 = 0x1EAD_11E0;

pub(crate) fn measure(run: &mut RunContext) -> Result<(Report, HostFacts), RunError> {
    let mut host = host_facts();
    let mut observers = accept(run, &mut host);
    lay_out(run)?;
    if run.targets.attach_loops(&mut run.plan.jobs)? {
        // The names of the run's loop devices are not known until this point.
        observers = accept(run, &mut host);
    }
    let open = run.run_in_phase(Phase::Guard, |run| {
        Ok(OpenTargets::open(run.targets, &run.plan.jobs)?)
    })?;
    observers.targets.examine(open.iter());
    let target_devices = devices(&run.plan.jobs);
    wait_for_idle(run, &target_devices)?;
    cache_preparation::prepare(run, &open)?;
    let files = files_to_flush(&run.plan.jobs, &open)?;
    let verified = workers_to_verify(&run.plan.jobs, &open)?;
    observers.targets.prepare(&run.plan.jobs);
    let (mut report, written) = run_workers(run, observers, open)?;
    flush(run, files, &mut report);
    verify(run, verified, written, &mut report);
    Ok((report, host))
}

/// Opens the counters of the known devices, reads their settings and emits `accepted`.
fn accept(run: &mut RunContext, host: &mut HostFacts) -> Observers {
    let jobs = &run.plan.jobs;
    host.storage = Some(target_storage(jobs));
    let devices = devices(jobs);
    let observers = Observers::new(jobs, &devices, &run.cgroup);
    let accepted = Accepted {
        at_ms: wall_ms(),
        jobs: jobs.clone(),
        host: host.clone(),
        sample_ms: run.plan.sample_ms,
        measure_ms: window_ms(jobs),
        devices,
        absent: observers.absent.clone(),
    };
    run.sink.emit(EventBody::Accepted(Box::new(accepted)));
    observers
}

/// Kernel names of the devices under the targets.
fn devices(jobs: &[ResolvedJob]) -> Vec<String> {
    let targets = jobs.iter().flat_map(|job| &job.targets);
    let devices: BTreeSet<String> = targets.filter_map(|target| target.device.clone()).collect();
    devices.into_iter().collect()
}

fn lay_out(run: &mut RunContext) -> Result<(), RunError> {
    if !run.any_job(has_layout) {
        return Ok(());
    }
    run.run_in_phase(Phase::Layout, |run| {
        let data = LayoutData::new(LAYOUT_SEED);
        let mut fill = |path: &str, offset: u64, buffer: &mut [u8]| data.fill(path, offset, buffer);
        let sink = &mut *run.sink;
        let mut progress = |change| sink.change(change);
        let flag = run.stop.flag();
        unless_stopped(
            run.targets
                .lay_out(&run.plan.jobs, &mut fill, &mut progress, flag)?,
        )
    })
}

fn run_workers(
    run: &mut RunContext,
    mut observers: Observers,
    open: OpenTargets,
) -> Result<(Report, Vec<Option<WrittenBlocks>>), RunError> {
    let jobs = &run.plan.jobs;
    let pool = WorkerPool::spawn(jobs, open, &observers.targets)
        .map_err(WorkerError::during("starting threads"))?;
    let throttles_before = throttles();
    let settings_before = SettingsSnapshot::read(jobs);
    let sampler = Sampler {
        pool: &pool,
        jobs,
        interval_ns: u64::from(run.plan.sample_ms) * NS_PER_MS,
        observers: &mut observers,
        sink: &mut *run.sink,
        stop: run.stop,
        devices: run.targets.device_watch()?,
        state: State::new(),
    };
    let mut window = sampler.run();
    let silences = std::mem::take(&mut window.silences);
    let mut finished = pool.finish(window.times_ns.clone(), silences);
    let has_hung = finished.iter().any(FinishedWorker::has_hung);
    // Do not look up the mount of a hung file, which would block.
    let host_changes = if has_hung {
        Vec::new()
    } else {
        SettingsSnapshot::read(jobs).changes_since(&settings_before)
    };
    let observation = if has_hung {
        observe_hung(observers.targets, run.stop.clone())
    } else {
        observers.targets.finish(run.stop)
    };
    if let Some(problem) = window.problem.take() {
        return Err(problem.into());
    }
    let throttled = throttles().zip(throttles_before);
    let context = ReportContext {
        devices: observers.probes.devices().to_vec(),
        cgroup: observers.cgroup,
        absent: observers.absent,
        host_changes,
        thermal_throttles: throttled.map(|(after, before)| after.saturating_sub(before)),
        window,
        observation,
    };
    let written = take_written_blocks(&mut finished);
    let report = report(jobs, finished, context, run.sink.origin_ns)?;
    Ok((report, written))
}

/// Observes the targets with a timeout, because system calls such as FIEMAP can block on storage
/// that does not respond.
fn observe_hung(targets: TargetObservers, stop: StopSignal) -> Observation {
    let finished = run_with_timeout(HUNG_TIMEOUT, "observe", move || targets.finish(&stop));
    finished.unwrap_or_else(|| {
        let reason = "the storage did not respond at the end of the run";
        Observation {
            absent: [("targets".into(), reason.into())].into(),
            ..Observation::default()
        }
    })
}
