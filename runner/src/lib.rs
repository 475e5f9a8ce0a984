//! Storage benchmark that reports which layer served the I/O. One process per run; emits events.

mod analysis;
pub mod cli;
pub mod dialect;
#[cfg(any(fuzzing, test))]
#[doc(hidden)]
pub mod fuzzing;
mod load;
pub mod plan;
pub mod run;
pub mod system;
