//! The parts of the OpenAPI document that are not specific to one operation.

use crate::{api::problem::ProblemDetails, query::flame::Theme};
use leadline_protocol::{
    event::Event,
    limits::{
        PageCursor, PageLimit, SeriesPoints, SeriesTime, Statuses, StudyLimit, Tag,
        ThresholdPercent,
    },
    query::{ExportFormat, RunSort, SortOrder},
    runs_event::RunsEvent,
    study::definition::StepDefinition,
    webhook::WebhookMessage,
};
use utoipa::{
    Modify, OpenApi,
    openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme},
};

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Leadline",
        description = "Storage benchmarks that show where the I/O went.",
        contact(),
        license(name = "Apache-2.0", identifier = "Apache-2.0")
    ),
    // Schemas that utoipa does not collect: query strings, list items, WebSocket messages and
    // shared responses.
    components(schemas(Event, RunsEvent, RunSort, SortOrder, ExportFormat, Theme, ProblemDetails, WebhookMessage, PageCursor, PageLimit, SeriesPoints, SeriesTime, Statuses, StepDefinition, StudyLimit, Tag, ThresholdPercent)),
    tags(
        (name = "runs", description = "Plan, start, watch and manage runs"),
        (name = "studies", description = "Sequences of runs submitted together, and built-in experiments"),
        (name = "compare", description = "Compare runs"),
        (name = "schedules", description = "Runs and studies that start on a schedule"),
        (name = "webhooks", description = "Messages about trends and schedules"),
        (name = "trends", description = "Results of a test on one machine over time"),
        (name = "hosts", description = "Hosts and their devices"),
        (name = "server", description = "Health and metrics")
    ),
    security(("token" = [])),
    modifiers(&BearerToken)
)]
pub(crate) struct ApiDoc;

struct BearerToken;

impl Modify for BearerToken {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let bearer = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build();
        document
            .components
            .get_or_insert_default()
            .add_security_scheme("token", SecurityScheme::Http(bearer));
    }
}
