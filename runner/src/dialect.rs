//! Imports fio job files, fio and diskspd commands, and Leadline's own JSON. Nothing is executed,
//! no file is read, and facts about the host are passed as arguments.
//!
//! - `detect`: the dialect in which the text is written
//! - `job_file`, `shell`, `assignment`, `prompt`, `programs`, `command`, `command_arguments`,
//!   `command_files`, `command_options`: text to `section`s with options; `substitute`,
//!   `expression`: variables and arithmetic
//! - `diskspd`: diskspd flags to fio options
//! - `options`, `option_value`, `value`, `engines`, `overridden`: a job's options, parsed as in
//!   fio; `option_notes`, `misread_values`: notes about these options
//! - `fio_jobs`, `zones`, `order`, `document`, `canonical`: sections to jobs, steps and JSON
//! - `job_logs`: the log files that jobs request
//! - `misleading_jobs`, `notes`, `positions`, `source`: notes with positions in the text
//! - `host_facts`: facts about the host that the text refers to

mod assignment;
mod canonical;
mod command;
mod command_arguments;
mod command_files;
mod command_options;
mod detect;
mod diskspd;
mod document;
mod engines;
mod expression;
mod fio_jobs;
mod host_facts;
mod job_file;
pub(crate) mod job_logs;
mod misleading_jobs;
mod misread_values;
mod notes;
mod option_notes;
mod option_value;
mod options;
mod order;
mod overridden;
mod positions;
mod programs;
mod prompt;
mod section;
mod shell;
mod source;
mod substitute;
mod value;
mod zones;

pub(crate) use command::MISSING_NAME;
pub(crate) use command_arguments::{job_file_arguments, program_option};
pub use host_facts::{HostFacts, PathKind};
pub(crate) use positions::Positions;

use crate::dialect::{
    detect::detect,
    document::{Step, apply_exitall_to_all_jobs, document, step},
    fio_jobs::FioJob,
    job_logs::{JobLogs, job_logs},
    notes::{NoteText, Notes},
    shell::Separator,
    source::{Source, Span},
};
use leadline_protocol::{
    import::{Dialect, Import, ImportRequest},
    job::{fio::find_option, run_spec::parse_run},
    json::{DocumentError, parse_document},
    problem::Problem,
    study::parse::{is_study, parse_study},
};
use serde_json::Value;
use std::{collections::BTreeSet, mem};

/// Maximum length of the text, in bytes.
const MAX_TEXT: usize = 1 << 20;
/// The maximum number of steps in a study.
const MAX_COMMANDS: usize = 256;

/// Jobs read from text, and the log files that they request.
pub(crate) struct ImportWithLogs {
    pub import: Import,
    /// By step and job of the resulting document.
    pub logs: Vec<Vec<JobLogs>>,
    /// Messages about differences from fio's logs.
    pub differences: BTreeSet<String>,
    /// Empty for a JSON document.
    pub positions: Positions,
}

/// Reads jobs from text.
pub fn import(request: &ImportRequest, host: &HostFacts<'_>) -> Import {
    import_with_logs(request, host).import
}

pub(crate) fn import_with_logs(request: &ImportRequest, host: &HostFacts<'_>) -> ImportWithLogs {
    let without_logs = |import| ImportWithLogs {
        import,
        logs: Vec::new(),
        differences: BTreeSet::new(),
        positions: Positions::default(),
    };
    let source = Source::new(&request.text);
    let mut notes = Notes::new(&source);
    if request.text.len() > MAX_TEXT {
        report_length(&source, &mut notes);
        return without_logs(without_jobs(Dialect::Unknown, notes));
    }
    let dialect = detect(&request.text);
    if dialect == Dialect::Json {
        return without_logs(json(&request.text, notes));
    }
    let commands = read(dialect, &source, request, host, &mut notes);
    let mut all: Vec<Step<'_>> = Vec::new();
    let mut differences = BTreeSet::new();
    for command in &commands {
        let (logs, sentences) = job_logs(&command.jobs);
        differences.extend(sentences);
        let mut steps = steps(&command.jobs, &logs, host, &mut notes);
        if command.is_with_previous
            && let (Some(last), 1) = (all.last_mut(), steps.len())
        {
            let mut step = steps.swap_remove(0);
            last.jobs.append(&mut step.jobs);
            last.written.append(&mut step.written);
            last.logs.append(&mut step.logs);
        }
        all.append(&mut steps);
    }
    let continues = commands.iter().all(|command| command.continues);
    let logs = all
        .iter_mut()
        .map(|step| mem::take(&mut step.logs))
        .collect();
    let positions = Positions::new(&request.text, &all);
    ImportWithLogs {
        import: finish(dialect, &all, continues, notes),
        logs,
        differences,
        positions,
    }
}

