//! Parses the bodies of schedules. Pure.

use crate::api::requests::{MAX_NAME, tags};
use leadline_protocol::{
    problem::{Problem, object_reader::ObjectReader},
    schedule::{QuietHours, ScheduleRequest},
};
use serde_json::Value;

const FIELDS: &[&str] = &[
    "name",
    "cron",
    "time_zone",
    "document",
    "tags",
    "quiet_hours",
    "enabled",
];
/// In bytes.
const MAX_CRON: usize = 200;
const DOCUMENT: &str = "{\"jobs\": [{\"rw\": \"randread\", ...}]}";
const QUIET: &str = "[{\"from\": \"08:00\", \"to\": \"18:00\"}]";

/// Body of `POST /schedules`, `PUT /schedules/{n}` and `POST /schedules/plan`.
pub(super) fn schedule_request(body: Value) -> Result<ScheduleRequest, Vec<Problem>> {
    let mut fields = ObjectReader::new(body, "", FIELDS);
    let name = fields.name("name", MAX_NAME);
    let cron = fields.name("cron", MAX_CRON);
    let document = fields.object("document", DOCUMENT);
    for (name, is_missing, example) in [
        ("name", name.is_none(), "\"Nightly\""),
        ("cron", cron.is_none(), "\"30 2 * * *\""),
        ("document", document.is_none(), DOCUMENT),
    ] {
        if is_missing && !fields.has_problems() {
            let detail = format!("{name} is required.");
            fields.reject("missing", name, detail, format!("For example: {example}."));
        }
    }
    let request = ScheduleRequest {
        name: name.unwrap_or_default(),
        cron: cron.unwrap_or_default(),
        time_zone: fields.name("time_zone", MAX_NAME),
        document: Value::Object(document.unwrap_or_default()),
        tags: tags(&mut fields).unwrap_or_default(),
        quiet_hours: quiet_hours(&mut fields),
        enabled: fields.flag("enabled"),
    };
    fields.finish(request)
}

fn quiet_hours(fields: &mut ObjectReader) -> Vec<QuietHours> {
    let items = fields.list("quiet_hours", QUIET).unwrap_or_default();
    let parsed: Result<Vec<QuietHours>, _> =
        items.into_iter().map(serde_json::from_value).collect();
    parsed.unwrap_or_else(|_| {
        let detail = "quiet_hours must be a list of times.";
        let remedy = format!("For example: {QUIET}.");
        fields.reject("wrong_type", "quiet_hours", detail, remedy);
        Vec::new()
    })
}
