//! fio job files: sections, comments and variables (init.c, `__parse_jobs_ini`).

use crate::dialect::{
    host_facts::HostFacts,
    notes::{NoteText, Notes, quoted},
    section::{RawOption, Section},
    source::{Source, Span},
    substitute::substitute,
};
use leadline_protocol::job::fio::find_option;
use std::collections::BTreeMap;

/// In bytes. fio reads lines into a buffer of 4096 bytes and splits longer ones.
const MAX_LINE: usize = 4094;
/// A study has at most 256 steps of 64 jobs; handwritten job files have fewer than 100 sections.
const MAX_SECTIONS: usize = 1_000;

/// Reads the sections of a job file.
pub(crate) fn sections(
    source: &Source<'_>,
    variables: &BTreeMap<String, String>,
    host: &HostFacts<'_>,
    notes: &mut Notes<'_>,
) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    for (offset, line) in source.lines() {
        let line = strip_byte_order_mark(offset, line, notes);
        let content = line.text.trim_start_matches(is_blank);
        if content.is_empty() || content.starts_with([';', '#']) {
            continue;
        }
        let start = line.offset + line.text.len() - content.len();
        let span = start..start + content.trim_end_matches(is_blank).len();
        if !is_readable(content, &span, notes) {
            continue;
        }
        let content = strip_comment(content, start, notes);
        let span = start..start + content.len();
        if content.starts_with('[') {
            if sections.len() == MAX_SECTIONS {
                let sentence = format!("The job file contains more than {MAX_SECTIONS} sections.");
                let text = NoteText::new("too_many_sections", sentence, "Split the file.");
                notes.error(&span, None, text);
                break;
            }
            let mut section = header(content, span, notes);
            section.is_in_file = true;
            sections.push(section);
        } else if content.starts_with("include") {
            let sentence = "include reads another file on the host; an import does not read files.";
            let remedy = "Replace this line with the contents of the file.";
            notes.error(
                &span,
                Some("include"),
                NoteText::new("include", sentence, remedy),
            );
        } else if let Some(section) = sections.last_mut() {
            let (text, is_incomplete) = substitute(content, &span, variables, host, notes);
            section
                .options
                .push(option(&text, content, start, is_incomplete));
        } else {
            let sentence = format!("`{}` is not in a section.", quoted(content));
            let remedy = "Add a section such as [global] or [job1] before it.";
            let name = content.split('=').next().unwrap_or_default().trim();
            notes.error(
                &span,
                Some(name),
                NoteText::new("outside_section", sentence, remedy),
            );
        }
    }
    sections
}

/// `isspace` and `iscntrl` in the C locale.
fn is_blank(c: char) -> bool {
    c == ' ' || c.is_ascii_control()
}

struct Line<'a> {
    offset: usize,
    text: &'a str,
}

fn strip_byte_order_mark<'a>(offset: usize, line: &'a str, notes: &mut Notes<'_>) -> Line<'a> {
    let mark = '\u{feff}';
    match line.strip_prefix(mark) {
        Some(text) if offset == 0 => {
            let sentence =
                "The text starts with a byte order mark, which is skipped; fio rejects it.";
            let text_note = NoteText::new("byte_order_mark", sentence, "");
            notes.warning(&(0..mark.len_utf8()), None, text_note);
            Line {
                offset: mark.len_utf8(),
                text,
            }
        }
        _ => Line { offset, text: line },
    }
}

fn is_readable(content: &str, span: &Span, notes: &mut Notes<'_>) -> bool {
    if content.len() > MAX_LINE {
        let sentence = format!("The line is {} bytes long; fio splits it.", content.len());
        let remedy = format!("Use at most {MAX_LINE} bytes per line.");
        let name = content.split_once('=').map(|(name, _)| name.trim());
        let name = name.filter(|name| find_option(name).is_some());
        notes.error(span, name, NoteText::new("line_too_long", sentence, remedy));
        return false;
    }
    if content.trim_end_matches(is_blank).contains('\r') {
        let sentence =
            "The line contains a carriage return; fio does not treat it as the end of a line.";
        notes.error(
            span,
            None,
            NoteText::new("carriage_return", sentence, "Use line feeds."),
        );
        return false;
    }
    if content.contains('\0') {
        let sentence = "The line contains a NUL character, where fio stops reading it.";
        notes.error(
            span,
            None,
            NoteText::new("nul_character", sentence, "Remove the character."),
        );
        return false;
    }
    true
}

/// Cuts the line at the first `;` or `#`, which begins a comment even within a value.
fn strip_comment<'a>(content: &'a str, start: usize, notes: &mut Notes<'_>) -> &'a str {
    let Some(cut) = content.find([';', '#']) else {
        return content.trim_end_matches(is_blank);
    };
    let (kept, comment) = content.split_at(cut);
    if !kept.ends_with(is_blank) {
        let span = start + cut..start + content.trim_end_matches(is_blank).len();
        let sentence = format!(
            "`{}` starts a comment, even inside a value; only `{}` is used.",
            &comment[..1],
            quoted(kept)
        );
        let remedy = "Remove the character, or put a space before the comment.";
        notes.warning(
            &span,
            None,
            NoteText::new("ini_comment_cut", sentence, remedy),
        );
    }
    kept.trim_end_matches(is_blank)
}

/// The name is the rest of the line without its last character.
fn header(content: &str, span: Span, notes: &mut Notes<'_>) -> Section {
    let mut name = content[1..].to_owned();
    name.pop();
    let is_clean = content.ends_with(']') && !name.contains(']') && !name.is_empty();
    if !is_clean {
        let sentence = match name.is_empty() {
            true => "The section has no name, so its job and files are named `job`; in fio, the file names contain no job name.".into(),
            false => format!("fio reads the name `{}` from this line.", quoted(&name)),
        };
        let clean = content[1..].split(']').next().unwrap_or_default().trim();
        let text = NoteText::new("section_name", sentence, "Put only [name] on this line.");
        let text = if clean.is_empty() {
            text
        } else {
            text.replace_with(format!("[{clean}]"))
        };
        notes.warning(&span, None, text);
    }
    Section::new(name, span)
}

/// `original` is the line before variables were replaced; spans refer to it.
fn option(text: &str, original: &str, start: usize, is_incomplete: bool) -> RawOption {
    let name_length = original.find('=').unwrap_or(original.len());
    let name_span = start..start + original[..name_length].trim_end_matches(is_blank).len();
    let (name, value) = match text.split_once('=') {
        Some((name, value)) => (name, Some(value.to_owned())),
        None => (text, None),
    };
    let value_start = start + (name_length + 1).min(original.len());
    RawOption {
        name: name.trim_end_matches(is_blank).to_owned(),
        name_span,
        value,
        value_span: value_start..start + original.len(),
        is_incomplete,
    }
}
