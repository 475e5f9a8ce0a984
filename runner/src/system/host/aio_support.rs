//! Checks whether Linux AIO is available by creating a context, and reads how much of the host-wide
//! limit is unused (Documentation/admin-guide/sysctl/fs.rst).

use crate::system::host::kernel::{Kernel, value};
use std::io;

/// Number of additional I/Os that new contexts can have in flight; `None` if Linux AIO is
/// unavailable.
pub(crate) fn available(kernel: &Kernel) -> Option<u64> {
    let fs = kernel.proc.join("sys/fs");
    let max: u64 = value(fs.join("aio-max-nr"))?;
    let used: u64 = value(fs.join("aio-nr"))?;
    can_create_context().then(|| max.saturating_sub(used))
}

/// Returns true if a context can be created, or if only the limit prevents it (EAGAIN).
fn can_create_context() -> bool {
    let mut context: usize = 0;
    // SAFETY: io_setup(2) writes the ID to a local variable.
    if unsafe { libc::syscall(libc::SYS_io_setup, 1, &raw mut context) } < 0 {
        return io::Error::last_os_error().raw_os_error() == Some(libc::EAGAIN);
    }
    // SAFETY: this destroys only the context that was just created.
    unsafe { libc::syscall(libc::SYS_io_destroy, context) };
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_shared_by_all_contexts() {
        let proc = tempfile::tempdir().unwrap();
        let kernel = Kernel {
            proc: proc.path().into(),
            ..Kernel::live()
        };
        assert_eq!(available(&kernel), None);
        let fs = proc.path().join("sys/fs");
        std::fs::create_dir_all(&fs).unwrap();
        std::fs::write(fs.join("aio-max-nr"), "65536\n").unwrap();
        for (used, left) in [("0", 65_536), ("65000", 536), ("70000", 0)] {
            std::fs::write(fs.join("aio-nr"), used).unwrap();
            let expected = can_create_context().then_some(left);
            assert_eq!(available(&kernel), expected, "{used}");
        }
    }
}
