//! Returns of the loop to a frame that was there before the last system call. A kernel that guards against speculation comes
//! back with the processor's memory of return addresses spoiled, and each of these is mispredicted: one was a fifth of an empty
//! entry's time (docs/decisions/0011).

use crate::load::engine::Engine;
use crate::load::engine::psync::Psync;
use crate::load::engine::uring::entries::Nop;
use crate::load::engine::uring::{Setup, Uring};
use crate::load::ledger::Ledger;
use crate::load::measure::{Loop, Stop};
use crate::load::pattern::Pattern;
use crate::load::worker::Unpaced;
use crate::load::worker::instructions::stepping::steps;
use crate::plan::fixture::{resolved, target};
use crate::system::buffers::BufferPool;
use crate::system::clock::Virtual;
use leadline_protocol::job::value::BufferPages;
use serde_json::json;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::AtomicU64;

/// I/Os of the shorter and of the longer count: what is between them is the loop's, and not of its way in and out.
const IOS: [u64; 2] = [8, 40];

/// Returns across system calls, for each I/O at depth 1, by what does it.
pub fn counted() -> impl Iterator<Item = (String, io::Result<f64>)> {
    let psync: fn(u64) -> io::Result<u64> = |ios| count(ios, Psync::new);
    let nop: fn(u64) -> io::Result<u64> = |ios| {
        count(ios, |files| {
            Uring::<_, Nop>::new(files, 1, &Setup::default()).expect("a ring in the child")
        })
    };
    [("psync", psync), ("io_uring_nop", nop)]
        .into_iter()
        .map(|(engine, count)| {
            let each = || Ok((count(IOS[1])? - count(IOS[0])?) as f64 / (IOS[1] - IOS[0]) as f64);
            (
                format!("returns across a system call, {engine}, depth 1"),
                each(),
            )
        })
}

fn count<E: Engine>(ios: u64, make: impl Fn(&[OwnedFd]) -> E) -> io::Result<u64> {
    let files = [OwnedFd::from(File::open("/dev/zero")?)];
    let job = resolved(
        json!({"rw": "randread", "targets": [target(0, 1 << 20)], "size": 1 << 20, "io_size": 1 << 20, "number_ios": ios}),
    );
    let mut seen = Seen::default();
    let work = || {
        let (pool, ledger) = (
            BufferPool::new(1, 4096, BufferPages::Mmap).expect("a buffer"),
            Ledger::default(),
        );
        let mut work = Loop::new(
            make(&files),
            Virtual::stepping(100),
            Unpaced(Pattern::new(&job, 0)),
            pool,
            None,
            1,
        );
        matches!(
            work.run(&AtomicU64::new(u64::MAX), &ledger),
            Ok(Stop::Finished)
        )
    };
    steps(work, |child| seen.next(child))?;
    Ok(seen.returns)
}

/// What was seen of a child.
#[derive(Default)]
struct Seen {
    returns: u64,
    /// Return addresses from here on, upwards, were pushed before the last system call; `None` before the first.
    old_from: Option<u64>,
}

impl Seen {
    /// Looks at the instruction that the child comes to next, and at its stack pointer.
    #[cfg(target_arch = "x86_64")]
    fn next(&mut self, child: libc::pid_t) {
        // SAFETY: all zeros are a value of this struct of numbers.
        let mut registers: libc::user_regs_struct = unsafe { std::mem::zeroed() };
        // SAFETY: the child is stopped, and the registers are written to a struct of ours.
        unsafe { libc::ptrace(libc::PTRACE_GETREGS, child, 0, &raw mut registers) };
        // SAFETY: the child is stopped, and a word of its code is the result.
        let code = unsafe { libc::ptrace(libc::PTRACE_PEEKTEXT, child, registers.rip, 0) };
        self.see(code.to_le_bytes(), registers.rsp);
    }

    /// Without knowing the instructions nothing is seen; counts of another processor family are not held against these.
    #[cfg(not(target_arch = "x86_64"))]
    fn next(&mut self, _child: libc::pid_t) {}

    /// The same of these bytes of code, and this stack pointer.
    fn see(&mut self, code: [u8; 8], stack: u64) {
        match code {
            // syscall
            [0x0F, 0x05, ..] => self.old_from = Some(stack),
            // ret, ret imm16, rep ret
            [0xC3 | 0xC2, ..] | [0xF3, 0xC3, ..]
                if self.old_from.is_some_and(|from| stack >= from) =>
            {
                self.returns += 1;
                self.old_from = Some(stack + 8);
            }
            _ => {}
        }
    }
}

#[test]
fn only_frames_from_before_the_call_count() {
    const CALL: [u8; 8] = [0x0F, 0x05, 0, 0, 0, 0, 0, 0];
    const RETURN: [u8; 8] = [0xC3, 0, 0, 0, 0, 0, 0, 0];
    let mut seen = Seen::default();
    // Before the first call; of a function called behind it; of the one that made it, and of its caller; once each.
    for (code, stack, want) in [
        (RETURN, 80, 0),
        (CALL, 80, 0),
        (RETURN, 72, 0),
        (RETURN, 80, 1),
        (RETURN, 96, 2),
        (RETURN, 96, 2),
    ] {
        seen.see(code, stack);
        assert_eq!(seen.returns, want, "{stack}");
    }
}
