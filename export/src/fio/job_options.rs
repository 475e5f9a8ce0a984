//! `job options`: a job's options as strings.

use leadline_protocol::{job::OptionDoc, plan::job::ResolvedJob};
use serde_json::{Map, Value};

/// The requested options, and the options that programs expect in every job.
pub(super) fn job_options(requested: &Value, resolved: &ResolvedJob) -> Map<String, Value> {
    let mut options: Map<String, Value> = expected(resolved)
        .into_iter()
        .map(|(name, value)| (name.into(), value.into()))
        .collect();
    for (name, value) in requested.as_object().into_iter().flatten() {
        let name = OptionDoc::find(name).map_or(name.as_str(), |option| option.name);
        options.insert(name.into(), option_text(value).into());
    }
    for (name, milliseconds) in times(resolved) {
        // Programs parse these as integers.
        if options.contains_key(name) && milliseconds % 1_000 == 0 {
            options.insert(name.into(), (milliseconds / 1_000).to_string().into());
        }
    }
    options
}

fn expected(job: &ResolvedJob) -> [(&'static str, String); 7] {
    let sizes = &job.pattern.bs;
    let size = if job.pattern.rw.reads() {
        sizes.read.max
    } else {
        sizes.write.max
    };
    [
        ("name", job.name.clone()),
        ("rw", job.pattern.rw.as_str().into()),
        ("bs", size.to_string()),
        ("iodepth", job.ring.iodepth.to_string()),
        ("numjobs", job.numjobs.to_string()),
        ("ioengine", job.ring.ioengine.as_str().into()),
        ("direct", u8::from(job.direct).to_string()),
    ]
}

fn times(job: &ResolvedJob) -> [(&'static str, u64); 2] {
    [
        ("runtime", job.timing.runtime_ms.unwrap_or(1)),
        ("ramp_time", job.timing.ramp_ms),
    ]
}

/// Converts an option value of a JSON job to text.
pub(super) fn option_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Bool(flag) => u8::from(*flag).to_string(),
        other => other.to_string(),
    }
}
