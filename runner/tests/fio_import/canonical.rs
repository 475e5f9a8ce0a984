//! Converts option values to the format of the recorded cases.

use serde_json::{Map, Value, json};

/// Options that the importer returns in milliseconds, but that the cases record in microseconds.
const MILLISECONDS: [&str; 5] = [
    "log_avg_msec",
    "log_hist_msec",
    "bwavgtime",
    "iopsavgtime",
    "rate_cycle",
];

/// Converts values returned by the importer.
pub(crate) fn options(options: &Map<String, Value>) -> Map<String, Value> {
    let value = |(name, value): (&String, &Value)| (name.clone(), canonical(name, value));
    options.iter().map(value).collect()
}

/// Converts values recorded in the cases. `memory_mib` is the memory size of the host on which they
/// were recorded.
pub(crate) fn expected(options: &Map<String, Value>, memory_mib: u64) -> Map<String, Value> {
    let mut options = options.clone();
    for value in options.values_mut() {
        if value == "mb_memory*1048576" {
            *value = json!(memory_mib << 20);
        }
    }
    options
}

fn canonical(name: &str, value: &Value) -> Value {
    if MILLISECONDS.contains(&name) {
        return json!(value.as_i64().unwrap() * 1000);
    }
    let Some(text) = value.as_str() else {
        return value.clone();
    };
    match (name, text) {
        ("kb_base" | "unit_base", _) => json!(text.parse::<i64>().unwrap()),
        ("sync" | "fallocate", "0") | ("fadvise_hint", "0") => json!("none"),
        ("sync", "1") => json!("sync"),
        ("fallocate", "1") => json!("posix"),
        ("fadvise_hint", "1") => json!("on"),
        ("rw", _) => json!(pattern(text)),
        ("bssplit", _) => split(text),
        ("percentile_list", _) => json!(
            text.split(':')
                .map(|number| number.parse::<f64>().unwrap())
                .collect::<Vec<_>>()
        ),
        ("latency_percentile", _) => json!(format!("{:?}", text.parse::<f64>().unwrap())),
        _ => value.clone(),
    }
}

fn pattern(text: &str) -> String {
    let (name, modifier) = text
        .split_once(':')
        .map_or((text, None), |(name, modifier)| (name, Some(modifier)));
    let name = if name == "readwrite" { "rw" } else { name };
    match modifier.map(|modifier| (modifier.starts_with('-'), modifier.trim_start_matches('-'))) {
        None => name.into(),
        Some((true, size)) => format!("{name}:-{}", bytes(size)),
        Some((false, size)) => format!("{name}:{}", bytes(size)),
    }
}

fn bytes(text: &str) -> u64 {
    leadline_protocol::units::bytes(text).unwrap()
}

/// Block sizes without a percentage get equal shares of the remaining percentage.
fn split(text: &str) -> Value {
    let directions = text.split(',').map(|direction| {
        let entries: Vec<(u64, Option<u64>)> = direction
            .split(':')
            .map(|entry| {
                let (size, share) = entry.split_once('/').unwrap_or((entry, ""));
                (bytes(size), share.parse().ok())
            })
            .collect();
        let sum: u64 = entries.iter().filter_map(|entry| entry.1).sum();
        let blanks = entries.iter().filter(|entry| entry.1.is_none()).count() as u64;
        let share = 100u64.saturating_sub(sum).checked_div(blanks).unwrap_or(0);
        let entries = entries
            .into_iter()
            .map(|(size, percent)| json!([size, percent.unwrap_or(share)]));
        Value::Array(entries.collect())
    });
    let mut directions: Vec<Value> = directions.collect();
    while let Some(last) = directions.last().filter(|_| directions.len() < 3) {
        directions.push(last.clone());
    }
    Value::Array(directions)
}
