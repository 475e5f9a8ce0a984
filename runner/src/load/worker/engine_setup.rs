//! Sets up a job's engine, source and buffers. Each step selects a type, so the loop is compiled
//! for every combination and does not branch on options.

use crate::{
    load::{
        data::{self, Data, stamp::Stamps},
        engine::{
            Engine,
            libaio::Libaio,
            mmap::{self, Mmap},
            null::Null,
            synchronous::{
                psync::Psync,
                pvsync::{Pvsync, Pvsync2},
                sync::Sync,
            },
            uring::{
                Uring,
                entries::{Nop, Plain, Registered, SubmissionEntries},
                priority_ring::PriorityRing,
                ring::{KernelRing, Ring},
                setup::{Polling, Setup},
            },
            verified_writes::{ReadBackChecks, VerifiedWrites},
            write_buffers::{Content, WriteBuffers},
        },
        pattern::Pattern,
        rate::RateLimiter,
        source::{
            Source, Unlimited,
            depth_search::DepthSearch,
            flow::{FlowLimited, FlowMember},
            latency_limited::LatencyLimited,
            prioritized::Prioritized,
            rate_limited::RateLimited,
            read_back::ReadBack,
        },
        verify::{format::Format, written_blocks::WrittenBlocks},
        worker::{
            affinity::minimize_timer_slack,
            phases,
            task::{WorkerError, WorkerOutcome, WorkerTask},
        },
    },
    system::{
        buffers::BufferPool,
        clock::{Clock, Monotonic, NS_PER_US},
    },
};
use leadline_protocol::{
    job::{
        engine::{BufferPages, EngineName},
        keyword::Fadvise,
    },
    plan::{
        command_priorities::CommandPriority,
        job::{BufferRegistration, ResolvedJob, VerifyOptions},
    },
};
use rand::{SeedableRng, rngs::Xoshiro256PlusPlus};
use rustix::mm::Advice;
use std::time::{SystemTime, UNIX_EPOCH};

/// Separates the random numbers for priorities from those for offsets: an odd number with irregular
/// bits.
const PRIORITY_SEED: u64 = 0xD6E8_FEB8_6659_FD93;

pub(crate) fn run(task: &WorkerTask) -> Result<WorkerOutcome, WorkerError> {
    let job = &task.job;
    let _locked = lock_memory(job.target.lockmem)?;
    let pool = buffers(task)?;
    match job.ring.ioengine {
        EngineName::Null => run_engine(task, Null::new(job.in_flight()), pool),
        EngineName::Psync => run_engine(task, Psync::new(&task.files), pool),
        EngineName::Sync => {
            let engine =
                Sync::new(&task.files).map_err(WorkerError::during("setting the file position"))?;
            run_engine(task, engine, pool)
        }
        EngineName::Pvsync => run_engine(task, Pvsync::new(&task.files), pool),
        EngineName::Pvsync2 => run_engine(task, Pvsync2::new(&task.files, job.ring.hipri), pool),
        EngineName::Libaio => {
            let mut engine = Libaio::new(&task.files, job.in_flight())
                .map_err(WorkerError::during("setting up libaio"))?;
            engine.set_priorities(task.priorities.clone());
            run_engine(task, engine, pool)
        }
        EngineName::Mmap => {
            let engine = Mmap::new(&mapping(task), &task.files)
                .map_err(WorkerError::during("mapping the target"))?;
            run_engine(task, engine, pool)
        }
        EngineName::IoUringNop | EngineName::IoUring => match &task.priorities {
            None => run_uring(task, pool, |ring| ring),
            Some(priorities) => {
                let wrap = |ring| PriorityRing::new(ring, priorities.clone());
                run_uring(task, pool, wrap)
            }
        },
    }
}

/// `wrap`: wraps the kernel's ring.
fn run_uring<R: Ring>(
    task: &WorkerTask,
    pool: BufferPool,
    wrap: impl Fn(KernelRing) -> R,
) -> Result<WorkerOutcome, WorkerError> {
    let job = &task.job;
    if job.ring.ioengine == EngineName::IoUringNop {
        return run_ring::<Nop, _>(task, pool, &setup(job), wrap);
    }
    match job.ring.fixedbufs {
        BufferRegistration::Off => run_ring::<Plain, _>(task, pool, &setup(job), wrap),
        registration => run_registered(task, pool, registration, wrap),
    }
}

/// Locks memory until the result is dropped (`lockmem`).
fn lock_memory(bytes: u64) -> Result<Option<BufferPool>, WorkerError> {
    let failed = WorkerError::during("locking memory (lockmem)");
    if bytes == 0 {
        return Ok(None);
    }
    let memory = BufferPool::new(1, bytes as usize, BufferPages::Mmap).map_err(failed)?;
    memory.lock().map_err(failed)?;
    Ok(Some(memory))
}

