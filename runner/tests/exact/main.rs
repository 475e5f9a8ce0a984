//! Exactness, held against the kernel, the clock and theory: counts to the I/O, borders to the millisecond, rates to half a
//! percent, data to two. What a busy host blurs is tried again, and then skipped aloud; what must hold everywhere never is.

mod counts;
mod data;
mod quiet;
mod rates;
#[path = "../scratch/mod.rs"]
mod scratch;
mod times;
mod wall;
