//! One run from job to report: plan, guard, layout, caches, ramp and measurement, flush, clean up. Each phase is told
//! when it begins and ends and reported with its time; only the measurement is in the numbers.

pub(crate) mod backing;
pub(crate) mod build;
pub(crate) mod caches;
pub(crate) mod crew;
pub(crate) mod place;
pub(crate) mod result;
pub(crate) mod sampling;
pub(crate) mod stop;
pub(crate) mod tell;
pub(crate) mod watch;
pub(crate) mod witness;

use crate::analysis::gauge::report_gauge;
use crate::analysis::judge;
use crate::load::worker::Broken;
use crate::plan::phases::window_ms;
use crate::plan::resolve;
use crate::plan::study;
use crate::run::crew::Crew;
use crate::run::result::Frame;
use crate::run::stop::Stop;
use crate::run::tell::Teller;
use crate::run::watch::watch;
use crate::run::witness::Witness;
use crate::system::clock::wall_ms;
use crate::system::host;
use crate::system::host::view::View;
use crate::system::probes::Probes;
use crate::system::probes::thermal::throttles;
use crate::system::target::cache::flush;
use crate::system::target::cancellable::run_unless_stopped;
use crate::system::target::layout_data::LayoutData;
use crate::system::target::{Finish, OpenTarget, Targets};
use leadline_protocol::event::{Accepted, Event, EventBody};
use leadline_protocol::finding::{Finding, Severity};
use leadline_protocol::host::HostFacts;
use leadline_protocol::job::parse::RunSpec;
use leadline_protocol::phase::{Phase, PhaseChange, PhaseState};
use leadline_protocol::plan::Plan;
use leadline_protocol::plan::resolved::ResolvedJob;
use leadline_protocol::problem::Problem;
use leadline_protocol::report::Report;
use leadline_protocol::result::{Failure, RunResult};
use leadline_protocol::study::{StudyPlan, StudySpec};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

/// Why numbers are missing in a run that asked for it.
const NO_PROBES: &str = "probes=0 was asked for";

/// Seed of the data that files are laid out with.
const LAYOUT_SEED: u64 = 0x1EAD_11E0;

/// What would happen; nothing is touched.
pub fn plan(ask: &RunSpec, roots: &[PathBuf]) -> Plan {
    resolve(ask, &View::new(roots.to_vec()))
}

/// What a study would do; nothing is touched.
pub fn plan_study(ask: &StudySpec, roots: &[PathBuf]) -> StudyPlan {
    study::resolve(ask, &View::new(roots.to_vec()))
}

/// Runs the jobs and tells the listener everything that happens. Returns the exit code of the contract.
pub fn run(ask: &RunSpec, roots: &[PathBuf], stop: &Stop, listener: &mut dyn FnMut(&Event)) -> u8 {
    stop.outlive_file_limits();
    open_as_many_files_as_allowed();
    let mut teller = Teller::new(listener);
    let mut plan = plan(ask, roots);
    if !plan.problems.is_empty() {
        return fail(&mut teller, plan.problems);
    }
    let mut targets = Targets::new(roots.to_vec()).with_file_id(ask.study.clone());
    let measured = Run {
        plan: &mut plan,
        targets: &mut targets,
        teller: &mut teller,
        stop,
    }
    .measure();
    targets.mark_owned();
    let leftover_files = clean_up(&plan, &mut targets, &mut teller).err();
    match measured {
        Ok((report, host)) => {
            plan.findings.extend(leftover_files.map(not_removed));
            finish(&plan, report, &host, &mut teller, stop)
        }
        Err(End::Refused(problem)) => fail(&mut teller, vec![problem]),
        Err(End::Stopped) => interrupted(&mut teller, stop),
    }
}

/// What was measured counts all the same.
fn not_removed(
    Problem {
        code,
        detail: sentence,
        remedy,
        ..
    }: Problem,
) -> Finding {
    Finding {
        code,
        severity: Severity::Warning,
        sentence,
        evidence: BTreeMap::new(),
        remedy,
        patch: None,
        patch_label: None,
    }
}

/// Every clone has its own descriptor of each file, and the witness one more: the soft limit (often 1,024) is raised to the
/// hard one, which is what the administrator meant.
fn open_as_many_files_as_allowed() {
    let limit = getrlimit(Resource::Nofile);
    // Where it is refused, opening says so in its own words.
    let _ = setrlimit(
        Resource::Nofile,
        Rlimit {
            current: limit.maximum,
            ..limit
        },
    );
}

fn fail(teller: &mut Teller, problems: Vec<Problem>) -> u8 {
    let exit_code = Problem::exit_code(&problems);
    teller.tell(EventBody::Failed(Failure {
        exit_code,
        problems,
    }));
    exit_code
}

fn interrupted(teller: &mut Teller, stop: &Stop) -> u8 {
    let mut problem = Problem::environment(
        "interrupted",
        "",
        "The run was stopped before the measurement began.",
        "Run it again.",
    );
    problem.field = None;
    let exit_code = stop.exit_code().unwrap_or(1);
    teller.tell(EventBody::Failed(Failure {
        exit_code,
        problems: vec![problem],
    }));
    exit_code
}