fn setup(job: &ResolvedJob) -> Setup {
    Setup {
        polling: Polling {
            device: job.ring.hipri,
            submissions: job.ring.sqthread_poll,
        },
        only_reads: job.ring.ioengine == EngineName::IoUring && !job.pattern.rw.is_destructive(),
        spin_ns: job.ring.spin_us * NS_PER_US,
        ..Setup::default()
    }
}

fn mapping(task: &WorkerTask) -> mmap::Setup {
    let job = &task.job;
    let regions = job.targets_of(task.number);
    mmap::Setup {
        regions: regions
            .map(|(_, target)| (target.offset, target.size))
            .collect(),
        writes: job.pattern.rw.writes(),
        advice: match job.target.fadvise_hint {
            Fadvise::Random => Some(Advice::Random),
            Fadvise::Sequential => Some(Advice::Sequential),
            Fadvise::ByPattern | Fadvise::None => None,
        },
    }
}

fn run_ring<N: SubmissionEntries, R: Ring>(
    task: &WorkerTask,
    pool: BufferPool,
    setup: &Setup,
    wrap: impl Fn(KernelRing) -> R,
) -> Result<WorkerOutcome, WorkerError> {
    let engine = Uring::<_, N>::with_wrapper(&task.files, task.job.in_flight(), setup, wrap)
        .map_err(WorkerError::during("setting up io_uring"))?;
    run_engine(task, engine, pool)
}

/// Runs with registered buffers. The kernel may reject buffers that the plan accepted if other
/// processes of this user have locked memory. `Preferred` then falls back to unregistered buffers.
fn run_registered<R: Ring>(
    task: &WorkerTask,
    pool: BufferPool,
    registration: BufferRegistration,
    wrap: impl Fn(KernelRing) -> R,
) -> Result<WorkerOutcome, WorkerError> {
    let job = &task.job;
    let mut setup = setup(job);
    setup.buffer = Some(pool.region());
    match Uring::<_, Registered>::with_wrapper(&task.files, job.in_flight(), &setup, &wrap) {
        Ok(engine) => run_engine(task, engine, pool),
        Err(error) if registration == BufferRegistration::Required => {
            Err(WorkerError::during("setting up io_uring")(error))
        }
        Err(error) => {
            setup.buffer = None;
            setup.registration_error = Some(error.to_string());
            run_ring::<Plain, _>(task, pool, &setup, wrap)
        }
    }
}

fn buffers(task: &WorkerTask) -> Result<BufferPool, WorkerError> {
    let job = &task.job;
    let bytes = job.largest_buffer() as usize;
    let map = if job.has_write_buffers() {
        BufferPool::new_with_write_buffers
    } else {
        BufferPool::new
    };
    let mut pool = map(job.in_flight() as usize, bytes, job.ring.mem)
        .map_err(WorkerError::during("mapping I/O buffers"))?;
    if job.pattern.rw.writes() {
        let mut data = Data::new(job, task.number);
        for slot in 0..pool.slots() as u32 {
            let buffer = pool.write_buffer_mut(slot);
            match &job.data.buffer_pattern {
                Some(pattern) => data::repeat(&pattern.0, buffer),
                None => data.fill(buffer),
            }
        }
    }
    Ok(pool)
}

fn run_engine<E: Engine>(
    task: &WorkerTask,
    engine: E,
    mut pool: BufferPool,
) -> Result<WorkerOutcome, WorkerError> {
    let job = &task.job;
    if !job.pattern.rw.writes() || job.ring.ioengine.is_null() {
        return run_source(task, engine, pool);
    }
    let content = if let Some(options) = &job.data.verify {
        verified_content(task, options, &mut pool)
    } else if job.data.refill_buffers {
        let data = Data::new(job, task.number);
        let mut timed = data.clone();
        let fill = |buffer: &mut [u8]| timed.fill(buffer);
        let ns_per_4k = ns_per_4k(pool.write_buffer_mut(0), fill);
        Content::Refilled { data, ns_per_4k }
    } else if job.data.scramble_buffers == Some(true) {
        Content::Stamped(Stamps::new(realtime_ns(), task.number))
    } else {
        Content::Unchanged
    };
    let offset = pool.write_offset();
    run_source(task, WriteBuffers::new(engine, content, offset), pool)
}

