//! One clone of a job: a thread that gets everything ready, begins with the others, and drives the loop through ramp
//! and measurement. What the job asked for is turned into the right engine, source and data here, once, so that the
//! loop decides nothing.

#[cfg(test)]
pub(crate) mod instructions;
#[cfg(test)]
pub(crate) mod outside;
pub(crate) mod paced;
pub(crate) mod progress;

use crate::load::data::Data;
use crate::load::engine::Engine;
use crate::load::engine::fresh::Fresh;
use crate::load::engine::null::Null;
use crate::load::engine::psync::Psync;
use crate::load::engine::ring::Polling;
use crate::load::engine::uring::{Setup, Uring, entries};
use crate::load::measure::{IoError, Loop, Source, Stop};
use crate::load::pace::Pace;
use crate::load::pattern::{Io, Pattern};
use crate::load::worker::paced::Paced;
use crate::load::worker::progress::{Attendance, Progress, Stage};
use crate::system::buffers::BufferPool;
use crate::system::clock::tsc::Tsc;
use crate::system::clock::{Clock, MICROSECOND_NS, Monotonic, SECOND_NS};
use crate::system::probes::rusage::{CpuTimes, thread_times};
use leadline_protocol::job::value::{BufferPages, EngineName};
use leadline_protocol::plan::resolved::ResolvedJob;
use leadline_protocol::report::Decision;
use std::io;
use std::num::NonZeroU64;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// How long a clone waits for its last I/Os before it leaves them to the kernel, in ns: less than the second in which a
/// run must stop.
const DRAIN_NS: u64 = 700_000_000;

/// When the clones of a job begin and end, in ns of the monotonic clock. Written by the watching thread, before the
/// start and when the run must stop.
#[derive(Debug, Default)]
pub struct Schedule {
    /// First I/O.
    pub begin_ns: AtomicU64,
    /// End of the ramp; the measurement begins.
    pub ramp_end_ns: AtomicU64,
    /// End of the measurement.
    pub end_ns: AtomicU64,
}

/// What one clone is to do.
pub struct Assignment {
    /// The job as resolved.
    pub job: Arc<ResolvedJob>,
    /// Which of its clones, from 0.
    pub number: u32,
    /// Its files, in the order of its targets.
    pub files: Vec<OwnedFd>,
    /// What it tells of itself.
    pub progress: Arc<Progress>,
    /// When it begins and ends.
    pub schedule: Arc<Schedule>,
    /// What it owes the others.
    pub attendance: Attendance,
}

/// What one clone did, less the ledgers.
#[derive(Debug)]
pub struct Done {
    /// Its first I/O, in ns of the monotonic clock.
    pub begin_ns: u64,
    /// The beginning of its measured window.
    pub measure_ns: u64,
    /// The end of its measured window.
    pub end_ns: u64,
    /// Why it ended.
    pub stop: Stop,
    /// Processor time in the measured window.
    pub cpu: CpuTimes,
    /// What was chosen, and why.
    pub decisions: Vec<Decision>,
}

/// Why a clone could not begin or go on.
#[derive(Debug)]
pub struct Broken {
    /// What it tried to do.
    pub doing: &'static str,
    /// What the system said.
    pub error: io::Error,
}

/// Runs one clone to its end. To be called on a thread of its own.
///
/// # Errors
/// What the system said where that concerns no single I/O; a failed I/O is a `Stop`.
pub fn work(assignment: &Assignment) -> Result<Done, Broken> {
    let done = set_out(assignment)?;
    assignment.attendance.finish();
    Ok(done)
}

fn set_out(assignment: &Assignment) -> Result<Done, Broken> {
    let job = &assignment.job;
    let ready = settle(job).and_then(|()| buffers(assignment));
    match (ready, job.ring.ioengine) {
        (Err(broken), _) => Err(broken),
        (Ok(pool), EngineName::Null) => with_data(assignment, Null::new(job.in_flight()), pool),
        (Ok(pool), EngineName::Psync) => with_data(assignment, Psync::new(&assignment.files), pool),
        (Ok(pool), EngineName::IoUringNop) => {
            with_ring::<entries::Nop>(assignment, pool, &setup(job))
        }
        (Ok(pool), EngineName::IoUring) if job.ring.fixedbufs => with_registered(assignment, pool),
        (Ok(pool), EngineName::IoUring) => {
            with_ring::<entries::Plain>(assignment, pool, &setup(job))
        }
    }
}

fn setup(job: &ResolvedJob) -> Setup {
    let polling = Polling {
        device: job.ring.hipri,
        submissions: job.ring.sqthread_poll,
    };
    Setup {
        polling,
        spin_ns: job.ring.spin_us * MICROSECOND_NS,
        ..Setup::default()
    }
}

