//! Runs a closure in a child process, one instruction at a time (ptrace(2)).

use rustix::thread::{CpuSet, sched_getcpu, sched_setaffinity};
use std::{
    io,
    panic::{AssertUnwindSafe, catch_unwind},
};

/// Number of instructions in `work`, plus a few dozen to enter and leave it. Calls `on_step` with
/// the child's PID before each instruction.
///
/// # Errors
/// Returns an error if the child cannot be created or traced.
pub(crate) fn count_steps(
    mut work: impl FnMut() -> bool,
    on_step: impl FnMut(libc::pid_t),
) -> io::Result<u64> {
    // On one CPU, switching between the two processes needs no inter-processor interrupts.
    let mut this_cpu = CpuSet::new();
    this_cpu.set(sched_getcpu());
    sched_setaffinity(None, &this_cpu)?;
    // SAFETY: the child has only this thread, glibc permits allocation in the child of a
    // multithreaded process, and the child exits with _exit.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // SAFETY: no argument is a pointer.
        let is_traced = unsafe { libc::ptrace(libc::PTRACE_TRACEME) } == 0;
        let is_done = is_traced && {
            // SAFETY: the signal stops this process until the parent continues it.
            unsafe { libc::raise(libc::SIGSTOP) };
            catch_unwind(AssertUnwindSafe(&mut work)).unwrap_or(false)
        };
        let code = if is_done {
            0
        } else {
            1 + i32::from(!is_traced)
        };
        // SAFETY: skips the exit handlers of the test harness.
        unsafe { libc::_exit(code) };
    }
    trace(child, on_step)
}

fn trace(child: libc::pid_t, mut on_step: impl FnMut(libc::pid_t)) -> io::Result<u64> {
    let mut steps = 0;
    let mut status = 0;
    loop {
        // SAFETY: `status` is a local int.
        if unsafe { libc::waitpid(child, &raw mut status, 0) } != child {
            return Err(io::Error::last_os_error());
        }
        if libc::WIFEXITED(status) {
            return match libc::WEXITSTATUS(status) {
                0 => Ok(steps),
                1 => panic!("the loop did not finish"),
                _ => Err(io::ErrorKind::PermissionDenied.into()),
            };
        }
        let is_stopped = libc::WIFSTOPPED(status)
            && [libc::SIGTRAP, libc::SIGSTOP].contains(&libc::WSTOPSIG(status));
        if is_stopped {
            on_step(child);
        }
        // SAFETY: the child is stopped; the last two arguments are neither an address nor a signal.
        if !is_stopped || unsafe { libc::ptrace(libc::PTRACE_SINGLESTEP, child, 0, 0) } != 0 {
            // SAFETY: `child` is a child of this process that has not been waited for.
            unsafe { libc::kill(child, libc::SIGKILL) };
            panic!("cannot continue the child: status {status:#x}");
        }
        steps += 1;
    }
}
