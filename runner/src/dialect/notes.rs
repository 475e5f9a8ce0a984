//! Collects the notes and questions of an import.

use crate::dialect::source::{Source, Span};
use leadline_protocol::{
    import::{ImportNote, ImportQuestion, ImportSeverity, TextSpan},
    text::printable,
};
use std::collections::HashSet;

/// Maximum number of notes; further errors are still added. If there are more, the text was
/// probably misinterpreted, and no one would read them all.
const MAX_NOTES: usize = 300;
/// Maximum number of errors, because comparing each unknown option with all names takes time.
const MAX_ERRORS: usize = 100;
/// Maximum length of a quoted part of the text, in characters.
const MAX_QUOTED: usize = 60;

pub(crate) struct Notes<'a> {
    source: &'a Source<'a>,
    notes: Vec<ImportNote>,
    questions: Vec<ImportQuestion>,
    seen: HashSet<(String, TextSpan)>,
    errors: usize,
    unlisted: usize,
}

/// A note without its position.
pub(crate) struct NoteText {
    pub code: &'static str,
    pub sentence: String,
    pub remedy: String,
    pub replacement: Option<String>,
}

impl NoteText {
    pub(crate) fn new(
        code: &'static str,
        sentence: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self {
            code,
            sentence: sentence.into(),
            remedy: remedy.into(),
            replacement: None,
        }
    }

    /// Adds replacement text for the part that the note is about.
    pub(crate) fn replace_with(self, text: impl Into<String>) -> Self {
        Self {
            replacement: Some(text.into()),
            ..self
        }
    }
}

impl<'a> Notes<'a> {
    pub(crate) fn new(source: &'a Source<'a>) -> Self {
        Self {
            source,
            notes: Vec::new(),
            questions: Vec::new(),
            seen: HashSet::new(),
            errors: 0,
            unlisted: 0,
        }
    }

    pub(crate) fn info(&mut self, span: &Span, option: Option<&str>, text: NoteText) {
        self.add(ImportSeverity::Info, span, option, text);
    }

    pub(crate) fn warning(&mut self, span: &Span, option: Option<&str>, text: NoteText) {
        self.add(ImportSeverity::Warning, span, option, text);
    }

    pub(crate) fn error(&mut self, span: &Span, option: Option<&str>, text: NoteText) {
        self.add(ImportSeverity::Error, span, option, text);
    }

    /// Adds a note, unless the same part of the text already has one with this code.
    pub(crate) fn add(
        &mut self,
        severity: ImportSeverity,
        span: &Span,
        option: Option<&str>,
        text: NoteText,
    ) {
        let is_error = severity == ImportSeverity::Error;
        // Positions in long lines are slow to compute.
        if self.is_full() || (self.notes.len() >= MAX_NOTES && !is_error) {
            self.unlisted += 1;
            return;
        }
        let span = self.source.position(span);
        if !self.seen.insert((text.code.into(), span)) {
            return;
        }
        self.errors += usize::from(is_error);
        self.notes.push(ImportNote {
            span,
            severity,
            code: text.code.into(),
            option: option.map(str::to_owned),
            sentence: printable(&text.sentence),
            remedy: printable(&text.remedy),
            replacement: text.replacement,
        });
    }

    /// Adds an error about a JSON document, whose fields have no positions.
    pub(crate) fn json_error(&mut self, field: Option<&str>, text: NoteText) {
        if self.notes.len() < MAX_NOTES {
            self.seen.clear();
            self.error(&(0..1), field, text);
        }
    }

    /// Adds a question about a value, once per name.
    pub(crate) fn add_question(&mut self, span: &Span, name: &str, sentence: String) {
        if self.questions.len() < MAX_NOTES
            && !self.questions.iter().any(|asked| asked.name == name)
        {
            self.questions.push(ImportQuestion {
                name: name.into(),
                span: self.source.position(span),
                sentence: printable(&sentence),
            });
        }
    }

    pub(crate) fn has_errors(&self) -> bool {
        self.errors > 0
    }

    pub(crate) fn has_questions(&self) -> bool {
        !self.questions.is_empty()
    }

    /// Whether there are so many errors that the rest of the text need not be read.
    pub(crate) fn is_full(&self) -> bool {
        self.errors >= MAX_ERRORS
    }

    /// Notes and questions, sorted by their positions in the text.
    pub(crate) fn finish(mut self) -> (Vec<ImportNote>, Vec<ImportQuestion>) {
        self.notes
            .sort_by_key(|note| (note.span, std::cmp::Reverse(note.severity)));
        self.questions.sort_by_key(|question| question.span);
        if self.unlisted > 0 {
            self.notes.push(ImportNote {
                span: self
                    .source
                    .position(&(self.source.text.len()..self.source.text.len())),
                severity: ImportSeverity::Warning,
                code: "more_notes".into(),
                option: None,
                sentence: "More notes were omitted.".into(),
                remedy: "Import part of the text to see them.".into(),
                replacement: None,
            });
        }
        (self.notes, self.questions)
    }
}

/// Prepares text for use in a sentence: shortens it, and removes control characters.
pub(crate) fn quoted(text: &str) -> String {
    let mut short: String = text.chars().take(MAX_QUOTED).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    printable(&short)
}
