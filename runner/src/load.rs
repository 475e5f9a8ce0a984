//! TODO

pub(crate) mod data;
pub(crate) mod engine;
pub(crate) mod histogram;
pub(crate) mod ledger;
pub(crate) mod measure;
pub(crate) mod pace;
pub(crate) mod pattern;
#[cfg(test)]
pub(crate) mod theory;
pub(crate) mod worker;
