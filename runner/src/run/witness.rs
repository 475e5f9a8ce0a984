//! The witness of a run: looks at its targets before anything is done, at both borders of the measured window, once a
//! second between, and afterwards, and writes down what it saw. Looks only; off the clones' threads.
//!
//! Not here: how each thing is looked at (`probe`), what follows from it (`verdict`).

use crate::analysis::transitions::TransitionDetector;
use crate::run::place::Place;
use crate::run::stop::Stop;
use crate::system::clock::{Clock, Monotonic, SECOND_NS};
use crate::system::host::inventory::Inventory;
use crate::system::host::kernel::Kernel;
use crate::system::probes::profile::Profiler;
use crate::system::probes::request_trace::RequestTrace;
use crate::system::probes::vmstat;
use crate::system::probes::vmstat::VmStat;
use crate::system::target::OpenTarget;
use crate::system::target::cancellable::run_unless_stopped;
use leadline_protocol::counters::Residency;
use leadline_protocol::evidence::{Profile, Requests, TargetReport, Transition, Writeback};
use leadline_protocol::plan::resolved::ResolvedJob;
use leadline_protocol::sample::Sample;
use std::collections::BTreeMap;

/// A reading of the page cache may take this part of the time at most: the next one waits accordingly.
const READING_PART: u64 = 100;
/// The most targets that a report lists: each has a map of some hundred numbers.
const MOST_TOLD: usize = 128;

/// What is looked at, and what was seen so far.
pub struct Witness {
    places: Vec<Place>,
    vm: Option<VmStat>,
    vm_start: Option<Writeback>,
    vm_end: Option<Writeback>,
    due_ns: u64,
    turning: TransitionDetector,
    tracing: Option<RequestTrace>,
    profiling: Option<Profiler>,
    absent: BTreeMap<String, String>,
}

/// What the witness tells in the end.
pub struct Testimony {
    /// Each target.
    pub targets: Vec<TargetReport>,
    /// When a direction turned.
    pub transitions: Vec<Transition>,
    /// The host's writeback in the measured window.
    pub writeback: Option<Writeback>,
    /// Requests at the devices.
    pub requests: Option<Requests>,
    /// Where the processor time went.
    pub profile: Option<Profile>,
    /// Bytes of the targets not on the device when the window ended.
    pub dirty_bytes: Option<u64>,
    /// What is missing, with the reason.
    pub absent: BTreeMap<String, String>,
}

impl Witness {
    /// Looks at the targets as they are found. With `probes=0` in any job nothing is ever looked at.
    pub fn new(jobs: &[ResolvedJob]) -> Self {
        let probes = jobs.iter().all(|job| job.probes);
        let mut absent = BTreeMap::new();
        let mut places = if probes {
            Place::of_jobs(jobs)
        } else {
            Vec::new()
        };
        places.iter_mut().for_each(Place::find);
        let vm = if probes {
            VmStat::open_live()
        } else {
            Err(crate::run::NO_PROBES.into())
        };
        let vm = vm
            .map_err(|reason| absent.insert("writeback".into(), reason))
            .ok();
        if let Some(reason) = unseen(&places, probes) {
            absent.insert("residency".into(), reason);
        }
        Self {
            places,
            vm,
            vm_start: None,
            vm_end: None,
            due_ns: 0,
            turning: TransitionDetector::default(),
            tracing: None,
            profiling: None,
            absent,
        }
    }

    /// What it will not see, with the reason.
    pub fn absent(&self) -> &BTreeMap<String, String> {
        &self.absent
    }

