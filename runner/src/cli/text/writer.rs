//! Builds text from labeled lines and tables.

use crate::cli::text::style::{DIM, paint};
use anstyle::Style;
use comfy_table::{CellAlignment, Table, presets::NOTHING};
use textwrap::{Options, WordSplitter};

/// Width of the label column.
const LABEL: usize = 12;
/// Header of the label column, padded to the width of the labels.
pub(crate) const LABEL_HEADER: &str = "           ";

pub(crate) struct TextWriter {
    text: String,
    width: usize,
}

impl TextWriter {
    pub(crate) fn new(width: usize) -> Self {
        Self {
            text: String::new(),
            width,
        }
    }

    /// Adds a field: a dim label, and text that wraps within its own column.
    pub(crate) fn field(&mut self, label: &str, text: &str) {
        self.styled_field(DIM, label, text);
    }

    pub(crate) fn styled_field(&mut self, style: Style, label: &str, text: &str) {
        let label = paint(style, format_args!("{label:<LABEL$}"));
        let indent = " ".repeat(LABEL + 1);
        self.wrapped_text(&format!("{label} "), &indent, text);
    }

    /// Adds a field that does not wrap.
    pub(crate) fn unwrapped_field(&mut self, label: &str, text: &str) {
        let label = paint(DIM, format_args!("{label:<LABEL$}"));
        self.push(&format!("{label} {text}\n"));
    }

    /// Adds a suggestion below a field.
    pub(crate) fn remedy(&mut self, text: &str) {
        let indent = " ".repeat(LABEL + 3);
        self.wrapped_text(&indent, &indent, &format!("→ {text}"));
    }

    /// Adds text that wraps between words; long words are not broken.
    pub(crate) fn wrapped_text(&mut self, first_indent: &str, indent: &str, text: &str) {
        let options = Options::new(self.width)
            .initial_indent(first_indent)
            .subsequent_indent(indent)
            .word_splitter(WordSplitter::NoHyphenation)
            .break_words(false);
        self.push(&textwrap::fill(text, options));
        self.push("\n");
    }

    /// Adds a table with a dim header.
    pub(crate) fn table(&mut self, table: &Table) {
        for (number, line) in table.lines().enumerate() {
            let line = line.trim_end();
            if number == 0 {
                self.push(&paint(DIM, line));
            } else {
                self.push(line);
            }
            self.push("\n");
        }
    }

    pub(crate) fn push(&mut self, text: &str) {
        self.text += text;
    }

    pub(crate) fn blank_line(&mut self) {
        self.push("\n");
    }

    pub(crate) fn into_text(self) -> String {
        self.text
    }
}

/// A table without borders, with labels in the first column and numbers in all other columns.
pub(crate) fn number_table<const N: usize>(header: [&str; N]) -> Table {
    let mut table = Table::new();
    table.load_style(NOTHING).set_header(header);
    for column in table.column_iter_mut() {
        column
            .set_padding((0, 2))
            .set_cell_alignment(CellAlignment::Right);
    }
    if let Some(labels) = table.column_mut(0) {
        labels.set_cell_alignment(CellAlignment::Left);
    }
    table
}

/// Joins all parts that are `Some`.
pub(crate) fn join(parts: impl IntoIterator<Item = Option<String>>, separator: &str) -> String {
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    parts.join(separator)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wraps_between_words() {
        for (text, width, expected) in [
            ("one two three", 8, "one two\nthree\n"),
            ("one two three", 7, "one two\nthree\n"),
            ("µµµ µµµ", 7, "µµµ µµµ\n"),
            ("mq-deadline none", 8, "mq-deadline\nnone\n"),
            ("/a/very/long/path x", 5, "/a/very/long/path\nx\n"),
            ("\x1b[1mone two\x1b[0m", 7, "\x1b[1mone two\x1b[0m\n"),
        ] {
            let mut out = TextWriter::new(width);
            out.wrapped_text("", "", text);
            assert_eq!(out.into_text(), expected, "{text}");
        }
    }
}
