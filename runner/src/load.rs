//! Generates load: which I/Os a worker issues (`pattern`), when it issues them (`rate`), what data
//! it writes (`data`), which engine it uses (`engine`), and the loop that submits, completes and
//! counts I/Os (`measure`). `worker` is the thread that runs the loop. `verify` records and checks
//! written blocks. `pattern`, `rate`, `data` and `verify` are pure.

pub(crate) mod data;
pub(crate) mod engine;
#[cfg(test)]
pub(crate) mod goodness_of_fit;
pub(crate) mod histogram;
pub(crate) mod layer_sampler;
pub(crate) mod measure;
pub(crate) mod pattern;
pub(crate) mod rate;
pub(crate) mod slot_priorities;
pub(crate) mod source;
pub(crate) mod stats;
pub(crate) mod verify;
pub(crate) mod worker;
