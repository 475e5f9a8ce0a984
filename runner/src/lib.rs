//! Leadline's runner: does direct, buffered and raw I/O on this host and tells where it went.
//!
//! Public are the words on the wire and the way in; how things are done is private.

mod buffer;
mod clock;
mod clone;
mod data;
mod engine;
pub mod event;
pub mod guard;
pub mod histogram;
pub mod host;
pub mod job;
mod pace;
mod pattern;
pub mod plan;
pub mod print;
pub mod probe;
pub mod problem;
pub mod report;
pub mod run;
mod sample;
pub mod study;
pub mod target;
#[cfg(test)]
mod theory;
pub mod units;
mod verdict;
