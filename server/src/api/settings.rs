//! Settings handlers.

use crate::{
    api::{
        extract::JsonBody,
        problem::{ApiError, ProblemResponses},
    },
    runs::Runs,
};
use axum::{Json, extract::State};
use leadline_compare::rule::tested_metric;
use leadline_protocol::{
    limits::THRESHOLDS,
    problem::{Problem, object_reader::ObjectReader},
    settings::Settings,
};
use serde_json::Value;

const EXAMPLE: &str = "{\"read_iops\": 5}";

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
    let mut fields = ObjectReader::new(body, "", &["thresholds"]);
    let object = fields.object("thresholds", EXAMPLE);
    if object.is_none() && !fields.has_problems() {
        let remedy = format!("For example: {EXAMPLE}. Use {{}} to remove all thresholds.");
        fields.reject("missing", "thresholds", "thresholds is required.", remedy);
    }
    let mut settings = Settings::default();
    for (name, value) in object.unwrap_or_default() {
        add_threshold(&mut settings, &name, &value, &mut fields);
    }
    fields.finish(settings)
}

/// Adds a threshold under the name that the metric has in results.
fn add_threshold(settings: &mut Settings, name: &str, value: &Value, fields: &mut ObjectReader) {
    let field = format!("thresholds.{name}");
    let percent = value.as_f64();
    match percent {
        None => {
            let detail = format!("The threshold of {name} must be a number.");
            fields.reject(
                "wrong_type",
                &field,
                detail,
                format!("For example: {EXAMPLE}."),
            );
        }
        Some(percent) if !THRESHOLDS.contains(&percent) => {
            let detail = format!("{percent} is not between 0.01 and 1000 %.");
            fields.reject("bad_value", &field, detail, "For example: 2.");
        }
        Some(_) => {}
    }
    let Some(metric) = tested_metric(name) else {
        let detail = format!("Comparisons do not test {name}.");
        let remedy = "Use a metric that comparisons test, such as read_iops or read.iops.";
        return fields.reject("bad_value", &field, detail, remedy);
    };
    let thresholds = &mut settings.thresholds;
    if thresholds
        .insert(metric.name.into(), percent.unwrap_or_default())
        .is_some()
    {
        let detail = format!("{} has two thresholds.", metric.name);
        fields.reject("bad_value", &field, detail, "Remove one of them.");
    }
}
