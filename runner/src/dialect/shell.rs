//! Splits text into commands as a shell would. Nothing is executed, and only variables whose values
//! are provided, or assigned in the text, are expanded.

mod words;

use crate::dialect::{
    assignment::assignment,
    notes::{NoteText, Notes},
    prompt::{is_output, is_session, prompt_length},
    source::{Source, Span},
};
use std::collections::BTreeMap;

/// Opens and closes a Markdown code block.
const CODE_FENCE: &str = "```";

/// A command with its arguments.
#[derive(Debug, Default)]
pub(crate) struct ShellCommand {
    pub words: Vec<Word>,
    /// Separator before the next command.
    pub end: Separator,
    /// Redirections, which are ignored, each with a description.
    pub ignored: Vec<(Span, &'static str)>,
    /// The here document for standard input. If there are multiple redirections, the last one
    /// applies.
    pub here_document: Option<HereDocument>,
    /// The file that standard output is written to.
    pub output: Option<String>,
}

/// A here document: the lines that `<<` passes to a command.
#[derive(Clone, Debug, Default)]
pub(crate) struct HereDocument {
    /// The operator and the delimiter.
    pub span: Span,
    /// Whole lines.
    pub body: Span,
    /// Whether the delimiter is quoted. If so, the shell does not change the body.
    pub is_quoted: bool,
}

#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum Separator {
    /// The end of a line, or `;`.
    #[default]
    Then,
    /// `&&`.
    IfSuccessful,
    /// `&`.
    Background,
    /// `|`.
    Pipe,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Word {
    pub text: String,
    pub span: Span,
    /// Whether the word contains a command, such as `$(date)`.
    pub has_command: bool,
    /// Whether the word contains an unset variable.
    pub has_unset_variable: bool,
}

/// Splits the text into commands.
pub(crate) fn commands(
    source: &Source<'_>,
    variables: &BTreeMap<String, String>,
    notes: &mut Notes<'_>,
) -> Vec<ShellCommand> {
    let mut lexer = Lexer {
        text: source.text,
        at: 0,
        assigned: variables.clone(),
        commands: Vec::new(),
        current: ShellCommand::default(),
        here_documents: Vec::new(),
        is_session: is_session(source.text),
        notes,
    };
    lexer.run();
    lexer.commands
}

struct Lexer<'a, 'n, 's> {
    text: &'a str,
    at: usize,
    /// Variables provided by the caller or assigned in the text.
    assigned: BTreeMap<String, String>,
    commands: Vec<ShellCommand>,
    current: ShellCommand,
    /// The here documents that start after this line: the index of the command, and the delimiter.
    here_documents: Vec<(usize, String)>,
    /// Whether commands have prompts.
    is_session: bool,
    notes: &'n mut Notes<'s>,
}