    /// Looks at the open targets, before their caches are set: extents, mounts, what direct can mean.
    pub fn examine<'a>(&mut self, open: impl Iterator<Item = &'a OpenTarget> + Clone) {
        if self.places.is_empty() {
            return;
        }
        let host = Inventory::read(&Kernel::live());
        for place in &mut self.places {
            if let Some(opened) = open
                .clone()
                .find(|opened| opened.target.path == place.path())
            {
                place.examine(opened, &host);
            }
        }
    }

    /// Begins what was asked for beside: request sizes and the profile. Before the clones, which inherit perf's events.
    pub fn prepare(&mut self, jobs: &[ResolvedJob]) {
        if jobs.iter().any(|job| job.request_sizes) {
            let targets = jobs.iter().flat_map(|job| &job.targets);
            let devices = targets.filter_map(|target| target.device.clone()).collect();
            let begun = RequestTrace::begin(&Inventory::read(&Kernel::live()), &devices);
            self.tracing = self.kept("requests", begun);
            if self.tracing.is_none() {
                self.absent
                    .insert("throttled_ms".into(), self.absent["requests"].clone());
            }
        }
        if jobs.iter().any(|job| job.profile) {
            self.profiling = self.kept("profile", Profiler::begin());
        }
    }

    fn kept<T>(&mut self, what: &str, result: Result<T, String>) -> Option<T> {
        result
            .map_err(|reason| self.absent.insert(what.into(), reason))
            .ok()
    }

    /// The measured window begins.
    pub fn start(&mut self) {
        if let Some(profiling) = &mut self.profiling {
            profiling.start();
        }
        if let Some(tracing) = &mut self.tracing {
            tracing.start(Monotonic.now_ns());
        }
        self.vm_start = self.vm.as_mut().and_then(VmStat::read);
        self.places.iter_mut().for_each(Place::start);
        self.due_ns = Monotonic.now_ns() + SECOND_NS;
    }

    /// At every sample. Returns the page cache, when it is time to look again.
    pub fn look(&mut self) -> Option<Residency> {
        if let Some(tracing) = &mut self.tracing {
            tracing.note_threads();
        }
        let begin_ns = Monotonic.now_ns();
        if begin_ns < self.due_ns || self.places.is_empty() {
            return None;
        }
        let seen = self
            .places
            .iter()
            .map(Place::residency)
            .reduce(both)
            .flatten();
        let now_ns = Monotonic.now_ns();
        self.due_ns = begin_ns + SECOND_NS.max((now_ns - begin_ns) * READING_PART);
        seen
    }

    /// The measured window ended. Returns the page cache at that moment.
    pub fn end(&mut self) -> Option<Residency> {
        if let Some(tracing) = &mut self.tracing {
            tracing.end(Monotonic.now_ns());
        }
        if let Some(profiling) = &mut self.profiling {
            profiling.end();
        }
        self.vm_end = self.vm.as_mut().and_then(VmStat::read);
        self.places.iter_mut().for_each(Place::end);
        self.places
            .iter()
            .map(Place::residency_at_end)
            .reduce(both)
            .flatten()
    }

    /// One more sample of the measured window, which ended at `end_ms`.
    pub fn follow(&mut self, end_ms: f64, sample: &Sample) {
        self.turning.push(end_ms, sample);
    }

    /// Looks a last time, before the flush, and tells everything; whoever stops a run does not wait for its stacks.
    pub fn testify(mut self, stop: &Stop) -> Testimony {
        let at_end = self
            .places
            .iter()
            .map(Place::residency_at_end)
            .reduce(both)
            .flatten();
        if self.places.len() > MOST_TOLD {
            let more = self.places.len() - MOST_TOLD;
            self.absent.insert(
                "targets".into(),
                format!("{more} more files are in the sums, but not listed"),
            );
        }
        let writeback = self
            .vm_start
            .zip(self.vm_end)
            .map(|(from, to)| vmstat::since(from, to));
        let traced = self.tracing.take().map(RequestTrace::finish);
        let profile = self
            .profiling
            .take()
            .and_then(|profiling| self.kept("profile", read_stacks(profiling, stop)));
        Testimony {
            writeback: writeback.map(|all| Writeback {
                throttled_ms: traced.as_ref().map(|traced| traced.throttled_ms),
                ..all
            }),
            requests: traced.map(|traced| traced.requests),
            profile,
            targets: self
                .places
                .into_iter()
                .take(MOST_TOLD)
                .map(Place::tell)
                .collect(),
            transitions: self.turning.finish(),
            dirty_bytes: at_end.and_then(|seen| Some(seen.dirty? + seen.writeback?)),
            absent: self.absent,
        }
    }
}

fn read_stacks(profiling: Profiler, stop: &Stop) -> Result<Profile, String> {
    let read = run_unless_stopped(stop.flag(), move || profiling.finish())
        .map_err(|error| format!("reading stacks: {error}"))?;
    read.unwrap_or_else(|| Err("the run was stopped before its stacks were read".into()))
}

fn both(one: Option<Residency>, other: Option<Residency>) -> Option<Residency> {
    Some(one?.and(other?))
}

/// Why the page cache of the targets will not be seen.
fn unseen(places: &[Place], probes: bool) -> Option<String> {
    if !probes {
        return Some(crate::run::NO_PROBES.into());
    }
    if places.is_empty() {
        return Some("ioengine=null touches nothing that could be cached".into());
    }
    places.iter().find_map(Place::unseen)
}
