//! Counts function returns across a system call: returns to a stack frame that is older than the
//! last system call. A kernel with speculation mitigations overwrites the CPU's return stack
//! buffer, so each such return is mispredicted. One return accounted for 20 % of the cost of a
//! no-op (docs/decisions/0011).

use crate::{
    load::{
        engine::{
            Engine,
            synchronous::psync::Psync,
            uring::{Uring, entries::Nop, setup::Setup},
        },
        measure::{Loop, exit::LoopExit},
        pattern::Pattern,
        source::Unlimited,
        stats::WorkerStats,
        worker::instructions::single_step::count_steps,
    },
    plan::fixture::{resolved, target},
    system::{buffers::BufferPool, clock::fixture::VirtualClock},
};
use leadline_protocol::job::engine::BufferPages;
use serde_json::json;
use std::{fs::File, io, os::fd::OwnedFd, sync::atomic::AtomicU64};

/// Number of I/Os in a shorter and a longer run. The difference between the runs excludes the start
/// and end of the loop.
const IOS: [u64; 2] = [8, 40];

/// Returns across system calls per I/O at depth 1, by engine.
pub(crate) fn counts() -> impl Iterator<Item = (String, io::Result<f64>)> {
    let psync: fn(u64) -> io::Result<u64> = |ios| count(ios, Psync::new);
    let nop: fn(u64) -> io::Result<u64> = |ios| {
        count(ios, |files| {
            Uring::<_, Nop>::new(files, 1, &Setup::default()).expect("the child can create a ring")
        })
    };
    let engines = [("psync", psync), ("io_uring_nop", nop)];
    engines.into_iter().map(|(engine, count)| {
        let per_io = || Ok((count(IOS[1])? - count(IOS[0])?) as f64 / (IOS[1] - IOS[0]) as f64);
        let name = format!("returns across a system call, {engine}, depth 1");
        (name, per_io())
    })
}

fn count<E: Engine>(ios: u64, make_engine: impl Fn(&[OwnedFd]) -> E) -> io::Result<u64> {
    let files = [OwnedFd::from(File::open("/dev/zero")?)];
    let job = resolved(json!({
        "rw": "randread", "targets": [target(0, 1 << 20)], "size": 1 << 20, "io_size": 1 << 20,
        "number_ios": ios,
    }));
    let mut tracer = Tracer::default();
    let run = || {
        let engine = make_engine(&files);
        let source = Unlimited(Pattern::new(&job, 0));
        let pool = BufferPool::new(1, 4096, BufferPages::Mmap).expect("a buffer");
        let mut work = Loop::new(engine, VirtualClock::stepping(100), source, pool, None, 1);
        let exit = work.run(&AtomicU64::new(u64::MAX), &WorkerStats::default());
        matches!(exit, Ok(LoopExit::Finished))
    };
    count_steps(run, |child| tracer.step(child))?;
    Ok(tracer.returns)
}

#[derive(Default)]
struct Tracer {
    returns: u64,
    /// Return addresses at or above this stack address were pushed before the last system call.
    old_from: Option<u64>,
}

impl Tracer {
    /// Examines the child's next instruction and stack pointer.
    #[cfg(target_arch = "x86_64")]
    fn step(&mut self, child: libc::pid_t) {
        // SAFETY: zeros are valid for this struct of integers.
        let mut registers: libc::user_regs_struct = unsafe { std::mem::zeroed() };
        // SAFETY: the child is stopped; the registers are written to a local struct.
        unsafe { libc::ptrace(libc::PTRACE_GETREGS, child, 0, &raw mut registers) };
        // SAFETY: the child is stopped; the result is a word of its code.
        let code = unsafe { libc::ptrace(libc::PTRACE_PEEKTEXT, child, registers.rip, 0) };
        self.instruction(code.to_le_bytes(), registers.rsp);
    }

    /// Not implemented for other architectures, whose counts are not comparable.
    #[cfg(not(target_arch = "x86_64"))]
    fn step(&mut self, _child: libc::pid_t) {}

    fn instruction(&mut self, code: [u8; 8], stack: u64) {
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
fn only_returns_to_older_frames_are_counted() {
    const CALL: [u8; 8] = [0x0F, 0x05, 0, 0, 0, 0, 0, 0];
    const RETURN: [u8; 8] = [0xC3, 0, 0, 0, 0, 0, 0, 0];
    let mut tracer = Tracer::default();
    // Not counted: returns before the system call and from functions called after it. Counted once
    // each: returns from the function that made the system call and from its caller.
    for (code, stack, returns) in [
        (RETURN, 80, 0),
        (CALL, 80, 0),
        (RETURN, 72, 0),
        (RETURN, 80, 1),
        (RETURN, 96, 2),
        (RETURN, 96, 2),
    ] {
        tracer.instruction(code, stack);
        assert_eq!(tracer.returns, returns, "{stack}");
    }
}
