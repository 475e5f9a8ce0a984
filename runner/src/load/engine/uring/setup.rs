//! Configuration of a ring.

/// Polling mode of the ring.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Polling {
    /// The device is polled for completions (IOPOLL).
    pub device: bool,
    /// A kernel thread polls for submissions (SQPOLL).
    pub submissions: bool,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Setup {
    /// Memory to register as a buffer: address and length in bytes. For `entries::Registered`.
    pub buffer: Option<(*mut u8, usize)>,
    /// Why registering the buffer failed; `None` if it succeeded or was not attempted.
    pub registration_error: Option<String>,
    pub polling: Polling,
    /// Whether the kernel shall reject everything but reads.
    pub only_reads: bool,
    /// Time to poll for completions before sleeping, in ns.
    pub spin_ns: u64,
}
