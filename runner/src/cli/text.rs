//! Terminal output: pure functions from protocol types to text. Text contains ANSI escapes, which
//! `cli::output` removes unless standard output is a terminal that supports color.

pub(crate) mod comparison;
pub mod devices;
pub mod doctor;
mod findings;
pub(crate) mod import;
pub(crate) mod plan;
pub(crate) mod procedure;
pub(crate) mod progress;
pub(crate) mod report;
pub(crate) mod study;
pub(crate) mod style;
mod writer;
