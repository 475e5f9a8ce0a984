//! Makes text from users, devices and files safe to display.

use serde_json::Value;

/// Characters that must not be displayed unchanged: control characters, and invisible characters
/// that reorder or hide the surrounding text (Unicode Standard Annex 9, Unicode Technical Report
/// 36). Joiners are allowed, because scripts and emoji need them.
pub fn is_deceptive(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{061c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{feff}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{2069}')
}

/// The same characters, for a character class in a regular expression (ECMA-262).
const DECEPTIVE: &str =
    r"\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff";

/// Regular expression for text that is not blank, without deceptive characters and those in
/// `others`.
pub fn plain_pattern(others: &str) -> String {
    format!("^[^{DECEPTIVE}{others}]*[^\\s{DECEPTIVE}{others}][^{DECEPTIVE}{others}]*$")
}

/// Replaces deceptive characters, for display.
pub fn printable(text: &str) -> String {
    text.replace(is_deceptive, "\u{fffd}")
}

/// Replaces deceptive characters in all strings and field names of an untrusted document.
pub fn printable_document(document: Value) -> Value {
    match document {
        Value::String(text) => printable(&text).into(),
        Value::Array(items) => items.into_iter().map(printable_document).collect(),
        Value::Object(fields) => {
            let fields = fields.into_iter();
            fields
                .map(|(name, value)| (printable(&name), printable_document(value)))
                .collect()
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::{is_deceptive, printable, printable_document};
    use serde_json::json;

    #[test]
    fn document_text_is_printable() {
        let document = json!({"a\u{1b}": [{"name": "x\u{202e}\u{1b}[2J"}, 1]});
        let expected = json!({"a\u{fffd}": [{"name": "x\u{fffd}\u{fffd}[2J"}, 1]});
        assert_eq!(printable_document(document), expected);
    }

    #[test]
    fn deceptive_characters_are_replaced() {
        assert_eq!(printable("/mnt/a b"), "/mnt/a b");
        assert_eq!(printable("a\u{1b}[31m\u{202e}b"), "a\u{fffd}[31m\u{fffd}b");
    }

    #[test]
    fn letters_joiners_and_spaces_are_not_deceptive() {
        for text in [
            "data/t-1.img",
            "Größe 4 KiB",
            "日本語",
            "بيانات",
            "👩‍💻",
            "a\u{200c}b",
        ] {
            assert!(!text.chars().any(is_deceptive), "{text}");
        }
        for text in [
            "a\nb",
            "\u{202e}gpj.exe",
            "a\u{200b}b",
            "\u{2066}x",
            "\x1b[31m",
            "\u{9b}31m",
        ] {
            assert!(text.chars().any(is_deceptive), "{text:?}");
        }
    }
}