fn finish(
    plan: &Plan,
    mut report: Report,
    host: &HostFacts,
    teller: &mut Teller,
    stop: &Stop,
) -> u8 {
    report.phases = std::mem::take(&mut teller.phases);
    let failed = report.errors.total > 0;
    let (verdict, mut findings) = judge(&report, &plan.jobs, host);
    // What the measurement shows is better than what the plan could foresee.
    let foreseen: Vec<Finding> = plan
        .findings
        .iter()
        .filter(|finding| findings.iter().all(|seen| seen.code != finding.code))
        .cloned()
        .collect();
    findings.extend(foreseen);
    report.gauge = Some(report_gauge(&report, &plan.jobs, &verdict));
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    teller.tell(EventBody::Report(Box::new(RunResult {
        report,
        verdict,
        findings,
    })));
    if failed {
        1
    } else {
        stop.exit_code().unwrap_or(0)
    }
}

/// Why a run has no report.
enum End {
    /// Something was in the way.
    Refused(Problem),
    /// It was stopped before the measurement.
    Stopped,
}

impl From<Problem> for End {
    fn from(problem: Problem) -> Self {
        Self::Refused(problem)
    }
}

impl From<Broken> for End {
    fn from(Broken { doing, error }: Broken) -> Self {
        let remedy = "leadline-runner doctor tells what this host can do.";
        let mut problem = Problem::environment(
            "engine_failed",
            "",
            format!("The system refused while {doing}: {error}."),
            remedy,
        );
        problem.field = None;
        Self::Refused(problem)
    }
}

/// A run on its way.
struct Run<'a, 'b> {
    plan: &'a mut Plan,
    targets: &'a mut Targets,
    teller: &'a mut Teller<'b>,
    stop: &'a Stop,
}

/// What is looked at beside the clones.
struct Eyes {
    probes: Probes,
    witness: Witness,
    absent: BTreeMap<String, String>,
}

/// What is to be flushed after the measurement, and the number of its job.
struct ToFlush {
    job: usize,
    opened: OpenTarget,
}

/// The open targets of each clone of each job.
type Open = Vec<Vec<Vec<OpenTarget>>>;

impl Run<'_, '_> {
    fn measure(mut self) -> Result<(Report, HostFacts), End> {
        let host = host::facts::host_facts();
        let mut eyes = self.accept(&host);
        self.lay_out()?;
        if self.targets.attach_loops(&mut self.plan.jobs)? {
            // Which devices these are is known only now.
            eyes = self.accept(&host);
        }
        let Eyes {
            mut probes,
            mut witness,
            absent,
        } = eyes;
        let open = self.in_phase(Phase::Guard, Self::open)?;
        witness.examine(open.iter().flatten().flatten());
        self.set_caches(&open)?;
        let syncs = self.files_to_flush(&open)?;
        witness.prepare(&self.plan.jobs);
        let crew = Crew::assemble(&self.plan.jobs, descriptors(open)).map_err(|error| Broken {
            doing: "starting threads",
            error,
        })?;
        let cool = throttles();
        let watched = watch(
            &crew,
            &self.plan.jobs,
            self.plan.sample_ms,
            &mut probes,
            &mut witness,
            self.teller,
            self.stop,
        );
        let finished = crew.dismiss();
        let thermal_throttles = throttles()
            .zip(cool)
            .map(|(after, before)| after.saturating_sub(before));
        let (devices, testimony) = (probes.devices().to_vec(), witness.testify(self.stop));
        let frame = Frame {
            phases: Vec::new(),
            devices,
            absent,
            thermal_throttles,
            testimony,
        };
        let mut report = result::report(&self.plan.jobs, finished, &watched, frame)?;
        self.flush(syncs, &mut report);
        Ok((report, host))
    }

    /// Opens the counters of the devices as far as they are known, and tells that the jobs are taken.
    fn accept(&mut self, host: &HostFacts) -> Eyes {
        let devices = devices(&self.plan.jobs);
        let probed = self.plan.jobs.iter().all(|job| job.probes);
        let probes = if probed {
            Probes::new(&devices)
        } else {
            Probes::none(NO_PROBES)
        };
        let witness = Witness::new(&self.plan.jobs);
        let absent: BTreeMap<String, String> = probes
            .absent()
            .clone()
            .into_iter()
            .chain(witness.absent().clone())
            .collect();
        let accepted = Accepted {
            at_ms: wall_ms(),
            jobs: self.plan.jobs.clone(),
            host: host.clone(),
            sample_ms: self.plan.sample_ms,
            measure_ms: window_ms(&self.plan.jobs),
            devices,
            absent: absent.clone(),
        };
        self.teller.tell(EventBody::Accepted(Box::new(accepted)));
        Eyes {
            probes,
            witness,
            absent,
        }
    }

