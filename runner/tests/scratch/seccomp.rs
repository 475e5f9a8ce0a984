//! Makes a system call fail in child processes.

use std::{io, os::unix::process::CommandExt, process::Command};

/// Offset of the system call number in `struct seccomp_data`.
const NUMBER: u32 = 0;

/// Makes a system call fail after the next exec(2), as in a container whose seccomp filter rejects
/// it.
pub(crate) fn without_call(command: &mut Command, number: u32, error: i32) {
    install(
        command,
        [
            load(NUMBER),
            unless_equal(number, 1),
            fail(error),
            instruction(libc::BPF_RET | libc::BPF_K, 0, libc::SECCOMP_RET_ALLOW),
        ],
    );
}

fn load(offset: u32) -> libc::sock_filter {
    instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, offset)
}

/// Skips instructions unless the loaded value is equal to `value`.
fn unless_equal(value: u32, skipped: u8) -> libc::sock_filter {
    instruction(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, skipped, value)
}

fn fail(error: i32) -> libc::sock_filter {
    let result = libc::SECCOMP_RET_ERRNO | error.cast_unsigned();
    instruction(libc::BPF_RET | libc::BPF_K, 0, result)
}

fn instruction(code: u32, jf: u8, k: u32) -> libc::sock_filter {
    libc::sock_filter {
        code: code as u16,
        jt: 0,
        jf,
        k,
    }
}

fn install<const N: usize>(command: &mut Command, filter: [libc::sock_filter; N]) {
    let install = move || {
        let program = libc::sock_fprog {
            len: filter.len() as u16,
            filter: filter.as_ptr().cast_mut(),
        };
        // SAFETY: prctl(2) reads the filter program, which is on this stack, and allocates nothing.
        let has_failed = unsafe {
            libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0
                || libc::prctl(
                    libc::PR_SET_SECCOMP,
                    libc::SECCOMP_MODE_FILTER,
                    &raw const program,
                ) != 0
        };
        if has_failed {
            Err(io::Error::last_os_error())
        } else {
            Ok(())
        }
    };
    // SAFETY: between fork and exec, the closure only makes two system calls.
    unsafe { command.pre_exec(install) };
}
