//! Runs the steps of a study sequentially.

mod progress;
mod state_file;

use crate::{
    cli::{
        event_printer::EventPrinter,
        job_log_listener::JobLogListener,
        log_files::job_logs::JobLogFiles,
        output::{
            OutputFormat, print_error, print_fio, print_fio_differences, print_json, write_styled,
        },
        study::{
            progress::{Progress, Step, can_retry},
            state_file::{SavedProgress, StateFile},
        },
        text::{self, style::terminal_width},
    },
    dialect::job_logs::JobLogs,
    run::{self, stop_signal::StopSignal},
    system::{guard::permissions::Permissions, target::leftovers::remove_leftovers},
};
use leadline_protocol::{
    job::run_spec::{RunSpec, parse_run},
    plan::planned_minute,
    problem::Problem,
    study::{
        parse::parse_study,
        plan::{StepPlan, StudyPlan},
    },
};
use serde_json::{Value, json};
use std::{
    borrow::Cow,
    cell::{Cell, RefCell},
    io,
    path::Path,
};

/// Options for running a study.
pub(crate) struct StudyOptions<'a> {
    pub permissions: &'a Permissions,
    pub format: OutputFormat,
    pub stop: &'a StopSignal,
    /// Where to store the results so far.
    pub state: Option<&'a Path>,
    /// Logs requested by the jobs of each step. The study must have neither repeats nor sweeps.
    pub logs: &'a [Vec<JobLogs>],
}

/// Runs a study and returns the exit code of the first failed step. `confirm` adds to the
/// confirmations in the document.
pub(crate) fn run(document: Value, confirm: &[String], options: &StudyOptions) -> u8 {
    let StudyOptions { format, stop, .. } = *options;
    let reject = |problems| EventPrinter::new(format, None, stop).reject(problems);
    let spec = parse_study(document.clone()).map(|mut spec| {
        spec.confirm.extend_from_slice(confirm);
        spec
    });
    let spec = match spec {
        Ok(spec) => spec,
        Err(problems) => return reject(problems),
    };
    let opened = options.state.map(|path| StateFile::open(path, &document));
    let (mut state, saved) = match opened.transpose() {
        Ok(opened) => opened.map_or((None, None), |(file, saved)| (Some(file), saved)),
        Err(problem) => return reject(vec![problem]),
    };
    let plan = match &saved {
        Some(saved) => saved.plan.clone(),
        None => run::plan_study(&spec, options.permissions),
    };
    if !plan.problems.is_empty() {
        return reject(plan.problems);
    }
    if let OutputFormat::Fio(_) = format {
        print_fio_differences(plan.steps.iter().map(|step| &step.plan));
    }
    let plans = || plan.steps.iter().map(|step| step.plan.clone()).collect();
    let logs = match JobLogFiles::open(options.logs, plans) {
        Ok(logs) => logs,
        Err(problems) => return reject(problems),
    };
    if let (Some(state), None) = (&mut state, &saved)
        && let Err(error) = state.create(&document, &plan)
    {
        print_error(format_args!("cannot write the state file: {error}"));
        return 1;
    }
    let context = Context {
        plan: &plan,
        confirm: &spec.confirm,
        options,
        state: state.map(RefCell::new),
        logs: RefCell::new(logs),
        has_lost_state: Cell::new(false),
    };
    let progress = run_steps(&context, saved);
    let has_lost_state = context.has_lost_state.get();
    // A study that will be resumed keeps its files.
    let is_paused = has_lost_state || options.state.is_some() && stop.is_requested();
    let has_leftovers = !is_paused && clean_up(&plan, options.permissions);
    let output_code = print_results(&plan, &progress, format);
    let output_code = JobLogFiles::finish(context.logs.take(), output_code);
    progress
        .steps
        .iter()
        .filter_map(|step| step.run.as_ref())
        .map(|(code, _)| *code)
        .find(|code| *code != 0)
        .or(stop.exit_code())
        .unwrap_or(output_code.max((has_leftovers || has_lost_state).into()))
}

fn print_results(plan: &StudyPlan, progress: &Progress, format: OutputFormat) -> u8 {
    match format {
        OutputFormat::Events => 0,
        OutputFormat::Json => print_json(&progress.json_report(plan)),
        OutputFormat::Fio(format) => {
            let runs = progress.steps.iter().filter_map(Step::finished_run);
            print_fio(format, &runs.collect::<Vec<_>>())
        }
        OutputFormat::Text => {
            let results: Vec<_> = progress.steps.iter().map(Step::result).collect();
            let mut text = text::study::render_results(plan, &results, terminal_width());
            if let Some(results) = progress.procedure_results(plan) {
                text += &text::procedure::render(&results, terminal_width());
            }
            for answer in progress.answers(plan) {
                text += &text::study::answer(&answer, terminal_width());
            }
            u8::from(write_styled(&text).is_err())
        }
    }
}

/// `saved`: results from an earlier attempt, which the study resumes.
fn run_steps<'a>(context: &Context<'a>, saved: Option<SavedProgress>) -> Progress<'a> {
    let (plan, options) = (context.plan, context.options);
    let mut progress = Progress::default();
    if let Some(saved) = saved {
        progress.was_interrupted = saved.was_interrupted;
        for step in saved.steps {
            step.restore(&mut progress, |events| {
                EventPrinter::from_saved(events, options.format, options.stop)
            });
            progress.take_look(plan);
        }
    }
    for step in plan.steps.iter().skip(progress.steps.len()) {
        context.run_next(&mut progress, Cow::Borrowed(step));
    }
    while !options.stop.is_requested()
        && !context.has_lost_state.get()
        && let Some(document) = progress.next_step(plan)
    {
        match plan_added_step(plan, &document, progress.steps.len(), options.permissions) {
            Ok(step) => context.run_next(&mut progress, Cow::Owned(step)),
            Err(problems) => {
                problems.iter().for_each(print_error);
                break;
            }
        }
    }
    progress
}

