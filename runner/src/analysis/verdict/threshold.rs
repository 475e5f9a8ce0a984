//! Every threshold of the verdict, each with its reason. `docs/measurement.md` shows this table; a test holds the two
//! together.

/// A number that divides one class from the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Threshold {
    /// The name that rules call it by.
    pub name: &'static str,
    /// The number, in what `shown` says.
    pub value: f64,
    /// The number as people read it.
    pub shown: &'static str,
    /// Why this number and no other.
    pub reason: &'static str,
}

impl Threshold {
    /// As a whole number, for bytes and counts.
    pub const fn whole(self) -> u64 {
        self.value as u64
    }
}

/// See its reason.
pub(crate) const FEWEST: Threshold = Threshold {
    name: "fewest",
    value: 8.0,
    shown: "8 I/Os",
    reason: "fewer, when they are small too, cannot be told from the filesystem's own",
};
/// See its reason.
pub(crate) const FLOOR: Threshold = Threshold {
    name: "floor",
    value: (4 << 20) as f64,
    shown: "4 MiB",
    reason: "a mount, a journal commit and a log line move some MiB by themselves: under it no excess means anything",
};
/// See its reason.
pub(crate) const NOTHING: Threshold = Threshold {
    name: "nothing",
    value: 0.02,
    shown: "2 %",
    reason: "what is left below it is metadata and I/O at the borders of the window",
};
/// See its reason.
pub(crate) const ALL: Threshold = Threshold {
    name: "all",
    value: 0.9,
    shown: "90 %",
    reason: "the rest is I/O in flight at the borders, and blocks that happened to be in memory",
};
/// See its reason.
pub(crate) const MORE: Threshold = Threshold {
    name: "more",
    value: 0.2,
    shown: "20 %",
    reason: "covers the metadata of ordinary files; journals, copies on write, read-modify-write and neighbours cost more",
};
/// See its reason.
pub(crate) const FEW_LARGE: Threshold = Threshold {
    name: "few",
    value: 0.5,
    shown: "half",
    reason: "two I/Os in one is the least that merging can do; chance neighbours in a queue are far fewer",
};
/// See its reason.
pub(crate) const MOSTLY: Threshold = Threshold {
    name: "mostly",
    value: 0.5,
    shown: "50 %",
    reason: "most of the number is then that of memory",
};

/// All of them, in the order of the document.
#[cfg(test)]
pub(crate) const TABLE: [Threshold; 7] = [FEWEST, FLOOR, NOTHING, ALL, MORE, FEW_LARGE, MOSTLY];
