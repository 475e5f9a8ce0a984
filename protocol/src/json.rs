//! Reads JSON documents written by people. `serde_json` keeps only the last value of a repeated
//! field. Here, a repeated field is a problem, because the other values would have no effect.

use crate::problem::Problem;
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use std::fmt::{self, Write};

/// Maximum number of reported fields.
const MAX_PROBLEMS: usize = 100;

/// Maximum length of a reported path, in characters. Documents can nest long names.
const MAX_PATH: usize = 200;

/// Why a document could not be read.
#[derive(Debug)]
pub enum DocumentError {
    /// Not JSON.
    Syntax(serde_json::Error),
    /// At least one object has multiple fields with the same name.
    Repeated(Vec<Problem>),
}

/// Parses a document without repeated fields.
///
/// # Errors
/// The text is not JSON, or an object repeats a field.
pub fn parse_document(text: &[u8]) -> Result<Value, DocumentError> {
    let mut repeated = Vec::new();
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    let reader = Reader {
        path: &Path::Root,
        repeated: &mut repeated,
    };
    let document = reader.deserialize(&mut deserializer);
    let document = document.and_then(|document| deserializer.end().map(|()| document));
    let document = document.map_err(DocumentError::Syntax)?;
    if repeated.is_empty() {
        return Ok(document);
    }
    let problems = repeated.into_iter().map(problem).collect();
    Err(DocumentError::Repeated(problems))
}

fn problem(path: String) -> Problem {
    let detail = "The field is set more than once.";
    Problem::invalid("repeated_field", path, detail, "Keep one of the values.")
}

/// Position of a value. Its text is built only if it is reported.
enum Path<'a> {
    Root,
    Field(&'a Path<'a>, &'a str),
    Element(&'a Path<'a>, usize),
}

impl Path<'_> {
    /// For example, `jobs[0].bs`; truncated to `MAX_PATH` characters.
    fn text(&self) -> String {
        let mut text = ShortText(String::new());
        if self.write(&mut text).is_err() {
            text.0.push('…');
        }
        text.0
    }

    fn write(&self, text: &mut ShortText) -> fmt::Result {
        match self {
            Self::Root => Ok(()),
            Self::Field(Self::Root, name) => text.write_str(name),
            Self::Field(parent, name) => {
                parent.write(text)?;
                write!(text, ".{name}")
            }
            Self::Element(parent, index) => {
                parent.write(text)?;
                write!(text, "[{index}]")
            }
        }
    }
}

/// Text of at most `MAX_PATH` characters. Writing more is an error.
struct ShortText(String);

impl Write for ShortText {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let free = MAX_PATH - self.0.chars().count();
        match text.char_indices().nth(free) {
            None => self.0.push_str(text),
            Some((end, _)) => {
                self.0.push_str(&text[..end]);
                return Err(fmt::Error);
            }
        }
        Ok(())
    }
}

/// Reads one value.
struct Reader<'a> {
    path: &'a Path<'a>,
    /// Paths of the fields that occur more than once.
    repeated: &'a mut Vec<String>,
}

impl Reader<'_> {
    fn report(&mut self, field: &Path<'_>) {
        if self.repeated.len() < MAX_PROBLEMS {
            let text = field.text();
            if !self.repeated.contains(&text) {
                self.repeated.push(text);
            }
        }
    }
}

impl<'de> DeserializeSeed<'de> for Reader<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Reader<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        loop {
            let reader = Reader {
                path: &Path::Element(self.path, values.len()),
                repeated: self.repeated,
            };
            match sequence.next_element_seed(reader)? {
                Some(value) => values.push(value),
                None => return Ok(values.into()),
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(name) = map.next_key::<String>()? {
            let path = Path::Field(self.path, &name);
            if object.contains_key(&name) {
                self.report(&path);
            }
            let reader = Reader {
                path: &path,
                repeated: self.repeated,
            };
            let value = map.next_value_seed(reader)?;
            object.insert(name, value);
        }
        Ok(object.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn repeated(text: &str) -> Vec<String> {
        match parse_document(text.as_bytes()) {
            Err(DocumentError::Repeated(problems)) => problems
                .into_iter()
                .filter_map(|problem| problem.field)
                .collect(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn documents_without_repeated_fields_match_serde_json() {
        let text = r#"{"b": [1, -2, 1e300, 18446744073709551615, "x", null, true, []], "a": {"b": {}}, "": 0.1}"#;
        let expected: Value = serde_json::from_str(text).unwrap();
        let document = parse_document(text.as_bytes()).unwrap();
        assert_eq!(document, expected);
        assert_eq!(document.to_string(), expected.to_string(), "field order");
        assert_eq!(parse_document(b" 7 ").unwrap(), json!(7));
    }

    #[test]
    fn reports_paths_of_repeated_fields() {
        assert_eq!(repeated(r#"{"rw": "read", "rw": "write"}"#), ["rw"]);
        let text = r#"{"jobs": [{}, {"bs": 1, "size": 1, "bs": 2, "size": 2, "bs": 3}], "a": {"x": 1, "x": 1}}"#;
        assert_eq!(repeated(text), ["jobs[1].bs", "jobs[1].size", "a.x"]);
        // The same field, in different notations.
        assert_eq!(repeated(r#"{"rw": 1, "r\u0077": 1}"#), ["rw"]);
    }

    #[test]
    fn limits_number_and_length_of_reported_paths() {
        let fields: String = (0..1_000)
            .map(|n| format!(r#""f{n}": 1, "f{n}": 2, "#))
            .collect();
        let text = format!("{{{fields} \"end\": 1}}");
        assert_eq!(repeated(&text).len(), MAX_PROBLEMS);
        let name = "ü".repeat(100_000);
        let text = format!(r#"{{"{name}": {{"x": 1, "x": 2}}, "y": 1, "y": 2}}"#);
        let cut = format!("{}…", "ü".repeat(MAX_PATH));
        assert_eq!(repeated(&text), [cut.as_str(), "y"]);
    }

    #[test]
    fn invalid_json_has_the_serde_json_error() {
        let deep = "[".repeat(10_000);
        for text in ["", "{", "[1,]", "nul", "{} {}", "\"\u{1}\"", "1e999", &deep] {
            let expected = serde_json::from_str::<Value>(text).unwrap_err().to_string();
            match parse_document(text.as_bytes()) {
                Err(DocumentError::Syntax(error)) => assert_eq!(error.to_string(), expected),
                other => panic!("{text:.20}: {other:?}"),
            }
        }
    }
}
