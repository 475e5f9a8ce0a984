//! Cron expression syntax. Pure.

use croner::{
    Cron,
    parser::{CronParser, Seconds, Year},
};

const EXAMPLE: &str = "30 2 * * *";
/// Nicknames from cron(5), except `@reboot`.
const NICKNAMES: [(&str, &str); 7] = [
    ("@yearly", "0 0 1 1 *"),
    ("@annually", "0 0 1 1 *"),
    ("@monthly", "0 0 1 * *"),
    ("@weekly", "0 0 * * 0"),
    ("@daily", "0 0 * * *"),
    ("@midnight", "0 0 * * *"),
    ("@hourly", "0 * * * *"),
];

/// One of the five fields.
struct Field {
    name: &'static str,
    /// Smallest and largest number.
    range: (u8, u8),
    /// Names of the numbers, starting with the smallest.
    names: &'static [&'static str],
    /// Values that are not numbers, names, ranges or steps.
    is_special: fn(&Field, &str) -> bool,
    values: &'static str,
}

const FIELDS: [Field; 5] = [
    Field {
        name: "minute",
        range: (0, 59),
        names: &[],
        is_special: |_, _| false,
        values: "0 to 59",
    },
    Field {
        name: "hour",
        range: (0, 23),
        names: &[],
        is_special: |_, _| false,
        values: "0 to 23",
    },
    Field {
        name: "day of the month",
        range: (1, 31),
        names: &[],
        is_special: is_day,
        values: "1 to 31, L (last day), LW (last weekday), 15W (weekday nearest to the 15th)",
    },
    Field {
        name: "month",
        range: (1, 12),
        names: &[
            "JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC",
        ],
        is_special: |_, _| false,
        values: "1 to 12, JAN to DEC",
    },
    Field {
        name: "day of the week",
        range: (0, 7),
        names: &["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"],
        is_special: is_weekday,
        values: "0 to 7 (0 and 7 are Sunday), SUN to SAT, 5L (last Friday), 5#2 (second Friday)",
    },
];

/// What is wrong with an expression, and how to fix it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct SyntaxError {
    pub detail: String,
    pub remedy: String,
}

/// # Errors
/// Returns all invalid fields.
pub(crate) fn check(text: &str) -> Result<Cron, Vec<SyntaxError>> {
    let text = text.trim();
    let is_nickname = NICKNAMES.iter().any(|(name, _)| is_name(name, text));
    if text.starts_with('@') && !is_nickname {
        let names = NICKNAMES.map(|(name, _)| name).join(", ");
        return Err(vec![SyntaxError {
            detail: format!("The cron expression {text} is not supported."),
            remedy: format!("Use {names}, or five fields, such as {EXAMPLE}."),
        }]);
    }
    let expanded = expand(text);
    let fields: Vec<&str> = expanded.split_whitespace().collect();
    if fields.len() != FIELDS.len() {
        return Err(vec![wrong_number(fields.len())]);
    }
    let pairs = FIELDS.iter().zip(fields);
    let errors = pairs.filter_map(|(field, text)| field.error(text));
    let errors: Vec<SyntaxError> = errors.collect();
    if !errors.is_empty() {
        return Err(errors);
    }
    parse(text).map_err(|error| {
        vec![SyntaxError {
            detail: format!("The cron expression is invalid ({error})."),
            remedy: format!("For example: {EXAMPLE}."),
        }]
    })
}

/// Parses an expression, including syntax that only earlier versions allowed in new schedules.
///
/// # Errors
/// The expression cannot be evaluated.
pub(crate) fn parse(text: &str) -> Result<Cron, String> {
    let text = expand(text.trim());
    // As in cron(5): if either day field starts with `*`, a day must match both fields; otherwise,
    // it must match one of them.
    let mut days = text.split_whitespace().skip(2).step_by(2);
    let parser = CronParser::builder()
        .seconds(Seconds::Disallowed)
        .year(Year::Disallowed)
        .dom_and_dow(days.any(|field| field.starts_with('*')))
        .build();
    parser.parse(&text).map_err(|error| {
        let error = error.to_string();
        error.trim_end_matches('.').to_owned()
    })
}

fn expand(text: &str) -> String {
    let nickname = NICKNAMES.iter().find(|(name, _)| is_name(name, text));
    nickname.map_or(text, |(_, fields)| fields).to_owned()
}

fn is_name(name: &str, text: &str) -> bool {
    name.eq_ignore_ascii_case(text)
}

fn wrong_number(fields: usize) -> SyntaxError {
    let names = FIELDS.map(|field| field.name).join(", ");
    let detail = match fields {
        6.. => {
            format!("The cron expression has {fields} fields. Seconds and years are not supported.")
        }
        _ => format!("The cron expression has only {fields} of 5 fields."),
    };
    SyntaxError {
        detail,
        remedy: format!("Use {names}. For example: {EXAMPLE}."),
    }
}

impl Field {
    fn error(&self, text: &str) -> Option<SyntaxError> {
        let is_valid = text.split(',').all(|part| self.accepts(part));
        (!is_valid).then(|| SyntaxError {
            detail: format!("The {} \"{text}\" is invalid.", self.name),
            remedy: format!(
                "Use {}, lists (1,3), ascending ranges (1-3) and steps (*/2 or 1-5/2).",
                self.values
            ),
        })
    }

    fn accepts(&self, part: &str) -> bool {
        let (values, step) = match part.split_once('/') {
            Some((values, step)) => (values, Some(step)),
            None => (part, None),
        };
        let is_step =
            |step: &str| number(step).is_some_and(|step| (1..=self.range.1).contains(&step));
        let is_range = values.split_once('-').is_some_and(|(from, to)| {
            let (from, to) = (self.value(from), self.end(to));
            from.is_some() && from <= to
        });
        match step {
            Some(step) => is_step(step) && (values == "*" || is_range),
            None => {
                values == "*"
                    || is_range
                    || self.value(values).is_some()
                    || (self.is_special)(self, values)
            }
        }
    }

