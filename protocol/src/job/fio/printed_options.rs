//! Options that fio prints with its results, and how to compare them.

/// Prefix of their names in lists of settings.
pub const PREFIX: &str = "fio.";

/// Defaults of compared options. fio prints an option only if it is set.
pub const DEFAULTS: &[(&str, &str)] = &[
    ("rw", "read"),
    ("bs", "4k"),
    ("iodepth", "1"),
    ("numjobs", "1"),
    ("direct", "0"),
    ("ioengine", "psync"),
];

/// Options whose values may have size suffixes, so that `4k` and `4096` are equal.
pub const SIZES: &[&str] = &["bs", "size", "io_size", "offset", "rate", "rate_iops"];
