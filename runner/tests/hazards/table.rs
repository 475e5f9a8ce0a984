//! The result table: one line per hazard, in the file named by `LEADLINE_HAZARD_TABLE`.

use crate::hazard::Outcome;
use std::{collections::BTreeSet, fs::File, io::Write};

pub(crate) fn add(title: &str, outcomes: &[(Outcome, String)]) {
    let Some(path) = std::env::var_os("LEADLINE_HAZARD_TABLE") else {
        return;
    };
    let count = |wanted| {
        outcomes
            .iter()
            .filter(|(found, _)| *found == wanted)
            .count()
    };
    let codes: BTreeSet<&str> = outcomes.iter().map(|(_, codes)| codes.as_str()).collect();
    let line = format!(
        "{}\t{}\t{}\t{}\t{}\t{}\t{}\n",
        title.replace('_', " "),
        outcomes.len(),
        count(Outcome::Rejected),
        count(Outcome::Overwritten),
        count(Outcome::Accepted),
        count(Outcome::Error),
        codes.into_iter().collect::<Vec<_>>().join(", "),
    );
    let mut file = File::options()
        .create(true)
        .append(true)
        .open(path)
        .unwrap();
    file.write_all(line.as_bytes()).unwrap();
}
