//! Variables and keywords in the options of a job file (options.c, `fio_option_dup_subs` and
//! `fio_keyword_replace`).

use crate::dialect::{
    expression::evaluate,
    host_facts::HostFacts,
    notes::{NoteText, Notes, quoted},
    source::Span,
};
use std::collections::BTreeMap;

/// fio's limit, in bytes.
const MAX_EXPRESSION: usize = 100;

/// Replaces `${NAME}`, `$pagesize`, `$mb_memory` and `$ncpus` in one line, and computes the value
/// if it contains a keyword. Also returns whether a variable has no value.
pub(crate) fn substitute(
    line: &str,
    span: &Span,
    variables: &BTreeMap<String, String>,
    host: &HostFacts<'_>,
    notes: &mut Notes<'_>,
) -> (String, bool) {
    let (line, has_unset_variable) = replace_variables(line, span, variables, notes);
    let mut replaced = line.clone();
    for (keyword, value) in [
        ("$pagesize", host.page_size),
        ("$mb_memory", host.memory_mib),
        ("$ncpus", host.cpus),
    ] {
        if replaced.contains(keyword) {
            replaced = replaced.replace(keyword, &value.to_string());
            let sentence = format!("{keyword} is {value} on this host.");
            notes.info(span, None, NoteText::new("keyword", sentence, ""));
        }
    }
    if replaced == line || has_unset_variable {
        return (replaced, has_unset_variable);
    }
    (compute_expression(&replaced, span, notes), false)
}

fn replace_variables(
    line: &str,
    span: &Span,
    variables: &BTreeMap<String, String>,
    notes: &mut Notes<'_>,
) -> (String, bool) {
    let mut text = String::new();
    let mut has_unset_variable = false;
    let mut rest = line;
    while let Some(start) = rest.find("${") {
        let Some(end) = rest[start..].find('}') else {
            break;
        };
        text += &rest[..start];
        let name = &rest[start + 2..start + end];
        match variables.get(name) {
            Some(value) => {
                text += value;
                // Only the variable's name is quoted, because its value may be secret.
                let name = format!("${{{}}}", quoted(name));
                let sentence = format!("{name} is replaced with the value of this variable.");
                notes.info(span, None, NoteText::new("variable", sentence, ""));
            }
            None => {
                let sentence = format!("The value of ${{{}}} is not in the text.", quoted(name));
                notes.add_question(span, name, sentence);
                text += &rest[start..=start + end];
                has_unset_variable = true;
            }
        }
        rest = &rest[start + end + 1..];
    }
    (text + rest, has_unset_variable)
}

/// fio passes the value to `bc` if it contains an operator.
fn compute_expression(line: &str, span: &Span, notes: &mut Notes<'_>) -> String {
    let Some((name, value)) = line.split_once('=') else {
        return line.into();
    };
    if !line.contains(['+', '-', '*', '/']) || line.contains('\'') || value.len() > MAX_EXPRESSION {
        return line.into();
    }
    match evaluate(value, &|_| None, true) {
        Some(result) => {
            let sentence = format!("{} = {result}.", quoted(value.trim()));
            notes.info(span, Some(name), NoteText::new("computed", sentence, ""));
            format!("{name}={result}")
        }
        None => {
            let sentence = format!(
                "`{}` cannot be computed; fio passes a value with a keyword and an operator to bc.",
                quoted(value)
            );
            let remedy = "Use only numbers, + - * / and parentheses, or write the result.";
            notes.error(
                span,
                Some(name),
                NoteText::new("bad_expression", sentence, remedy),
            );
            line.into()
        }
    }
}
