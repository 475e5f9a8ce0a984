//! Positions of a document's fields in the text from which it was created.

use crate::dialect::{
    document::Step,
    source::{Source, Span},
};
use leadline_protocol::problem::Problem;
use std::collections::BTreeMap;

/// Where the text sets the fields of a document.
#[derive(Debug, Default)]
pub(crate) struct Positions {
    text: String,
    /// By field: jobs, such as `steps[1].jobs[0]`, and their options, such as `jobs[0].loops`.
    spans: BTreeMap<String, Span>,
}

impl Positions {
    pub(crate) fn new(text: &str, steps: &[Step<'_>]) -> Self {
        let mut spans = BTreeMap::new();
        for (step, jobs) in steps.iter().enumerate() {
            for (index, job) in jobs.written.iter().enumerate() {
                let path = match steps.len() {
                    1 => format!("jobs[{index}]"),
                    _ => format!("steps[{step}].jobs[{index}]"),
                };
                for option in &job.options.entries {
                    let field = format!("{path}.{}", option.option.name);
                    spans.insert(field, option.span.clone());
                }
                spans.insert(path, job.span.clone());
            }
        }
        Self {
            text: text.to_owned(),
            spans,
        }
    }

    /// The range that sets an option, such as `jobs[0].loops`, and the option's name. If the text
    /// does not set it, the range of its job and `None`.
    fn find<'f>(&self, field: &'f str) -> Option<(Span, Option<&'f str>)> {
        let start = field.find("jobs[")?;
        let end = start + field[start..].find(']')? + 1;
        let (job, rest) = field.split_at(end);
        let option = rest
            .strip_prefix('.')
            .and_then(|rest| rest.split(['.', '[']).next());
        let of_option = option.and_then(|option| {
            let span = self.spans.get(&format!("{job}.{option}"))?;
            Some((span.clone(), Some(option)))
        });
        of_option.or_else(|| Some((self.spans.get(job)?.clone(), None)))
    }

    /// Replaces the fields of problems with descriptions for readers of the text, such as `line 7,
    /// loops`.
    pub(crate) fn describe_fields(&self, problems: &mut [Problem]) {
        for problem in problems {
            let field = problem.field.as_deref();
            if let Some(description) = field.and_then(|field| self.describe(field)) {
                problem.field = Some(description);
            }
        }
    }

    fn describe(&self, field: &str) -> Option<String> {
        let (span, option) = self.find(field)?;
        let line = Source::new(&self.text).position(&span).line;
        Some(match option {
            Some(option) => format!("line {line}, {option}"),
            None => format!("line {line}"),
        })
    }
}
