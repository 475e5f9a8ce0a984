//! Finds the result in fio's output, which may also contain messages and earlier states of the run.

use super::{
    document::{DIRECTIONS, list, runtime_ms, timestamp_ms},
    error::ResultError,
};
use serde_json::{Deserializer, Value};

/// A result within fio's output.
pub struct FoundResult<'a> {
    pub document: Value,
    /// The unparsed document.
    pub text: &'a str,
    /// The number of the signal that ended fio early, such as 2 for Ctrl-C.
    pub signal: Option<u8>,
}

/// Finds the last result in a text, which may also contain normal output
/// (`--output-format=normal,json`), warnings, or earlier documents (`--status-interval`; the last
/// one covers the whole run).
///
/// # Errors
/// If the text contains results from multiple runs, or its last document is cut off.
pub fn find_result(text: &str) -> Result<Option<FoundResult<'_>>, ResultError> {
    let mut last: Option<FoundResult> = None;
    let mut end = 0;
    for (start, _) in text.match_indices('{') {
        let is_at_line_start = start == 0 || text[..start].ends_with('\n');
        if start < end || !(is_at_line_start || text[end..start].trim().is_empty()) {
            continue;
        }
        let mut values = Deserializer::from_str(&text[start..]).into_iter::<Value>();
        if let Some(Ok(document)) = values.next()
            && document["fio version"].is_string()
        {
            end = start + values.byte_offset();
            if last
                .as_ref()
                .is_some_and(|last| !is_later_state(&last.document, &document))
            {
                let detail = "the text contains results from multiple runs; use one result";
                return Err(ResultError::invalid("", detail));
            }
            last = Some(FoundResult {
                document,
                text: &text[start..end],
                signal: signal(text),
            });
        }
    }
    if last.is_some() && text[end..].contains("\"fio version\"") {
        let detail = "the last document is incomplete; use the whole output of fio";
        return Err(ResultError::invalid("", detail));
    }
    Ok(last)
}

/// Finds the signal in the message that fio prints when it is interrupted (`sig_int` in backend.c).
fn signal(text: &str) -> Option<u8> {
    let mut lines = text.lines();
    lines.find_map(|line| {
        line.trim()
            .strip_prefix("fio: terminating on signal ")?
            .parse()
            .ok()
    })
}

/// Whether two documents are states of the same run (`--status-interval`): both have the same jobs,
/// no count or time decreases, and the jobs of the later document had started before the earlier
/// one was printed.
fn is_later_state(earlier: &Value, later: &Value) -> bool {
    let printed_ms = |document: &Value| timestamp_ms(document).unwrap_or(0);
    let (before, after) = (states(earlier), states(later));
    let runtime_ms = |jobs: &[JobState]| jobs.iter().map(|job| job.runtime_ms).max().unwrap_or(0);
    let had_measured = runtime_ms(&before) > 0;
    let start_ms = printed_ms(later).saturating_sub(runtime_ms(&after));
    before.len() == after.len()
        && before.iter().zip(&after).all(|(a, b)| a.may_become(b))
        && printed_ms(earlier) <= printed_ms(later)
        && (!had_measured || start_ms < printed_ms(earlier))
}

fn states(document: &Value) -> Vec<JobState<'_>> {
    let jobs = list(document).into_iter().flatten();
    jobs.map(JobState::new).collect()
}

/// Values that identify a job, and values that never decrease during a run.
struct JobState<'a> {
    name: &'a Value,
    options: &'a Value,
    runtime_ms: u64,
    ios: [u64; 3],
}

impl<'a> JobState<'a> {
    fn new(job: &'a Value) -> Self {
        Self {
            name: &job["jobname"],
            options: &job["job options"],
            runtime_ms: runtime_ms(job),
            ios: DIRECTIONS.map(|name| job[name]["total_ios"].as_u64().unwrap_or(0)),
        }
    }

    /// Whether `later` can be a later state of this job. fio resets the counts at the end of the
    /// ramp, before the runtime starts.
    fn may_become(&self, later: &Self) -> bool {
        let increases = self.runtime_ms <= later.runtime_ms
            && self.ios.iter().zip(later.ios).all(|(a, b)| *a <= b);
        self.name == later.name
            && self.options == later.options
            && (increases || self.runtime_ms == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn document(jobs: Value) -> Value {
        json!({"fio version": "fio-3.33", "jobs": jobs})
    }

    #[test]
    fn results_are_found_between_other_output() {
        let expected = document(json!([{}]));
        let result = expected.to_string();
        for text in [
            result.clone(),
            format!("fio: this {{ is not JSON\n{result}\n"),
            format!(
                "{{\n  \"fio version\" : \"fio-3.0\",\n \"jobs\" : [\n{{\n}}\n]\n}}\n{result}\nRun status: {{}}\n"
            ),
        ] {
            let found = find_result(&text).unwrap().unwrap();
            assert_eq!(found.document, expected, "{text}");
            assert_eq!(
                serde_json::from_str::<Value>(found.text).unwrap(),
                found.document
            );
        }
        assert!(find_result("{\"a\": 1}").unwrap().is_none());
        assert!(find_result(&result[..20]).unwrap().is_none());
        let other_jobs = document(json!([]));
        assert!(find_result(&format!("{other_jobs}\n{result}\n")).is_err());
    }

    #[test]
    fn intermediate_documents_are_from_one_run() {
        let state = |at_ms: u64, runtime_ms: u64| {
            // fio adds the job_runtime of two clones.
            let read = json!({"runtime": runtime_ms, "total_ios": runtime_ms / 2});
            let job = json!({"jobname": "a", "job_runtime": 2 * runtime_ms, "read": read});
            json!({"fio version": "fio-3.33", "timestamp_ms": at_ms, "jobs": [job]}).to_string()
        };
        let last = |texts: [String; 2]| {
            find_result(&texts.join("\n")).map(|found| found.unwrap().text.len())
        };
        assert!(last([state(1_000, 900), state(2_000, 1_900)]).is_ok());
        let (first, second) = (state(1_000, 900), state(2_000, 1_900));
        for separator in ["\n", "", " "] {
            let text = format!("{first}{separator}{second}");
            let found = find_result(&text).unwrap().unwrap();
            assert_eq!(found.document["timestamp_ms"], 2_000, "{separator:?}");
            let cut = &text[..text.len() - 20];
            assert!(find_result(cut).is_err(), "{separator:?}");
        }
        assert!(
            last([state(1_000, 0), state(4_000, 1_900)]).is_ok(),
            "during the ramp"
        );
        assert!(last([state(1_000, 900), state(4_000, 1_900)]).is_err());
        let other = state(2_000, 1_900).replace("\"a\"", "\"b\"");
        assert!(last([state(1_000, 900), other]).is_err());
        assert!(
            last([state(2_000, 900), state(1_900, 900)]).is_err(),
            "two hosts"
        );
        assert!(last([state(2_000, 900), state(2_010, 890)]).is_err());
    }

    #[test]
    fn signals_are_found() {
        let result = document(json!([{}]));
        let text = format!("fio: terminating on signal 2\n{result}\n");
        assert_eq!(find_result(&text).unwrap().unwrap().signal, Some(2));
        let text = format!("fio: a warning\n{result}\n");
        assert_eq!(find_result(&text).unwrap().unwrap().signal, None);
    }
}
