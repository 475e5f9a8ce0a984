//! Annotation handlers.

use crate::{
    api::{
        extract::{JsonBody, Path},
        problem::{ApiError, ProblemResponses},
    },
    runs::Runs,
};
use axum::{Json, extract::State, http::StatusCode};
use leadline_protocol::{
    annotation::{Annotation, AnnotationRequest},
    limits::{MAX_ANNOTATION, MAX_MS},
    problem::{Problem, object_reader::ObjectReader},
};
use serde_json::Value;

/// Add a timestamped note to a run
///
/// A run can have up to 100 annotations. They are included in the run and in its HTML and CSV
/// exports.
#[utoipa::path(post, path = "/runs/{n}/annotations", tag = "runs",
    request_body = AnnotationRequest,
    responses((status = 201, body = Annotation), ProblemResponses))]
pub(crate) async fn create_annotation(
    State(runs): State<Runs>,
    Path(n): Path<u64>,
    body: JsonBody,
) -> Result<(StatusCode, Json<Annotation>), ApiError> {
    let request = annotation_request(body.parse()?)?;
    Ok((StatusCode::CREATED, Json(runs.annotate(n, request).await?)))
}

/// Delete an annotation from a run
#[utoipa::path(delete, path = "/runs/{n}/annotations/{annotation}", tag = "runs",
    responses((status = 204, description = "Deleted"), ProblemResponses))]
pub(crate) async fn delete_annotation(
    State(runs): State<Runs>,
    Path((n, annotation)): Path<(u64, u64)>,
) -> Result<StatusCode, ApiError> {
    runs.delete_annotation(n, annotation).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn annotation_request(body: Value) -> Result<AnnotationRequest, Vec<Problem>> {
    let mut fields = ObjectReader::new(body, "", &["t_ms", "text"]);
    let t_ms = fields.take("t_ms").as_ref().and_then(Value::as_f64);
    if t_ms.is_none_or(|t_ms| !(0.0..=MAX_MS).contains(&t_ms)) && !fields.is_rejected("t_ms") {
        let detail = "t_ms must be a number of milliseconds since the start of the run.";
        let remedy = format!("Use a number from 0 to {MAX_MS}.");
        fields.reject("bad_value", "t_ms", detail, remedy);
    }
    let text = fields.name("text", MAX_ANNOTATION).unwrap_or_default();
    let text = text.trim();
    if text.is_empty() && !fields.is_rejected("text") {
        let remedy = "Describe what happened at this moment.";
        fields.reject("missing", "text", "text is required.", remedy);
    }
    fields.finish(AnnotationRequest {
        t_ms: t_ms.unwrap_or_default(),
        text: text.into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn invalid_fields_are_reported() {
        for (body, expected) in [
            (json!({"t_ms": 0, "text": "a"}), &[][..]),
            (json!({"t_ms": 1.5, "text": " cache dropped "}), &[]),
            (json!({"text": "a"}), &["t_ms"]),
            (json!({"t_ms": -1, "text": "a"}), &["t_ms"]),
            (json!({"t_ms": -1, "text": ""}), &["t_ms", "text"]),
            (json!({"t_ms": "1", "text": "a"}), &["t_ms"]),
            (json!({"t_ms": 1, "text": "  "}), &["text"]),
            (json!({"t_ms": 1, "text": "a\nb"}), &["text"]),
            (json!({"t_ms": 1, "text": "x".repeat(501)}), &["text"]),
            (json!({"t_ms": 1, "text": "a", "txt": 1}), &["txt"]),
            (json!([]), &[""]),
        ] {
            let problems = annotation_request(body.clone()).err().unwrap_or_default();
            let fields: Vec<&str> = problems
                .iter()
                .map(|problem| problem.field.as_deref().unwrap_or_default())
                .collect();
            assert_eq!(fields, expected, "{body}");
        }
        let request = annotation_request(json!({"t_ms": 1, "text": " a "})).unwrap();
        assert_eq!(request.text, "a");
    }
}