impl Lexer<'_, '_, '_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    fn run(&mut self) {
        self.begin_line();
        while let Some(c) = self.peek() {
            match c {
                '\n' => {
                    self.at += 1;
                    self.end_command(Separator::Then);
                    self.skip_here_documents();
                    self.begin_line();
                }
                c if is_blank(c) => self.skip_blank(c),
                '#' => self.skip_line(),
                '\\' if self.is_continuation() => self.continue_line(),
                '\\' if self.is_broken_continuation() => self.repair_continuation(),
                ';' | '&' | '|' => self.read_operator(c),
                '>' | '<' => self.skip_redirection(self.at),
                '(' | ')' => {
                    let text = NoteText::new(
                        "shell_syntax",
                        "Subshells are not supported.",
                        "Paste only the commands.",
                    );
                    self.notes.error(&(self.at..self.at + 1), None, text);
                    self.at += 1;
                }
                _ => self.add_word(),
            }
        }
        self.end_command(Separator::Then);
    }

    /// Skips a prompt at the start of a line, and output of the previous command before it.
    fn begin_line(&mut self) {
        let start = self.at;
        let mut lines = 0;
        while let Some(line) = self.rest().lines().next() {
            let is_fence = line.trim_start().starts_with(CODE_FENCE);
            let is_printed = self.is_session && is_output(line);
            if !is_fence && !is_printed {
                break;
            }
            self.skip_line();
            self.next();
            lines += u32::from(!is_fence);
        }
        if lines > 0 {
            let sentence = "Lines without a prompt are command output, and are skipped.";
            let text = NoteText::new("output", sentence, "");
            self.notes.info(&(start..self.at), None, text);
        }
        self.at += prompt_length(self.rest());
    }

    fn skip_blank(&mut self, c: char) {
        if c == '\u{a0}' {
            let span = self.at..self.at + c.len_utf8();
            let sentence = "A no-break space was read as a space.";
            self.notes
                .info(&span, None, NoteText::new("typography", sentence, ""));
        }
        self.at += c.len_utf8();
    }

    fn skip_line(&mut self) {
        self.at += self.rest().find('\n').unwrap_or(self.rest().len());
    }

    fn is_continuation(&self) -> bool {
        self.rest().starts_with("\\\n") || self.rest().starts_with("\\\r\n")
    }

    /// Whether blanks follow a backslash at the end of a line.
    fn is_broken_continuation(&self) -> bool {
        let line = self.rest().lines().next().unwrap_or_default();
        let has_more = self.rest().len() > line.len();
        has_more
            && line
                .strip_prefix('\\')
                .is_some_and(|blanks| !blanks.is_empty() && blanks.chars().all(is_blank))
    }

    /// Continues the line, although the shell would not.
    fn repair_continuation(&mut self) {
        let span = self.at..self.at + self.rest().find('\n').unwrap_or(1);
        let sentence =
            "The spaces after the backslash were ignored; in a shell, they end the command.";
        let text = NoteText::new("broken_continuation", sentence, "Remove the spaces.");
        self.notes.warning(&span, None, text);
        self.continue_line();
    }

    /// Skips the end of a line after `\`, and the prompt `> ` of the next line.
    fn continue_line(&mut self) {
        self.at += self.rest().find('\n').map_or(1, |end| end + 1);
        let line = self.rest();
        let trimmed = line.trim_start_matches([' ', '\t']);
        if trimmed.starts_with("> ") {
            self.at += line.len() - trimmed.len() + 2;
        }
    }

    fn read_operator(&mut self, c: char) {
        if self.rest().starts_with("&>") {
            self.at += 1;
            return self.skip_redirection(self.at - 1);
        }
        let is_double = self.rest()[1..].starts_with(c);
        self.at += if is_double { 2 } else { 1 };
        let end = match (c, is_double) {
            ('&', true) => Separator::IfSuccessful,
            ('&', false) => Separator::Background,
            ('|', false) => Separator::Pipe,
            _ => Separator::Then,
        };
        self.end_command(end);
    }

    /// Skips `> file`, `2>&1`, `<<EOF` and similar redirections.
    fn skip_redirection(&mut self, start: usize) {
        let is_here_document = self.rest().starts_with("<<") && !self.rest().starts_with("<<<");
        while self
            .peek()
            .is_some_and(|c| matches!(c, '<' | '>' | '&' | '-' | '|'))
        {
            self.at += 1;
        }
        while self.peek().is_some_and(|c| c != '\n' && is_blank(c)) {
            self.next();
        }
        let is_output = self.text[start..self.at].trim_end() == ">";
        let target = self.read_word();
        if is_here_document {
            let delimiter = &self.text[target.span.clone()];
            self.current.here_document = Some(HereDocument {
                span: start..self.at,
                body: 0..0,
                is_quoted: delimiter.contains(['\'', '"', '\\']),
            });
            self.here_documents.push((self.commands.len(), target.text));
            return;
        }
        if is_output {
            self.current.output = Some(target.text);
        }
        self.current
            .ignored
            .push((start..self.at, "The redirection"));
    }

    fn skip_here_documents(&mut self) {
        for (command, delimiter) in std::mem::take(&mut self.here_documents) {
            let start = self.at;
            let mut end = self.at;
            while !self.rest().is_empty() {
                let line = self.rest().lines().next().unwrap_or_default();
                let is_end = line.trim() == delimiter;
                self.at += self
                    .rest()
                    .find('\n')
                    .map_or(self.rest().len(), |at| at + 1);
                if is_end {
                    break;
                }
                end = self.at;
            }
            let command = self.commands.get_mut(command);
            if let Some(found) = command.and_then(|command| command.here_document.as_mut()) {
                found.body = start..end;
            }
        }
    }

    fn add_word(&mut self) {
        let start = self.at;
        let word = self.read_word();
        let is_number =
            !word.text.is_empty() && word.text.bytes().all(|byte| byte.is_ascii_digit());
        if is_number
            && self.peek().is_some_and(|c| c == '>' || c == '<')
            && self.at - start == word.text.len()
        {
            return self.skip_redirection(start);
        }
        if self.at == start {
            // Skip a character that does not begin a word.
            self.next();
            return;
        }
        self.current.words.push(word);
    }

    fn end_command(&mut self, end: Separator) {
        let mut command = std::mem::take(&mut self.current);
        command.end = end;
        if command.words.is_empty() {
            if end == Separator::Background
                && let Some(last) = self.commands.last_mut()
            {
                last.end = end;
            }
            return;
        }
        if let [keyword, name, of, value, ..] = &command.words[..]
            && keyword.text == "for"
            && of.text == "in"
        {
            // Loops are rejected, so there must be no question about the loop variable.
            self.assigned.insert(name.text.clone(), value.text.clone());
        }
        let is_export = command.words[0].text == "export";
        let assignments = &command.words[usize::from(is_export)..];
        if assignments
            .iter()
            .all(|word| assignment(&word.text).is_some())
        {
            let pairs = assignments.iter().filter_map(|word| assignment(&word.text));
            self.assigned
                .extend(pairs.map(|(name, value)| (name.to_owned(), value.to_owned())));
            return;
        }
        self.commands.push(command);
    }
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\u{a0}')
}

#[cfg(test)]
mod tests;
