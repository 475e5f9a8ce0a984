//! What a terminal shows: pure functions from words to text.

pub(crate) mod devices;
pub(crate) mod doctor;
pub(crate) mod plan;
pub(crate) mod progress;
pub(crate) mod report;
pub(crate) mod sheet;
pub(crate) mod study;
pub mod style;

pub use crate::cli::print::devices::devices;
pub use crate::cli::print::doctor::doctor;
pub(crate) use crate::cli::print::plan::plan;
pub(crate) use crate::cli::print::progress::line as progress;
pub(crate) use crate::cli::print::report::report;
pub(crate) use crate::cli::print::study::{study_line, study_plan, study_table};
