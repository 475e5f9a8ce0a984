//! Verification of written data: the format of the blocks, the table of their last writes, and the
//! classification of bad blocks. Pure; `run::verify` reads the blocks. docs/decisions/0022 has the
//! reasons.

pub(crate) mod block;
pub(crate) mod check;
pub(crate) mod header;
pub(crate) mod written_blocks;

#[cfg(test)]
mod tests;
