//! Studies: sequences of runs with sizes that are scaled to the host.

pub mod definition;
pub mod description;
pub mod detail;
pub mod files;
pub mod load_curve;
pub mod parse;
pub mod plan;
pub mod procedure;
mod repeats;
pub mod scaling;
pub mod snia;
pub mod spec;
pub mod summary;
mod sweep;
pub mod until_decided;
