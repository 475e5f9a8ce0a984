//! Compares results with the kernel, the clock and formulas. I/O counts must be exact, phase ends
//! accurate to the millisecond, rates to 0.5 %, and data to 2 %. Tests that are sensitive to host
//! load are retried, then skipped.

mod busy_host;
mod counts;
mod data;
mod rates;
#[path = "../scratch/mod.rs"]
mod scratch;
mod times;
mod wall_clock;
