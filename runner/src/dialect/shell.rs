//! Splits a text into commands as a shell would. Nothing is executed or expanded, except variables
//! whose values are given.

use crate::dialect::{
    notes::{NoteText, Notes, quoted},
    prompt::prompt_length,
    source::{Source, Span},
};
use std::collections::BTreeMap;

/// A command with its arguments.
#[derive(Debug, Default)]
pub(crate) struct ShellCommand {
    pub words: Vec<Word>,
    /// How it is separated from the next command.
    pub end: Separator,
    /// Redirections, here documents and the other commands of a pipe, which are ignored.
    pub ignored: Vec<(Span, &'static str)>,
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
    /// Contains a command, such as `$(date)`.
    pub has_command: bool,
    /// Contains a variable without a value.
    pub is_open: bool,
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
        notes,
    };
    lexer.run();
    lexer.commands
}

struct Lexer<'a, 'n, 's> {
    text: &'a str,
    at: usize,
    /// Given variables, and those assigned in the text.
    assigned: BTreeMap<String, String>,
    commands: Vec<ShellCommand>,
    current: ShellCommand,
    /// Ends of the here documents that follow this line.
    here_documents: Vec<String>,
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
        self.at += prompt_length(self.rest());
        while let Some(c) = self.peek() {
            match c {
                '\n' => {
                    self.at += 1;
                    self.end_command(Separator::Then);
                    self.skip_here_documents();
                    self.at += prompt_length(self.rest());
                }
                c if is_blank(c) => self.skip_blank(c),
                '#' => self.skip_line(),
                '\\' if self.is_continuation() => self.continue_line(),
                ';' | '&' | '|' => self.operator(c),
                '>' | '<' => self.redirection(self.at),
                '(' | ')' => {
                    let text = NoteText::new(
                        "shell_syntax",
                        "Subshells are not supported.",
                        "Paste the commands only.",
                    );
                    self.notes.error(&(self.at..self.at + 1), None, text);
                    self.at += 1;
                }
                _ => self.word(),
            }
        }
        self.end_command(Separator::Then);
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

    /// Skips the end of a line after `\`, and the prompt `> ` of the next line.
    fn continue_line(&mut self) {
        self.at += self.rest().find('\n').map_or(1, |end| end + 1);
        let line = self.rest();
        let trimmed = line.trim_start_matches([' ', '\t']);
        if trimmed.starts_with("> ") {
            self.at += line.len() - trimmed.len() + 2;
        }
    }

    fn operator(&mut self, c: char) {
        if self.rest().starts_with("&>") {
            self.at += 1;
            return self.redirection(self.at - 1);
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

    /// Skips `> file`, `2>&1`, `<<EOF` and the like.
    fn redirection(&mut self, start: usize) {
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
        let target = self.read_word();
        let what = if is_here_document {
            self.here_documents.push(target.text);
            "The here document"
        } else {
            "The redirection"
        };
        self.current.ignored.push((start..self.at, what));
    }

    fn skip_here_documents(&mut self) {
        for end in std::mem::take(&mut self.here_documents) {
            while !self.rest().is_empty() {
                let line = self.rest().lines().next().unwrap_or_default();
                let is_end = line.trim() == end;
                self.at += self
                    .rest()
                    .find('\n')
                    .map_or(self.rest().len(), |at| at + 1);
                if is_end {
                    break;
                }
            }
        }
    }

    fn word(&mut self) {
        let start = self.at;
        let word = self.read_word();
        let is_number =
            !word.text.is_empty() && word.text.bytes().all(|byte| byte.is_ascii_digit());
        if is_number
            && self.peek().is_some_and(|c| c == '>' || c == '<')
            && self.at - start == word.text.len()
        {
            return self.redirection(start);
        }
        if self.at == start {
            // A character that begins no word.
            self.next();
            return;
        }
        self.current.words.push(word);
    }

    fn read_word(&mut self) -> Word {
        let mut word = Word {
            span: self.at..self.at,
            ..Word::default()
        };
        while let Some(c) = self.peek() {
            match c {
                c if is_blank(c) || matches!(c, '\n' | ';' | '&' | '|' | '<' | '>' | '(' | ')') => {
                    break;
                }
                '\\' if self.is_continuation() => self.continue_line(),
                '\\' => {
                    self.at += 1;
                    word.text.extend(self.next());
                }
                '\'' => self.single_quotes(&mut word),
                '"' => self.double_quotes('"', &mut word),
                '“' | '”' | '‘' | '’' => self.typographic_quotes(c, &mut word),
                '$' | '`' => self.expansion(&mut word),
                c => {
                    self.at += c.len_utf8();
                    word.text.push(c);
                }
            }
        }
        word.span.end = self.at;
        word
    }

    fn single_quotes(&mut self, word: &mut Word) {
        self.at += 1;
        let end = self.rest().find('\'');
        let length = end.unwrap_or(self.rest().len());
        word.text += &self.text[self.at..self.at + length];
        self.at += length;
        match end {
            Some(_) => self.at += 1,
            None => self.unclosed(word),
        }
    }

    fn double_quotes(&mut self, close: char, word: &mut Word) {
        self.next();
        loop {
            match self.peek() {
                None => return self.unclosed(word),
                Some(c) if c == close => {
                    self.next();
                    return;
                }
                Some('\\') if self.is_continuation() => self.continue_line(),
                Some('\\') => {
                    self.at += 1;
                    match self.next() {
                        Some(c @ ('"' | '\\' | '$' | '`')) => word.text.push(c),
                        Some(c) => word.text.extend(['\\', c]),
                        None => {}
                    }
                }
                Some('$' | '`') => self.expansion(word),
                Some(c) => {
                    self.at += c.len_utf8();
                    word.text.push(c);
                }
            }
        }
    }

    fn typographic_quotes(&mut self, open: char, word: &mut Word) {
        let span = self.at..self.at + open.len_utf8();
        let sentence = "Typographic quotation marks were read as quotes.";
        self.notes
            .info(&span, None, NoteText::new("typography", sentence, ""));
        let close = if matches!(open, '“' | '”') {
            '”'
        } else {
            '’'
        };
        self.double_quotes(close, word);
    }

    /// `$'a\tb'`
    fn ansi_quotes(&mut self, word: &mut Word) {
        self.at += 1;
        loop {
            match self.next() {
                None => return self.unclosed(word),
                Some('\'') => return,
                Some('\\') => match self.next() {
                    Some('t') => word.text.push('\t'),
                    Some('n') => word.text.push('\n'),
                    Some(c) => word.text.push(c),
                    None => {}
                },
                Some(c) => word.text.push(c),
            }
        }
    }

    fn unclosed(&mut self, word: &Word) {
        let text = NoteText::new(
            "unclosed_quote",
            "A quotation mark is not closed.",
            "Close it.",
        );
        self.notes.error(&(word.span.start..self.at), None, text);
    }

    /// `$NAME`, `${NAME}`, `$(command)` and backquotes.
    fn expansion(&mut self, word: &mut Word) {
        let start = self.at;
        let rest = &self.text[start + 1..];
        if rest.starts_with('\'') {
            self.at += 1;
            return self.ansi_quotes(word);
        }
        let name = match (self.peek(), rest.strip_prefix('{')) {
            (Some('`'), _) => return self.command_substitution('`', word),
            (_, Some(braced)) => braced.find('}').map(|end| (&braced[..end], end + 3)),
            (_, None) if rest.starts_with('(') => return self.command_substitution(')', word),
            (_, None) => {
                let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
                let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
                (end > 0).then(|| (&rest[..end], end + 1))
            }
        };
        let Some((name, length)) = name else {
            self.at += 1;
            word.text.push('$');
            return;
        };
        self.at += length;
        // `${NAME:-default}`
        let (name, default) = match name.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (name, None),
        };
        match self.assigned.get(name).map(String::as_str).or(default) {
            Some(value) => {
                let sentence = format!("${} is `{}`.", quoted(name), quoted(value));
                self.notes.info(
                    &(start..self.at),
                    None,
                    NoteText::new("variable", sentence, ""),
                );
                word.text += value;
            }
            None => {
                let sentence = format!("The value of ${} is not in the text.", quoted(name));
                self.notes.ask(&(start..self.at), name, sentence);
                word.is_open = true;
                word.text += &format!("${{{name}}}");
            }
        }
    }

    fn command_substitution(&mut self, close: char, word: &mut Word) {
        word.has_command = true;
        self.next();
        let end = self.rest().find([close, '\n']);
        let length = end.map_or(self.rest().len(), |end| {
            end + usize::from(self.rest()[end..].starts_with(close))
        });
        self.at += length;
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
            // The loop is rejected; its variable is not asked for.
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

/// `NAME=value`.
pub(crate) fn assignment(word: &str) -> Option<(&str, &str)> {
    let (name, value) = word.split_once('=')?;
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    is_name.then_some((name, value))
}

#[cfg(test)]
mod tests {
    use super::{Separator, commands};
    use crate::dialect::{notes::Notes, source::Source};
    use std::collections::BTreeMap;

    fn words(text: &str) -> Vec<(Vec<String>, Separator)> {
        let source = Source::new(text);
        let mut notes = Notes::new(&source);
        let variables = BTreeMap::from([("DEV".to_owned(), "/dev/sdb".to_owned())]);
        let commands = commands(&source, &variables, &mut notes);
        let texts = |command: super::ShellCommand| {
            let words = command.words.into_iter().map(|word| word.text);
            (words.collect(), command.end)
        };
        commands.into_iter().map(texts).collect()
    }

    #[test]
    fn words_are_split_and_unquoted_as_in_a_shell() {
        for (text, want) in [
            ("fio --name=a b", &["fio", "--name=a", "b"][..]),
            (
                "fio --name='a b' \"c d\" e\\ f",
                &["fio", "--name=a b", "c d", "e f"],
            ),
            ("fio \\\n  --bs=4k", &["fio", "--bs=4k"]),
            (
                "fio a=$DEV b='$DEV' c=\"${DEV}\"",
                &["fio", "a=/dev/sdb", "b=$DEV", "c=/dev/sdb"],
            ),
            ("fio a#b # comment", &["fio", "a#b"]),
            ("fio x > out.txt 2>&1", &["fio", "x"]),
            ("$ fio x", &["fio", "x"]),
            ("$ fio \\\n> x", &["fio", "x"]),
        ] {
            assert_eq!(words(text)[0].0, want, "{text}");
        }
    }

    #[test]
    fn commands_are_separated() {
        let names = |text: &str| -> Vec<(String, Separator)> {
            let first = |(words, end): (Vec<String>, Separator)| (words.concat(), end);
            words(text).into_iter().map(first).collect()
        };
        assert_eq!(
            names("a && b; c | d\ne &\n"),
            [
                ("a".into(), Separator::IfSuccessful),
                ("b".into(), Separator::Then),
                ("c".into(), Separator::Pipe),
                ("d".into(), Separator::Then),
                ("e".into(), Separator::Background),
            ]
        );
        assert_eq!(names("X=1\na $X\ncat <<EOF\n[j]\nEOF\nb").len(), 3);
    }
}
