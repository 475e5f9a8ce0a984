//! Facts about this host, its block devices, and what it can do. Here: the words; the looking is done in the rooms
//! below. Whatever could not be found out is null, with the reason in `absent`.

pub(crate) mod block_device;
pub mod device_list;
pub mod doctor;
pub(crate) mod facts;
pub(crate) mod file;
#[cfg(test)]
pub(crate) mod fixture;
pub(crate) mod identity;
pub(crate) mod interference;
pub(crate) mod inventory;
pub(crate) mod io_uring_support;
pub(crate) mod ioctl;
pub(crate) mod kernel;
pub(crate) mod meminfo;
pub(crate) mod mounts;
pub(crate) mod ownership;
pub(crate) mod resolved_path;
pub(crate) mod signature;
pub mod view;