/// Reports that the text is longer than [`MAX_TEXT`].
fn report_length(source: &Source<'_>, notes: &mut Notes<'_>) {
    let sentence = format!("The text is {} bytes long.", source.text.len());
    let remedy = format!("Paste at most {MAX_TEXT} bytes.");
    // The most likely cause is one very long line.
    let lines = source.lines();
    let (start, line) = lines.max_by_key(|(_, line)| line.len()).unwrap_or_default();
    let name = line
        .split('=')
        .next()
        .filter(|name| find_option(name).is_some());
    let text = NoteText::new("text_too_long", sentence, remedy);
    notes.error(&(start..start + name.map_or(1, str::len)), name, text);
}

/// The jobs in a job file or in one command.
struct Command {
    jobs: Vec<FioJob>,
    /// Whether the command starts together with the previous one.
    is_with_previous: bool,
    /// Whether the next command starts even if this one fails.
    continues: bool,
}

fn read(
    dialect: Dialect,
    source: &Source<'_>,
    request: &ImportRequest,
    host: &HostFacts<'_>,
    notes: &mut Notes<'_>,
) -> Vec<Command> {
    let mut variables = request.variables.clone().unwrap_or_default();
    // Ignore values with control characters, such as line breaks.
    variables.retain(|_, value| !value.contains(char::is_control));
    let variables = &variables;
    if dialect == Dialect::FioJobFile {
        let sections = job_file::sections(source, variables, host, notes);
        return vec![Command {
            jobs: fio_jobs::jobs(&sections, notes),
            is_with_previous: false,
            continues: true,
        }];
    }
    if let Some(at) = source.text.find('\0') {
        let sentence = "The text contains a NUL character.";
        let text = NoteText::new("nul_character", sentence, "Remove the character.");
        notes.error(&(at..at + 1), None, text);
    }
    if dialect == Dialect::DiskspdCommand {
        let commands = diskspd::commands(source, variables, notes).into_iter();
        let command = |jobs| Command {
            jobs,
            is_with_previous: false,
            continues: true,
        };
        return commands.map(command).collect();
    }
    let commands = shell::commands(source, variables, notes);
    let input = command_files::Input {
        source,
        variables,
        host,
    };
    let mut commands_read = Vec::new();
    let mut is_with_previous = false;
    for program in programs::programs(commands, notes) {
        if too_many_commands(commands_read.len(), &program.program.span, notes) {
            break;
        }
        if is_with_previous {
            let sentence = "`&` starts this command together with the previous command.";
            let text = NoteText::new("background", sentence, "");
            notes.info(&program.program.span, None, text);
        }
        let command = command::sections(&program, &input, notes);
        let mut jobs = fio_jobs::jobs(&command.sections, notes);
        if command.is_read_only {
            misleading_jobs::reject_writes(&mut jobs, notes);
        }
        commands_read.push(Command {
            jobs,
            is_with_previous,
            continues: program.end != Separator::IfSuccessful,
        });
        is_with_previous = program.end == Separator::Background;
    }
    commands_read
}

/// Returns true and adds an error if the text has more commands than a study can have steps.
fn too_many_commands(count: usize, span: &Span, notes: &mut Notes<'_>) -> bool {
    if count == MAX_COMMANDS {
        let sentence = format!("The text contains more than {MAX_COMMANDS} commands.");
        let text = NoteText::new("too_many_commands", sentence, "Split the text.");
        notes.error(span, None, text);
    }
    count == MAX_COMMANDS
}

/// Jobs as fio interprets the text, for tests that compare them with fio: names, options and the
/// indexes of the jobs that start together.
#[doc(hidden)]
pub fn fio_view(request: &ImportRequest, host: &HostFacts<'_>) -> Value {
    let source = Source::new(&request.text);
    let mut notes = Notes::new(&source);
    let dialect = detect(&request.text);
    let mut jobs = Vec::new();
    let mut order: Vec<Vec<usize>> = Vec::new();
    for command in read(dialect, &source, request, host, &mut notes) {
        let waves = order::waves(&command.jobs, &mut notes);
        let first = jobs.len();
        let waves = waves
            .into_iter()
            .map(|wave| wave.into_iter().map(|job| job + first).collect());
        let waves: Vec<Vec<usize>> = waves.collect();
        match order.last_mut() {
            Some(last) if command.is_with_previous => last.extend(waves.concat()),
            _ => order.extend(waves),
        }
        let options = |job: &FioJob| serde_json::json!({"name": job.name, "options": job.options.canonical()});
        jobs.extend(command.jobs.iter().map(options));
    }
    serde_json::json!({"jobs": jobs, "order": order})
}

