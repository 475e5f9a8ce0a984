//! Writes, and reads and writes on stacked devices.

mod buffered;
pub(crate) mod builders;
mod direct;
mod disturbed;
mod loops;
mod stacked;

use crate::case::Case;

pub(crate) fn cases() -> Vec<Case> {
    [
        buffered::CASES,
        direct::CASES,
        disturbed::CASES,
        loops::CASES,
        stacked::CASES,
    ]
    .concat()
}
