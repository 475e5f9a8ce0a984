//! The jobs as a document that Leadline's own parser accepts: a run, or a study if some jobs start
//! after others.

use crate::dialect::{
    engines::DEFAULT_ENGINE,
    fio_jobs::FioJob,
    host_facts::{HostFacts, PathKind},
    job_logs::JobLogs,
    notes::{NoteText, Notes},
    option_value::{OptionValue, job_text},
    options::Options,
    overridden::overridden_options,
    value::Value as ParsedValue,
};
use leadline_protocol::job::OptionDoc;
use serde_json::{Map, Value, json};

/// A step of a study: jobs that start together.
pub(crate) struct Step<'a> {
    pub jobs: Vec<Value>,
    /// The jobs as written in the text; one per job.
    pub written: Vec<&'a FioJob>,
    /// One per job.
    pub logs: Vec<JobLogs>,
}

/// Converts jobs that start together to JSON. If `is_first` is false, earlier jobs have ended
/// before these jobs start, so `startdelay` has no effect.
pub(crate) fn step<'a, 'b>(
    jobs: impl Iterator<Item = (&'a FioJob, &'b JobLogs)>,
    is_first: bool,
    host: &HostFacts<'_>,
    notes: &mut Notes<'_>,
) -> Step<'a> {
    let (written, logs): (Vec<_>, Vec<_>) = jobs.map(|(job, logs)| (job, logs.clone())).unzip();
    let objects = written
        .iter()
        .map(|job| job_object(job, is_first, host, notes));
    Step {
        jobs: objects.collect(),
        written,
        logs,
    }
}

/// In fio, `exitall` is global: setting it in one job applies to all jobs (options.c,
/// `str_exitall_cb`).
pub(crate) fn apply_exitall_to_all_jobs(steps: &mut [Step<'_>]) {
    let jobs = || steps.iter().flat_map(|step| &step.jobs);
    if jobs().any(|job| job["exitall"] == 1) {
        for job in steps.iter_mut().flat_map(|step| &mut step.jobs) {
            job["exitall"] = 1.into();
        }
    }
}

/// Returns a run request for one step, or a study request for multiple steps.
pub(crate) fn document(steps: &[Step<'_>], continues: bool) -> Value {
    if let [step] = steps {
        return json!({"jobs": step.jobs});
    }
    let steps: Vec<Value> = steps
        .iter()
        .map(|step| json!({"jobs": step.jobs}))
        .collect();
    json!({"name": "Imported jobs", "continue_on_failure": continues, "steps": steps})
}

fn job_object(job: &FioJob, is_first: bool, host: &HostFacts<'_>, notes: &mut Notes<'_>) -> Value {
    let mut object = Map::new();
    let options = &job.options;
    let name = job.name.trim();
    if !name.is_empty() {
        object.insert("name".into(), name.into());
        if name != job.name {
            let sentence =
                "Spaces around the job name are removed; fio keeps them, even in file names.";
            let text = NoteText::new("name_spaces", sentence, "");
            notes.info(&job.span, Some("name"), text);
        }
    }
    if options.get("filename").is_none() && is_device(job, host) {
        let sentence =
            "The job's name is the path of a device, so fio uses the device as its file.";
        notes.info(
            &job.span,
            Some("filename"),
            NoteText::new("job_name_is_file", sentence, ""),
        );
        object.insert("filename".into(), job.name.as_str().into());
    }
    let ignored = overridden_options(options);
    for entry in &options.entries {
        let name = entry.option.name;
        if let Some((_, sentence)) = ignored.iter().find(|(option, _)| *option == name) {
            let text = NoteText::new("overridden", *sentence, "");
            notes.info(&entry.span, Some(name), text);
            continue;
        }
        let Some(doc) = entry.option.job_option().filter(|doc| doc.name != "name") else {
            continue;
        };
        if doc.name == "startdelay" && !is_first {
            let sentence = "startdelay is ignored: fio measures it from the start of the first job, which has ended.";
            notes.warning(
                &entry.span,
                Some(doc.name),
                NoteText::new("late_startdelay", sentence, ""),
            );
            continue;
        }
        object.insert(doc.name.into(), option_value(doc, entry));
    }
    add_defaults(options, &mut object);
    Value::Object(object)
}

/// fio uses a job's name as its file name if it is the path of an existing device (init.c,
/// `add_job`).
fn is_device(job: &FioJob, host: &HostFacts<'_>) -> bool {
    job.name.starts_with("/dev/") && (host.path_kind)(&job.name) == PathKind::Other
}

fn option_value(doc: &OptionDoc, entry: &OptionValue) -> Value {
    let text = job_text(doc, entry);
    match &entry.value {
        ParsedValue::Text(_) => text.into(),
        _ => text
            .parse::<i64>()
            .map_or_else(|_| text.clone().into(), Value::from),
    }
}

fn add_defaults(options: &Options, object: &mut Map<String, Value>) {
    if options.get("ioengine").is_none() {
        object.insert("ioengine".into(), DEFAULT_ENGINE.into());
    }
    if options.get("direct").is_none() {
        object.insert("direct".into(), 0.into());
    }
}
