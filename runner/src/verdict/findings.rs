//! What a reader of the report must know: everything that was seen afterwards and makes the number mean something else
//! than was asked. What could be seen before the run is `plan::findings`'. Here: the list; the checks stand in rooms by what they
//! look at.

mod answered;
mod beneath;
mod cache;
mod host;
mod late;
mod load;
mod trouble;
mod write;

use serde_json::{Value, json};

use super::Case;
use crate::report::{Finding, Severity};

/// One question to a report.
type Check = fn(&Case) -> Option<Finding>;

/// All that are asked once; those in `answered` are asked for each direction.
const CHECKS: &[Check] = &[
    trouble::errors,
    trouble::interrupted,
    trouble::short_run,
    trouble::counters_absent,
    cache::warm,
    cache::dirty_left,
    cache::buffers,
    cache::loop_cached,
    write::initial,
    write::overwritten,
    write::not_flushed,
    write::throttled,
    write::below_limit,
    write::device_cache,
    load::depth,
    load::drained,
    late::late,
    load::cpu,
    load::others,
    beneath::more,
    host::clock,
    host::governor,
    host::heat,
];

/// All that is true of this report.
pub(super) fn gather(case: &Case) -> Vec<Finding> {
    let by_direction = case
        .judged
        .iter()
        .flat_map(|judged| answered::of(case, judged));
    by_direction
        .chain(CHECKS.iter().filter_map(|check| check(case)))
        .collect()
}

/// Options that may say something else than a `file_state`, and than a `cache_state`.
const FILE: &[&str] = &["overwrite", "fallocate", "create_on_open", "file_append"];
const CACHE: &[&str] = &["invalidate", "pre_read"];

/// A patch that takes these options back as well: null is what a job has that does not say them.
fn with(mut patch: Value, back: &[&str]) -> Value {
    back.iter().for_each(|option| patch[*option] = Value::Null);
    patch
}

fn finding(
    severity: Severity,
    code: &str,
    sentence: String,
    evidence: &[(&str, Value)],
    remedy: &str,
) -> Finding {
    let evidence = evidence
        .iter()
        .map(|(name, value)| ((*name).to_owned(), value.clone()))
        .collect();
    Finding {
        code: code.into(),
        severity,
        sentence,
        evidence,
        remedy: remedy.into(),
        patch: None,
        patch_label: None,
    }
}

impl Finding {
    /// With the rerun that mends it: what its button says, and the options that change in every job.
    fn rerun(self, label: &str, patch: Value) -> Self {
        let Value::Object(options) = patch else {
            unreachable!("a patch is an object of job options")
        };
        Self {
            patch: Some(options.into_iter().collect()),
            patch_label: Some(label.into()),
            ..self
        }
    }

    /// Mended by a file that holds data everywhere. Never one that somebody else made: the plan refuses to write that anew.
    fn rerun_written(self) -> Self {
        self.rerun(
            "Rerun after writing the file",
            with(json!({"file_state": "written"}), FILE),
        )
    }

    /// Mended by writing in place. For runs in which every job writes.
    fn rerun_overwrite(self) -> Self {
        self.rerun(
            "Rerun as overwrite",
            with(json!({"file_state": "overwrite"}), FILE),
        )
    }

    /// Mended by an empty cache.
    fn rerun_cold(self, patch: Value) -> Self {
        self.rerun("Rerun cold", with(patch, CACHE))
    }

    /// Mended by the same job at a better time.
    fn again(self) -> Self {
        self.rerun("Run again", json!({}))
    }
}

#[cfg(test)]
mod tests {
    use crate::job::parse_run;
    use crate::plan::resolve;
    use crate::plan::tests::host::TableHost;

    use super::*;

    /// A rerun's patch goes beside what the job says already, and a null takes that back.
    #[test]
    fn what_contradicts_a_state_is_taken_back() {
        for (state, back, said) in [
            (
                json!({"file_state": "overwrite"}),
                FILE,
                json!({"fallocate": "native"}),
            ),
            (
                json!({"file_state": "written"}),
                FILE,
                json!({"create_on_open": 1, "overwrite": 0}),
            ),
            (
                json!({"file_state": "written"}),
                FILE,
                json!({"file_append": 1}),
            ),
            (
                json!({"cache_state": "cold"}),
                CACHE,
                json!({"invalidate": 0, "pre_read": 1}),
            ),
        ] {
            let refused = |patch: &Value| {
                let mut job = json!({"filename": "full", "size": "1m", "rw": "write", "direct": 0});
                for (option, value) in [&said, patch]
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
                    .any(|problem| problem.code == "state_contradicted")
            };
            assert!(
                refused(&state) && !refused(&with(state.clone(), back)),
                "{state} {said}"
            );
        }
    }
}
