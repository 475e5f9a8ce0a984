//! Host and kernel access: host facts, device tree, guard, targets, storage layers, probes, buffers
//! and clock.

pub(crate) mod buffers;
pub(crate) mod clock;
pub mod guard;
pub mod host;
pub(crate) mod idle_probe;
pub(crate) mod layers;
pub mod probes;
pub(crate) mod run_cgroup;
pub mod target;
