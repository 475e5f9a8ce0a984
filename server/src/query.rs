//! Derived views of stored runs: list filters, time series, comparisons, exports and flame graphs.

pub(crate) mod common_grid;
pub(crate) mod compare;
pub(crate) mod export;
pub(crate) mod filter;
pub(crate) mod flame;
pub(crate) mod groups;
pub(crate) mod page;
pub(crate) mod partial_metrics;
pub(crate) mod series;
pub(crate) mod trend;
