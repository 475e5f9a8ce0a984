//! Short text forms of settings.

use leadline_protocol::units::size;
use serde_json::{Map, Value};

/// Settings in bytes or bytes per second.
const BYTES: &[&str] = &[
    "bs",
    "blockalign",
    "io_size",
    "layout_bytes",
    "layout_offset",
    "length",
    "offset",
    "offset_increment",
    "rate",
    "read_ahead_bytes",
    "size",
    "size_bytes",
];

/// Returns `None` for null.
pub(crate) fn value_text(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().filter_map(value_text).collect();
            Some(items.join(" "))
        }
        Value::Object(fields) => object_text(fields),
        other => Some(other.to_string()),
    }
}

fn object_text(fields: &Map<String, Value>) -> Option<String> {
    let text = |name: &str| fields.get(name).and_then(value_text);
    // Values for each direction: a single value if they are all equal.
    let directions = ["read", "write", "trim"];
    if directions.iter().all(|name| fields.contains_key(*name)) {
        let values = directions.map(text);
        if values.iter().all(|value| *value == values[0]) {
            let [value, ..] = values;
            return value;
        }
        return Some(values.map(|value| value.unwrap_or("-".into())).join(","));
    }
    // A range of block sizes, or block sizes with their shares.
    if let (Some(min), Some(max)) = (text("min"), text("max")) {
        return match text("split") {
            _ if min == max => Some(min),
            Some(split) if !split.is_empty() => Some(split),
            _ => Some(format!("{min}-{max}")),
        };
    }
    let named: Vec<String> = fields
        .iter()
        .filter_map(|(name, value)| Some(format!("{name}={}", value_text(value)?)))
        .collect();
    (!named.is_empty()).then(|| named.join("/"))
}

/// Formats sizes in fio's syntax (`4k-64k`), and times with the unit in the setting's name.
pub(crate) fn with_unit(name: &str, value: &str) -> String {
    let name = name.rsplit('.').next().unwrap_or(name);
    if BYTES.contains(&name) {
        return sizes(value);
    }
    let is_number = value.bytes().all(|byte| byte.is_ascii_digit());
    match name.rsplit_once('_') {
        Some((_, unit @ ("ms" | "us" | "ns"))) if is_number => format!("{value} {unit}"),
        _ => value.to_owned(),
    }
}

/// Formats every number in the text as a size.
fn sizes(text: &str) -> String {
    let parts = text.split_inclusive(|letter: char| !letter.is_ascii_digit());
    let formatted = parts.map(|part| {
        let digits = part.trim_end_matches(|letter: char| !letter.is_ascii_digit());
        match digits.parse() {
            Ok(bytes) => size(bytes) + &part[digits.len()..],
            Err(_) => part.to_owned(),
        }
    });
    formatted.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn formats_values_compactly() {
        let size = |bytes: u64| json!({"min": bytes, "max": bytes, "split": []});
        for (value, expected) in [
            (json!(null), None),
            (json!(true), Some("true")),
            (json!("randread"), Some("randread")),
            (json!([0, 1]), Some("0 1")),
            (
                json!({"read": size(4096), "write": size(4096), "trim": size(4096)}),
                Some("4096"),
            ),
            (
                json!({"read": size(4096), "write": size(8192), "trim": size(8192)}),
                Some("4096,8192,8192"),
            ),
            (
                json!({"min": 4096, "max": 65536, "split": []}),
                Some("4096-65536"),
            ),
            (json!({"read": null, "write": null, "trim": null}), None),
            (
                json!({"read": 5, "write": null, "trim": null}),
                Some("5,-,-"),
            ),
            (
                json!({"kind": "zipf", "theta": 1.2}),
                Some("kind=zipf/theta=1.2"),
            ),
        ] {
            assert_eq!(value_text(&value).as_deref(), expected, "{value}");
        }
    }

    #[test]
    fn sizes_and_times_have_units() {
        for (name, value, expected) in [
            ("size", "1073741824", "1g"),
            ("jobs[1].bs", "4096-65536", "4k-64k"),
            ("bs", "4096,8192,4096", "4k,8k,4k"),
            ("targets.length", "1048576 512", "1m 512"),
            ("runtime_ms", "30000", "30000 ms"),
            ("iodepth", "32", "32"),
            ("targets.path", "/srv/1024", "/srv/1024"),
        ] {
            assert_eq!(with_unit(name, value), expected, "{name}");
        }
    }
}
