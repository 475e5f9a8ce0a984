//! Reads JSON documents that people write. `serde_json` takes the last of several fields with the
//! same name; here they are problems, because one of the values would have no effect.

use crate::problem::Problem;
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use std::fmt;

/// Maximum number of reported fields.
const MAX_PROBLEMS: usize = 100;

/// Why a document was not read.
#[derive(Debug)]
pub enum DocumentError {
    /// Not JSON.
    Syntax(serde_json::Error),
    /// At least one object has several fields with the same name.
    Repeated(Vec<Problem>),
}

/// Parses a document in which every field occurs once.
///
/// # Errors
/// The text is not JSON, or an object repeats a field.
pub fn parse_document(text: &[u8]) -> Result<Value, DocumentError> {
    let mut repeated = Vec::new();
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    let reader = Reader {
        path: "",
        repeated: &mut repeated,
    };
    let document = reader.deserialize(&mut deserializer);
    let document = document.and_then(|document| deserializer.end().map(|()| document));
    let document = document.map_err(DocumentError::Syntax)?;
    if repeated.is_empty() {
        return Ok(document);
    }
    repeated.sort();
    repeated.dedup();
    repeated.truncate(MAX_PROBLEMS);
    let problems = repeated.into_iter().map(problem).collect();
    Err(DocumentError::Repeated(problems))
}

fn problem(path: String) -> Problem {
    let detail = "The field is given more than once.";
    Problem::invalid("repeated_field", path, detail, "Keep one of the values.")
}

/// Reads one value.
struct Reader<'a> {
    /// Path of the value, such as `jobs[0].bs`.
    path: &'a str,
    /// Paths of the fields that occur more than once.
    repeated: &'a mut Vec<String>,
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
            let path = format!("{}[{}]", self.path, values.len());
            let reader = Reader {
                path: &path,
                repeated: self.repeated,
            };
            match sequence.next_element_seed(reader)? {
                Some(value) => values.push(value),
                None => return Ok(values.into()),
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(name) = map.next_key::<String>()? {
            let path = match self.path {
                "" => name.clone(),
                parent => format!("{parent}.{name}"),
            };
            let reader = Reader {
                path: &path,
                repeated: self.repeated,
            };
            let value = map.next_value_seed(reader)?;
            if object.insert(name, value).is_some() {
                self.repeated.push(path);
            }
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
    fn a_document_without_repeated_fields_has_the_value_of_serde_json() {
        let text = r#"{"b": [1, -2, 1e300, 18446744073709551615, "x", null, true, []], "a": {"b": {}}, "": 0.1}"#;
        let expected: Value = serde_json::from_str(text).unwrap();
        let document = parse_document(text.as_bytes()).unwrap();
        assert_eq!(document, expected);
        assert_eq!(
            document.to_string(),
            expected.to_string(),
            "order of fields"
        );
        assert_eq!(parse_document(b" 7 ").unwrap(), json!(7));
    }

    #[test]
    fn repeated_fields_are_named_with_their_paths() {
        assert_eq!(repeated(r#"{"rw": "read", "rw": "write"}"#), ["rw"]);
        let text = r#"{"jobs": [{}, {"bs": 1, "size": 1, "bs": 2, "size": 2, "bs": 3}], "a": {"x": 1, "x": 1}}"#;
        assert_eq!(repeated(text), ["a.x", "jobs[1].bs", "jobs[1].size"]);
        // The same field, in different notations.
        assert_eq!(repeated(r#"{"rw": 1, "r\u0077": 1}"#), ["rw"]);
    }

    #[test]
    fn the_number_of_problems_is_limited() {
        let fields: String = (0..1_000)
            .map(|n| format!(r#""f{n}": 1, "f{n}": 2, "#))
            .collect();
        let text = format!("{{{fields} \"end\": 1}}");
        assert_eq!(repeated(&text).len(), MAX_PROBLEMS);
    }

    #[test]
    fn invalid_json_has_the_error_of_serde_json() {
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
