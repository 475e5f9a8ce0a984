//! Writeback on the host. Source: `/proc/vmstat`. The kernel sums its per-CPU counts with a delay,
//! so a window may miss a few hundred pages. A reading takes 18 µs, because the kernel prints 150
//! lines, so it is done only at the start and end of the measured window.

use crate::system::{host::kernel::field, probes::kernel_file::KernelFile};
use leadline_protocol::evidence::Writeback;
use rustix::param::page_size;
use std::path::Path;

const PATH: &str = "/proc/vmstat";
/// Maximum file size: about 170 lines of 25 bytes, with room for future kernels.
const BYTES: usize = 16 << 10;
/// Unit of `pgpgin` and `pgpgout`.
const KIB: u64 = 1024;

#[derive(Debug)]
pub struct VmStat(KernelFile);

impl VmStat {
    pub fn open() -> Result<Self, String> {
        match KernelFile::open(Path::new(PATH), BYTES) {
            Ok(file) => Ok(Self(file)),
            Err(error) => Err(format!("{PATH}: {error}")),
        }
    }

    /// Counts since boot.
    pub fn read(&mut self) -> Option<Writeback> {
        parse(self.0.read()?, page_size() as u64)
    }
}

pub(crate) fn parse(text: &str, page_bytes: u64) -> Option<Writeback> {
    Some(Writeback {
        paged_in_bytes: field(text, "pgpgin")?.saturating_mul(KIB),
        paged_out_bytes: field(text, "pgpgout")?.saturating_mul(KIB),
        dirtied_bytes: field(text, "nr_dirtied")?.saturating_mul(page_bytes),
        written_bytes: field(text, "nr_written")?.saturating_mul(page_bytes),
        throttled_ms: None,
    })
}

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
    fn parses_counts_and_subtracts() {
        let text = "nr_free_pages 77\nnr_dirtied 10\nnr_written 7\nnr_throttled_written 3\npgpgin 4\npgpgout 5\n";
        let counts = parse(text, 4096).unwrap();
        assert_eq!(
            (counts.paged_in_bytes, counts.paged_out_bytes),
            (4096, 5120)
        );
        assert_eq!((counts.dirtied_bytes, counts.written_bytes), (40960, 28672));
        assert_eq!(since(counts, counts), Writeback::default());
        assert_eq!(parse("nr_dirtied 10\nnr_written 7\n", 4096), None);
        let most = text.replace("10", "18446744073709551615");
        let dirtied = parse(&most, 4096).unwrap().dirtied_bytes;
        assert_eq!(dirtied, u64::MAX, "an absurd counter");
    }
}
