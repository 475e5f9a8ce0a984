//! Handler of comparisons.

use crate::{
    api::{
        extract::Query,
        problem::{ApiError, ProblemResponses},
    },
    error::Error,
    query::compare::compare,
    runs::Runs,
};
use axum::{Json, extract::State};
use leadline_protocol::compare::{CompareQuery, Comparison};

/// Compare 2 to 8 runs
#[utoipa::path(get, path = "/compare", tag = "compare",
    params(CompareQuery),
    responses((status = 200, body = Comparison), ProblemResponses))]
pub(crate) async fn compare_runs(
    State(runs): State<Runs>,
    Query(query): Query<CompareQuery>,
) -> Result<Json<Comparison>, ApiError> {
    let numbers = parse_run_numbers(&query.runs)?;
    let baseline = query.baseline.unwrap_or(numbers[0]);
    let Some(baseline) = numbers.iter().position(|number| *number == baseline) else {
        return Err(Error::invalid(
            "bad_value",
            "baseline",
            format!("Run #{baseline} is not part of the comparison."),
            "Use one of `runs`.",
        )
        .into());
    };
    let mut compared = Vec::with_capacity(numbers.len());
    for number in numbers {
        let run = runs.get(number).await?;
        if run.damaged {
            return Err(Error::damaged(number).into());
        }
        compared.push(run);
    }
    Ok(Json(compare(&compared, baseline)))
}

/// Parses 2 to 8 different run numbers.
fn parse_run_numbers(text: &str) -> Result<Vec<u64>, Error> {
    let invalid = |detail: String| {
        let remedy = "Use 2 to 8 run numbers, for example runs=1,2.";
        Error::invalid("bad_value", "runs", detail, remedy)
    };
    let mut numbers = Vec::new();
    for part in text.split(',') {
        let number = part.trim().parse();
        let number = number.map_err(|_| invalid(format!("`{part}` is not a run number.")))?;
        if !numbers.contains(&number) {
            numbers.push(number);
        }
    }
    match numbers.len() {
        2..=8 => Ok(numbers),
        1 => Err(invalid(format!(
            "Only run #{} is given; a comparison requires two different runs.",
            numbers[0]
        ))),
        count => Err(invalid(format!("Cannot compare {count} runs."))),
    }
}
