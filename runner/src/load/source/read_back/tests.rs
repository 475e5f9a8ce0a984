//! The expected order of writes and reads is that of fio 3.33 with the same options (recorded with
//! strace).

use super::*;
use crate::plan::fixture::resolved;
use serde_json::json;

/// Sequential writes of one block each.
struct Writes {
    left: u64,
    next: u64,
}

impl Source for Writes {
    fn draw(&mut self, out: &mut [Io]) -> usize {
        let count = out.len().min(self.left as usize);
        for io in &mut out[..count] {
            *io = Io {
                offset: self.next,
                len: 1,
                target: 0,
                kind: Kind::Write,
            };
            self.next += 1;
        }
        self.left -= count as u64;
        count
    }

    fn due(&mut self, next: &[Io], _since_begin_ns: u64) -> usize {
        next.len()
    }

    fn next_due_ns(&self) -> Option<u64> {
        None
    }
}

fn read_back(writes: u64, backlog: u32, batch: u32, number_ios: Option<u64>) -> ReadBack<Writes> {
    let source = Writes {
        left: writes,
        next: 0,
    };
    let options = VerifyBacklog {
        writes: backlog,
        batch,
    };
    let job = resolved(json!({"rw": "write", "number_ios": number_ios}));
    ReadBack::new(source, options, &job, 4)
}

/// Groups of I/Os in the same direction, such as `w16@0 r4@0`.
fn order(mut source: ReadBack<Writes>) -> String {
    let mut ios = Vec::new();
    let mut out = [Io::default(); DRAW];
    loop {
        let drawn = source.draw(&mut out);
        if drawn == 0 {
            break;
        }
        ios.extend_from_slice(&out[..drawn]);
    }
    let groups = ios.chunk_by(|a, b| a.kind == b.kind && a.offset + 1 == b.offset);
    let text = groups.map(|group| {
        let kind = if group[0].kind == Kind::Read {
            "r"
        } else {
            "w"
        };
        format!("{kind}{}@{}", group.len(), group[0].offset)
    });
    text.collect::<Vec<_>>().join(" ")
}

#[test]
fn batches_match_fio() {
    for (writes, backlog, batch, expected) in [
        (48, 16, 16, "w16@0 r16@0 w16@16 r16@16 w16@32 r16@32"),
        (28, 16, 4, "w16@0 r4@0 w4@16 r4@4 w4@20 r4@8 w4@24 r4@12"),
        (
            20,
            8,
            10,
            "w8@0 r8@0 w1@8 r1@8 w1@9 r1@9 w8@10 r8@10 w1@18 r1@18 w1@19 r1@19",
        ),
        (3, 1, 1, "w1@0 r1@0 w1@1 r1@1 w1@2 r1@2"),
        (24, 10, 10, "w10@0 r10@0 w10@10 r10@10 w4@20"),
        (8, 1000, 1000, "w8@0"),
    ] {
        let source = read_back(writes, backlog, batch, None);
        assert_eq!(order(source), expected, "{writes} {backlog} {batch}");
    }
}

#[test]
fn reads_count_toward_number_ios() {
    let source = read_back(64, 16, 16, Some(40));
    assert_eq!(order(source), "w16@0 r16@0 w8@16");
}

fn completion(kind: Kind) -> Completed {
    Completed {
        kind,
        since_begin_ns: 0,
        lat_ns: 0,
    }
}

/// A block's data does not change while it is read.
#[test]
fn reads_and_writes_are_not_in_flight_together() {
    let mut source = read_back(6, 2, 2, None);
    let mut out = [Io::default(); DRAW];
    assert_eq!(source.draw(&mut out), 12);
    assert_eq!(source.due(&out[..12], 0), 2, "writes");
    source.on_submit(0);
    source.on_submit(1);
    let stats = WorkerStats::default();
    let due = |source: &mut ReadBack<Writes>| source.due(&out[2..12], 0);
    assert_eq!((due(&mut source), source.next_due_ns()), (0, None));
    source.on_complete(0, &completion(Kind::Write), &stats);
    assert_eq!(due(&mut source), 0);
    source.on_error(1);
    assert_eq!(due(&mut source), 2, "reads");
    source.on_submit(2);
    let due = |source: &mut ReadBack<Writes>| source.due(&out[4..12], 0);
    assert_eq!(due(&mut source), 0);
    source.on_complete(2, &completion(Kind::Read), &stats);
    assert_eq!(due(&mut source), 2, "writes again");
}
