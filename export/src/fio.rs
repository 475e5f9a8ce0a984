//! fio's formats: JSON, terse, text and logs, and job files. The structures follow `stat.c` of fio
//! 3.33.

mod direction;
mod disk;
mod job;
pub mod job_file;
mod job_options;
pub mod json;
mod latency;
mod latency_bins;
pub mod logs;
pub mod normal;
mod num2str;
pub mod result;
pub mod terse;

use time::{OffsetDateTime, macros::format_description};

/// Many programs check for `fio-3`. The suffix identifies the program that wrote the file.
pub const VERSION: &str = concat!("fio-3.33-leadline-", env!("CARGO_PKG_VERSION"));

/// fio prints floating-point numbers with `%f`, that is, with 6 decimals.
fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

/// Formats a time like asctime(3), in UTC.
fn asctime(unix_ms: u64) -> String {
    let format = format_description!(
        "[weekday repr:short] [month repr:short] [day padding:space] [hour]:[minute]:[second] [year]"
    );
    let seconds = i64::try_from(unix_ms / 1000).unwrap_or(0);
    OffsetDateTime::from_unix_timestamp(seconds)
        .ok()
        .and_then(|time| time.format(format).ok())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_use_asctime_format() {
        assert_eq!(asctime(1_795_523_892_128), "Tue Nov 24 12:38:12 2026");
        assert_eq!(asctime(1_793_491_200_000), "Sun Nov  1 00:00:00 2026");
    }
}
