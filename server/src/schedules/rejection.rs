//! Why a schedule's document was rejected at a due time. Pure.

use crate::error::Error;

/// Remedy for a missing confirmation.
pub(crate) const NO_CONFIRMATION: &str =
    "Schedules cannot confirm this. Run it manually once, or change the document.";

/// The reason never contains a confirmation code: reasons are sent to webhooks, and anyone with the
/// code could confirm overwriting the data.
pub(super) fn reason(error: &Error) -> String {
    let Error::Rejected(problems) = error else {
        return error.to_string();
    };
    match problems.iter().find(|problem| problem.is_confirmation()) {
        Some(problem) => format!("{} {NO_CONFIRMATION}", problem.detail),
        None => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use leadline_protocol::problem::Problem;

    #[test]
    fn reasons_contain_no_confirmation() {
        let problem = |field| {
            let remedy = "If its data may be lost, confirm within 10 minutes: --confirm a@1-2";
            Problem::guard("not_confirmed", field, "The run would overwrite a.", remedy)
        };
        let expected = "The run would overwrite a. Schedules cannot confirm this. Run it manually once, or change the document.";
        for field in ["confirm", "steps[0].confirm"] {
            assert_eq!(reason(&Error::Rejected(vec![problem(field)])), expected);
            let other = Problem::invalid("bad_value", "jobs[0].bs", "bs is invalid.", "Use 4k.");
            let both = Error::Rejected(vec![other, problem(field)]);
            assert_eq!(reason(&both), expected);
        }
    }

    #[test]
    fn other_reasons_have_a_remedy() {
        let problem = Problem::invalid("bad_value", "jobs[0].bs", "bs is invalid.", "Use 4k.");
        let error = Error::Rejected(vec![problem]);
        assert_eq!(reason(&error), "jobs[0].bs: bs is invalid. Use 4k.");
    }
}
