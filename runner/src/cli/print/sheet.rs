//! A sheet of lines with a label each: text wraps under its column, tables keep theirs.

use crate::cli::print::style::{Style, Tone, wrap};

/// Width of the first column, in characters.
pub const LABEL: usize = 10;

/// Lines with a label each, set in one style.
pub struct Sheet {
    text: String,
    style: Style,
}

impl Sheet {
    /// Nothing on it yet.
    pub fn new(style: Style) -> Self {
        Self {
            text: String::new(),
            style,
        }
    }

    /// A line, wrapped where it is long; what follows stands under the text.
    pub fn line(&mut self, tone: Tone, label: &str, text: &str) {
        self.hang(tone, label, 0, text);
    }

    /// The same with the text indented by some characters more.
    pub fn hang(&mut self, tone: Tone, label: &str, indent: usize, text: &str) {
        let room = self.style.width.saturating_sub(LABEL + 1 + indent);
        for (number, part) in wrap(text, room).iter().enumerate() {
            self.row(
                tone,
                if number == 0 { label } else { "" },
                &format!("{:indent$}{part}", ""),
            );
        }
    }

    /// A line that is set as it is.
    pub fn row(&mut self, tone: Tone, label: &str, text: &str) {
        let column = format!("{label:<LABEL$}");
        let column = if label.is_empty() {
            column
        } else {
            self.style.paint(tone, &column)
        };
        self.text += format!("{column} {text}").trim_end();
        self.text.push('\n');
    }

    /// A line that is less important than what stands around it.
    pub fn aside(&mut self, text: &str) {
        let text = self.style.paint(Tone::Aside, text.trim_end());
        self.text += &format!("{:LABEL$} {text}\n", "");
    }

    /// Lines that were set before.
    pub fn text(&mut self, lines: &str) {
        self.text += lines;
    }

    /// An empty line.
    pub fn gap(&mut self) {
        self.text.push('\n');
    }

    /// What stands on it.
    pub fn into_text(self) -> String {
        self.text
    }
}
