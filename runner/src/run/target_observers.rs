//! Observes the targets and the host's writeback; on request, also request sizes and CPU stacks.
//! Reads the page cache residency before the run, at the start and end of the measured window, and
//! at most once a second in between.

use crate::{
    analysis::transitions::TransitionDetector,
    run::{
        observed_target::ObservedTarget, sampler::layers::LayersInSample, stop_signal::StopSignal,
    },
    system::{
        clock::{Clock, Monotonic, NS_PER_SECOND},
        host::{inventory::Inventory, kernel::Kernel},
        layers::{StoredFile, builder::LayersBuilder},
        probes::{
            profile::Profiler,
            request_trace::RequestTrace,
            vmstat::{self, VmStat},
        },
        target::{OpenTarget, cancellable::run_unless_stopped},
    },
};
use leadline_protocol::{
    counters::Residency,
    evidence::{Profile, Requests, Writeback, target::TargetReport, transition::Transition},
    plan::job::ResolvedJob,
    sample::Sample,
};
use std::{collections::BTreeMap, sync::Arc};

/// Why counters are missing if `probes=0` is set.
pub(crate) const NO_PROBES: &str = "disabled by probes=0";

/// Minimum interval between two residency readings, as a multiple of the duration of a reading.
const MIN_READING_INTERVAL: u64 = 100;
/// Maximum number of targets in a report. Limited because each target includes a residency map of a
/// few hundred numbers.
const MAX_REPORTED_TARGETS: usize = 128;

#[derive(Default)]
pub(crate) struct TargetObservers {
    targets: Vec<ObservedTarget>,
    vmstat: Option<VmStat>,
    vmstat_start: Option<Writeback>,
    vmstat_end: Option<Writeback>,
    next_reading_ns: u64,
    /// The targets' dirty bytes at the start of the current phase; `None` if unknown.
    dirty_bytes_at_start: Option<u64>,
    transitions: TransitionDetector,
    request_trace: Option<RequestTrace>,
    profiler: Option<Profiler>,
    absent: BTreeMap<String, String>,
}

/// Observations in the measured window.
#[derive(Default)]
pub(crate) struct Observation {
    pub targets: Vec<TargetReport>,
    pub transitions: Vec<Transition>,
    pub writeback: Option<Writeback>,
    pub requests: Option<Requests>,
    pub profile: Option<Profile>,
    /// Target bytes that were dirty or under writeback at the end.
    pub dirty_bytes: Option<u64>,
    /// Missing numbers, and the reason for each.
    pub absent: BTreeMap<String, String>,
}

impl TargetObservers {
    /// Reads the targets' initial state. Observes nothing if a job sets `probes=0`.
    pub(crate) fn new(jobs: &[ResolvedJob]) -> Self {
        let mut observers = Self::default();
        if jobs.iter().any(|job| !job.probes) {
            for key in ["writeback", "residency"] {
                observers.absent.insert(key.into(), NO_PROBES.into());
            }
            return observers;
        }
        observers.targets = ObservedTarget::from_jobs(jobs);
        observers.vmstat = observers.ok_or_record_absent("writeback", VmStat::open());
        let reason = if observers.targets.is_empty() {
            Some("ioengine=null does not use the page cache".into())
        } else {
            observers
                .targets
                .iter()
                .find_map(ObservedTarget::unreadable_reason)
        };
        if let Some(reason) = reason {
            observers.absent.insert("residency".into(), reason);
        }
        observers
    }

    pub(crate) fn absent(&self) -> &BTreeMap<String, String> {
        &self.absent
    }

