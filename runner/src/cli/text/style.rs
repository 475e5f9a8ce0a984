//! Text styles and the terminal width.

use anstyle::{AnsiColor, Style};
use rustix::termios::tcgetwinsize;
use std::{fmt::Display, io::stdout};

/// Width in columns when standard output is not a terminal.
pub(crate) const DEFAULT_WIDTH: usize = 100;
/// Minimum width of the tables.
const MIN_WIDTH: usize = 80;
/// Maximum width: longer lines are hard to read.
const MAX_WIDTH: usize = 120;

pub(crate) const BOLD: Style = Style::new().bold();
pub(crate) const DIM: Style = Style::new().dimmed();
pub(crate) const GREEN: Style = AnsiColor::Green.on_default();
pub(crate) const YELLOW: Style = AnsiColor::Yellow.on_default();
pub(crate) const RED: Style = AnsiColor::Red.on_default();

pub(crate) fn paint(style: Style, text: impl Display) -> String {
    format!("{style}{text}{style:#}")
}

pub(crate) fn terminal_width() -> usize {
    match tcgetwinsize(stdout()) {
        Ok(size) if size.ws_col > 0 => usize::from(size.ws_col).clamp(MIN_WIDTH, MAX_WIDTH),
        _ => DEFAULT_WIDTH,
    }
}
