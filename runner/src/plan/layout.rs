//! What is done to a file before the measurement, and so how long it is when that begins: written, allocated, or left
//! to grow. Of a file that was there before, nothing is rewritten unless the job says `overwrite`.

use crate::plan::asked::Asked;
use crate::plan::defaults::said;
use crate::plan::host_view::PathKind;
use crate::plan::ledger::Ledger;
use crate::plan::notes::Notes;
use crate::plan::paths::Place;
use crate::plan::regions::{Region, Regions};
use crate::plan::state;
use leadline_protocol::finding::Severity;
use leadline_protocol::format::bytes;
use leadline_protocol::job::value::{Fallocate, FileState};
use leadline_protocol::plan::resolved::{Target, TargetKind};
use serde_json::json;

/// How a file gets its blocks.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Growth {
    /// Data is written to its end.
    Written,
    /// It gets its length, but no data.
    Allocated,
    /// It grows as the job writes.
    AsWritten,
}

/// The targets of a job, in the order of its regions. `job`: its number in the run.
pub(crate) fn settle(
    asked: &Asked,
    job: usize,
    places: &[Place],
    regions: &Regions,
    ledger: &mut Ledger,
    notes: &mut Notes,
) -> Vec<Target> {
    let mut targets = Vec::new();
    for (index, place) in places.iter().enumerate() {
        let parts: Vec<&Region> = regions
            .parts
            .iter()
            .filter(|part| part.place == index)
            .collect();
        let end = parts
            .iter()
            .map(|part| part.begin + part.len)
            .max()
            .unwrap_or(0);
        let (length, layout_bytes) = match place.kind {
            TargetKind::Device => (place.facts.length, 0),
            TargetKind::Null => (end, 0),
            TargetKind::File | TargetKind::Loop => lay_out(asked, job, place, end, ledger, notes),
        };
        // One layout for a file, whoever shares it.
        let layouts = std::iter::once(layout_bytes).chain(std::iter::repeat(0));
        targets.extend(
            parts
                .into_iter()
                .zip(layouts)
                .map(|(part, layout_bytes)| target(asked, place, part, length, layout_bytes)),
        );
    }
    targets
}

fn target(asked: &Asked, place: &Place, part: &Region, length: u64, layout_bytes: u64) -> Target {
    let facts = &place.facts;
    let alignment = match &facts.direct_alignment {
        Ok(alignment) if asked.direct => alignment.memory.max(alignment.offset),
        _ => 1,
    };
    Target {
        path: facts.canonical.clone(),
        kind: place.kind,
        length,
        existed: matches!(facts.kind, PathKind::File | PathKind::Device),
        layout_bytes,
        filesystem: facts.filesystem.clone(),
        device: facts.device.clone(),
        identity: facts.identity.clone(),
        alignment,
        offset: part.begin,
        size: part.len,
        worker: part.clone,
    }
}

/// Length and bytes to write of a file whose regions end at `end`.
fn lay_out(
    asked: &Asked,
    job: usize,
    place: &Place,
    end: u64,
    ledger: &mut Ledger,
    notes: &mut Notes,
) -> (u64, u64) {
    let growth = growth(asked);
    let (found, is_written) = ledger.state(&place.facts);
    let needed = asked.filesize().map_or(end, |filesize| end.max(filesize));
    let rewrite = said!(asked.job, overwrite).0 && is_written == Some(false);
    if rewrite {
        state::check_filling(asked.job, &place.facts, notes);
    }
    let (length, layout_bytes) = match growth {
        Growth::Written if rewrite => (found.max(needed), found.max(needed)),
        Growth::Written => (found.max(needed), needed.saturating_sub(found)),
        Growth::Allocated => (found.max(needed), 0),
        Growth::AsWritten => (found, 0),
    };
    ledger.plan(
        &place.facts,
        job,
        length,
        layout_bytes,
        if asked.rw.kind.writes() { needed } else { 0 },
    );
    check_loop(place, length, end, notes);
    check_reads(asked, place, length, end, notes);
    check_existing(asked, place, found, length, rewrite, notes);
    let has_holes =
        (length > found && growth == Growth::Allocated) || (is_written == Some(false) && !rewrite);
    if has_holes {
        mind_holes(asked, place, notes);
    } else if growth != Growth::Written
        && end > found
        && said!(asked.job, file_state) != FileState::Fresh
    {
        mind_first_write(place, notes);
    }
    (length, layout_bytes)
}

