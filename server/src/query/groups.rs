//! Parses the groups of a comparison. Pure.
//!
//! A group is a list of run numbers (`12,13`), a study (`study:12`), the repeats of one of its
//! steps (`study:12/step:1`), or a history filter (`tag:before rw:randread`).

use leadline_protocol::{compare::CompareQuery, limits::THRESHOLDS, problem::Problem};

pub(crate) const MIN_GROUPS: usize = 2;
pub(crate) const MAX_GROUPS: usize = 8;
/// Longer lists get an abbreviated label.
const LISTED_RUNS: usize = 3;
const LETTERS: &str = "abcdefgh";

/// A requested group.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Selection {
    /// Parameter name, used in error messages.
    pub field: String,
    /// The requested text, or the list of runs.
    pub text: String,
    pub runs: Selector,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Selector {
    Numbers(Vec<u64>),
    /// A history filter, as parsed by `query::filter`.
    Filter(String),
}

/// The requested comparison.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Request {
    pub groups: Vec<Selection>,
    /// Index of the baseline group.
    pub baseline: usize,
    /// In percent; `None` for the default.
    pub threshold: Option<f64>,
}

/// # Errors
/// Returns one problem per invalid parameter.
pub(crate) fn parse(query: &CompareQuery) -> Result<Request, Vec<Problem>> {
    let mut problems = Vec::new();
    let groups = groups(query).unwrap_or_else(|invalid| {
        problems.extend(invalid);
        Vec::new()
    });
    let baseline = match &query.baseline {
        Some(text) if problems.is_empty() => baseline(text, &groups).unwrap_or_else(|| {
            let detail = format!("`{text}` is not in the comparison.");
            let remedy = "Use a group letter or a run number.";
            problems.push(invalid("baseline", detail, remedy));
            0
        }),
        _ => 0,
    };
    let threshold = query.threshold;
    if threshold.is_some_and(|percent| !THRESHOLDS.contains(&percent)) {
        let detail = "threshold must be between 0.01 and 1000 %.".into();
        problems.push(invalid("threshold", detail, "For example: threshold=2."));
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    Ok(Request {
        groups,
        baseline,
        threshold,
    })
}

fn invalid(field: &str, detail: String, remedy: &str) -> Problem {
    Problem::invalid("bad_value", field, detail, remedy)
}

fn groups(query: &CompareQuery) -> Result<Vec<Selection>, Vec<Problem>> {
    let lettered = [
        &query.a, &query.b, &query.c, &query.d, &query.e, &query.f, &query.g, &query.h,
    ];
    let lettered: Vec<(char, &String)> = LETTERS
        .chars()
        .zip(lettered)
        .filter_map(|(letter, text)| Some((letter, text.as_ref()?)))
        .collect();
    let remedy = "Use 2 to 8 run numbers, for example runs=1,2, or groups, for example a=tag:before&b=tag:after.";
    match (&query.runs, lettered.is_empty()) {
        (Some(runs), true) => single_runs(runs, remedy).map_err(|problem| vec![problem]),
        (None, false) => lettered_groups(&lettered, remedy),
        (Some(_), false) => {
            let detail = "`runs` and lettered groups cannot be combined.".to_owned();
            Err(vec![invalid("runs", detail, remedy)])
        }
        (None, true) => {
            let detail = "The comparison contains no runs.".to_owned();
            Err(vec![invalid("runs", detail, remedy)])
        }
    }
}

fn lettered_groups(
    lettered: &[(char, &String)],
    remedy: &str,
) -> Result<Vec<Selection>, Vec<Problem>> {
    let mut groups = Vec::new();
    let mut problems = Vec::new();
    for (letter, text) in lettered {
        match group(&letter.to_string(), text) {
            Ok(group) => groups.push(group),
            Err(problem) => problems.push(problem),
        }
    }
    if lettered.len() < MIN_GROUPS {
        let detail = "Only one group is specified, but a comparison requires two.".to_owned();
        problems.push(invalid("b", detail, remedy));
    }
    if problems.is_empty() {
        Ok(groups)
    } else {
        Err(problems)
    }
}

/// Creates one group per run, for 2 to 8 different runs.
fn single_runs(text: &str, remedy: &str) -> Result<Vec<Selection>, Problem> {
    let problem = |detail| invalid("runs", detail, remedy);
    let mut numbers = Vec::new();
    for part in text.split(',') {
        let number = number(part);
        let number = number.ok_or_else(|| problem(format!("`{part}` is not a run number.")))?;
        if !numbers.contains(&number) {
            numbers.push(number);
        }
    }
    let single = |number: u64| Selection {
        field: "runs".into(),
        text: format!("#{number}"),
        runs: Selector::Numbers(vec![number]),
    };
    match numbers[..] {
        [number] => Err(problem(format!(
            "Only run #{number} is specified, but a comparison requires two different runs."
        ))),
        _ if numbers.len() > MAX_GROUPS => {
            Err(problem(format!("Cannot compare {} runs.", numbers.len())))
        }
        _ => Ok(numbers.into_iter().map(single).collect()),
    }
}

fn number(text: &str) -> Option<u64> {
    let text = text.trim();
    text.strip_prefix('#').unwrap_or(text).parse().ok()
}

fn group(field: &str, text: &str) -> Result<Selection, Problem> {
    let text = text.trim();
    if text.is_empty() {
        let detail = format!("Group {field} is empty.");
        let remedy = "For example: 12,13 or study:12/step:1 or tag:before.";
        return Err(invalid(field, detail, remedy));
    }
    let selection = |text: String, runs| Selection {
        field: field.to_owned(),
        text,
        runs,
    };
    if looks_like_list(text) {
        let mut numbers = Vec::new();
        for part in text.split(',') {
            numbers.push(number(part).ok_or_else(|| {
                let detail = format!("`{}` is not a run number.", part.trim());
                invalid(field, detail, "For example: 12,13.")
            })?);
        }
        numbers.sort_unstable();
        numbers.dedup();
        return Ok(selection(list_text(&numbers), Selector::Numbers(numbers)));
    }
    let filter = match text.split_once('/') {
        Some((study, step)) if study.starts_with("study:") && !study.contains(' ') => {
            format!("{study} {step}")
        }
        _ => text.to_owned(),
    };
    Ok(selection(text.to_owned(), Selector::Filter(filter)))
}

/// Whether the text looks like a list of run numbers, possibly with mistakes.
fn looks_like_list(text: &str) -> bool {
    text.split(',').next().and_then(number).is_some()
}

/// Selects runs by number. Messages contain `label` instead of the numbers.
pub(crate) fn select_labeled(label: &str, numbers: Vec<u64>) -> Selection {
    Selection {
        field: "runs".into(),
        text: label.to_owned(),
        runs: Selector::Numbers(numbers),
    }
}

/// `#12`, `#1, #2, #3` or `#1, #2, …, #10`
fn list_text(numbers: &[u64]) -> String {
    let text = |numbers: &[u64]| {
        let texts: Vec<String> = numbers.iter().map(|number| format!("#{number}")).collect();
        texts.join(", ")
    };
    match numbers {
        [first, second, .., last] if numbers.len() > LISTED_RUNS => {
            format!("#{first}, #{second}, …, #{last}")
        }
        numbers => text(numbers),
    }
}

fn baseline(text: &str, groups: &[Selection]) -> Option<usize> {
    let by_letter = groups.iter().position(|group| group.field == text);
    let has_run = |group: &Selection| match (&group.runs, number(text)) {
        (Selector::Numbers(numbers), Some(number)) => numbers.contains(&number),
        _ => false,
    };
    by_letter.or_else(|| groups.iter().position(has_run))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(text: &str) -> CompareQuery {
        CompareQuery {
            runs: Some(text.into()),
            ..CompareQuery::default()
        }
    }

    fn pair(a: &str, b: &str) -> CompareQuery {
        CompareQuery {
            a: Some(a.into()),
            b: Some(b.into()),
            ..CompareQuery::default()
        }
    }

    fn selectors(query: &CompareQuery) -> Vec<Selector> {
        let groups = parse(query).expect("a valid query").groups;
        groups.into_iter().map(|group| group.runs).collect()
    }

    #[test]
    fn groups_are_numbers_or_filters() {
        use Selector::{Filter, Numbers};
        for (query, expected) in [
            (runs("2, #1,2"), vec![Numbers(vec![2]), Numbers(vec![1])]),
            (
                pair("3,1,2", "tag:x rw:read"),
                vec![Numbers(vec![1, 2, 3]), Filter("tag:x rw:read".into())],
            ),
            (
                pair("study:4/step:1", "study:4/step:2"),
                vec![
                    Filter("study:4 step:1".into()),
                    Filter("study:4 step:2".into()),
                ],
            ),
            (
                pair("study:4/step:1 tag:a/b", "study:4 tag:a/b"),
                vec![
                    Filter("study:4 step:1 tag:a/b".into()),
                    Filter("study:4 tag:a/b".into()),
                ],
            ),
            (
                pair("/srv/a", "12"),
                vec![Filter("/srv/a".into()), Numbers(vec![12])],
            ),
        ] {
            assert_eq!(selectors(&query), expected);
        }
    }

    #[test]
    fn lists_are_labeled_with_their_runs() {
        for (text, label) in [
            ("12", "#12"),
            ("3, 1,2", "#1, #2, #3"),
            ("1,2,3,7", "#1, #2, …, #7"),
            ("tag:x", "tag:x"),
        ] {
            let groups = parse(&pair(text, "99")).expect("a valid query").groups;
            assert_eq!(groups[0].text, label);
        }
    }

    #[test]
    fn baseline_is_a_letter_or_a_run() {
        for (query, baseline, expected) in [
            (runs("5,6"), "6", Some(1)),
            (pair("tag:a", "7,8"), "b", Some(1)),
            (pair("tag:a", "7,8"), "8", Some(1)),
            (pair("tag:a", "7,8"), "a", Some(0)),
            (runs("5,6"), "7", None),
        ] {
            let query = CompareQuery {
                baseline: Some(baseline.into()),
                ..query
            };
            let request = parse(&query).ok();
            assert_eq!(request.map(|request| request.baseline), expected);
        }
    }

    #[test]
    fn problems_identify_the_invalid_parameter() {
        for (query, field) in [
            (runs("1"), "runs"),
            (runs("1,x"), "runs"),
            (runs("1,2,3,4,5,6,7,8,9"), "runs"),
            (CompareQuery::default(), "runs"),
            (pair("tag:a", " "), "b"),
            (pair("12,", "13"), "a"),
            (pair("12", "13,1x"), "b"),
            (
                CompareQuery {
                    a: Some("1,2".into()),
                    ..CompareQuery::default()
                },
                "b",
            ),
            (
                CompareQuery {
                    b: Some("1".into()),
                    ..runs("1,2")
                },
                "runs",
            ),
            (
                CompareQuery {
                    threshold: Some(0.0),
                    ..runs("1,2")
                },
                "threshold",
            ),
        ] {
            let problems = parse(&query).expect_err("an invalid query");
            assert_eq!(problems[0].field.as_deref(), Some(field), "{query:?}");
        }
    }

    #[test]
    fn every_invalid_group_is_reported() {
        let query = CompareQuery {
            c: Some(" ".into()),
            threshold: Some(0.0),
            ..pair("12,", "tag:a")
        };
        let problems = parse(&query).expect_err("an invalid query").into_iter();
        let fields: Vec<_> = problems.filter_map(|problem| problem.field).collect();
        assert_eq!(fields, ["a", "c", "threshold"]);
    }
}
