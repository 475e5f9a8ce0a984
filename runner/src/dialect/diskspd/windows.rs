//! Splits cmd.exe and PowerShell commands: backslashes are not escape characters, and a `^`, a
//! backquote or a backslash at the end of a line continues it.

use crate::dialect::{
    notes::{NoteText, Notes},
    prompt::prompt_length,
    shell::Word,
    source::Source,
};

/// The words of each command.
pub(crate) fn commands(source: &Source<'_>, notes: &mut Notes<'_>) -> Vec<Vec<Word>> {
    let mut commands = Vec::new();
    let mut current: Vec<Word> = Vec::new();
    for (offset, line) in source.lines() {
        let prompt = if current.is_empty() {
            prompt_length(line)
        } else {
            0
        };
        let text = line.trim_end();
        let is_continued =
            text.ends_with(['^', '`', '\\']) && text.ends_with([' ', '^', '`', '\\']);
        let continues = is_continued && !text.ends_with(":\\");
        let end = if continues {
            text.len() - 1
        } else {
            text.len()
        };
        let is_comment = text.trim_start().starts_with(['#', ':']) && prompt == 0;
        if !is_comment && prompt < end {
            words(
                &text[..end],
                offset,
                prompt,
                &mut current,
                &mut commands,
                notes,
            );
        }
        if !continues && !current.is_empty() {
            commands.push(std::mem::take(&mut current));
        }
    }
    commands.extend((!current.is_empty()).then_some(current));
    commands
}

fn words(
    line: &str,
    offset: usize,
    start: usize,
    current: &mut Vec<Word>,
    commands: &mut Vec<Vec<Word>>,
    notes: &mut Notes<'_>,
) {
    let mut at = start;
    while at < line.len() {
        let rest = &line[at..];
        let first = rest.chars().next().unwrap_or(' ');
        if first.is_whitespace() {
            at += first.len_utf8();
        } else if matches!(first, '>' | '|' | '&' | ';') {
            let is_separator = rest.starts_with("&&") || first == ';' || rest.starts_with("& ");
            if !is_separator {
                let span = offset + at..offset + line.len();
                let sentence =
                    "The redirection is ignored: an import does not read or write files.";
                notes.info(&span, None, NoteText::new("redirection", sentence, ""));
                return;
            }
            at += if rest.starts_with("&&") { 2 } else { 1 };
            commands.extend((!current.is_empty()).then(|| std::mem::take(current)));
        } else {
            let (text, length) = word(rest);
            current.push(Word {
                text,
                span: offset + at..offset + at + length,
                ..Word::default()
            });
            at += length;
        }
    }
}

/// A word without its quotes, and its length including them.
fn word(text: &str) -> (String, usize) {
    let mut word = String::new();
    let mut quote = None;
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), c) if c == open => quote = None,
            (None, c) if c.is_whitespace() || matches!(c, '>' | '|') => return (word, at),
            (_, c) => word.push(c),
        }
    }
    (word, text.len())
}
