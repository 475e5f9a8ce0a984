//! What the host's memory wrote back. Source: `/proc/vmstat`; the counts are kept per processor and added up when they
//! are read, so that a window may miss some hundred pages. Read at the borders of the measured window only: a reading
//! takes 18 µs, since the kernel writes 150 lines.

use crate::system::probes::kernel_file::KernelFile;
use leadline_protocol::evidence::Writeback;
use rustix::param::page_size;

/// Some 170 lines of 25 bytes; kernels to come may have more.
const BYTES: usize = 16 << 10;
/// `pgpgin` and `pgpgout` count KiB.
const KIB: u64 = 1024;

/// The open text.
#[derive(Debug)]
pub struct VmStat(KernelFile);

impl VmStat {
    /// Opens it.
    ///
    /// # Errors
    /// Why it cannot be read.
    fn open(kernel: &crate::system::host::kernel::Kernel) -> Result<Self, String> {
        KernelFile::open(&kernel.proc.join("vmstat"), BYTES)
            .map(Self)
            .map_err(|error| format!("/proc/vmstat: {error}"))
    }

    /// Opens that of the running kernel.
    ///
    /// # Errors
    /// Why it cannot be read.
    pub fn open_live() -> Result<Self, String> {
        Self::open(&crate::system::host::kernel::Kernel::live())
    }

    /// The counts since boot; `None` when one is missing.
    pub fn read(&mut self) -> Option<Writeback> {
        parse(self.0.read()?, page_size() as u64)
    }
}

fn parse(text: &str, page_bytes: u64) -> Option<Writeback> {
    let field = |name: &str| {
        text.lines().find_map(|line| {
            line.strip_prefix(name)?
                .strip_prefix(' ')?
                .trim()
                .parse::<u64>()
                .ok()
        })
    };
    Some(Writeback {
        paged_in_bytes: field("pgpgin")? * KIB,
        paged_out_bytes: field("pgpgout")? * KIB,
        dirtied_bytes: field("nr_dirtied")? * page_bytes,
        written_bytes: field("nr_written")? * page_bytes,
        throttled_ms: None,
    })
}

/// What was counted from one reading to the next.
pub fn since(from: Writeback, to: Writeback) -> Writeback {
    Writeback {
        paged_in_bytes: to.paged_in_bytes.saturating_sub(from.paged_in_bytes),
        paged_out_bytes: to.paged_out_bytes.saturating_sub(from.paged_out_bytes),
        dirtied_bytes: to.dirtied_bytes.saturating_sub(from.dirtied_bytes),
        written_bytes: to.written_bytes.saturating_sub(from.written_bytes),
        throttled_ms: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_captured_file() {
        let text = "nr_free_pages 77\nnr_dirtied 10\nnr_written 7\nnr_throttled_written 3\npgpgin 4\npgpgout 5\n";
        let counts = parse(text, 4096).unwrap();
        assert_eq!(
            (counts.paged_in_bytes, counts.paged_out_bytes),
            (4096, 5120)
        );
        assert_eq!((counts.dirtied_bytes, counts.written_bytes), (40960, 28672));
        assert_eq!(since(counts, counts), Writeback::default());
        assert_eq!(parse("nr_dirtied 10\nnr_written 7\n", 4096), None);
    }
}
