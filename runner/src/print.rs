//! What a terminal shows: pure functions from words to text.

mod devices;
mod doctor;
pub(crate) mod number;
mod style;

pub use devices::devices;
pub use doctor::doctor;
pub use style::Style;