fn with_ring<N: entries::Entries>(
    assignment: &Assignment,
    pool: BufferPool,
    setup: &Setup,
) -> Result<Done, Broken> {
    let engine = Uring::<_, N>::new(&assignment.files, assignment.job.in_flight(), setup);
    with_data(
        assignment,
        engine.map_err(|error| Broken {
            doing: "setting up io_uring",
            error,
        })?,
        pool,
    )
}

/// With registered buffers. Where others of this user hold locked memory, the kernel may refuse what the plan found to fit: plain
/// buffers do for a job that did not say `fixedbufs`.
fn with_registered(assignment: &Assignment, pool: BufferPool) -> Result<Done, Broken> {
    let job = &assignment.job;
    let registered = Setup {
        buffer: Some(pool.region()),
        ..setup(job)
    };
    match Uring::<_, entries::Registered>::new(&assignment.files, job.in_flight(), &registered) {
        Ok(engine) => with_data(assignment, engine, pool),
        Err(error) if job.ring.fixedbufs_said => Err(Broken {
            doing: "setting up io_uring",
            error,
        }),
        Err(error) => with_ring::<entries::Plain>(
            assignment,
            pool,
            &Setup {
                refused: Some(error.to_string()),
                ..setup(job)
            },
        ),
    }
}

fn settle(job: &ResolvedJob) -> Result<(), Broken> {
    let broken = |doing| {
        move |error: rustix::io::Errno| Broken {
            doing,
            error: error.into(),
        }
    };
    if !job.cpus_allowed.is_empty() {
        let mut cpus = rustix::thread::CpuSet::new();
        job.cpus_allowed
            .iter()
            .for_each(|&cpu| cpus.set(cpu as usize));
        rustix::thread::sched_setaffinity(None, &cpus).map_err(broken("setting cpus_allowed"))?;
    }
    if job.nice != 0 {
        rustix::process::setpriority_process(Some(rustix::thread::gettid()), job.nice)
            .map_err(broken("setting nice"))?;
    }
    Ok(())
}

fn buffers(assignment: &Assignment) -> Result<BufferPool, Broken> {
    let job = &assignment.job;
    let mut pool = BufferPool::new(
        job.in_flight() as usize,
        job.largest_buffer() as usize,
        job.ring.mem,
    )
    .map_err(|error| Broken {
        doing: "mapping I/O buffers",
        error,
    })?;
    if job.pattern.rw.writes() {
        let mut data = Data::new(job, assignment.number);
        (0..pool.slots() as u32).for_each(|slot| data.fill(pool.bytes_mut(slot)));
    }
    Ok(pool)
}

fn with_data<E: Engine>(
    assignment: &Assignment,
    engine: E,
    mut pool: BufferPool,
) -> Result<Done, Broken> {
    let job = &assignment.job;
    if job.pattern.rw.writes() && job.data.refill_buffers && !job.ring.ioengine.is_null() {
        let data = Data::new(job, assignment.number);
        let cost_ns = cost_of(&data, &mut pool);
        with_pace(assignment, Fresh::new(engine, data, cost_ns), pool)
    } else {
        with_pace(assignment, engine, pool)
    }
}

/// What making 4 KiB of this data takes, in ns. The data itself is left as it is.
fn cost_of(data: &Data, pool: &mut BufferPool) -> f64 {
    /// Bytes that are made at a time: some 0.1 ms, so that reading the clock does not count.
    const BYTES: usize = 1 << 18;
    /// Times, of which the shortest counts: the others were disturbed.
    const TIMES: usize = 5;
    let (mut data, buffer) = (data.clone(), pool.bytes_mut(0));
    let bytes = buffer.len();
    let fills = BYTES.div_ceil(bytes);
    let mut once = || {
        let begin_ns = Monotonic.now_ns();
        (0..fills).for_each(|_| data.fill(buffer));
        Monotonic.now_ns() - begin_ns
    };
    let shortest_ns = (0..TIMES).map(|_| once()).min().unwrap_or(0);
    shortest_ns as f64 * 4096.0 / (fills * bytes) as f64
}

fn with_pace<E: Engine>(
    assignment: &Assignment,
    engine: E,
    pool: BufferPool,
) -> Result<Done, Broken> {
    let pattern = Pattern::new(&assignment.job, assignment.number);
    match Pace::new(&assignment.job, assignment.number) {
        None => drive(assignment, engine, Unpaced(pattern), pool),
        Some(pace) => {
            // Sleeps end on time, not up to 50 µs late (PR_SET_TIMERSLACK).
            let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
            let paced = Paced::new(pattern, pace, pool.slots(), &assignment.progress.measure);
            drive(assignment, engine, paced, pool)
        }
    }
}

