//! Reruns that findings offer: the options of a job to change, and the label of the button.

use serde_json::{Value, json};

/// Label of the button, and the options that change in every job.
type Rerun = (&'static str, Value);

/// Options that may say something else than a `file_state`, and than a `cache_state`.
const FILE: &[&str] = &["overwrite", "fallocate", "create_on_open", "file_append"];
const CACHE: &[&str] = &["invalidate", "pre_read"];

/// A patch that takes these options back as well: null is what a job has that does not say them.
fn with(mut patch: Value, back: &[&str]) -> Value {
    back.iter().for_each(|option| patch[*option] = Value::Null);
    patch
}

/// Offers a rerun on a fully written file. The plan rejects it for a file that another program made.
pub(crate) fn written() -> Rerun {
    (
        "Rerun after writing the file",
        with(json!({"file_state": "written"}), FILE),
    )
}

/// Offers a rerun that overwrites in place, for runs in which every job writes.
pub(crate) fn overwrite() -> Rerun {
    (
        "Rerun as overwrite",
        with(json!({"file_state": "overwrite"}), FILE),
    )
}

/// Offers a rerun with an empty page cache.
pub(crate) fn cold(patch: Value) -> Rerun {
    ("Rerun cold", with(patch, CACHE))
}

/// Offers the same job again.
pub(crate) fn unchanged() -> Rerun {
    ("Run again", json!({}))
}

#[cfg(test)]
mod tests {
    use crate::plan::resolve;
    use crate::plan::tests::host::TableHost;
    use leadline_protocol::job::parse::parse_run;

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
