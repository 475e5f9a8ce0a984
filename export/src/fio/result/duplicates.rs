//! Finds fields that occur twice in a document: parsers would silently use the last one.

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::{collections::BTreeSet, fmt};

/// Objects in which a field may occur twice: fio prints a job option as often as it was given.
const REPEATABLE: [&str; 2] = ["job options", "global options"];

/// fio 3.0 to 3.3 print each unused entry of the percentile list.
const UNUSED_PERCENTILE: &str = "0.00";

/// Returns the path of the first field that occurs twice, such as `jobs[0].read.iops`.
pub(super) fn duplicate_field(text: &str) -> Option<String> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let mut found = None;
    let seed = Fields {
        path: String::new(),
        may_repeat: false,
        found: &mut found,
    };
    // Syntax errors have already been reported.
    let _ = seed.deserialize(&mut reader);
    found
}

struct Fields<'a> {
    path: String,
    may_repeat: bool,
    found: &'a mut Option<String>,
}

impl<'de> DeserializeSeed<'de> for Fields<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

macro_rules! ignore {
    ($($visit:ident: $type:ty),+) => {
        $( fn $visit<E: Error>(self, _: $type) -> Result<(), E> { Ok(()) } )+
    };
}

impl<'de> Visitor<'de> for Fields<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("JSON")
    }

    ignore!(visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_f64: f64, visit_str: &str);

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let mut index = 0;
        loop {
            let item = Fields {
                path: format!("{}[{index}]", self.path),
                may_repeat: false,
                found: &mut *self.found,
            };
            if items.next_element_seed(item)?.is_none() {
                return Ok(());
            }
            index += 1;
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        let mut names = BTreeSet::new();
        while let Some(name) = fields.next_key::<String>()? {
            let path = match self.path.as_str() {
                "" => name.clone(),
                parent => format!("{parent}.{name}"),
            };
            let may_repeat = REPEATABLE.contains(&name.as_str());
            let is_unused = name == UNUSED_PERCENTILE;
            if !names.insert(name) && !self.may_repeat && !is_unused {
                *self.found = Some(path);
                return Err(A::Error::custom("a field occurs twice"));
            }
            fields.next_value_seed(Fields {
                path,
                may_repeat,
                found: &mut *self.found,
            })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::duplicate_field;

    #[test]
    fn first_duplicate_field_is_found() {
        for (text, expected) in [
            (r#"{"a": 1, "b": [{"a": 1}, {"a": 2}], "c": null}"#, None),
            (r#"{"a": 1, "a": 1}"#, Some("a")),
            (
                r#"{"jobs": [{}, {"read": {"iops": 1.5, "iops": 2}}]}"#,
                Some("jobs[1].read.iops"),
            ),
            (
                r#"{"jobs": [{"job options": {"bs": "4k", "bs": "8k"}, "a": true}]}"#,
                None,
            ),
            (r#"{"jobs": [], "x": "y", "jobs": []}"#, Some("jobs")),
            (
                r#"{"percentile": {"99.00": 1, "0.00": 0, "0.00": 0}}"#,
                None,
            ),
            (r#"{"a": 1"#, None),
        ] {
            assert_eq!(duplicate_field(text).as_deref(), expected, "{text}");
        }
    }
}
