//! Errors after which a job continues (`continue_on_error` and `ignore_error`).

use leadline_protocol::{
    job::{Job, error_list::ErrorLists, keyword::ContinueOnError},
    plan::job::ToleratedErrors,
};

/// Errors that `continue_on_error` applies to without `ignore_error`: EIO and EILSEQ (fio
/// td_error.c, `__NON_FATAL_ERR`).
const DEFAULT: [i32; 2] = [5, 84];

/// `ignore_error` implies `continue_on_error` for the kinds of I/O that it lists, as in fio.
pub(crate) fn resolve(job: &Job) -> Option<ToleratedErrors> {
    use ContinueOnError::{All, Io, Read, Write};
    let given = job.continue_on_error();
    let ErrorLists { read, write, .. } = job.ignore_error.clone().unwrap_or_default();
    let list = |errors: Vec<i32>, is_continued: bool| match errors.is_empty() {
        true if is_continued => DEFAULT.to_vec(),
        _ => errors,
    };
    let tolerated = ToleratedErrors {
        read: list(read, matches!(given, Read | Io | All)),
        write: list(write, matches!(given, Write | Io | All)),
    };
    (tolerated != ToleratedErrors::default()).then_some(tolerated)
}

#[cfg(test)]
mod tests {
    use super::*;
    use leadline_protocol::job::run_spec::parse_run;
    use serde_json::{Value, json};

    fn tolerated(options: Value) -> Option<(Vec<i32>, Vec<i32>)> {
        let run = parse_run(&options).expect("a job");
        resolve(&run.jobs[0]).map(|errors| (errors.read, errors.write))
    }

    #[test]
    fn lists_replace_the_default_errors_of_their_kind() {
        let default = DEFAULT.to_vec();
        for (options, expected) in [
            (json!({}), None),
            (json!({"continue_on_error": 0}), None),
            (json!({"continue_on_error": "verify"}), None),
            (
                json!({"continue_on_error": "read"}),
                Some((default.clone(), vec![])),
            ),
            (
                json!({"continue_on_error": 1}),
                Some((default.clone(), default.clone())),
            ),
            (json!({"ignore_error": ",ENOSPC"}), Some((vec![], vec![28]))),
            (
                json!({"continue_on_error": "io", "ignore_error": "EIO:EINVAL"}),
                Some((vec![5, 22], default.clone())),
            ),
        ] {
            assert_eq!(tolerated(options.clone()), expected, "{options}");
        }
    }
}
