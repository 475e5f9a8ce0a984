//! A run, from job to report. Results cover only the measurement window.

mod backing_file;
mod cache_preparation;
mod clean_up;
mod context;
pub(crate) mod direction_stats;
mod error;
mod event_sink;
mod flush;
mod idle_wait;
pub mod listener;
mod observed_target;
mod observers;
mod open_targets;
mod phases;
mod report;
mod sampler;
pub mod stop_signal;
mod target_observers;
mod verify;
mod worker_pool;

use crate::{
    analysis::{analyze, gauge::report_gauge},
    plan::{resolve, study},
    run::{
        clean_up::clean_up, context::RunContext, error::RunError, event_sink::EventSink,
        listener::Listener, phases::measure, stop_signal::StopSignal, target_observers::NO_PROBES,
    },
    system::{
        guard::permissions::Permissions,
        host::{kernel::Kernel, view::View},
        run_cgroup::RunCgroup,
        target::Targets,
    },
};
use leadline_protocol::{
    event::EventBody,
    finding::{Finding, Severity},
    host::HostFacts,
    job::run_spec::RunSpec,
    plan::Plan,
    problem::Problem,
    report::Report,
    result::{Failure, RunResult},
    study::{plan::StudyPlan, spec::StudySpec},
};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::{cmp::Reverse, collections::BTreeMap};

/// Plans a run without starting it.
pub fn plan(spec: &RunSpec, permissions: &Permissions) -> Plan {
    resolve(spec, &View::new(permissions))
}

/// Plans a study without starting it.
pub fn plan_study(spec: &StudySpec, permissions: &Permissions) -> StudyPlan {
    study::resolve(spec, &View::new(permissions))
}

/// Runs the jobs and returns the exit code.
pub fn run(
    spec: &RunSpec,
    permissions: &Permissions,
    stop: &StopSignal,
    listener: &mut dyn Listener,
) -> u8 {
    StopSignal::ignore_sigxfsz();
    raise_file_limit();
    let mut sink = EventSink::new(listener);
    let mut plan = plan(spec, permissions);
    if !plan.problems.is_empty() {
        return fail(&mut sink, plan.problems);
    }
    let cgroup = enter_cgroup(&plan);
    let mut targets = Targets::new(permissions)
        .with_file_id(spec.study.clone())
        .with_plan(&plan);
    let measured = measure(&mut RunContext {
        plan: &mut plan,
        targets: &mut targets,
        sink: &mut sink,
        stop,
        cgroup,
        idle_wait_ms: u64::from(spec.idle_wait_seconds) * 1000,
    });
    let hung_layout = targets.hung_layout().map(str::to_owned);
    let is_hung = hung_layout.is_some() || matches!(&measured, Ok((report, _)) if report.is_hung());
    let clean_up = clean_up(&plan, targets, &mut sink, is_hung);
    match measured {
        Ok((report, host)) => {
            plan.findings.extend(clean_up.err().map(clean_up_finding));
            finish(plan, report, &host, &mut sink, stop)
        }
        Err(RunError::Failed(problem)) => fail(&mut sink, vec![problem]),
        Err(RunError::Stopped) => report_interruption(&mut sink, stop, hung_layout),
    }
}

fn enter_cgroup(plan: &Plan) -> Result<RunCgroup, String> {
    if plan.jobs.iter().all(|job| job.probes) {
        RunCgroup::enter(&Kernel::live())
    } else {
        Err(NO_PROBES.into())
    }
}

/// Raises the soft limit on open files, which is often 1,024: every worker opens each file, and the
/// observers open each file again.
fn raise_file_limit() {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        ..limit
    };
    // Errors are ignored here; opening the files reports them.
    let _ = setrlimit(Resource::Nofile, raised);
}

/// This is a finding instead of an error because the results are valid even if files cannot be
/// removed.
fn clean_up_finding(problem: Problem) -> Finding {
    Finding {
        code: problem.code,
        severity: Severity::Warning,
        sentence: problem.detail,
        evidence: BTreeMap::new(),
        remedy: problem.remedy,
        patch: None,
        patch_label: None,
        command: None,
    }
}

fn fail(sink: &mut EventSink, problems: Vec<Problem>) -> u8 {
    let exit_code = Problem::exit_code(&problems);
    sink.emit(EventBody::Failed(Failure {
        exit_code,
        problems,
    }));
    exit_code
}

/// Reports a run that was stopped early. `hung_layout`: the file that was being laid out when its
/// storage stopped responding.
fn report_interruption(sink: &mut EventSink, stop: &StopSignal, hung_layout: Option<String>) -> u8 {
    let mut problem = Problem::environment(
        "interrupted",
        "",
        "The run was stopped before the measurement started.",
        "Run it again.",
    );
    if let Some(path) = hung_layout {
        problem.detail = format!(
            "The run was stopped during layout: the storage for {path} did not respond within 0.3 s."
        );
        problem.remedy =
            "Check the device and the filesystem (dmesg). An incomplete file may remain.".into();
    }
    let exit_code = stop.exit_code().unwrap_or(1);
    sink.emit(EventBody::Failed(Failure {
        exit_code,
        problems: vec![problem],
    }));
    exit_code
}

fn finish(
    plan: Plan,
    mut report: Report,
    host: &HostFacts,
    sink: &mut EventSink,
    stop: &StopSignal,
) -> u8 {
    report.phases = std::mem::take(&mut sink.phases);
    let has_io_errors = report.errors.total > 0;
    let is_stalled = report.stalled_job().is_some();
    let is_damaged = report.damaged_job().is_some();
    let has_violated_limit = report.violated_limit().is_some();
    let (verdict, mut findings) = analyze(&report, &plan.jobs, host);
    report.gauge = Some(report_gauge(&report, &plan.jobs, &verdict));
    // A measured finding replaces the planned finding with the same code.
    let is_measured =
        |planned: &Finding| findings.iter().any(|finding| finding.code == planned.code);
    let mut planned = plan.findings;
    planned.retain(|planned| !is_measured(planned));
    findings.extend(planned);
    findings.sort_by_key(|finding| Reverse(finding.severity));
    sink.emit(EventBody::Report(Box::new(RunResult {
        report,
        verdict,
        findings,
    })));
    match stop.exit_code() {
        _ if has_io_errors || is_damaged || has_violated_limit => 1,
        Some(exit_code) => exit_code,
        None => u8::from(is_stalled),
    }
}
