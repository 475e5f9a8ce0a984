//! Trends: the results of a test on one machine over time.

pub mod changes;
pub mod hosts;
pub mod points;
pub mod state;
pub mod values;