fn growth(asked: &Asked) -> Growth {
    if said!(asked.job, file_append).0 || said!(asked.job, create_on_open).0 {
        return Growth::AsWritten;
    }
    match said!(asked.job, fallocate) {
        _ if said!(asked.job, overwrite).0 => Growth::Written,
        Fallocate::Written => Growth::Written,
        Fallocate::Native | Fallocate::Posix | Fallocate::Truncate => Growth::Allocated,
        Fallocate::Keep | Fallocate::None => Growth::AsWritten,
    }
}

fn check_reads(asked: &Asked, place: &Place, length: u64, end: u64, notes: &mut Notes) {
    if asked.rw.kind.reads() && length < end {
        let option = if said!(asked.job, file_append).0 {
            "file_append"
        } else if said!(asked.job, create_on_open).0 {
            "create_on_open"
        } else {
            "fallocate"
        };
        let sentence = format!(
            "The job reads up to {} of {}, which will have only {}.",
            bytes(end),
            place.facts.canonical,
            bytes(length)
        );
        notes.invalid(
            "nothing_to_read",
            option,
            sentence,
            format!("Leave {option} out: the file is then written before it is read."),
        );
    }
}

/// A loop device is as long as its file, and does not grow.
fn check_loop(place: &Place, length: u64, end: u64, notes: &mut Notes) {
    if place.kind == TargetKind::Loop && length < end {
        let sentence = format!(
            "A loop device on {} would have {}, but the job works up to {}.",
            place.facts.canonical,
            bytes(length),
            bytes(end)
        );
        notes.invalid(
            "loop_too_short",
            "loop_device",
            sentence,
            "Leave fallocate, file_append and create_on_open out.",
        );
    }
}

/// What happens to a file that somebody put there before. `rewrite`: all of it is written anew before the measurement.
fn check_existing(
    asked: &Asked,
    place: &Place,
    found: u64,
    length: u64,
    rewrite: bool,
    notes: &mut Notes,
) {
    let (facts, path) = (&place.facts, &place.facts.canonical);
    if facts.kind != PathKind::File {
        return;
    }
    let reads_only = !asked.rw.kind.destroys();
    if (length > found || rewrite)
        && let Some(problem) = facts.writing_refused.as_ref().filter(|_| reads_only)
    {
        notes.refuse(problem.clone(), if rewrite { "overwrite" } else { "size" });
    }
    if length > found {
        let sentence = format!(
            "{path} is there with {} and is made {} long before the measurement.",
            bytes(found),
            bytes(length)
        );
        let evidence = [
            ("found_bytes", json!(found)),
            ("length_bytes", json!(length)),
        ];
        notes.mind(
            Severity::Note,
            "file_extended",
            sentence,
            &evidence,
            "Name another file, or a size of at most what is there.",
        );
    }
    if (rewrite || !reads_only && !said!(asked.job, file_append).0) && found > 0 {
        let sentence = format!("What {path} holds now is overwritten.");
        notes.mind(
            Severity::Warning,
            "file_overwritten",
            sentence,
            &[("found_bytes", json!(found))],
            "Name another file if it matters.",
        );
    }
}

fn mind_holes(asked: &Asked, place: &Place, notes: &mut Notes) {
    let path = &place.facts.canonical;
    if asked.rw.kind.reads() {
        let sentence = format!(
            "{path} has blocks that were never written: the filesystem answers reads of them without the disk."
        );
        let remedy = "Write overwrite=1 to have the whole file written first (what it holds is lost), or name another file.";
        notes.mind(Severity::Serious, "unwritten_blocks", sentence, &[], remedy);
    } else {
        mind_first_write(place, notes);
    }
}

fn mind_first_write(place: &Place, notes: &mut Notes) {
    let sentence = format!(
        "First writes to {} also allocate its blocks: the same job is another test the second time.",
        place.facts.canonical
    );
    notes.mind(
        Severity::Warning,
        "initial_write",
        sentence,
        &[],
        "Write overwrite=1 to have the file written before the measurement.",
    );
}