fn drive<E: Engine, S: Source>(
    assignment: &Assignment,
    engine: E,
    source: S,
    pool: BufferPool,
) -> Result<Done, Broken> {
    let Assignment {
        job,
        progress,
        schedule,
        attendance,
        ..
    } = assignment;
    let at_once = job.ring.iodepth_batch_submit.map(|batch| batch as usize);
    let clock = Tsc::new();
    let clock_choice = clock_choice(&clock);
    let mut work = Loop::new(
        engine,
        clock,
        source,
        pool,
        at_once,
        job.ring.iodepth_batch_complete_min.unwrap_or(1),
    );
    attendance.pass();
    attendance.pass();
    let begin_ns = moment(&schedule.begin_ns);
    work.begin_at(begin_ns);
    let awake_ns = Monotonic.now_ns();
    progress.reach(Stage::Ramp);
    let broken = |error| Broken {
        doing: "asking the engine for completions",
        error,
    };
    let ramped = if schedule.ramp_end_ns.load(Ordering::Acquire) > begin_ns {
        work.run(&schedule.ramp_end_ns, &progress.ramp)
            .map_err(broken)
    } else {
        Ok(Stop::Until)
    };
    let measure_ns = moment(&schedule.ramp_end_ns);
    let before = thread_times();
    progress.reach(Stage::Measure);
    let stop = match ramped {
        Ok(Stop::Until) => work
            .run(&schedule.end_ns, &progress.measure)
            .map_err(broken),
        ended => ended,
    };
    let failed = work.reap_last(&progress.measure);
    let (end_ns, cpu) = (work.now_ns().max(measure_ns), thread_times().since(before));
    progress.measure.in_flight.set(0);
    progress.reach(Stage::Done);
    work.drain(Monotonic.now_ns() + DRAIN_NS);
    let decisions = work
        .decisions()
        .into_iter()
        .chain([page_choice(job), clock_choice])
        .chain(prepared_choice(job))
        .collect();
    Ok(Done {
        begin_ns: awake_ns,
        measure_ns,
        end_ns,
        stop: failed.map_or(stop?, Stop::Failed),
        cpu,
        decisions,
    })
}

/// A moment of the schedule; now, when the run was stopped before it came.
fn moment(scheduled_ns: &AtomicU64) -> u64 {
    Some(scheduled_ns.load(Ordering::Acquire))
        .filter(|ns| *ns > 0)
        .unwrap_or_else(|| Monotonic.now_ns())
}

fn page_choice(job: &ResolvedJob) -> Decision {
    let (used, reason) = match job.ring.mem {
        BufferPages::Mmap => (
            false,
            "mem=mmap: I/O buffers lie in small pages, as most programs' do",
        ),
        BufferPages::Thp => (
            true,
            "mem=thp: I/O buffers lie in huge pages as far as the kernel had some; requests have fewer segments",
        ),
        BufferPages::Mmaphuge => (
            true,
            "mem=mmaphuge: I/O buffers lie in reserved huge pages; requests have fewer segments",
        ),
    };
    Decision {
        name: "huge_pages".into(),
        used,
        reason: reason.into(),
    }
}

/// Data that is not fresh; of fresh data its engine tells.
fn prepared_choice(job: &ResolvedJob) -> Option<Decision> {
    let reason = "each I/O in flight writes its one prepared buffer again and again, as in fio; refill_buffers=1 makes new data";
    let prepared =
        job.pattern.rw.writes() && !job.data.refill_buffers && !job.ring.ioengine.is_null();
    prepared.then(|| Decision {
        name: "fresh_data".into(),
        used: false,
        reason: reason.into(),
    })
}

fn clock_choice(clock: &Tsc) -> Decision {
    let reason = if clock.is_trusted() {
        "the processor's counter tells the time quicker than clock_gettime"
    } else {
        "the kernel's clock does not use the processor's counter (current_clocksource is not tsc)"
    };
    Decision {
        name: "tsc_clock".into(),
        used: clock.is_trusted(),
        reason: reason.into(),
    }
}

/// A pattern whose I/Os are always due.
struct Unpaced(Pattern);

impl Source for Unpaced {
    #[inline]
    fn draw(&mut self, out: &mut [Io]) -> usize {
        self.0.draw(out)
    }

    #[inline]
    fn due(&mut self, next: &[Io], _since_begin_ns: u64) -> usize {
        next.len()
    }

    #[inline]
    fn next_due_ns(&self) -> Option<u64> {
        None
    }
}

/// What an I/O error means, with the operation in fio's words.
pub fn describe(error: &IoError) -> (String, String) {
    use crate::load::pattern::Kind;
    let operation = match error.io.kind {
        Kind::Read => "read",
        Kind::Write => "write",
        Kind::Trim => "trim",
        Kind::Sync | Kind::Datasync => "sync",
    };
    let message = if error.errno == 0 {
        "fewer bytes were moved than asked: the target ends there, or is full".into()
    } else {
        io::Error::from_raw_os_error(error.errno).to_string()
    };
    (operation.into(), message)
}

/// A run's length in seconds that stands for "no end": about 68 years, far from overflow.
pub const ENDLESS_NS: u64 = (1 << 31) * SECOND_NS;
