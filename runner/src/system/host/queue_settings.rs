//! Settings of a device's request queue (Documentation/ABI/stable/sysfs-block).

use crate::system::host::{
    block_device::BlockDevice,
    kernel::{attribute, value},
};

#[derive(Debug, Default)]
pub(crate) struct QueueSettings {
    /// Active I/O scheduler.
    pub scheduler: Option<String>,
    pub read_ahead_bytes: Option<u64>,
    /// Request queue length.
    pub nr_requests: Option<u32>,
    /// `write back` or `write through`.
    pub write_cache: Option<String>,
}

impl QueueSettings {
    pub(crate) fn read(block: &BlockDevice) -> Self {
        let queue = block.queue();
        let read_ahead_kib: Option<u64> = value(queue.join("read_ahead_kb"));
        Self {
            scheduler: attribute(queue.join("scheduler"))
                .map(|text| active_scheduler(&text).into()),
            read_ahead_bytes: read_ahead_kib.map(|kib| kib.saturating_mul(1024)),
            nr_requests: value(queue.join("nr_requests")),
            write_cache: attribute(queue.join("write_cache")),
        }
    }
}

/// `none [mq-deadline] kyber` results in `mq-deadline`. There are no brackets if only one scheduler
/// is available.
pub(crate) fn active_scheduler(text: &str) -> &str {
    let inside = text
        .split_once('[')
        .and_then(|(_, rest)| rest.split_once(']'));
    inside.map_or(text, |(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn active_scheduler_is_in_brackets() {
        for (text, want) in [
            ("none [mq-deadline] kyber bfq", "mq-deadline"),
            ("[none] mq-deadline", "none"),
            ("none", "none"),
        ] {
            assert_eq!(active_scheduler(text), want);
        }
    }
}
