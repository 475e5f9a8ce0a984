//! Settings handlers.

use crate::{
    api::{
        extract::JsonBody,
        problem::{ApiError, ProblemResponses},
    },
    runs::Runs,
};
use axum::{Json, extract::State};
use leadline_protocol::{
    problem::{Problem, object_reader::ObjectReader},
    settings::Settings,
};
use serde_json::Value;

/// Get the settings
#[utoipa::path(get, path = "/settings", tag = "server",
    responses((status = 200, body = Settings), ProblemResponses))]
pub(crate) async fn get_settings(State(runs): State<Runs>) -> Result<Json<Settings>, ApiError> {
    Ok(Json(runs.settings().await?))
}

/// Replace the settings
#[utoipa::path(put, path = "/settings", tag = "server", request_body = Settings,
    responses((status = 200, body = Settings), ProblemResponses))]
pub(crate) async fn replace_settings(
    State(runs): State<Runs>,
    body: JsonBody,
) -> Result<Json<Settings>, ApiError> {
    let settings = settings_request(body.parse()?)?;
    Ok(Json(runs.set_settings(settings).await?))
}

fn settings_request(body: Value) -> Result<Settings, Vec<Problem>> {
    const EXAMPLE: &str = "{\"read_iops\": 5}";
    let mut fields = ObjectReader::new(body, "", &["thresholds"]);
    let object = fields.object("thresholds", EXAMPLE);
    if object.is_none() && !fields.has_problems() {
        let remedy = format!("For example: {EXAMPLE}. Use {{}} to remove all thresholds.");
        fields.reject("missing", "thresholds", "thresholds is required.", remedy);
    }
    let mut settings = Settings::default();
    for (metric, value) in object.unwrap_or_default() {
        match value.as_f64() {
            Some(percent) => drop(settings.thresholds.insert(metric, percent)),
            None => {
                let detail = format!("The threshold of {metric} must be a number.");
                let remedy = format!("For example: {EXAMPLE}.");
                fields.reject("wrong_type", "thresholds", detail, remedy);
            }
        }
    }
    fields.finish(settings)
}
