//! The clones of all jobs of a run: starts them together, wakes them where a phase ends, and stops them.

use crate::load::ledger::Ledger;
use crate::load::worker::progress::{Attendance, Progress, Stage};
use crate::load::worker::{Assignment, Broken, Done, ENDLESS_NS, Schedule, work};
use crate::plan::phases::window_begin_ms;
use crate::system::clock::{Clock, MILLISECOND_NS, Monotonic};
use leadline_protocol::phase::Phase;
use leadline_protocol::plan::resolved::ResolvedJob;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::thread::JoinHandleExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier};
use std::thread::{Builder, JoinHandle};

/// Head start between writing the schedule and the first I/O, in ns: enough for every clone to go to sleep for it, and
/// for the counters to be read before.
const HEAD_START_NS: u64 = 5 * MILLISECOND_NS;
/// The signal that wakes a clone out of a system call. It does nothing else.
const WAKE_SIGNAL: i32 = libc::SIGUSR1;

/// One clone as seen from outside.
pub struct Member {
    /// The number of its job in the run.
    pub job: usize,
    /// What it tells of itself.
    pub progress: Arc<Progress>,
    schedule: Arc<Schedule>,
    handle: JoinHandle<Result<Done, Broken>>,
}

/// What one clone left behind.
pub struct Finished {
    /// The number of its job in the run.
    pub job: usize,
    /// Its ledgers.
    pub progress: Arc<Progress>,
    /// What it did, or why it could not.
    pub done: Result<Done, Broken>,
}

/// All clones of a run.
pub struct Crew {
    /// The clones, job by job.
    pub members: Vec<Member>,
    jobs: Vec<Arc<ResolvedJob>>,
    gate: Arc<Barrier>,
}

impl Crew {
    /// Starts a thread for every clone; they get ready and wait. `files` holds each clone's files, job by job.
    ///
    /// # Errors
    /// Where the system gives no more threads; those that began wait at the gate until the process ends.
    pub fn assemble(jobs: &[ResolvedJob], files: Vec<Vec<Vec<OwnedFd>>>) -> io::Result<Self> {
        signal_hook::flag::register(WAKE_SIGNAL, Arc::new(AtomicBool::new(false)))?;
        let jobs: Vec<Arc<ResolvedJob>> = jobs.iter().cloned().map(Arc::new).collect();
        let gate = Arc::new(Barrier::new(files.iter().map(Vec::len).sum::<usize>() + 1));
        let mut members = Vec::new();
        for (index, clones) in files.into_iter().enumerate() {
            let schedule = Arc::new(Schedule::default());
            for (number, files) in (0..).zip(clones) {
                let (job, progress, gate) = (
                    jobs[index].clone(),
                    Arc::new(Progress::default()),
                    gate.clone(),
                );
                let (told, due) = (progress.clone(), schedule.clone());
                let name = format!("{}.{number}", job.name);
                let handle = start(&name, move || {
                    let attendance = Attendance::new(told.clone(), gate);
                    Assignment {
                        job,
                        number,
                        files,
                        progress: told,
                        schedule: due,
                        attendance,
                    }
                })?;
                members.push(Member {
                    job: index,
                    progress,
                    schedule: schedule.clone(),
                    handle,
                });
            }
        }
        Ok(Self {
            members,
            jobs,
            gate,
        })
    }

    /// Lets all clones begin. Returns when the first of them begins and when the measured window of the run begins, in ns.
    pub fn begin(&self) -> (u64, u64) {
        self.gate.wait();
        let begin_ns = Monotonic.now_ns() + HEAD_START_NS;
        for member in &self.members {
            let job = &self.jobs[member.job];
            let begin_ns = begin_ns + job.timing.startdelay_ms * MILLISECOND_NS;
            let ramp_end_ns = begin_ns + job.timing.ramp_ms * MILLISECOND_NS;
            let end_ns = ramp_end_ns
                + job
                    .timing
                    .runtime_ms
                    .map_or(ENDLESS_NS, |ms| ms * MILLISECOND_NS);
            member.schedule.begin_ns.store(begin_ns, Ordering::Release);
            member
                .schedule
                .ramp_end_ns
                .store(ramp_end_ns, Ordering::Release);
            member.schedule.end_ns.store(end_ns, Ordering::Release);
        }
        self.gate.wait();
        let measure_ns = self
            .members
            .iter()
            .map(|member| member.schedule.ramp_end_ns.load(Ordering::Acquire))
            .min();
        (begin_ns, measure_ns.unwrap_or(begin_ns))
    }

