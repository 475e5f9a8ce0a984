//! Verifies written data: the block format, the last-write table, and the classification of bad
//! blocks. Pure; `run::verify` reads the blocks. See docs/decisions/0022 for the rationale.

pub(crate) mod block;
pub(crate) mod check;
pub(crate) mod checked_blocks;
pub(crate) mod digest;
pub(crate) mod finding;
pub(crate) mod format;
pub(crate) mod header;
mod pattern_check;
pub(crate) mod written_blocks;

#[cfg(test)]
mod tests;
