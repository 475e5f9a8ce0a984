//! Facts about the host that imported job files refer to.

use crate::{
    dialect::{HostFacts, PathKind},
    system::host::{kernel::Kernel, meminfo},
};
use rustix::param::page_size;
use std::{fs, thread::available_parallelism};

/// Runs an import with facts about this host.
pub(crate) fn import_with_host<T>(import: impl FnOnce(&HostFacts<'_>) -> T) -> T {
    let kernel = Kernel::live();
    import(&HostFacts {
        cpus: configured_cpus(&kernel),
        page_size: page_size() as u64,
        memory_mib: meminfo::read(&kernel, "MemTotal").unwrap_or(0) >> 20,
        path_kind: &path_kind,
    })
}

/// fio's `$ncpus` counts the configured CPUs, like `sysconf(_SC_NPROCESSORS_CONF)`.
fn configured_cpus(kernel: &Kernel) -> u64 {
    let possible = fs::read_to_string(kernel.sys.join("devices/system/cpu/present"));
    let last = possible
        .ok()
        .and_then(|text| text.trim().rsplit(['-', ',']).next()?.parse::<u64>().ok());
    match last {
        Some(last) => last + 1,
        None => available_parallelism().map_or(1, |count| count.get() as u64),
    }
}

fn path_kind(path: &str) -> PathKind {
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => PathKind::RegularFile,
        Ok(_) => PathKind::Other,
        Err(_) => PathKind::Missing,
    }
}