/// Imports a Leadline job or study.
fn json(text: &str, mut notes: Notes<'_>) -> Import {
    let document = match parse_document(text.as_bytes()) {
        Ok(document) => document,
        Err(DocumentError::Repeated(problems)) => {
            report_problems(problems, &mut notes);
            return without_jobs(Dialect::Json, notes);
        }
        Err(DocumentError::Syntax(error)) => {
            let sentence = format!("The text is not valid JSON: {error}.");
            let text = NoteText::new("not_json", sentence, "Correct it, or paste a fio job file.");
            notes.error(&(0..1), None, text);
            return without_jobs(Dialect::Json, notes);
        }
    };
    report_problems(problems(&document), &mut notes);
    let mut import = without_jobs(Dialect::Json, notes);
    import.document = import.problems().is_empty().then_some(document);
    import
}

fn problems(document: &Value) -> Vec<Problem> {
    let problems = if is_study(document) {
        parse_study(document.clone()).err()
    } else {
        parse_run(document).err()
    };
    problems.unwrap_or_default()
}

/// Reports problems in a document. Its fields have no positions in the text.
fn report_problems(problems: Vec<Problem>, notes: &mut Notes<'_>) {
    for problem in problems {
        let field = problem.field.as_deref();
        let sentence = match field {
            Some(field) => format!("{field}: {}", problem.detail),
            None => problem.detail.clone(),
        };
        let text = NoteText::new("invalid_job", sentence, problem.remedy.as_str());
        notes.json_error(field, text);
    }
}

/// The steps that run the jobs in one job file or command.
fn steps<'a>(
    jobs: &'a [FioJob],
    logs: &[JobLogs],
    host: &HostFacts<'_>,
    notes: &mut Notes<'_>,
) -> Vec<Step<'a>> {
    for job in jobs {
        misleading_jobs::add_notes(job, host, notes);
    }
    let waves = order::waves(jobs, notes);
    let steps = waves.iter().enumerate().map(|(index, wave)| {
        let jobs = wave.iter().map(|job| (&jobs[*job], &logs[*job]));
        step(jobs, index == 0, host, notes)
    });
    let mut steps: Vec<Step<'_>> = steps.collect();
    apply_exitall_to_all_jobs(&mut steps);
    reject_exit_what_all(jobs, &waves, notes);
    steps
}

/// With `exit_what=all`, jobs in later steps would never start.
fn reject_exit_what_all(jobs: &[FioJob], waves: &[Vec<usize>], notes: &mut Notes<'_>) {
    if !jobs
        .iter()
        .any(|job| job.options.flag("exitall") == Some(true))
    {
        return;
    }
    for index in waves.iter().rev().skip(1).flatten() {
        let options = &jobs[*index].options;
        if options.text("exit_what") == Some("all")
            && let Some(entry) = options.get("exit_what")
        {
            let sentence = "exit_what=all would also cancel jobs that start later (stonewall or wait_for), which is not supported.";
            let remedy = "Use exit_what=stonewall, or remove the later jobs.";
            let text = NoteText::new("unsupported_value", sentence, remedy);
            notes.error(&entry.span, Some("exit_what"), text);
        }
    }
}

/// An import of text that is not read into steps.
fn without_jobs(dialect: Dialect, notes: Notes<'_>) -> Import {
    finish(dialect, &[], true, notes)
}

fn finish(dialect: Dialect, steps: &[Step<'_>], continues: bool, mut notes: Notes<'_>) -> Import {
    if steps.is_empty() && dialect != Dialect::Json && !notes.has_errors() {
        let sentence = "The text contains no jobs.";
        let remedy = "Paste a fio job file, or fio or diskspd commands.";
        notes.error(&(0..0), None, NoteText::new("no_jobs", sentence, remedy));
    }
    // Without the answers, values are incomplete.
    let is_complete = !steps.is_empty() && !notes.has_errors() && !notes.has_questions();
    let mut document = is_complete.then(|| document(steps, continues));
    if let Some(problems) = document.as_ref().map(problems) {
        report_problems(problems, &mut notes);
        document = document.filter(|_| !notes.has_errors());
    }
    let (notes, questions) = notes.finish();
    Import {
        dialect,
        document,
        notes,
        questions,
    }
}

#[cfg(test)]
mod tests;
