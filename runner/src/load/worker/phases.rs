//! Runs a worker's ramp, measurement and drain phases.

use crate::{
    load::{
        engine::Engine,
        layer_sampler::LayerSampler,
        measure::{Loop, errors::ErrorLog, exit::LoopExit},
        source::Source,
        worker::{
            decisions::decisions,
            progress::Stage,
            schedule::time_of,
            task::{WorkerError, WorkerOutcome, WorkerTask},
        },
    },
    system::{
        buffers::BufferPool,
        clock::{Clock, Monotonic, tsc::Tsc},
        probes::rusage::thread_times,
    },
};
use std::sync::atomic::Ordering;

/// How long a worker waits for its last I/Os before it abandons them, in ns. A run must stop within
/// a second.
const DRAIN_NS: u64 = 700_000_000;

pub(crate) fn run<E: Engine, S: Source>(
    task: &WorkerTask,
    engine: E,
    source: S,
    pool: BufferPool,
) -> Result<WorkerOutcome, WorkerError> {
    let job = &task.job;
    let progress = &task.progress;
    let schedule = &task.schedule;
    let clock = Tsc::new(job.tsc_clock);
    let batch_limit = job.ring.iodepth_batch_submit.map(|batch| batch as usize);
    let complete_min = job.ring.iodepth_batch_complete_min.unwrap_or(1);
    let mut measuring_loop = Loop::new(engine, clock, source, pool, batch_limit, complete_min);
    if !task.layers.is_empty() {
        measuring_loop.set_sampler(LayerSampler::new(job, task.number, task.layers.clone()));
    }
    if let Some(tolerated) = &job.timing.tolerated_errors {
        measuring_loop.set_error_log(ErrorLog::new(&tolerated.read, &tolerated.write));
    }

    task.barrier.pass();
    task.barrier.pass();
    let scheduled_ns = time_of(&schedule.begin_ns);
    measuring_loop.begin_at(scheduled_ns);
    let begin_ns = Monotonic.now_ns();

    progress.set_stage(Stage::Ramp);
    let failed = WorkerError::during("waiting for completions");
    let mut exit = Ok(LoopExit::TimeUp);
    if schedule.ramp_end_ns.load(Ordering::Acquire) > scheduled_ns {
        exit = measuring_loop.run(&schedule.ramp_end_ns, &progress.ramp);
    }

    let measure_ns = time_of(&schedule.ramp_end_ns);
    let before = thread_times();
    progress.set_stage(Stage::Measure);
    if let Ok(LoopExit::TimeUp) = exit {
        exit = measuring_loop.run(&schedule.end_ns, &progress.measure);
    }
    let failed_io = measuring_loop.reap_final(&progress.measure);
    let unfinished = measuring_loop.unfinished();
    let end_ns = measuring_loop.now_ns().max(measure_ns);
    let cpu = thread_times().since(before);
    progress.measure.in_flight.set(0);
    progress.set_stage(Stage::Done);

    let errors = measuring_loop.take_errors();
    measuring_loop.drain(Monotonic.now_ns() + DRAIN_NS);
    let exit = exit.map_err(failed)?;
    let mut all_decisions = measuring_loop.engine().decisions();
    all_decisions.extend(decisions(job));
    let sampler = measuring_loop.take_sampler();
    let written = measuring_loop.engine().take_written();
    Ok(WorkerOutcome {
        begin_ns,
        measure_ns,
        end_ns,
        exit: failed_io.map_or(exit, LoopExit::Failed),
        cpu: Some(cpu),
        unfinished,
        decisions: all_decisions,
        written,
        errors,
        write_samples: sampler.map_or_else(Vec::new, |sampler| sampler.finish(&progress.measure)),
    })
}
