//! Simulates studies with a known true difference, and prints how often the methods are correct, as
//! Markdown:
//!
//!     cargo run --release -p leadline-stats --example coverage [docs/comparison.md]
//!
//! If a file is given, replaces the text between the markers in that file. The random numbers are
//! seeded, so the results do not depend on the machine or the number of threads.

#![allow(clippy::print_stdout, reason = "prints the tables")]

mod comparisons;
mod designs;
mod simulation;
mod until_decided;

use std::fmt::Write;

const BEGIN: &str = "<!-- start of the simulation, see stats/examples/coverage -->";
const END: &str = "<!-- end of the simulation -->";

fn main() -> std::io::Result<()> {
    let mut text = String::new();
    for section in [comparisons::section, until_decided::section] {
        writeln!(text, "\n{}", section()).expect("String");
    }
    let Some(path) = std::env::args().nth(1) else {
        println!("{text}");
        return Ok(());
    };
    let document = std::fs::read_to_string(&path)?;
    let (before, rest) = document.split_once(BEGIN).expect("begin marker");
    let (_, after) = rest.split_once(END).expect("end marker");
    std::fs::write(path, format!("{before}{BEGIN}\n{text}\n{END}{after}"))
}
