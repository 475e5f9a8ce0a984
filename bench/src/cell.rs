//! The table of cells. A cell is one workload on one target, with the smallest group that includes
//! it.

use crate::{
    target::TargetKind::{self, FileOnZram, LoopOnExt4, LoopOnTmpfs, Nothing, Zram},
    work::{Engine, Rw, Work},
};
use clap::ValueEnum;
use serde::Serialize;

/// Groups of cells. Each group includes the groups before it.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Group {
    /// A few cells to run after every change.
    Quick,
    /// Overhead of the measuring loop: page cache and null engine.
    Loop,
    Full,
}

#[derive(Clone, Debug, Serialize)]
pub struct Cell {
    pub name: String,
    pub group: Group,
    pub target: TargetKind,
    pub work: Work,
}

/// Larger than the CPU caches, but fits in any page cache.
const SMALL: TargetKind = TargetKind::File { mib: 16 };
/// Much larger than the CPU caches.
const LARGE: TargetKind = TargetKind::File { mib: 1024 };

const HOT: Work = Work {
    rw: Rw::RandRead,
    bs: 4096,
    iodepth: 1,
    ioengine: Engine::IoUring,
    direct: false,
    numjobs: 1,
    fsync: 0,
};
const DIRECT: Work = Work {
    direct: true,
    ..HOT
};

impl Cell {
    pub fn all() -> Vec<Self> {
        use Group::{Full, Loop, Quick};
        let mut cells = vec![
            cell("hot16m-d1", Quick, SMALL, HOT),
            cell("hot16m-d32", Quick, SMALL, Work { iodepth: 32, ..HOT }),
            cell(
                "hot16m-d128",
                Loop,
                SMALL,
                Work {
                    iodepth: 128,
                    ..HOT
                },
            ),
            cell(
                "hot16m-psync",
                Quick,
                SMALL,
                Work {
                    ioengine: Engine::Psync,
                    ..HOT
                },
            ),
            cell(
                "file-d8",
                Quick,
                LARGE,
                Work {
                    iodepth: 8,
                    ..DIRECT
                },
            ),
            cell(
                "null-d1",
                Loop,
                Nothing,
                Work {
                    ioengine: Engine::Null,
                    ..HOT
                },
            ),
            cell(
                "null-d32",
                Quick,
                Nothing,
                Work {
                    ioengine: Engine::Null,
                    iodepth: 32,
                    ..HOT
                },
            ),
        ];
        cells.extend(depths(
            "nop",
            Loop,
            Nothing,
            Work {
                ioengine: Engine::IoUringNop,
                ..HOT
            },
        ));
        cells.extend(depths("hot1g", Loop, LARGE, HOT));
        cells.push(cell(
            "hot16m-write-d1",
            Loop,
            SMALL,
            Work {
                rw: Rw::RandWrite,
                ..HOT
            },
        ));
        cells.push(cell(
            "hot1g-psync",
            Loop,
            LARGE,
            Work {
                ioengine: Engine::Psync,
                ..HOT
            },
        ));
        cells.extend([2, 4].map(|numjobs| {
            cell(
                &format!("hot16m-d32-j{numjobs}"),
                Full,
                SMALL,
                Work {
                    iodepth: 32,
                    numjobs,
                    ..HOT
                },
            )
        }));
        cells.extend(
            [(128, 8), (1024, 8)]
                .map(|(kib, iodepth)| sequential("hot1g", kib, Work { iodepth, ..HOT })),
        );
        for (name, target) in [
            ("zram", Zram),
            ("loop-tmpfs", LoopOnTmpfs),
            ("loop-ext4", LoopOnExt4),
            ("file", LARGE),
        ] {
            cells.extend(depths(name, Full, target, DIRECT));
            cells.push(cell(
                &format!("{name}-psync"),
                Full,
                target,
                Work {
                    ioengine: Engine::Psync,
                    ..DIRECT
                },
            ));
        }
        cells.extend(
            [(128, 8), (1024, 8)]
                .map(|(kib, iodepth)| sequential("file", kib, Work { iodepth, ..DIRECT })),
        );
        cells.extend(depths(
            "zram-write",
            Full,
            FileOnZram,
            Work {
                rw: Rw::RandWrite,
                ..DIRECT
            },
        ));
        cells.push(cell(
            "file-mix30-fsync32",
            Full,
            LARGE,
            Work {
                rw: Rw::RandReadWrite,
                fsync: 32,
                iodepth: 32,
                ..DIRECT
            },
        ));
        cells
    }
}

fn cell(name: &str, group: Group, target: TargetKind, work: Work) -> Cell {
    Cell {
        name: name.into(),
        group,
        target,
        work,
    }
}

fn depths(name: &str, group: Group, target: TargetKind, work: Work) -> [Cell; 3] {
    [1, 32, 128].map(|iodepth| {
        cell(
            &format!("{name}-d{iodepth}"),
            group,
            target,
            Work { iodepth, ..work },
        )
    })
}

fn sequential(name: &str, kib: u32, work: Work) -> Cell {
    let name = format!("{name}-seq{kib}k-d{}", work.iodepth);
    cell(
        &name,
        Group::Full,
        LARGE,
        Work {
            rw: Rw::Read,
            bs: kib * 1024,
            ..work
        },
    )
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn cell_names_are_unique() {
        let cells = Cell::all();
        let names: HashSet<&str> = cells.iter().map(|cell| cell.name.as_str()).collect();
        assert_eq!(names.len(), cells.len());
        assert!(
            cells
                .iter()
                .filter(|cell| cell.group == Group::Quick)
                .count()
                <= 6,
            "make bench must finish within a few minutes"
        );
    }
}
