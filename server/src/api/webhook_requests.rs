//! Parses webhook request bodies. Pure.

use crate::{
    api::requests::add_remaining_problems,
    webhooks::{SUBSCRIBABLE, new_webhook_problems},
};
use leadline_protocol::{
    limits::MAX_NAME,
    problem::{Problem, object_reader::ObjectReader},
    webhook::{WebhookEvent, WebhookRequest},
};
use serde_json::Value;

const FIELDS: &[&str] = &["name", "url", "secret", "events", "enabled"];
/// Maximum text length in characters.
const MAX_TEXT: usize = 2_000;
const EVENTS: &str = "[\"trend_state_changed\"]";

/// Body of `POST /webhooks` if `is_new`, otherwise of `PUT /webhooks/{n}`.
pub(super) fn webhook_request(body: Value, is_new: bool) -> Result<WebhookRequest, Vec<Problem>> {
    let mut fields = ObjectReader::new(body, "", FIELDS);
    let request = WebhookRequest {
        name: fields.name("name", MAX_NAME).unwrap_or_default(),
        url: fields.name("url", MAX_TEXT),
        secret: fields.text("secret", MAX_TEXT),
        events: events(&mut fields),
        enabled: fields.flag("enabled"),
    };
    let mut problems = fields.finish(()).err().unwrap_or_default();
    if problems.is_empty() {
        return Ok(request);
    }
    // Fields that are missing from an update keep their values.
    if is_new {
        add_remaining_problems(&mut problems, new_webhook_problems(request));
    }
    Err(problems)
}

fn events(fields: &mut ObjectReader) -> Option<Vec<WebhookEvent>> {
    let remedy = format!(
        "Use one or more of {}.",
        SUBSCRIBABLE.map(|event| event.as_str()).join(", ")
    );
    let items = fields.list("events", EVENTS)?;
    if items.is_empty() {
        fields.reject("bad_value", "events", "events is empty.", remedy.clone());
    }
    let mut events = Vec::new();
    for (index, item) in items.iter().enumerate() {
        match SUBSCRIBABLE.iter().find(|event| item == event.as_str()) {
            Some(event) => events.push(*event),
            None => {
                let detail = format!("{item} is not an event.");
                fields.reject(
                    "bad_value",
                    &format!("events[{index}]"),
                    detail,
                    remedy.clone(),
                );
            }
        }
    }
    Some(events)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(events: Value, expected: &[&str]) {
        let body = json!({"name": "a", "events": events});
        let problems = webhook_request(body, false).err().unwrap_or_default();
        let fields: Vec<&str> = problems.iter().filter_map(|p| p.field.as_deref()).collect();
        assert_eq!(fields, expected);
    }

    #[test]
    fn events_are_a_list_of_known_names() {
        check(json!(["trend_state_changed", "schedule_start_missed"]), &[]);
        check(Value::Null, &[]);
        check(json!([]), &["events"]);
        check(json!("trend_state_changed"), &["events"]);
        check(json!(["test"]), &["events[0]"]);
        check(
            json!(["schedule_run_failed", "x", 1]),
            &["events[1]", "events[2]"],
        );
    }

    #[test]
    fn all_invalid_fields_of_a_new_webhook_are_reported() {
        let fields = |is_new| {
            let body = json!({"url": "ftp://x", "events": ["zz"]});
            let problems = webhook_request(body, is_new).unwrap_err().into_iter();
            problems
                .filter_map(|problem| problem.field)
                .collect::<Vec<_>>()
        };
        assert_eq!(fields(true), ["events[0]", "name", "url", "secret"]);
        assert_eq!(fields(false), ["events[0]"]);
    }
}
