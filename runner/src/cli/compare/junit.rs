//! Writes the rules of a comparison as JUnit XML, with one test case per rule.

use leadline_compare::rule::{Outcome, RuleResult};
use leadline_protocol::compare::Assessment;
use std::fmt::Write;

pub(super) fn render(assessment: &Assessment, rules: &[RuleResult]) -> String {
    let count = |outcome| {
        let matching = rules.iter().filter(|result| result.outcome == outcome);
        matching.count()
    };
    let (failed, undecided) = (count(Outcome::Failed), count(Outcome::Undecided));
    let labels: Vec<&str> = assessment
        .groups
        .iter()
        .map(|group| group.label.as_str())
        .collect();
    let mut xml = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"{}\" tests=\"{}\" failures=\"{failed}\" errors=\"{undecided}\">\n",
        escaped(&labels.join(" and ")),
        rules.len(),
    );
    for result in rules {
        let name = escaped(&result.rule);
        let sentence = escaped(&result.sentence);
        let element = match result.outcome {
            Outcome::Passed => format!("<system-out>{sentence}</system-out>"),
            Outcome::Failed => format!("<failure message=\"{sentence}\"/>"),
            Outcome::Undecided => format!("<error message=\"{sentence}\" type=\"undecided\"/>"),
        };
        let _ = writeln!(
            xml,
            "  <testcase classname=\"leadline\" name=\"{name}\">{element}</testcase>"
        );
    }
    xml + "</testsuite>\n"
}

/// XML 1.0 forbids control characters and U+FFFE and U+FFFF, even as character references.
fn escaped(text: &str) -> String {
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
