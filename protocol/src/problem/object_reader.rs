//! Reads a JSON object field by field and collects all problems, including unknown fields.

use crate::{problem::Problem, text::is_deceptive};
use serde_json::{Map, Value};

/// Minimum Jaro-Winkler similarity (0-1) for suggestions.
const MIN_SIMILARITY: f64 = 0.8;
/// Maximum length of an unknown name that is compared with the known names, in bytes. Comparing a
/// 1 MB name with all options takes seconds.
const MAX_MISSPELLED: usize = 64;
/// Maximum number of problems listed for the unknown fields of an object, the options of a run, or
/// the axes of a sweep. With more, the response would be longer than the request.
pub(crate) const MAX_LISTED: usize = 100;

/// Fields are removed as they are read; the rest are reported as unknown.
#[derive(Debug)]
pub struct ObjectReader {
    object: Map<String, Value>,
    /// Prefix for field names in problems, such as `steps[2].`.
    path: String,
    known: &'static [&'static str],
    problems: Vec<Problem>,
}

impl ObjectReader {
    /// `path` is prepended to field names in problems; `known` lists the fields for suggestions.
    pub fn new(value: Value, path: impl Into<String>, known: &'static [&'static str]) -> Self {
        let mut reader = Self {
            object: Map::new(),
            path: path.into(),
            known,
            problems: Vec::new(),
        };
        match value {
            Value::Object(object) => reader.object = object,
            other => {
                let field = reader.path.trim_end_matches('.');
                let subject = if field.is_empty() { "The body" } else { field };
                let detail = format!("{subject} is {}, not an object.", type_name(&other));
                let problem = Problem::invalid("not_an_object", field, detail, "Use {...}.");
                reader.problems.push(problem);
            }
        }
        reader
    }

    /// Adds a problem for a field.
    pub fn reject(
        &mut self,
        code: &str,
        name: &str,
        detail: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        let field = format!("{}{name}", self.path);
        self.problems
            .push(Problem::invalid(code, field, detail, remedy));
    }

    pub fn has_problems(&self) -> bool {
        !self.problems.is_empty()
    }

    /// Whether a problem for the field was added, or the value is not an object.
    pub fn is_rejected(&self, name: &str) -> bool {
        let field = format!("{}{name}", self.path);
        let object = self.path.trim_end_matches('.');
        let mut fields = self
            .problems
            .iter()
            .map(|problem| problem.field.as_deref().unwrap_or_default());
        fields.any(|found| found == field || found == object)
    }

    /// Takes a field. Returns `None` if it is missing or null.
    pub fn take(&mut self, name: &str) -> Option<Value> {
        self.object
            .shift_remove(name)
            .filter(|value| !value.is_null())
    }

    /// Removes a field. Returns whether it was present.
    pub fn remove(&mut self, name: &str) -> bool {
        self.object.shift_remove(name).is_some()
    }

    /// Takes a string of at most `max_length` characters.
    pub fn text(&mut self, name: &str, max_length: usize) -> Option<String> {
        match self.take(name)? {
            Value::String(text) if text.chars().nth(max_length).is_none() => Some(text),
            Value::String(text) => {
                let length = text.chars().count();
                let detail = format!("{name} is too long ({length} characters).");
                let remedy = format!("Use at most {max_length} characters.");
                self.reject("too_long", name, detail, remedy);
                None
            }
            other => self.wrong_type(name, &other, "a string", "a string in double quotes"),
        }
    }

    /// Like [`Self::text`], for a name that is displayed on one line.
    pub fn name(&mut self, name: &str, max_length: usize) -> Option<String> {
        let text = self.text(name, max_length)?;
        if text.chars().any(is_deceptive) {
            let detail = format!("{name} contains control or invisible characters.");
            self.reject("bad_value", name, detail, "Remove them.");
        }
        Some(text)
    }

    pub fn flag(&mut self, name: &str) -> Option<bool> {
        let value = self.take(name)?;
        match (value.as_bool(), value.as_u64()) {
            (Some(flag), _) => Some(flag),
            (_, Some(number @ (0 | 1))) => Some(number == 1),
            _ => self.wrong_type(name, &value, "a boolean", "true or false"),
        }
    }

    pub fn list(&mut self, name: &str, example: &str) -> Option<Vec<Value>> {
        match self.take(name)? {
            Value::Array(items) => Some(items),
            other => self.wrong_type(name, &other, "a list", example),
        }
    }

    /// Takes a list of strings or a single string.
    pub fn texts(&mut self, name: &str, example: &str) -> Option<Vec<String>> {
        let value = self.take(name)?;
        match texts(&value) {
            Some(texts) => Some(texts),
            None => self.wrong_type(name, &value, "a list of strings", example),
        }
    }

    pub fn object(&mut self, name: &str, example: &str) -> Option<Map<String, Value>> {
        match self.take(name)? {
            Value::Object(object) => Some(object),
            other => self.wrong_type(name, &other, "an object", example),
        }
    }

    fn wrong_type<T>(
        &mut self,
        name: &str,
        value: &Value,
        expected: &str,
        example: &str,
    ) -> Option<T> {
        let detail = format!("{name} is {}, not {expected}.", type_name(value));
        self.reject("wrong_type", name, detail, format!("Use {example}."));
        None
    }

    /// # Errors
    /// All problems. Unknown fields come last; at most `MAX_LISTED` of them are listed.
    pub fn finish<T>(mut self, value: T) -> Result<T, Vec<Problem>> {
        for name in std::mem::take(&mut self.object).keys().take(MAX_LISTED) {
            let remedy = match closest(name, self.known.iter().copied()) {
                Some(known) => format!("Did you mean `{known}`?"),
                None => format!("Use {}.", self.known.join(", ")),
            };
            self.reject(
                "unknown_field",
                name,
                format!("Unknown field `{name}`."),
                remedy,
            );
        }
        if self.problems.is_empty() {
            Ok(value)
        } else {
            Err(self.problems)
        }
    }
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// Returns the most similar known name, or `None` if none is similar enough.
pub fn closest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if name.len() > MAX_MISSPELLED {
        return None;
    }
    known
        .map(|known| (strsim::jaro_winkler(name, known), known))
        .filter(|(similarity, _)| *similarity >= MIN_SIMILARITY)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, known)| known)
}

/// Returns the strings of a list or a single string, or `None` for other values.
pub fn texts(value: &Value) -> Option<Vec<String>> {
    match value {
        Value::String(text) => Some(vec![text.clone()]),
        Value::Array(items) => {
            let texts = items.iter().map(|item| item.as_str().map(str::to_owned));
            texts.collect()
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::closest;

    #[test]
    fn only_similar_names_are_suggested() {
        let find = |name: &str| closest(name, ["flow", "bs", "iodepth"].into_iter());
        assert_eq!(find("foo"), None);
        assert_eq!(find("flows"), Some("flow"));
    }

    #[test]
    fn long_names_are_not_compared() {
        let find = |name: &str| closest(name, ["iodepth"].into_iter());
        assert_eq!(find("iodpeth"), Some("iodepth"));
        assert_eq!(find(&format!("iodepth{}", "x".repeat(1000))), None);
    }
}
