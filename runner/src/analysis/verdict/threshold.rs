//! Verdict thresholds, each with its reason. `docs/measurement.md` contains the same table; a test
//! compares them.

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Threshold {
    /// Placeholder for the value in rule conditions.
    pub name: &'static str,
    pub value: f64,
    /// The value with its unit, as shown in the documentation.
    pub shown: &'static str,
    pub reason: &'static str,
}

impl Threshold {
    /// The value as an integer, for thresholds in bytes or counts.
    pub(crate) const fn as_u64(self) -> u64 {
        self.value as u64
    }
}

pub(crate) const MAX_UNKNOWN: Threshold = Threshold {
    name: "max_unknown",
    value: 0.1,
    shown: "10 %",
    reason: "the share that another layer may have without changing the class",
};
pub(crate) const MAX_ERROR: Threshold = Threshold {
    name: "max_error",
    value: 0.25,
    shown: "25 %",
    reason: "with a larger error, memory and the device could each have served half of the I/Os",
};
pub(crate) const NOISE_FLOOR: Threshold = Threshold {
    name: "noise_floor",
    value: (4 << 20) as f64,
    shown: "4 MiB",
    reason: "a mount, a journal commit or a log write can transfer a few MiB; a smaller excess is noise",
};
pub(crate) const NEGLIGIBLE: Threshold = Threshold {
    name: "negligible",
    value: 0.02,
    shown: "2 %",
    reason: "metadata and I/O at the window boundaries stay below it",
};
pub(crate) const NEARLY_ALL: Threshold = Threshold {
    name: "nearly_all",
    value: 0.9,
    shown: "90 %",
    reason: "the remainder is I/O in flight at the window boundaries and blocks that were in memory",
};
pub(crate) const EXCESS: Threshold = Threshold {
    name: "excess",
    value: 0.2,
    shown: "20 %",
    reason: "covers typical file metadata; journals, copy on write, read-modify-write and foreign I/O exceed it",
};
pub(crate) const MERGE_RATIO: Threshold = Threshold {
    name: "merge_ratio",
    value: 0.5,
    shown: "half",
    reason: "merging joins at least two I/Os; far fewer I/Os are adjacent by chance",
};
pub(crate) const MOSTLY: Threshold = Threshold {
    name: "mostly",
    value: 0.5,
    shown: "50 %",
    reason: "most of the result then reflects memory",
};

/// Whether `bytes` exceeds `expected` significantly: by both the noise floor and the excess ratio.
pub(crate) fn is_excess(bytes: u64, expected: u64) -> bool {
    let excess = bytes.saturating_sub(expected);
    excess > NOISE_FLOOR.as_u64() && excess as f64 > EXCESS.value * expected as f64
}

/// In document order.
#[cfg(test)]
pub(crate) const TABLE: [Threshold; 8] = [
    MAX_UNKNOWN,
    MAX_ERROR,
    NOISE_FLOOR,
    NEGLIGIBLE,
    NEARLY_ALL,
    EXCESS,
    MERGE_RATIO,
    MOSTLY,
];
