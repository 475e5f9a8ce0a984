//! The `leadline-runner compare` command: compares stored results, and fails if a metric is worse
//! than allowed.

pub(crate) mod documents;
mod http;
mod input;
mod junit;
mod sequential;

use crate::cli::{
    compare::{
        input::{StoredGroup, read_group},
        sequential::Sequential,
    },
    output::{print_json, reject, write, write_styled},
    text,
    text::style::terminal_width,
};
use clap::{Args, ValueEnum};
use leadline_compare::{
    DEFAULT_THRESHOLD_PERCENT, compare_at,
    export::{html, markdown},
    gate::gate_obstacle,
    group::{Group, all_in_one_study, distinct_labels},
    interim_looks,
    level::Level,
    rule::{Outcome, Rule, RuleResult},
};
use leadline_protocol::{
    compare::Assessment,
    problem::Problem,
    study::until_decided::{Look, PlannedLook, UntilDecided},
};
use serde_json::{Value, json};

const EXIT_WORSE: u8 = 4;
const EXIT_UNDECIDED: u8 = 6;

#[derive(Args)]
pub(crate) struct CompareArgs {
    /// Baseline: a JSON result, a directory of results, a comma-separated list, or the URL of a run
    /// or study on a server; `#N` selects a study step
    a: String,
    /// Results to compare with the baseline
    b: String,
    /// Exit with 4 if a metric is worse than allowed, or with 6 if the result is undecided; can be
    /// repeated
    #[arg(long = "fail-if", value_name = "RULE")]
    rules: Vec<String>,
    /// Smallest change that matters, in percent
    #[arg(long, value_name = "PERCENT", default_value_t = DEFAULT_THRESHOLD_PERCENT)]
    threshold: f64,
    /// Pair the results: the first result in A with the first in B, and so on
    #[arg(long)]
    paired: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
enum Format {
    Text,
    Json,
    Markdown,
    Html,
    Junit,
}

pub(crate) fn run(args: &CompareArgs) -> u8 {
    match read(args) {
        Ok((groups, rules)) => {
            let mut inputs = [groups[0].input(), groups[1].input()];
            let level = level(&groups, &mut inputs);
            let assessment = compare_at(&inputs, 0, args.threshold, &level);
            let obstacle = gate_obstacle(&inputs);
            let results: Vec<RuleResult> = rules
                .iter()
                .map(|rule| rule.evaluate(&assessment, obstacle.as_deref()))
                .collect();
            let output_code = print(args.format, &assessment, &results);
            exit_code(&results).unwrap_or(output_code)
        }
        Err(problems) => reject(&problems),
    }
}

/// Compares each step of a repeated study with the first step. `document` is the study with its
/// results, as JSON.
pub(crate) fn compare_study_steps(document: Value) -> Vec<String> {
    let steps = document["steps"].as_array().into_iter().flatten();
    let count = steps.filter_map(|step| step["step"].as_u64()).max();
    let mut groups: Vec<StoredGroup> = (1..=count.unwrap_or(0))
        .filter_map(|step| StoredGroup::from_step(&document, step))
        .collect();
    let labels: Vec<(String, String)> = (1..)
        .zip(&groups)
        .map(|(step, group)| (group.label.clone(), format!("step {step}")))
        .collect();
    for (group, label) in groups.iter_mut().zip(distinct_labels(&labels)) {
        group.label = label;
    }
    if groups.len() < 2 {
        return Vec::new();
    }
    let mut inputs: Vec<Group> = groups.iter().map(StoredGroup::input).collect();
    let level = level(&groups, &mut inputs);
    compare_at(&inputs, 0, DEFAULT_THRESHOLD_PERCENT, &level).answers
}

/// Compares the two steps of a study. `document` contains the runs so far.
pub(crate) fn look(document: &Value, until: &UntilDecided, planned: PlannedLook) -> Option<Look> {
    let a = StoredGroup::from_step(document, 1)?;
    let b = StoredGroup::from_step(document, 2)?;
    Some(interim_looks::look(&[a.input(), b.input()], until, planned))
}

/// The confidence level of the groups' study, if it has `until_decided`. Excludes the study's runs
/// after the last look from `inputs`.
fn level(groups: &[StoredGroup], inputs: &mut [Group]) -> Level {
    let study: Option<&Sequential> = groups[0].sequential.as_ref();
    match study.filter(|_| all_in_one_study(inputs)) {
        Some(study) => study.apply(inputs),
        None => Level::default(),
    }
}

/// Reads and validates all inputs before it fails, so all problems are reported together.
fn read(args: &CompareArgs) -> Result<([StoredGroup; 2], Vec<Rule>), Vec<Problem>> {
    let mut problems = Vec::new();
    let mut group = |field, text: &str| {
        read_group(field, text).unwrap_or_else(|problem| {
            problems.push(problem);
            StoredGroup::default()
        })
    };
    let mut groups = [group("A", &args.a), group("B", &args.b)];
    let labels = groups
        .each_ref()
        .map(|group| (group.label.clone(), group.selection.clone()));
    for (group, label) in groups.iter_mut().zip(distinct_labels(&labels)) {
        group.label = label;
    }
    let [a, b] = &mut groups;
    a.label_copies_in(b);
    if args.paired && problems.is_empty() {
        problems.extend(pair(&mut groups).err());
    }
    if !(args.threshold > 0.0 && args.threshold.is_finite()) {
        let detail = format!("{} is not a valid threshold.", args.threshold);
        let remedy = "Use a positive percentage, such as 2.";
        problems.push(Problem::invalid("bad_value", "threshold", detail, remedy));
    }
    let mut rules = Vec::new();
    for text in &args.rules {
        match Rule::parse(text) {
            Ok(rule) => rules.push(rule),
            Err(error) => {
                let (detail, remedy) = error.split_once(". ").unwrap_or((&error, ""));
                let detail = format!("{detail}.");
                problems.push(Problem::invalid("bad_value", "fail-if", detail, remedy));
            }
        }
    }
    if problems.is_empty() {
        Ok((groups, rules))
    } else {
        Err(problems)
    }
}

/// Assigns both groups' runs to numbered blocks.
fn pair(groups: &mut [StoredGroup; 2]) -> Result<(), Problem> {
    let [a, b] = groups.each_ref().map(StoredGroup::len);
    if a != b {
        let detail = format!("A has {a} results and B has {b}, so they cannot be paired.");
        let remedy = "Use the same number of results for both groups, or omit --paired.";
        return Err(Problem::invalid("bad_value", "paired", detail, remedy));
    }
    groups.iter_mut().for_each(StoredGroup::number_blocks);
    Ok(())
}

fn print(format: Format, assessment: &Assessment, rules: &[RuleResult]) -> u8 {
    let written = match format {
        Format::Json => return print_json(&json!({"comparison": assessment, "rules": rules})),
        Format::Text => write_styled(&text::comparison::render(
            assessment,
            rules,
            terminal_width(),
        )),
        Format::Markdown => write(&markdown::render(assessment, rules)),
        Format::Html => write(&html::render(assessment)),
        Format::Junit => write(&junit::render(assessment, rules)),
    };
    u8::from(written.is_err())
}

/// `None` if all rules passed.
fn exit_code(rules: &[RuleResult]) -> Option<u8> {
    match rules.iter().map(|result| result.outcome).max()? {
        Outcome::Passed => None,
        Outcome::Undecided => Some(EXIT_UNDECIDED),
        Outcome::Failed => Some(EXIT_WORSE),
    }
}