    /// Whether something is done before the measured window of the run.
    pub fn has_ramp(&self) -> bool {
        window_begin_ms(self.jobs.iter().map(Arc::as_ref)) > 0
    }

    /// The next moment after `now_ns` at which some clone must leave a phase; `None` when all are done.
    pub fn next_border_ns(&self, now_ns: u64) -> Option<u64> {
        self.members
            .iter()
            .filter_map(Member::border_ns)
            .map(|border_ns| border_ns.max(now_ns))
            .min()
    }

    /// When the last measurement is to end, in ns.
    pub fn end_ns(&self) -> u64 {
        self.members
            .iter()
            .map(|member| member.schedule.end_ns.load(Ordering::Acquire))
            .max()
            .unwrap_or(0)
    }

    /// Wakes the clones that sleep past the end of their phase.
    pub fn wake_late(&self, now_ns: u64) {
        self.members
            .iter()
            .filter(|member| {
                member
                    .border_ns()
                    .is_some_and(|border_ns| border_ns <= now_ns)
            })
            .for_each(Member::wake);
    }

    /// Ends everything now: what was measured until here counts.
    pub fn stop(&self) {
        for member in &self.members {
            for border in [
                &member.schedule.begin_ns,
                &member.schedule.ramp_end_ns,
                &member.schedule.end_ns,
            ] {
                border.store(0, Ordering::Release);
            }
        }
        self.wake_late(Monotonic.now_ns());
    }

    /// What the clones did in the ramp, or in the measurement.
    pub fn ledgers(&self, phase: Phase) -> impl Iterator<Item = &Ledger> {
        self.members.iter().map(move |member| {
            if phase == Phase::Ramp {
                &member.progress.ramp
            } else {
                &member.progress.measure
            }
        })
    }

    /// Whether an I/O of any clone failed, or a clone could not begin or go on.
    pub fn has_failed(&self) -> bool {
        self.members
            .iter()
            .any(|member| member.progress.is_broken())
            || self
                .ledgers(Phase::Ramp)
                .chain(self.ledgers(Phase::Measure))
                .any(|ledger| ledger.errors.get() > 0)
    }

    /// Whether every clone has been measured.
    pub fn is_done(&self) -> bool {
        self.members
            .iter()
            .all(|member| member.progress.stage() == Stage::Done)
    }

    /// Waits for the threads and returns what they left behind.
    pub fn dismiss(self) -> Vec<Finished> {
        let finish = |member: Member| {
            let panicked = |_| {
                Err(Broken {
                    doing: "running a clone",
                    error: io::Error::other("its thread panicked"),
                })
            };
            Finished {
                job: member.job,
                progress: member.progress,
                done: member.handle.join().unwrap_or_else(panicked),
            }
        };
        self.members.into_iter().map(finish).collect()
    }
}

/// Starts a clone's thread, which makes its own assignment: what a clone owes the others it owes from then on. Where the system
/// gives no thread, nobody waits for it at the gate.
fn start(
    name: &str,
    assign: impl FnOnce() -> Assignment + Send + 'static,
) -> io::Result<JoinHandle<Result<Done, Broken>>> {
    let watcher = std::thread::current();
    // Linux keeps 15 bytes of a thread's name.
    Builder::new()
        .name(
            name.chars()
                .filter(char::is_ascii_graphic)
                .take(15)
                .collect(),
        )
        .spawn(move || {
            let assignment = assign();
            let done = work(&assignment);
            drop(assignment);
            watcher.unpark();
            done
        })
}

impl Member {
    /// When it must leave the phase it is in.
    fn border_ns(&self) -> Option<u64> {
        match self.progress.stage() {
            Stage::Waiting | Stage::Ramp => Some(self.schedule.ramp_end_ns.load(Ordering::Acquire)),
            Stage::Measure => Some(self.schedule.end_ns.load(Ordering::Acquire)),
            Stage::Done => None,
        }
    }

    fn wake(&self) {
        // SAFETY: the handle has not been joined, so the thread id is valid; a signal to a thread that has ended is ESRCH.
        let _ = unsafe { libc::pthread_kill(self.handle.as_pthread_t(), WAKE_SIGNAL) };
    }
}
