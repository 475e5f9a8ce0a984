//! Access to the kernel: host facts, device tree, guard, targets, probes, buffers, clock.

pub(crate) mod buffers;
pub(crate) mod clock;
pub(crate) mod guard;
pub mod host;
pub mod probes;
pub mod target;
