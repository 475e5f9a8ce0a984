//! Reads a JSON object field by field: every bad field is told at once, and an unknown one meets the nearest known one.
//! Used for every body that is no job: runs, studies, their parts. Pure.

use crate::problem::Problem;
use serde_json::{Map, Value};

/// How alike a name must be to be offered as the one that was meant (Jaro-Winkler, 0 to 1).
const ALIKE: f64 = 0.75;

/// An object that is being read: fields are taken out one by one, what is left at the end is unknown.
#[derive(Debug)]
pub struct Fields {
    object: Map<String, Value>,
    /// What stands before the names in problems, such as `steps[2].`.
    path: String,
    known: &'static [&'static str],
    problems: Vec<Problem>,
}

impl Fields {
    /// Of a value that should be an object with these fields. `path` stands before their names in problems.
    pub fn of(value: Value, path: impl Into<String>, known: &'static [&'static str]) -> Self {
        let mut fields = Self {
            object: Map::new(),
            path: path.into(),
            known,
            problems: Vec::new(),
        };
        match value {
            Value::Object(object) => fields.object = object,
            other => {
                let place = fields.path.trim_end_matches('.').to_owned();
                let what = if place.is_empty() { "The body" } else { &place };
                let sentence = format!("{what} is {}, not an object.", kind(&other));
                fields.problems.push(Problem::invalid(
                    "not_an_object",
                    place.as_str(),
                    sentence,
                    "Write {...}.",
                ));
            }
        }
        fields
    }

    /// Refuses a field.
    pub fn refuse(
        &mut self,
        code: &str,
        name: &str,
        sentence: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        self.problems.push(Problem::invalid(
            code,
            format!("{}{name}", self.path),
            sentence,
            remedy,
        ));
    }

    /// Whether something was refused so far.
    pub fn is_refused(&self) -> bool {
        !self.problems.is_empty()
    }

    /// Takes a field out; null is as good as nothing.
    pub fn take(&mut self, name: &str) -> Option<Value> {
        self.object
            .shift_remove(name)
            .filter(|value| !value.is_null())
    }

    /// Takes a field out whatever it holds; whether it was there.
    pub fn remove(&mut self, name: &str) -> bool {
        self.object.shift_remove(name).is_some()
    }

    /// A text of at most `longest` bytes.
    pub fn text(&mut self, name: &str, longest: usize) -> Option<String> {
        match self.take(name)? {
            Value::String(text) if text.len() <= longest => Some(text),
            Value::String(text) => {
                self.refuse(
                    "too_long",
                    name,
                    format!("{name} has {} bytes.", text.len()),
                    format!("Use up to {longest}."),
                );
                None
            }
            other => {
                self.wrong_type(name, &other, "a text", "Write it in double quotes.");
                None
            }
        }
    }

    /// Yes or no: `true`, `false`, 1 or 0.
    pub fn flag(&mut self, name: &str) -> Option<bool> {
        match self.take(name)? {
            Value::Bool(flag) => Some(flag),
            Value::Number(number) if matches!(number.as_u64(), Some(0 | 1)) => {
                Some(number.as_u64() == Some(1))
            }
            other => {
                self.wrong_type(name, &other, "true or false", "Write true or false.");
                None
            }
        }
    }

    /// A list; `example` is shown where it is none.
    pub fn list(&mut self, name: &str, example: &str) -> Option<Vec<Value>> {
        match self.take(name)? {
            Value::Array(items) => Some(items),
            other => {
                self.wrong_type(name, &other, "a list", &format!("Write {example}."));
                None
            }
        }
    }

    /// An object; `example` is shown where it is none.
    pub fn object(&mut self, name: &str, example: &str) -> Option<Map<String, Value>> {
        match self.take(name)? {
            Value::Object(object) => Some(object),
            other => {
                self.wrong_type(name, &other, "an object", &format!("Write {example}."));
                None
            }
        }
    }

    fn wrong_type(&mut self, name: &str, value: &Value, wanted: &str, remedy: &str) {
        self.refuse(
            "wrong_type",
            name,
            format!("{name} is {}, not {wanted}.", kind(value)),
            remedy,
        );
    }

    /// The value that came of it, when nothing was refused.
    ///
    /// # Errors
    /// Every bad field, unknown ones last.
    pub fn end<T>(mut self, value: T) -> Result<T, Vec<Problem>> {
        for name in std::mem::take(&mut self.object).keys() {
            self.refuse(
                "unknown_field",
                name,
                format!("There is no field `{name}`."),
                nearest(name, self.known),
            );
        }
        if self.problems.is_empty() {
            Ok(value)
        } else {
            Err(self.problems)
        }
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

fn nearest(name: &str, known: &[&str]) -> String {
    match most_alike(name, known.iter().copied()) {
        Some(known) => format!("Did you mean `{known}`?"),
        None => format!("Use {}.", known.join(", ")),
    }
}

/// The name that was meant, if one is like it.
pub fn most_alike<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let likeness = |known: &str| strsim::jaro_winkler(name, known);
    known
        .max_by(|a, b| likeness(a).total_cmp(&likeness(b)))
        .filter(|known| likeness(known) >= ALIKE)
}
