//! What a terminal shows: pure functions from words to text.

pub(crate) mod number;
