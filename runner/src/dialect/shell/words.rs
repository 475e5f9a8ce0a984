//! Words: quotes, escapes and variables.

use crate::dialect::{
    notes::{NoteText, quoted},
    shell::{Lexer, Word, is_blank},
};

impl Lexer<'_, '_, '_> {
    pub(super) fn read_word(&mut self) -> Word {
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
                '\\' if self.is_broken_continuation() => break,
                '\\' => {
                    self.at += 1;
                    word.text.extend(self.next());
                }
                '\'' => self.read_single_quotes(&mut word),
                '"' => self.read_double_quotes('"', &mut word),
                '“' | '”' | '‘' | '’' => self.read_typographic_quotes(c, &mut word),
                '$' | '`' => self.read_expansion(&mut word),
                c => {
                    self.at += c.len_utf8();
                    word.text.push(c);
                }
            }
        }
        word.span.end = self.at;
        word
    }

    fn read_single_quotes(&mut self, word: &mut Word) {
        self.at += 1;
        let end = self.rest().find('\'');
        let length = end.unwrap_or(self.rest().len());
        word.text += &self.text[self.at..self.at + length];
        self.at += length;
        match end {
            Some(_) => self.at += 1,
            None => self.report_unclosed_quote(word),
        }
    }

    fn read_double_quotes(&mut self, close: char, word: &mut Word) {
        self.next();
        loop {
            match self.peek() {
                None => return self.report_unclosed_quote(word),
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
                Some('$' | '`') => self.read_expansion(word),
                Some(c) => {
                    self.at += c.len_utf8();
                    word.text.push(c);
                }
            }
        }
    }

    fn read_typographic_quotes(&mut self, open: char, word: &mut Word) {
        let span = self.at..self.at + open.len_utf8();
        let sentence = "Typographic quotation marks were read as quotes.";
        self.notes
            .info(&span, None, NoteText::new("typography", sentence, ""));
        let close = if matches!(open, '“' | '”') {
            '”'
        } else {
            '’'
        };
        self.read_double_quotes(close, word);
    }

    /// Reads `$'a\tb'`.
    fn read_ansi_quotes(&mut self, word: &mut Word) {
        self.at += 1;
        loop {
            match self.next() {
                None => return self.report_unclosed_quote(word),
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

    fn report_unclosed_quote(&mut self, word: &Word) {
        let text = NoteText::new(
            "unclosed_quote",
            "A quotation mark is not closed.",
            "Close it.",
        );
        let name = word.text.trim_start_matches('-').split('=').next();
        let name = name.filter(|_| word.text.starts_with('-'));
        self.notes.error(&(word.span.start..self.at), name, text);
    }

    /// Reads `$NAME`, `${NAME}`, `$(command)` and backquotes.
    fn read_expansion(&mut self, word: &mut Word) {
        let start = self.at;
        let rest = &self.text[start + 1..];
        if rest.starts_with('\'') {
            self.at += 1;
            return self.read_ansi_quotes(word);
        }
        let name = match (self.peek(), rest.strip_prefix('{')) {
            (Some('`'), _) => return self.read_command_substitution('`', word),
            (_, Some(braced)) => braced.find('}').map(|end| (&braced[..end], end + 3)),
            (_, None) if rest.starts_with('(') => return self.read_command_substitution(')', word),
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
        // Reads `${NAME:-default}`.
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
                self.notes.add_question(&(start..self.at), name, sentence);
                word.has_unset_variable = true;
                word.text += &format!("${{{name}}}");
            }
        }
    }

    /// Skips a command, or arithmetic such as `$((2*4))`.
    fn read_command_substitution(&mut self, close: char, word: &mut Word) {
        word.has_command = true;
        self.next();
        let mut depth = 0;
        let end = self.rest().find(|c| {
            depth += i32::from(c == '(');
            depth -= i32::from(c == ')');
            c == '\n' || (c == close && depth <= 0)
        });
        let length = end.map_or(self.rest().len(), |end| {
            end + usize::from(self.rest()[end..].starts_with(close))
        });
        self.at += length;
    }
}
