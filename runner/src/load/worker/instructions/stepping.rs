//! Runs some work in a child, one instruction at a time (ptrace(2)).

use rustix::thread::{CpuSet, sched_getcpu, sched_setaffinity};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Instructions that a child needs for this work, its way in and out (some dozens) included. `see` is told the child's number
/// before each of them.
///
/// # Errors
/// The child cannot be made or stepped here.
pub fn steps(mut work: impl FnMut() -> bool, see: impl FnMut(libc::pid_t)) -> io::Result<u64> {
    // On one processor the two take turns without waking each other across.
    let mut only_here = CpuSet::new();
    only_here.set(sched_getcpu());
    sched_setaffinity(None, &only_here)?;
    // SAFETY: the child has only this thread; what it allocates, glibc lets a child of many threads allocate; it leaves by _exit.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // SAFETY: no arguments are pointers.
        let traced = unsafe { libc::ptrace(libc::PTRACE_TRACEME) } == 0;
        let done = traced && {
            // SAFETY: a signal to ourselves: we stop here until the parent steps us on.
            unsafe { libc::raise(libc::SIGSTOP) };
            catch_unwind(AssertUnwindSafe(&mut work)).unwrap_or(false)
        };
        let code = if done { 0 } else { 1 + i32::from(!traced) };
        // SAFETY: nothing of the harness runs in the child.
        unsafe { libc::_exit(code) };
    }
    follow(child, see)
}

fn follow(child: libc::pid_t, mut see: impl FnMut(libc::pid_t)) -> io::Result<u64> {
    let (mut steps, mut status) = (0, 0);
    loop {
        // SAFETY: `status` is an int of ours.
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
        let goes_on = libc::WIFSTOPPED(status)
            && [libc::SIGTRAP, libc::SIGSTOP].contains(&libc::WSTOPSIG(status));
        if goes_on {
            see(child);
        }
        // SAFETY: the child is stopped, and the two last arguments are numbers here: no address, no signal.
        if !goes_on || unsafe { libc::ptrace(libc::PTRACE_SINGLESTEP, child, 0, 0) } != 0 {
            // SAFETY: a child of our own, which nobody has waited for.
            unsafe { libc::kill(child, libc::SIGKILL) };
            panic!("the child cannot go on: status {status:#x}");
        }
        steps += 1;
    }
}
