//! Accuracy, compared with the kernel, the clock and formulas: counts to the I/O, phase ends to the
//! millisecond, rates to 0.5 %, data to 2 %. Tests that a busy host can disturb are repeated and
//! then skipped.

mod busy_host;
mod counts;
mod data;
mod rates;
#[path = "../scratch/mod.rs"]
mod scratch;
mod times;
mod wall_clock;
