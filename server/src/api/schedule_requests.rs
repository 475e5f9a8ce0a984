//! Parses schedule request bodies. Pure.

use crate::{
    api::requests::{add_remaining_problems, tags},
    schedules,
};
use leadline_protocol::{
    limits::{MAX_CRON, MAX_NAME},
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
/// Maximum length of a time, in characters.
const MAX_TIME: usize = 20;
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
        if is_missing && !fields.is_rejected(name) {
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
    let mut problems = fields.finish(()).err().unwrap_or_default();
    if problems.is_empty() {
        return Ok(request);
    }
    add_remaining_problems(&mut problems, schedules::validate::problems(&request));
    Err(problems)
}

fn quiet_hours(fields: &mut ObjectReader) -> Vec<QuietHours> {
    let items = fields.list("quiet_hours", QUIET).unwrap_or_default();
    let mut hours = Vec::new();
    for (index, item) in items.into_iter().enumerate() {
        match quiet(item, &format!("quiet_hours[{index}].")) {
            Ok(quiet) => hours.push(quiet),
            Err(problems) => {
                for problem in problems {
                    let field = problem.field.unwrap_or_default();
                    fields.reject(&problem.code, &field, problem.detail, problem.remedy);
                }
            }
        }
    }
    hours
}

fn quiet(item: Value, path: &str) -> Result<QuietHours, Vec<Problem>> {
    let mut fields = ObjectReader::new(item, path, &["from", "to"]);
    let mut time = |name: &str| {
        let time = fields.text(name, MAX_TIME);
        if time.is_none() && !fields.is_rejected(name) {
            let detail = format!("{name} is required.");
            fields.reject("missing", name, detail, format!("For example: {QUIET}."));
        }
        time.unwrap_or_default()
    };
    let quiet = QuietHours {
        from: time("from"),
        to: time("to"),
    };
    fields.finish(quiet)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(quiet_hours: Value, expected: &[&str]) {
        let body = json!({"name": "a", "cron": "@daily", "document": {"jobs": [{}]}, "quiet_hours": quiet_hours});
        let problems = schedule_request(body).err().unwrap_or_default();
        let fields: Vec<&str> = problems.iter().filter_map(|p| p.field.as_deref()).collect();
        assert_eq!(fields, expected);
    }

    #[test]
    fn quiet_hours_require_two_times() {
        check(json!([{"from": "08:00", "to": "18:00"}]), &[]);
        check(json!({"from": "08:00", "to": "18:00"}), &["quiet_hours"]);
        check(json!(["08:00"]), &["quiet_hours[0]"]);
        check(
            json!([{"from": "08:00", "to": "18:00", "x": 1}]),
            &["quiet_hours[0].x"],
        );
        check(
            json!([{"from": "08:00", "to": "18:00"}, {"from": "08:00"}]),
            &["quiet_hours[1].to"],
        );
        check(
            json!([{"from": 8, "to": "18:00"}]),
            &["quiet_hours[0].from"],
        );
    }

    #[test]
    fn all_invalid_fields_are_reported() {
        let body = json!({"name": "", "cron": "61 25 * * *", "time_zone": "Mars/X", "tags": ["a,b"],
            "quiet_hours": [{"from": "25:00", "to": "1"}], "document": {"jobs": [{"rw": "bad"}]}});
        let problems = schedule_request(body).unwrap_err();
        let fields: Vec<&str> = problems.iter().filter_map(|p| p.field.as_deref()).collect();
        assert_eq!(
            fields,
            [
                "tags[0]",
                "name",
                "time_zone",
                "cron",
                "quiet_hours[0].from",
                "quiet_hours[0].to",
                "document.jobs[0].rw",
            ]
        );
    }
}
