//! Direct I/O and trims take only offsets and lengths that are multiples of what the device or filesystem needs. The
//! kernel would fail each I/O with EINVAL; here it is refused before, with the figure.

use crate::plan::asked::Asked;
use crate::plan::notes::Notes;
use crate::plan::paths::Place;
use crate::plan::regions::Regions;
use crate::plan::sizes::Sizes;

/// Refuses every figure of the job that is no multiple of what its targets need.
pub(crate) fn check(
    asked: &Asked,
    sizes: &Sizes,
    places: &[Place],
    regions: &Regions,
    notes: &mut Notes,
) {
    if !(asked.direct || asked.rw.kind.trims()) {
        return;
    }
    for (index, place) in places.iter().enumerate() {
        let needed = place
            .facts
            .direct_alignment
            .as_ref()
            .map_or(1, |alignment| u64::from(alignment.offset.max(1)));
        let begins = regions
            .parts
            .iter()
            .filter(|part| part.place == index)
            .map(|part| part.begin);
        for (option, figure) in figures(asked, sizes)
            .into_iter()
            .chain(begins.map(|begin| (offset_option(asked), begin)))
        {
            if figure % needed != 0 {
                refuse(asked, option, figure, needed, &place.facts.canonical, notes);
            }
        }
    }
}

/// The figures of a job that come into offsets and lengths, with their options.
fn figures(asked: &Asked, sizes: &Sizes) -> Vec<(&'static str, u64)> {
    let size_option = match (&asked.job.bssplit, &asked.job.bsrange) {
        (Some(_), _) => "bssplit",
        (_, Some(_)) => "bsrange",
        _ => "bs",
    };
    let mut figures: Vec<_> = sizes.used().map(|(bs, _)| (size_option, bs.min)).collect();
    if asked.rw.kind.is_random() {
        figures.extend(
            sizes
                .used()
                .filter(|(bs, align)| *align != bs.min)
                .map(|(_, align)| ("blockalign", align)),
        );
    } else if let Some(gap) = asked.rw.modifier {
        figures.push(("rw", gap.unsigned_abs()));
    }
    figures
}

/// The option that says where regions begin.
fn offset_option(asked: &Asked) -> &'static str {
    if asked.job.file_append.is_some_and(|append| append.0) {
        "file_append"
    } else if asked.job.offset_increment.is_some() {
        "offset_increment"
    } else {
        "offset"
    }
}

fn refuse(asked: &Asked, option: &str, figure: u64, needed: u64, path: &str, notes: &mut Notes) {
    let what = if asked.rw.kind.trims() {
        "Trims"
    } else {
        "Direct I/O"
    };
    let sentence = format!(
        "{what} on {path} needs multiples of {needed} bytes, and {option} brings in {figure}."
    );
    let next = figure.next_multiple_of(needed);
    let remedy = match option {
        "file_append" => {
            format!("Append to a file whose length is a multiple of {needed}, or write direct=0.")
        }
        _ if asked.direct => {
            format!("Use a multiple of {needed}, such as {next}, or write direct=0.")
        }
        _ => format!("Use a multiple of {needed}, such as {next}."),
    };
    notes.invalid("not_aligned", option, sentence, remedy);
}
