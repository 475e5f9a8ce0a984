//! Facts about this host, its block devices, and what it can do. Here: the words; the looking is done in the rooms
//! below. Whatever could not be found out is null, with the reason in `absent`.

pub(crate) mod beside;
pub(crate) mod blocks;
pub mod devices;
pub mod doctor;
pub(crate) mod file;
#[cfg(test)]
pub(crate) mod fixture;
pub(crate) mod identity;
pub(crate) mod inventory;
pub(crate) mod ioctl;
pub(crate) mod kernel;
pub(crate) mod look;
pub(crate) mod mark;
pub(crate) mod meminfo;
pub(crate) mod mounts;
pub(crate) mod place;
pub(crate) mod signature;
pub(crate) mod uring;
pub mod view;
