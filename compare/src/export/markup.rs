//! Escaping for HTML and XML.

/// Escapes text for HTML and XML, in elements and in attributes. XML 1.0 forbids control characters
/// and U+FFFE and U+FFFF, even as character references; they become spaces.
pub fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\u{fffe}' | '\u{ffff}' => escaped.push(' '),
            letter if letter.is_control() => escaped.push(' '),
            letter => escaped.push(letter),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn attributes_are_escaped() {
        assert_eq!(escaped("a<\"b\">&\u{1b}"), "a&lt;&quot;b&quot;&gt;&amp; ");
        assert_eq!(escaped("\u{fffe}a\u{ffff}"), " a ");
    }
}
