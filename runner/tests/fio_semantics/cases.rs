//! Jobs, and how closely each must agree with fio.

use crate::{
    Case,
    Equal::{self, Blocks, Counts, Coverage, CoverageOnly, Rejected, Reported, Sequence, Totals},
};

pub(crate) fn all() -> impl Iterator<Item = Case> {
    CASES.iter().map(|(equal, text)| Case::new(*equal, text))
}

const CASES: &[(Equal, &str)] = &[
    // Sequential access.
    (Sequence, "rw=read size=256k file=256"),
    (Sequence, "rw=read file=256"),
    (Sequence, "rw=read bs=64k file=1000"),
    (Sequence, "rw=read size=128k file=256"),
    (Sequence, "rw=read size=50% offset=25% file=256"),
    (Sequence, "rw=read offset=100k size=64k file=256"),
    (Sequence, "rw=read size=128k loops=3 file=128"),
    (Sequence, "rw=write size=256k"),
    (Sequence, "rw=write size=256k bs=1k"),
    (Sequence, "rw=write size=256k bs=64k"),
    (Sequence, "rw=write size=256k offset=64k"),
    (Sequence, "rw=write size=128k file=256"),
    (Sequence, "rw=write size=512k file=256"),
    (Sequence, "rw=write size=128k loops=2"),
    (Sequence, "rw=write size=64k file_append=1 file=64"),
    (Sequence, "rw=write size=256k io_size=512k"),
    (Sequence, "rw=write size=256k io_size=64k"),
    (Sequence, "rw=write size=256k io_size=50%"),
    (Sequence, "rw=write size=256k io_size=64k loops=2"),
    // Jobs with fill_device that also have a limit.
    (Sequence, "rw=write size=256k fill_device=1"),
    (Reported, "rw=write size=256k io_size=64k fill_device=1"),
    (Sequence, "rw=write size=128k loops=2 fill_device=1"),
    (Sequence, "rw=write filesize=256k fill_device=1"),
    (Rejected, "rw=write fill_device=1"),
    (Rejected, "rw=write fill_device=1 file=256"),
    (Rejected, "rw=write size=50% fill_device=1 file=256"),
    // Files larger than the number of bytes to transfer.
    (Sequence, "rw=write filesize=256k"),
    (Sequence, "rw=write size=64k filesize=256k"),
    (Sequence, "rw=write size=64k filesize=256k loops=2"),
    (Sequence, "rw=read size=64k filesize=256k file=256"),
    (Sequence, "rw=write size=128k filesize=512k offset=64k"),
    (Counts, "rw=randwrite size=64k filesize=256k"),
    (Counts, "rw=randwrite size=256k filesize=1m bs=64k"),
    (Coverage, "rw=randwrite size=256k filesize=384k offset=128k"),
    // Strided zones.
    (
        Sequence,
        "rw=read size=64k zonemode=strided zonesize=8k zoneskip=8k file=128",
    ),
    (
        Sequence,
        "rw=read size=64k zonemode=strided zonesize=8k zoneskip=8k loops=2 file=128",
    ),
    (
        Sequence,
        "rw=read size=64k io_size=32k zonemode=strided zonesize=8k zonerange=16k zoneskip=8k file=128",
    ),
    (
        Sequence,
        "rw=read size=64k zonemode=strided zonesize=16k zonerange=8k file=128",
    ),
    (
        Sequence,
        "rw=read size=64k zonemode=strided zonesize=12k zoneskip=4k bs=8k file=128",
    ),
    (
        Sequence,
        "rw=read offset=16k size=32k zonemode=strided zonesize=8k zoneskip=16k file=128",
    ),
    (
        Sequence,
        "rw=write size=64k io_size=80k zonemode=strided zonesize=8k zoneskip=8k file=128",
    ),
    // Limits on the number of I/Os.
    (Sequence, "rw=write size=256k number_ios=10"),
    (Sequence, "rw=write size=256k number_ios=300"),
    (Sequence, "rw=write size=256k number_ios=0"),
    (Counts, "rw=randwrite size=256k number_ios=20 loops=3"),
    (Counts, "rw=write size=256k number_ios=20 loops=2"),
    // Syncs.
    (Sequence, "rw=write size=256k fsync=1"),
    (Sequence, "rw=write size=256k fsync=8"),
    (Sequence, "rw=write size=256k fsync=7"),
    (Sequence, "rw=write size=256k fdatasync=7"),
    (Sequence, "rw=write size=256k fdatasync=64"),
    (Sequence, "rw=write size=256k fsync=8 number_ios=24"),
    (Sequence, "rw=write size=256k fsync=8 fdatasync=3"),
    (Sequence, "rw=write size=256k end_fsync=1"),
    (Sequence, "rw=write size=256k fsync=10 end_fsync=1"),
    (Coverage, "rw=randwrite size=256k fsync=16"),
    (Coverage, "rw=randwrite size=256k fdatasync=5"),
    (Reported, "rw=randrw size=256k file=256 fsync=4"),
    (Reported, "rw=rw size=256k file=256 fdatasync=4"),
    // Gaps.
    (Sequence, "rw=read:4k size=256k file=256"),
    (Sequence, "rw=write:4k size=256k"),
    (Sequence, "rw=write:8k size=256k bs=8k"),
    (Reported, "rw=write:12k size=256k bs=8k"),
    (Reported, "rw=read:-8k size=256k file=256"),
    (Reported, "rw=read:-128k size=1m file=1024"),
    // The random map.
    (Coverage, "rw=randread size=256k file=256"),
    (Coverage, "rw=randread size=1m bs=64k file=1024"),
    (Coverage, "rw=randwrite size=256k"),
    (Coverage, "rw=randwrite size=256k loops=3"),
    (Coverage, "rw=randwrite size=256k io_size=512k"),
    (Counts, "rw=randwrite size=256k io_size=128k"),
    (Coverage, "rw=randwrite size=1m bssplit=4k/50:16k/50"),
    (Coverage, "rw=randwrite size=1m bssplit=4k/90:64k/10"),
    (Coverage, "rw=randwrite size=1000k bssplit=4k/50:64k/50"),
    (Coverage, "rw=randwrite size=1m bsrange=4k-64k"),
    (Coverage, "rw=randread size=1m bsrange=8k-32k file=1024"),
    (Coverage, "rw=randwrite size=1m bsrange=4k-64k loops=2"),
    (Coverage, "rw=randwrite size=256k percentage_random=0"),
    (Counts, "rw=randwrite size=256k norandommap=1"),
    (Counts, "rw=randwrite size=256k blockalign=16k"),
    (Counts, "rw=randwrite size=256k percentage_random=50"),
    (Counts, "rw=randwrite:8 size=256k"),
    (Counts, "rw=randread:4 size=256k file=256"),
    (
        Counts,
        "rw=randwrite size=256k random_distribution=zipf:1.2",
    ),
    (
        Counts,
        "rw=randwrite size=256k random_distribution=pareto:0.2",
    ),
    (
        Counts,
        "rw=randwrite size=256k random_distribution=zoned:60/10:40/90",
    ),
    (
        Reported,
        "rw=randwrite size=256k random_distribution=normal:25",
    ),
    (
        Reported,
        "rw=randwrite size=256k random_distribution=normal:25:0.2",
    ),
    (
        Counts,
        "rw=randwrite size=256k random_distribution=zipf:1.2:0.25",
    ),
    (
        Counts,
        "rw=randwrite size=256k random_distribution=pareto:0.2:1",
    ),
    (
        Counts,
        "rw=randwrite size=256k random_distribution=zoned_abs:60/64k:40/192k",
    ),
    (
        Counts,
        "rw=randread:8 rw_sequencer=identical size=256k file=256",
    ),
    (
        Counts,
        "rw=randwrite:4 rw_sequencer=identical size=256k norandommap=1",
    ),
    (
        Sequence,
        "rw=read offset=33% offset_align=16k size=64k file=256",
    ),
    (Sequence, "rw=read offset=33% size=64k file=256"),
    (CoverageOnly, "rw=write size=256k fsync_on_close=1"),
    // These pauses are long, because fio 3.33 subtracts the spinning time from the pause without
    // checking for underflow: if it were preempted for longer than the pause, it would sleep for 71
    // minutes.
    (
        Sequence,
        "rw=write size=64k thinktime=20000 thinktime_spin=50",
    ),
    (Sequence, "rw=write size=64k rate_iops=1000 rate_iops_min=1"),
    (Sequence, "rw=write size=64k buffer_pattern=0xabcd"),
    (
        Sequence,
        "rw=write size=64k max_latency=10s continue_on_error=all",
    ),
    (
        Sequence,
        "rw=read size=256k bs=4k,16k bs_is_seq_rand=1 file=256",
    ),
    (
        Coverage,
        "rw=randread size=1m bs=4k,16k bs_is_seq_rand=1 file=1024",
    ),
    (
        Counts,
        "rw=randwrite size=256k bs=16k,4k bs_is_seq_rand=1 norandommap=1",
    ),
    // Mixed reads and writes.
    (Blocks, "rw=randrw size=256k file=256"),
    (Blocks, "rw=randrw size=256k rwmixread=70 file=256"),
    (Totals, "rw=rw size=256k file=256"),
    (Sequence, "rw=rw size=256k rwmixread=0 file=256"),
    (Sequence, "rw=rw size=256k rwmixread=100 file=256"),
    (Reported, "rw=randrw size=256k bs=4k,16k file=256"),
    (Reported, "rw=randrw size=64k rate_iops=400,0 file=64"),
    (Reported, "rw=write size=256k io_size=100k bs=64k"),
    (Reported, "rw=write size=256k fallocate=written"),
    (Blocks, "rw=randrw size=64k rate_iops=100,400 file=64"),
    (
        Counts,
        "rw=rw size=64k rate_iops=200,200 rwmixread=70 file=64",
    ),
    // fio silently changes or extends these jobs.
    (Rejected, "rw=write size=1m filesize=256k"),
    (Rejected, "rw=read size=512k file=256"),
    (Rejected, "rw=read size=2k file=256"),
    (Rejected, "rw=write size=50% file_append=1 file=256"),
    (Rejected, "rw=randwrite size=1m bssplit=4k/50:6k/50"),
];