fn verified_content(task: &WorkerTask, options: &VerifyOptions, pool: &mut BufferPool) -> Content {
    let job = &task.job;
    let data = job.data.refill_buffers.then(|| Data::new(job, task.number));
    let mut timed = data.clone();
    let format = Format::new(options, &job.data);
    let prepare = |buffer: &mut [u8]| {
        if let Some(data) = &mut timed {
            data.fill(buffer);
        }
        let blocks = buffer.chunks_exact_mut(options.interval as usize);
        blocks.for_each(|bytes| format.prepare(bytes, 0, 0, 0));
    };
    let ns_per_4k = ns_per_4k(pool.write_buffer_mut(0), prepare);
    let blocks = WrittenBlocks::new(job, options, task.number, realtime_ns());
    let read_back = options.backlog.map(|_| ReadBackChecks {
        are_direct: job.direct,
        are_fatal: options.fatal,
    });
    let slots = pool.slots();
    Content::Verified {
        writes: Box::new(VerifiedWrites::new(blocks, data, slots, read_back)),
        ns_per_4k,
    }
}

/// Nanoseconds since 1970, which are different for each run.
fn realtime_ns() -> u64 {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH);
    since_1970.map_or(0, |time| time.as_nanos() as u64)
}

/// Time to prepare 4 KiB of data, in ns. `prepare` receives a write buffer.
fn ns_per_4k(buffer: &mut [u8], mut prepare: impl FnMut(&mut [u8])) -> f64 {
    /// Bytes per timing: about 0.1 ms, much longer than reading the clock.
    const BYTES: usize = 1 << 18;
    /// Number of timings. The shortest timing is the one with the least interference.
    const TIMINGS: usize = 5;
    let fills = BYTES.div_ceil(buffer.len());
    let mut shortest_ns = u64::MAX;
    for _ in 0..TIMINGS {
        let begin_ns = Monotonic.now_ns();
        (0..fills).for_each(|_| prepare(buffer));
        shortest_ns = shortest_ns.min(Monotonic.now_ns() - begin_ns);
    }
    shortest_ns as f64 * 4096.0 / (fills * buffer.len()) as f64
}

fn run_source<E: Engine>(
    task: &WorkerTask,
    engine: E,
    pool: BufferPool,
) -> Result<WorkerOutcome, WorkerError> {
    let pattern = Pattern::new(&task.job, task.number);
    let limiter = RateLimiter::new(&task.job, task.number);
    let has_other_limits = task.flow.is_some() || task.job.timing.latency_target.is_some();
    if limiter.is_some() || has_other_limits {
        minimize_timer_slack();
    }
    let has_backlog = task.job.verify_backlog().is_some();
    let has_other_limits = has_other_limits || has_backlog || task.priorities.is_some();
    let slots = pool.slots();
    match limiter {
        None if has_other_limits => phases::run(
            task,
            engine,
            limit(task, Box::new(Unlimited(pattern)), slots),
            pool,
        ),
        None => phases::run(task, engine, Unlimited(pattern), pool),
        Some(limiter) => {
            let source = RateLimited::new(pattern, limiter, slots, &task.progress.measure);
            if has_other_limits {
                return phases::run(task, engine, limit(task, Box::new(source), slots), pool);
            }
            phases::run(task, engine, source, pool)
        }
    }
}

/// Applies `latency_target`, `flow`, `verify_backlog` and priorities. A job that uses none of them
/// has a source without indirect calls.
fn limit(task: &WorkerTask, mut source: Box<dyn Source>, slots: usize) -> Box<dyn Source> {
    let job = &task.job;
    if let Some(options) = job.timing.latency_target {
        let search = DepthSearch::new(options, job.in_flight());
        let progress = task.progress.clone();
        source = Box::new(LatencyLimited::new(source, search, progress));
    }
    if let (Some(options), Some((group, index))) = (job.timing.flow, &task.flow) {
        let member = FlowMember::new(group.clone(), *index, options);
        source = Box::new(FlowLimited::new(source, member));
    }
    if let Some(options) = job.verify_backlog() {
        source = Box::new(ReadBack::new(source, options, job, slots));
    }
    if let (Some(options), Some(priorities)) = (&job.command_priorities, &task.priorities) {
        let other = job.io_priority.map(|priority| CommandPriority {
            class: priority.class,
            level: priority.level,
            hint: 0,
        });
        let seed = job.pattern.randseed ^ PRIORITY_SEED.wrapping_mul(u64::from(task.number) + 1);
        source = Box::new(Prioritized::new(
            source,
            options,
            other.unwrap_or_default(),
            Xoshiro256PlusPlus::seed_from_u64(seed),
            (priorities.clone(), slots),
            &task.progress.measure,
        ));
    }
    source
}
