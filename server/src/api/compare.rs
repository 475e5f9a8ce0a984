//! Comparison over HTTP.

use crate::api::extract::Query;
use crate::error::{ApiError, ProblemResponses};
use crate::query::compare::compare;
use crate::runs::Runs;
use axum::Json;
use axum::extract::State;
use leadline_protocol::compare::{CompareQuery, Comparison};

/// How many runs fit side by side.
const COUNT: std::ops::RangeInclusive<usize> = 2..=8;

/// 2 to 8 runs side by side.
#[utoipa::path(get, path = "/compare", tag = "compare", params(CompareQuery), responses((status = 200, body = Comparison), ProblemResponses))]
pub async fn compare_runs(
    State(runs): State<Runs>,
    Query(query): Query<CompareQuery>,
) -> Result<Json<Comparison>, ApiError> {
    let numbers = numbers(&query.runs)?;
    let baseline = match query.baseline {
        None => 0,
        Some(number) => numbers
            .iter()
            .position(|other| *other == number)
            .ok_or_else(|| {
                ApiError::invalid(
                    "bad_value",
                    "baseline",
                    format!("#{number} is not one of the runs."),
                    "Name one of `runs`.",
                )
            })?,
    };
    let mut found = Vec::with_capacity(numbers.len());
    for number in numbers {
        found.push(runs.get(number).await?);
    }
    Ok(Json(compare(&found, baseline)))
}

fn numbers(text: &str) -> Result<Vec<u64>, ApiError> {
    let refuse = |sentence: String| {
        ApiError::invalid(
            "bad_value",
            "runs",
            sentence,
            "Write 2 to 8 numbers of runs, such as runs=1,2.",
        )
    };
    let mut numbers = Vec::new();
    for part in text.split(',') {
        let number = part
            .trim()
            .parse()
            .map_err(|_| refuse(format!("`{part}` is not the number of a run.")))?;
        if !numbers.contains(&number) {
            numbers.push(number);
        }
    }
    if COUNT.contains(&numbers.len()) {
        Ok(numbers)
    } else {
        Err(refuse(format!(
            "{} runs cannot be laid side by side.",
            numbers.len()
        )))
    }
}
