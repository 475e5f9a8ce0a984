//! Objects with numbers in a job of a result, and their paths in the document.

use super::error::ResultError;
use leadline_protocol::query::MAX_NUMBER;
use serde_json::Value;

/// An object in a job, and its path in the document.
pub(super) struct Stats<'a> {
    pub(super) path: String,
    pub(super) value: &'a Value,
}

pub(super) fn stats_of<'a>(jobs: &[&'a Value], name: &str) -> Result<Vec<Stats<'a>>, ResultError> {
    let mut all = Vec::new();
    for (index, job) in jobs.iter().enumerate() {
        let path = format!("jobs[{index}].{name}");
        match &job[name] {
            Value::Null => {}
            value if value.is_object() => all.push(Stats { path, value }),
            _ => return Err(ResultError::invalid(path, "is not an object")),
        }
    }
    Ok(all)
}

impl Stats<'_> {
    pub(super) fn number(&self, field: &str) -> Result<f64, ResultError> {
        let value = &self.value[field];
        value
            .as_f64()
            .filter(|number| (0.0..=MAX_NUMBER as f64).contains(number))
            .ok_or_else(|| self.invalid(field, value))
    }

    pub(super) fn count(&self, field: &str) -> Result<u64, ResultError> {
        let value = &self.value[field];
        let count = value.as_u64().filter(|count| *count <= MAX_NUMBER);
        count.ok_or_else(|| self.invalid(field, value))
    }

    fn invalid(&self, field: &str, value: &Value) -> ResultError {
        let path = format!("{}.{field}", self.path);
        match value {
            Value::Null => ResultError::invalid(path, "is missing"),
            value => ResultError::invalid(path, format!("is not a count or rate: {value}")),
        }
    }
}
