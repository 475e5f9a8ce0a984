//! Options that fio prints with its results, and how to compare them.

/// Prefix of their names in lists of settings.
pub const PREFIX: &str = "fio.";

/// Default values, which fio prints only if they are set.
pub const DEFAULTS: &[(&str, &str)] = &[
    ("rw", "read"),
    ("bs", "4k"),
    ("iodepth", "1"),
    ("numjobs", "1"),
    ("direct", "0"),
    ("ioengine", "psync"),
];

/// Options whose values are compared in bytes.
pub const SIZES: &[&str] = &["bs", "size", "io_size", "offset", "rate", "rate_iops"];
