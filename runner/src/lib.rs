//! Leadline's runner: does direct, buffered and raw I/O on this host and tells where it went.
//!
//! Public are the words on the wire and the way in; how things are done is private.

mod analysis;
pub mod cli;
mod load;
pub mod plan;
pub mod run;
pub mod system;