    fn in_phase<T>(
        &mut self,
        phase: Phase,
        work: impl FnOnce(&mut Self) -> Result<T, End>,
    ) -> Result<T, End> {
        if self.stop.is_requested() {
            return Err(End::Stopped);
        }
        self.teller.phase(phase, PhaseState::Begin);
        let result = work(self);
        self.teller.phase(phase, PhaseState::End);
        result
    }

    fn lay_out(&mut self) -> Result<(), End> {
        let bytes: u64 = self
            .plan
            .jobs
            .iter()
            .flat_map(|job| &job.targets)
            .map(|target| target.layout_bytes)
            .sum();
        if bytes == 0
            && self
                .plan
                .jobs
                .iter()
                .flat_map(|job| &job.targets)
                .all(|target| target.existed)
        {
            return Ok(());
        }
        self.in_phase(Phase::Layout, |run| {
            let data = LayoutData::new(LAYOUT_SEED);
            let mut fill = |offset: u64, buffer: &mut [u8]| data.fill(offset, buffer);
            let teller = &mut *run.teller;
            whole(run.targets.lay_out(
                &run.plan.jobs,
                &mut fill,
                &mut |change| teller.change(change),
                run.stop.flag(),
            )?)
        })
    }

    fn open(&mut self) -> Result<Open, End> {
        Ok(self
            .plan
            .jobs
            .iter()
            .map(|job| self.targets.open(job))
            .collect::<Result<_, _>>()?)
    }

    /// Descriptors of what is to be flushed after the measurement: those of the clones are theirs.
    fn files_to_flush(&self, open: &Open) -> Result<Vec<ToFlush>, End> {
        let jobs = self
            .plan
            .jobs
            .iter()
            .enumerate()
            .zip(open)
            .filter(|((_, job), _)| job.target.end_fsync);
        let opened = jobs.flat_map(|((job, _), clones)| {
            clones.iter().flatten().map(move |opened| (job, opened))
        });
        let copy = |(job, opened): (usize, &OpenTarget)| {
            Ok(ToFlush {
                job,
                opened: opened.try_clone()?,
            })
        };
        let copies = opened.map(copy).collect::<std::io::Result<Vec<_>>>();
        Ok(copies.map_err(|error| Broken {
            doing: "keeping files open for the flush",
            error,
        })?)
    }

    /// Flushes what was written. A flush that fails is an I/O that failed: what was measured is told all the same. Whoever stopped
    /// the run does not want to wait for it.
    fn flush(&mut self, files: Vec<ToFlush>, report: &mut Report) {
        if files.is_empty() {
            return;
        }
        let mut is_absent = |reason: String| drop(report.absent.insert("flush".into(), reason));
        if self.stop.is_requested() {
            return is_absent("the run was stopped before its flush".into());
        }
        self.teller.phase(Phase::Flush, PhaseState::Begin);
        let failed = move || {
            files
                .into_iter()
                .find_map(|file| flush(&file.opened).err().map(|errno| (file, errno)))
        };
        let failed = run_unless_stopped(self.stop.flag(), failed);
        self.teller.phase(Phase::Flush, PhaseState::End);
        match failed {
            Err(error) => is_absent(error.to_string()),
            Ok(None) => is_absent("the run was stopped during its flush".into()),
            Ok(Some(Some((file, errno)))) => {
                result::add_failed_flush(report, file.job, &file.opened.target, errno)
            }
            Ok(Some(None)) => {
                let time = self
                    .teller
                    .phases
                    .iter()
                    .find(|time| time.phase == Phase::Flush);
                let duration_ms = time.map(|time| time.duration_ms);
                report
                    .flush
                    .iter_mut()
                    .for_each(|flush| flush.duration_ms = duration_ms);
            }
        }
    }
}

fn whole(finish: Finish) -> Result<(), End> {
    match finish {
        Finish::Done => Ok(()),
        Finish::Stopped => Err(End::Stopped),
    }
}

fn descriptors(open: Open) -> Vec<Vec<Vec<OwnedFd>>> {
    let clone = |opened: Vec<OpenTarget>| opened.into_iter().map(|opened| opened.fd).collect();
    open.into_iter()
        .map(|clones| clones.into_iter().map(clone).collect())
        .collect()
}

/// Kernel names of the devices under all targets, each once.
fn devices(jobs: &[ResolvedJob]) -> Vec<String> {
    let mut devices: Vec<String> = jobs
        .iter()
        .flat_map(|job| &job.targets)
        .filter_map(|target| target.device.clone())
        .collect();
    devices.sort();
    devices.dedup();
    devices
}

fn clean_up(plan: &Plan, targets: &mut Targets, teller: &mut Teller) -> Result<(), Problem> {
    targets.detach_loops();
    if !plan.jobs.iter().any(|job| job.target.unlink) {
        return Ok(());
    }
    teller.phase(Phase::CleanUp, PhaseState::Begin);
    let removed = targets.clean_up();
    let note = removed
        .as_ref()
        .ok()
        .map(|files| format!("{files} files removed"));
    teller.change(PhaseChange {
        phase: Phase::CleanUp,
        state: PhaseState::End,
        done_bytes: None,
        total_bytes: None,
        planned_ms: None,
        note,
    });
    removed.map(|_| ())
}
