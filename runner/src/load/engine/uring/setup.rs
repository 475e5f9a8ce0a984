//! Ring configuration.

/// Polling mode of the ring.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Polling {
    /// Whether the device is polled for completions (IOPOLL).
    pub device: bool,
    /// Whether a kernel thread polls for submissions (SQPOLL).
    pub submissions: bool,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Setup {
    /// Memory to register as a buffer for `entries::Registered`: address, and length in bytes.
    pub buffer: Option<(*mut u8, usize)>,
    /// Why registering the buffer failed; `None` if it succeeded or was not attempted.
    pub registration_error: Option<String>,
    pub polling: Polling,
    /// Whether the kernel must reject all operations other than reads.
    pub only_reads: bool,
    /// Time to poll for completions before sleeping, in ns.
    pub spin_ns: u64,
}
