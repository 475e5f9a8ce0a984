//! Kernel counter differences, with the commands that print the counters.

use crate::cli::text::writer::TextWriter;
use leadline_protocol::{
    format::count,
    verdict::{Layer, Proof, Verdicts},
};
use std::collections::BTreeSet;

/// Width of a difference with its unit.
const DIFFERENCE: usize = 21;

pub(super) fn write_commands(out: &mut TextWriter, verdicts: &Verdicts) {
    let mut shown = BTreeSet::new();
    let verdicts = [&verdicts.read, &verdicts.write].into_iter().flatten();
    for proof in verdicts.flat_map(|verdict| &verdict.proof) {
        let Some(command) = &proof.command else {
            continue;
        };
        if proof.layer < Layer::Filesystem || is_unchanged(proof) || !shown.insert(command) {
            continue;
        }
        if shown.len() == 1 {
            out.blank_line();
        }
        let label = if shown.len() == 1 { "verify" } else { "" };
        let text = format!("{:>DIFFERENCE$}  {command}", difference(proof));
        out.unwrapped_field(label, &text);
    }
}

/// Whether a target's state did not change. Unlike an unchanged counter, this proves nothing.
fn is_unchanged(proof: &Proof) -> bool {
    proof.layer == Layer::Filesystem && proof.before.is_some() && proof.difference == 0
}

fn difference(proof: &Proof) -> String {
    let sign = if proof.difference < 0 { "-" } else { "+" };
    let unit = match proof.unit.as_str() {
        "bytes" => "B",
        unit => unit,
    };
    format!("{sign}{} {unit}", count(proof.difference.unsigned_abs()))
}
