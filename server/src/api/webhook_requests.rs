//! Parses the bodies of webhooks. Pure.

use crate::api::requests::MAX_NAME;
use leadline_protocol::{
    problem::{Problem, object_reader::ObjectReader},
    webhook::{WebhookEvent, WebhookRequest},
};
use serde_json::Value;
use strum::VariantNames;

const FIELDS: &[&str] = &["name", "url", "secret", "events", "enabled"];
/// In bytes.
const MAX_TEXT: usize = 2_000;
const EVENTS: &str = "[\"trend_state_changed\"]";

/// Body of `POST /webhooks` and `PUT /webhooks/{n}`.
pub(super) fn webhook_request(body: Value) -> Result<WebhookRequest, Vec<Problem>> {
    let mut fields = ObjectReader::new(body, "", FIELDS);
    let request = WebhookRequest {
        name: fields.name("name", MAX_NAME).unwrap_or_default(),
        url: fields.name("url", MAX_TEXT),
        secret: fields.text("secret", MAX_TEXT),
        events: events(&mut fields),
        enabled: fields.flag("enabled"),
    };
    fields.finish(request)
}

fn events(fields: &mut ObjectReader) -> Option<Vec<WebhookEvent>> {
    let names = fields.texts("events", EVENTS)?;
    let parsed: Result<Vec<WebhookEvent>, _> = names.iter().map(|name| name.parse()).collect();
    if parsed.is_err() {
        let remedy = format!("Use {}.", WebhookEvent::VARIANTS.join(", "));
        fields.reject("bad_value", "events", "An event is unknown.", remedy);
    }
    parsed.ok()
}
