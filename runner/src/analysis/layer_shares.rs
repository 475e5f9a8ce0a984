//! Shares of one direction's I/Os in one window, by the layer that served them.

/// Minimum number of lookups. With fewer, the layers of a window are unknown.
pub(crate) const MIN_SAMPLES: u64 = 8;
pub(crate) const FEW_SAMPLES: &str = "too few I/Os were looked up";
pub(crate) const NOT_FOUND: &str = "the layers of most I/Os could not be looked up";

/// Shares of the I/Os (0-1). Together with `unknown`, they add up to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct LayerShares {
    pub page_cache: f64,
    /// Served below the page cache but not by the device: by holes and unwritten extents, or by
    /// memory below a block device.
    pub filesystem: f64,
    pub device: f64,
    pub unknown: f64,
}

/// The shares, or why they are unknown.
pub(crate) type SharesOrReason = Result<LayerShares, &'static str>;

/// Shares of reads and writes so far; `None` for a direction in which nothing was looked up.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SharesByDirection {
    pub read: Option<SharesOrReason>,
    pub write: Option<SharesOrReason>,
}
