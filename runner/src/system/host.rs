//! Facts about the host: block devices, mounts and the kernel. If a value is unavailable, it is
//! null, and `absent` contains the reason.

pub(crate) mod access_time;
pub(crate) mod aio_support;
pub(crate) mod block_device;
pub(crate) mod cachestat;
pub(crate) mod cgroup_memory;
pub mod device_list;
pub(crate) mod device_use;
pub(crate) mod dm_table;
pub mod doctor;
pub(crate) mod facts;
pub(crate) mod fiemap;
pub(crate) mod file;
pub(crate) mod file_identity;
#[cfg(test)]
pub(crate) mod fixture;
pub(crate) mod identity;
pub(crate) mod import_facts;
pub(crate) mod interference;
pub(crate) mod inventory;
pub(crate) mod io_uring_support;
pub(crate) mod ioctl;
pub(crate) mod kernel;
pub(crate) mod meminfo;
pub(crate) mod mounts;
pub(crate) mod open_files;
pub(crate) mod overlay;
pub(crate) mod ownership;
pub(crate) mod queue_settings;
pub(crate) mod resolved_path;
pub(crate) mod settings_snapshot;
pub(crate) mod signature;
pub(crate) mod target_storage;
pub(crate) mod used_space;
pub mod view;
