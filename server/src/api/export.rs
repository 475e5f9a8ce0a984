//! Export handlers.

use crate::{
    api::{
        extract::{Path, Query},
        problem::{ApiError, ProblemResponses},
        streams::ndjson,
    },
    query::export,
    runs::Runs,
};
use axum::{
    body::Body,
    extract::State,
    http::header,
    response::{IntoResponse, Response},
};
use leadline_protocol::{
    event::Event,
    query::{ExportFormat, ExportQuery},
};

/// Export a run
#[utoipa::path(get, path = "/runs/{n}/export", tag = "runs",
    params(ExportQuery),
    responses(
        (
            status = 200,
            description = "The exported file",
            content((String = "text/csv"), (Event = "application/x-ndjson"))
        ),
        ProblemResponses
    ))]
pub(crate) async fn export_run(
    State(runs): State<Runs>,
    Path(n): Path<u64>,
    Query(query): Query<ExportQuery>,
) -> Result<Response, ApiError> {
    let (extension, media_type, body) = match query.format {
        ExportFormat::Csv => {
            runs.summary(n).await?;
            let rows = export::csv(runs.store().clone(), n);
            ("csv", "text/csv; charset=utf-8", Body::from_stream(rows))
        }
        ExportFormat::Ndjson => {
            let events = ndjson(runs.stored_events(n).await?);
            ("ndjson", "application/x-ndjson", Body::from_stream(events))
        }
    };
    let disposition = format!("attachment; filename=\"leadline-{n}.{extension}\"");
    let headers = [
        (header::CONTENT_TYPE, media_type),
        (header::CONTENT_DISPOSITION, &disposition),
    ];
    Ok((headers, body).into_response())
}