/// Plans a step that a procedure adds. `number`: number of earlier steps.
fn plan_added_step(
    plan: &StudyPlan,
    document: &Value,
    number: usize,
    permissions: &Permissions,
) -> Result<StepPlan, Vec<Problem>> {
    let run = json!({"jobs": document["jobs"], "study": plan.file_id});
    let planned = run::plan(&parse_run(&run)?, permissions);
    if !planned.problems.is_empty() {
        return Err(planned.problems);
    }
    Ok(StepPlan {
        step: number as u32 + 1,
        repeat: 1,
        sweep: Vec::new(),
        name: document["name"].as_str().unwrap_or_default().to_owned(),
        note: None,
        jobs: document["jobs"].as_array().cloned().unwrap_or_default(),
        plan: planned,
    })
}

/// Data shared by all steps of a study.
struct Context<'a> {
    plan: &'a StudyPlan,
    confirm: &'a [String],
    options: &'a StudyOptions<'a>,
    state: Option<RefCell<StateFile>>,
    logs: RefCell<Option<JobLogFiles>>,
    /// Set if the state file could not be written; no more runs start then.
    has_lost_state: Cell<bool>,
}

impl Context<'_> {
    /// Runs a step unless the study has ended or stopped. Retries a failed run once if `can_retry`.
    fn run_next<'s>(&self, progress: &mut Progress<'s>, step: Cow<'s, StepPlan>) {
        let (plan, options) = (self.plan, self.options);
        let (format, stop) = (options.format, options.stop);
        let number = progress.steps.len() as u32 + 1;
        let is_skipped =
            || stop.is_requested() || self.has_lost_state.get() || progress.has_ended(plan);
        let run_once = || {
            let mut events = EventPrinter::new(format, Some(number), stop);
            let run = step.run(&plan.file_id, plan.idle_wait_seconds);
            events.set_requested(&run);
            let code = self.run_step(&run, number as usize - 1, &mut events);
            events.clear_progress();
            (code, events)
        };
        if !is_skipped() {
            self.record(StateFile::record_start);
        }
        let mut run = (!is_skipped()).then(run_once);
        let is_failed = run.as_ref().is_some_and(|(code, _)| *code != 0);
        let mut failed_run = None;
        if is_failed && can_retry(plan, &step) && !stop.is_requested() {
            failed_run = run.replace(run_once());
        }
        let step = Step {
            plan: step,
            run,
            failed_run,
            was_interrupted: std::mem::take(&mut progress.was_interrupted),
        };
        // A stopped run is not recorded, so it is repeated when the study is resumed.
        if step.run.is_some() && !stop.is_requested() {
            self.record(|state| state.record_end(&step));
        }
        if step.run.is_some() && format == OutputFormat::Text {
            let is_second = step.failed_run.is_some();
            let line = text::study::step_line(plan, number, &step.plan, &step.result(), is_second);
            // Errors are ignored: even if standard output is closed, the study must finish and
            // remove its files.
            let _ = write_styled(&line);
        }
        progress.steps.push(step);
        if !stop.is_requested()
            && let Some(look) = progress.take_look(plan)
            && format == OutputFormat::Text
        {
            let _ = write_styled(&text::study::look_line(look, terminal_width()));
        }
    }

    /// Runs a step, reports its events, and returns the exit code. `step`: its index.
    fn run_step(&self, document: &Value, step: usize, events: &mut EventPrinter) -> u8 {
        let mut spec = match parse_run(document) {
            Ok(spec) => RunSpec {
                confirm: self.confirm.to_vec(),
                // The age of the confirmations was already checked when the study was planned.
                accepted_minute: self.confirm.iter().find_map(|entry| planned_minute(entry)),
                ..spec
            },
            Err(problems) => return events.reject(problems),
        };
        let mut logs = self.logs.borrow_mut();
        if let Some(logs) = &*logs {
            logs.set_interval(step, &mut spec);
        }
        let mut listener = JobLogListener {
            events,
            logs: logs.as_mut(),
            step,
        };
        let StudyOptions {
            permissions, stop, ..
        } = *self.options;
        run::run(&spec, permissions, stop, &mut listener)
    }

    /// Stores a result. After an error, no more runs start, because a run without a stored result
    /// would be repeated when the study is resumed.
    fn record(&self, write: impl FnOnce(&mut StateFile) -> io::Result<()>) {
        if let Some(state) = &self.state
            && let Err(error) = write(&mut state.borrow_mut())
        {
            print_error(format_args!(
                "cannot write the state file: {error}. No more runs start. Repeat the command to \
                 continue."
            ));
            self.has_lost_state.set(true);
        }
    }
}

/// Removes files left by steps that did not run. Returns true if files remain.
fn clean_up(plan: &StudyPlan, permissions: &Permissions) -> bool {
    let left = remove_leftovers(&plan.owned_files(), permissions).left;
    left.iter()
        .filter_map(|file| file.reason.as_ref())
        .for_each(print_error);
    !left.is_empty()
}