    /// Examines the open targets before the page cache is prepared.
    pub(crate) fn examine<'a>(&mut self, open: impl Iterator<Item = &'a OpenTarget> + Clone) {
        if self.targets.is_empty() {
            return;
        }
        let host = Inventory::read(&Kernel::live());
        let mut layers = LayersBuilder::new(&host);
        for observed in &mut self.targets {
            let mut open = open.clone();
            if let Some(opened) = open.find(|opened| opened.target.path == observed.path()) {
                observed.examine(opened, &host, &mut layers);
            }
        }
    }

    /// The targets' storage layers, if known; empty if probes are disabled.
    pub(crate) fn layers_by_path(&self) -> BTreeMap<&str, Arc<StoredFile>> {
        let targets = self.targets.iter();
        targets
            .filter_map(|target| Some((target.path(), target.layers()?)))
            .collect()
    }

    /// Prepares the request size trace and the CPU profile. Must be called before the workers
    /// start, because they inherit the perf events.
    pub(crate) fn prepare(&mut self, jobs: &[ResolvedJob]) {
        if jobs.iter().any(|job| job.request_sizes) {
            let targets = jobs.iter().flat_map(|job| &job.targets);
            let devices = targets.filter_map(|target| target.device.clone()).collect();
            let host = Inventory::read(&Kernel::live());
            self.request_trace =
                self.ok_or_record_absent("requests", RequestTrace::open(&host, &devices));
            if let Some(reason) = self.absent.get("requests") {
                self.absent.insert("throttled_ms".into(), reason.clone());
            }
        }
        if jobs.iter().any(|job| job.profile) {
            self.profiler = self.ok_or_record_absent("profile", Profiler::begin());
        }
    }

    /// Returns the value, or adds to `absent` why it is missing.
    fn ok_or_record_absent<T>(&mut self, what: &str, result: Result<T, String>) -> Option<T> {
        result
            .map_err(|reason| self.absent.insert(what.into(), reason))
            .ok()
    }

    /// Must be called before the ramp.
    pub(crate) fn start_ramp(&mut self) {
        let residency = total(&self.targets, ObservedTarget::residency);
        self.dirty_bytes_at_start = residency.and_then(Residency::pending_write_bytes);
    }

    pub(crate) fn dirty_bytes_at_start(&self) -> Option<u64> {
        self.dirty_bytes_at_start
    }

    /// Must be called at the start of the measured window.
    pub(crate) fn start(&mut self) {
        if let Some(profiler) = &mut self.profiler {
            profiler.start();
        }
        if let Some(trace) = &mut self.request_trace {
            trace.start(Monotonic.now_ns());
        }
        self.vmstat_start = self.vmstat.as_mut().and_then(VmStat::read);
        self.targets.iter_mut().for_each(ObservedTarget::start);
        let residency = total(&self.targets, ObservedTarget::residency_at_start);
        self.dirty_bytes_at_start = residency.and_then(Residency::pending_write_bytes);
        self.next_reading_ns = Monotonic.now_ns() + NS_PER_SECOND;
    }

    /// Must be called for every sample. Returns the total residency of all targets if a reading is
    /// due.
    pub(crate) fn poll(&mut self) -> Option<Residency> {
        if let Some(trace) = &mut self.request_trace {
            trace.record_threads();
        }
        let begin_ns = Monotonic.now_ns();
        if begin_ns < self.next_reading_ns || self.targets.is_empty() {
            return None;
        }
        let residency = total(&self.targets, ObservedTarget::residency);
        let reading_ns = Monotonic.now_ns() - begin_ns;
        self.next_reading_ns = begin_ns + NS_PER_SECOND.max(reading_ns * MIN_READING_INTERVAL);
        residency
    }

    /// Must be called at the end of the measured window. Returns the residency of all targets.
    pub(crate) fn end(&mut self) -> Option<Residency> {
        if let Some(trace) = &mut self.request_trace {
            trace.end(Monotonic.now_ns());
        }
        if let Some(profiler) = &mut self.profiler {
            profiler.end();
        }
        self.vmstat_end = self.vmstat.as_mut().and_then(VmStat::read);
        self.targets.iter_mut().for_each(ObservedTarget::end);
        total(&self.targets, ObservedTarget::residency_at_end)
    }

    /// `end_ms`: end of a sample in the measured window. `layers`: lookups of its I/Os.
    pub(crate) fn push_sample(&mut self, end_ms: f64, sample: &Sample, layers: LayersInSample) {
        let LayersInSample { reads, writes } = layers;
        self.transitions.push(end_ms, sample, reads, writes);
    }

    /// Must be called before the flush. A stop does not wait for perf to process the profile.
    pub(crate) fn finish(mut self, stop: &StopSignal) -> Observation {
        let at_end = total(&self.targets, ObservedTarget::residency_at_end);
        if let Some(omitted @ 1..) = self.targets.len().checked_sub(MAX_REPORTED_TARGETS) {
            let reason = format!("{omitted} more files are counted but not listed");
            self.absent.insert("targets".into(), reason);
        }
        let mut writeback = None;
        if let (Some(start), Some(end)) = (self.vmstat_start, self.vmstat_end) {
            writeback = Some(vmstat::since(start, end));
        }
        let trace = self.request_trace.take().map(RequestTrace::finish);
        if let (Some(writeback), Some(trace)) = (&mut writeback, &trace) {
            writeback.throttled_ms = Some(trace.throttled_ms);
        }
        let mut profile = None;
        if let Some(profiler) = self.profiler.take() {
            profile = self.ok_or_record_absent("profile", read_stacks(profiler, stop));
        }
        let targets = self.targets.into_iter().take(MAX_REPORTED_TARGETS);
        Observation {
            targets: targets.map(ObservedTarget::finish).collect(),
            transitions: self.transitions.finish(),
            writeback,
            requests: trace.map(|trace| trace.requests),
            profile,
            dirty_bytes: at_end.and_then(Residency::pending_write_bytes),
            absent: self.absent,
        }
    }
}

fn read_stacks(profiler: Profiler, stop: &StopSignal) -> Result<Profile, String> {
    let read = run_unless_stopped(stop.flag(), move || profiler.finish())
        .map_err(|error| format!("reading stacks: {error}"))?;
    read.unwrap_or_else(|| Err("the run was stopped before the stacks were read".into()))
}

/// Total residency of all targets; `None` if any of them is unknown.
fn total(
    targets: &[ObservedTarget],
    residency: fn(&ObservedTarget) -> Option<Residency>,
) -> Option<Residency> {
    let each = targets.iter().map(residency);
    each.reduce(|sum, next| Some(sum?.merge(next?))).flatten()
}
