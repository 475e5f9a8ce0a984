//! Removes confirmation codes from the failures that runners report. Events are visible to everyone
//! with read access, and anyone with a confirmation code can overwrite the data. Pure.

use leadline_protocol::result::Failure;

/// Replaces each remedy that contains a code with `remedy`.
pub(super) fn remove_confirmation_codes(mut failure: Failure, remedy: &str) -> Failure {
    let problems = failure.problems.iter_mut();
    for problem in problems.filter(|problem| problem.is_confirmation()) {
        problem.remedy = remedy.into();
    }
    failure
}

#[cfg(test)]
mod tests {
    use super::*;
    use leadline_protocol::problem::Problem;

    #[test]
    fn only_remedies_with_codes_are_replaced() {
        let code = "If its data may be lost, confirm within 10 minutes: --confirm 'a@1-2'";
        let confirm = Problem::guard("not_confirmed", "confirm", "It would overwrite a.", code);
        let other = Problem::invalid("bad_value", "jobs[0].bs", "bs is invalid.", "Use 4k.");
        let failure = Failure {
            exit_code: 3,
            problems: vec![confirm, other.clone()],
        };
        let found = remove_confirmation_codes(failure, "Plan it again.").problems;
        assert_eq!(found[0].remedy, "Plan it again.");
        assert_eq!(found[0].detail, "It would overwrite a.");
        assert_eq!(found[1], other);
    }
}
