//! What a terminal shows: pure functions from words to text.

mod devices;
mod doctor;
pub(crate) mod number;
mod plan;
mod progress;
mod report;
mod sheet;
mod study;
mod style;

pub use devices::devices;
pub use doctor::doctor;
pub use plan::plan;
pub use progress::line as progress;
pub use report::report;
pub use study::{StepResult, study_line, study_plan, study_table};
pub use style::Style;
