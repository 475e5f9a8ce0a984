//! How text is set on a terminal: colours beside words, never instead of them, and lines that end before the edge.

use rustix::termios::tcgetwinsize;
use std::io::{IsTerminal, stdout};

/// The longest line where no terminal says how wide it is, in characters: fits a mail.
const WIDTH: usize = 100;
/// Lines are no shorter, however narrow the terminal: tables need as much.
const NARROWEST: usize = 80;
/// And no longer, however wide it is: nobody reads such lines.
const WIDEST: usize = 120;

/// Whether colours are used, and how long lines may be.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Style {
    /// Colours are used.
    pub color: bool,
    /// The longest line, in characters.
    pub width: usize,
}

impl Default for Style {
    fn default() -> Self {
        Self {
            color: false,
            width: WIDTH,
        }
    }
}

/// What a colour stands for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Tone {
    /// A name.
    Name,
    /// Less important.
    Aside,
    /// Well.
    Good,
    /// To be minded.
    Mind,
    /// Not well.
    Bad,
}

impl Style {
    /// Colours on a terminal, unless NO_COLOR is set (no-color.org) or the terminal is dumb; lines as long as it is wide.
    pub fn of_stdout() -> Self {
        let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let columns = tcgetwinsize(stdout())
            .ok()
            .map(|size| usize::from(size.ws_col))
            .filter(|columns| *columns > 0);
        Self {
            color: stdout().is_terminal() && !is_set("NO_COLOR") && !is_dumb,
            width: columns.map_or(WIDTH, |columns| columns.clamp(NARROWEST, WIDEST)),
        }
    }

    /// Text in a tone.
    pub fn paint(self, tone: Tone, text: &str) -> String {
        let code = match tone {
            Tone::Name => "1",
            Tone::Aside => "2",
            Tone::Good => "32",
            Tone::Mind => "33",
            Tone::Bad => "31",
        };
        if self.color {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.into()
        }
    }
}

/// Text in lines of at most `width` characters, broken between words; a word longer than that stands alone.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.into()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words() {
        for (text, width, want) in [
            ("", 10, vec![]),
            ("one two three", 8, vec!["one two", "three"]),
            ("one two three", 7, vec!["one two", "three"]),
            ("µµµ µµµ", 7, vec!["µµµ µµµ"]),
            ("/a/very/long/path x", 5, vec!["/a/very/long/path", "x"]),
        ] {
            assert_eq!(wrap(text, width), want, "{text}");
        }
    }

    #[test]
    fn colour_is_only_added_where_wanted() {
        assert_eq!(Style::default().paint(Tone::Bad, "no"), "no");
        assert_eq!(
            Style {
                color: true,
                ..Style::default()
            }
            .paint(Tone::Bad, "no"),
            "\x1b[31mno\x1b[0m"
        );
    }
}
