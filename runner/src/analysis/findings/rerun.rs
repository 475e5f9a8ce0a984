//! Reruns offered by findings: a button label and the changed job options.

use serde_json::{Value, json};

pub(crate) type Rerun = (&'static str, Value);

/// Options that may contradict `file_state` or `cache_state`.
const FILE_OPTIONS: &[&str] = &["overwrite", "fallocate", "create_on_open", "file_append"];
const CACHE_OPTIONS: &[&str] = &["invalidate", "pre_read"];
/// Options that may contradict `refill_buffers`, or make data compressible.
const DATA_OPTIONS: &[&str] = &[
    "zero_buffers",
    "buffer_pattern",
    "buffer_compress_percentage",
    "buffer_compress_chunk",
    "dedupe_percentage",
    "scramble_buffers",
];

/// Sets options to null, which removes them from the job.
fn clear_options(mut patch: Value, options: &[&str]) -> Value {
    for option in options {
        patch[*option] = Value::Null;
    }
    patch
}

pub(crate) fn direct() -> Rerun {
    ("Rerun direct", json!({"direct": 1}))
}

/// The plan rejects this rerun if another program created the file.
pub(crate) fn written() -> Rerun {
    let patch = clear_options(json!({"file_state": "written"}), FILE_OPTIONS);
    ("Rerun after writing the file", patch)
}

/// Use only if every job in the run writes.
pub(crate) fn overwrite() -> Rerun {
    let patch = clear_options(json!({"file_state": "overwrite"}), FILE_OPTIONS);
    ("Rerun as overwrite", patch)
}

/// `is_read`: whether the run read data that was written earlier. If so, the file must be
/// rewritten.
pub(crate) fn incompressible(is_read: bool) -> Rerun {
    let mut patch = clear_options(json!({"refill_buffers": 1}), DATA_OPTIONS);
    if is_read {
        patch["file_state"] = json!("written");
        patch = clear_options(patch, FILE_OPTIONS);
    }
    ("Rerun with incompressible data", patch)
}

/// `patch`: options to set in addition to an empty page cache.
pub(crate) fn cold(patch: Value) -> Rerun {
    ("Rerun cold", clear_options(patch, CACHE_OPTIONS))
}

pub(crate) fn unchanged() -> Rerun {
    ("Run again", json!({}))
}

pub(crate) fn longer() -> Rerun {
    ("Run for 60 s", json!({"runtime": "60s", "time_based": 1}))
}

/// `runtime_ms`: the runtime that was too short.
pub(crate) fn longer_than(runtime_ms: u64) -> Rerun {
    let runtime = format!("{}ms", runtime_ms.saturating_mul(4));
    let patch = json!({"runtime": runtime, "time_based": 1});
    ("Run up to four times as long", patch)
}

pub(crate) fn io_uring() -> Rerun {
    ("Rerun with io_uring", json!({"ioengine": "io_uring"}))
}

pub(crate) fn with_jobs(numjobs: u32) -> (String, Value) {
    let label = format!("Rerun with {numjobs} jobs");
    (label, json!({"numjobs": numjobs}))
}

/// Flushes written data after the measurement, and measures the flush as a separate phase.
pub(crate) fn flushed() -> Rerun {
    ("Rerun with end_fsync", json!({"end_fsync": 1}))
}

#[cfg(test)]
mod tests {
    use crate::plan::resolve;
    use crate::plan::tests::host::TableHost;
    use leadline_protocol::job::run_spec::parse_run;

    use super::*;

    /// A patch is merged into the job's options; null removes an option.
    #[test]
    fn options_that_contradict_a_state_are_removed() {
        for (state, removed, options) in [
            (
                json!({"file_state": "overwrite"}),
                FILE_OPTIONS,
                json!({"fallocate": "native"}),
            ),
            (
                json!({"file_state": "written"}),
                FILE_OPTIONS,
                json!({"create_on_open": 1, "overwrite": 0}),
            ),
            (
                json!({"file_state": "written"}),
                FILE_OPTIONS,
                json!({"file_append": 1}),
            ),
            (
                json!({"cache_state": "cold"}),
                CACHE_OPTIONS,
                json!({"invalidate": 0, "pre_read": 1}),
            ),
        ] {
            let is_rejected = |patch: &Value| {
                let mut job = json!({"filename": "full", "size": "1m", "rw": "write", "direct": 0});
                for (option, value) in [&options, patch]
                    .into_iter()
                    .filter_map(Value::as_object)
                    .flatten()
                {
                    job[option] = value.clone();
                }
                job.as_object_mut()
                    .unwrap()
                    .retain(|_, value| !value.is_null());
                let plan = resolve(&parse_run(&job).unwrap(), &TableHost::default());
                plan.problems
                    .iter()
                    .any(|problem| problem.code == "conflicting_options")
            };
            assert!(
                is_rejected(&state) && !is_rejected(&clear_options(state.clone(), removed)),
                "{state} {options}"
            );
        }
    }
}