    fn value(&self, text: &str) -> Option<u8> {
        let index = self.names.iter().position(|name| is_name(name, text));
        let named = index.and_then(|index| u8::try_from(index).ok());
        let value = named
            .map(|index| self.range.0 + index)
            .or_else(|| number(text));
        value.filter(|value| (self.range.0..=self.range.1).contains(value))
    }

    /// Parses the end of a range. Weekday ranges may end with Sunday (7).
    fn end(&self, text: &str) -> Option<u8> {
        match self.value(text) {
            Some(0) if is_name("SUN", text) => Some(7),
            value => value,
        }
    }
}

/// One or two digits.
fn number(text: &str) -> Option<u8> {
    let is_number = text.len() <= 2 && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok())?
}

fn is_day(field: &Field, text: &str) -> bool {
    let text = text.to_ascii_uppercase();
    let nearest = text.strip_suffix('W').and_then(|day| field.value(day));
    ["L", "LW"].contains(&text.as_str()) || nearest.is_some()
}

fn is_weekday(field: &Field, text: &str) -> bool {
    let last = text
        .strip_suffix(['l', 'L'])
        .and_then(|day| field.value(day));
    let nth = text.split_once('#').is_some_and(|(day, nth)| {
        field.value(day).is_some() && number(nth).is_some_and(|nth| (1..=5).contains(&nth))
    });
    last.is_some() || nth
}

#[cfg(test)]
mod tests {
    use super::*;

    fn details(text: &str) -> Vec<String> {
        let errors = check(text).err().unwrap_or_default();
        errors.into_iter().map(|error| error.detail).collect()
    }

    #[test]
    fn supported_syntax_can_be_evaluated() {
        for text in [
            "* * * * *",
            "0,30 0-6/2,22 1,15 JAN-mar *",
            "*/59 */23 */31 */12 */7",
            "0 0 * * mon-fri",
            "0 0 * * FRI-SUN",
            "0 0 L,LW,15W * *",
            "0 0 * * 5L,MON#2,friL",
            "05 02 * * 7",
            "@daily",
            "@Midnight",
            " @hourly ",
        ] {
            assert_eq!(details(text), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn errors_state_the_field_its_text_and_valid_values() {
        for (text, expected) in [
            ("60 * * * *", "The minute \"60\" is invalid."),
            ("* 25 * * *", "The hour \"25\" is invalid."),
            ("* 22-2 * * *", "The hour \"22-2\" is invalid."),
            ("* * 0 * *", "The day of the month \"0\" is invalid."),
            ("* * * 13 *", "The month \"13\" is invalid."),
            ("* * * * 8", "The day of the week \"8\" is invalid."),
            (
                "* * * * monday",
                "The day of the week \"monday\" is invalid.",
            ),
            ("1,,2 * * * *", "The minute \"1,,2\" is invalid."),
            ("MON * * * *", "The minute \"MON\" is invalid."),
            ("*/0 * * * *", "The minute \"*/0\" is invalid."),
            ("*/90 * * * *", "The minute \"*/90\" is invalid."),
            ("5/10 * * * *", "The minute \"5/10\" is invalid."),
            ("+5 * * * *", "The minute \"+5\" is invalid."),
            ("* * ? * *", "The day of the month \"?\" is invalid."),
            ("* * * * +1", "The day of the week \"+1\" is invalid."),
            ("* * * * L", "The day of the week \"L\" is invalid."),
            ("* * * * 1SUN", "The day of the week \"1SUN\" is invalid."),
            ("* * * * 1#6", "The day of the week \"1#6\" is invalid."),
            ("- * * * *", "The minute \"-\" is invalid."),
            ("@reboot", "The cron expression @reboot is not supported."),
            ("", "The cron expression has only 0 of 5 fields."),
            ("* * * *", "The cron expression has only 4 of 5 fields."),
            (
                "0 0 0 * * *",
                "The cron expression has 6 fields. Seconds and years are not supported.",
            ),
        ] {
            assert_eq!(details(text), [expected], "{text}");
        }
        let errors = check("60 25 * * *").unwrap_err();
        let remedy = "Use 0 to 23, lists (1,3), ascending ranges (1-3) and steps (*/2 or 1-5/2).";
        assert_eq!(errors.len(), 2);
        assert_eq!(errors[1].remedy, remedy);
    }

    /// `expected`: the matching days in November 2026, which starts on a Sunday.
    #[track_caller]
    fn check_days(text: &str, expected: &[i8]) {
        let cron = check(text).unwrap();
        let days = (1..=30).filter(|day| {
            let date = jiff::civil::date(2026, 11, *day).at(0, 0, 0, 0);
            cron.is_time_matching(&date).unwrap()
        });
        assert_eq!(days.collect::<Vec<i8>>(), expected, "{text}");
    }

    #[test]
    fn days_match_both_fields_if_one_starts_with_a_star() {
        check_days("0 0 1,15 * 1", &[1, 2, 9, 15, 16, 23, 30]);
        check_days("0 0 */2 * 1", &[9, 23]);
        check_days("0 0 1-7 * */6", &[1, 7]);
        check_days("0 0 * * 1", &[2, 9, 16, 23, 30]);
        check_days("0 0 13 * *", &[13]);
        check_days("0 0 LW * *", &[30]);
        check_days("0 0 15W * *", &[16]);
        check_days("0 0 * * 5L,MON#2", &[9, 27]);
    }
}
