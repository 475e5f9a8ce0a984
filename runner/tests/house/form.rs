//! How files are kept: a first paragraph, a size, a name, nothing left over.

use super::source::{Source, refuse, sources};

/// Lines of a file that still fits a head.
const MOST_LINES: usize = 400;
/// Longer files, each with its reason.
const LONGER: &[(&str, &str)] = &[(
    "runner/src/job/value.rs",
    "one table: how each type of value is read",
)];

/// Names that say what kind of thing is inside, not what it means.
const KINDS: &[&str] = &[
    "util", "utils", "helper", "helpers", "common", "misc", "manager", "managers", "shared", "lib",
];

fn rust() -> Vec<Source> {
    [
        "runner/src",
        "runner/tests",
        "runner/benches",
        "server/src",
        "server/tests",
        "bench/src",
    ]
    .iter()
    .flat_map(|folder| sources(folder, &[".rs"]))
    .collect()
}

fn web() -> Vec<Source> {
    ["web/src", "web/e2e", "tools"]
        .iter()
        .flat_map(|folder| sources(folder, &[".ts", ".tsx", ".mjs"]))
        .collect()
}

#[test]
fn every_module_opens_with_what_lives_there() {
    let silent_rust = rust()
        .into_iter()
        .filter(|file| !file.text.starts_with("//!"));
    // A test of the pages lies beside what it tests and is named after it.
    let silent_web = web()
        .into_iter()
        .filter(|file| !file.text.starts_with("//") && !file.path.contains(".test."));
    let offences = silent_rust
        .chain(silent_web)
        .map(|file| file.path)
        .collect();
    refuse(
        offences,
        "Open it with 1 to 8 lines: what lives here, the idea, and what is not here.",
    );
}

#[test]
fn no_file_is_too_long_to_read() {
    let long = |file: Source| {
        let lines = file.text.lines().count();
        let excused = LONGER.iter().any(|(path, _)| *path == file.path);
        (lines > MOST_LINES && !excused).then(|| format!("{}: {lines} lines", file.path))
    };
    let offences = rust().into_iter().chain(web()).filter_map(long).collect();
    refuse(
        offences,
        "Cut it where its meaning changes; a file that is one table goes into LONGER with that reason.",
    );
}

#[test]
fn excuses_are_still_needed() {
    let all = rust();
    let lines = |path: &str| {
        all.iter()
            .find(|file| file.path == path)
            .map_or(0, |file| file.text.lines().count())
    };
    let offences = LONGER
        .iter()
        .filter(|(path, _)| lines(path) <= MOST_LINES)
        .map(|(path, _)| path.to_string())
        .collect();
    refuse(offences, "Take it out of LONGER.");
}

#[test]
fn rooms_are_named_for_what_they_mean() {
    let stem = |part: &str| part.split('.').next().unwrap_or_default().to_string();
    let is_kind = |file: &Source| {
        let crate_root = file.path.ends_with("src/lib.rs");
        !crate_root
            && file
                .path
                .split('/')
                .skip(1)
                .any(|part| KINDS.contains(&stem(part).as_str()))
    };
    let offences = rust()
        .into_iter()
        .chain(web())
        .filter(is_kind)
        .map(|file| file.path)
        .collect();
    refuse(
        offences,
        "Name it for what its content means; if it has no one meaning, it is several rooms.",
    );
}

#[test]
fn nothing_is_left_over() {
    const LEFT: &[&str] = &[
        "TODO",
        "FIXME",
        "XXX",
        "dbg!(",
        "todo!(",
        "unimplemented!(",
        "console.log(",
        "#[ignore]",
        ".skip(true",
        ".only(",
        "@ts-ignore",
        "as any",
    ];
    let is_web = |file: &Source| !file.path.ends_with(".rs");
    let here = concat!("runner/tests/house/", "form.rs");
    let offence = |file: Source| {
        let applies =
            |word: &&&str| is_web(&file) || !matches!(**word, "as any" | ".only(" | "console.log(");
        // The tools of the command line speak to a terminal.
        let words: Vec<&str> = LEFT
            .iter()
            .filter(applies)
            .filter(|word| **word != "console.log(" || !file.path.starts_with("tools/"))
            .copied()
            .collect();
        let found = file
            .lines()
            .filter(|(_, line)| words.iter().any(|word| line.contains(word)));
        found
            .map(|(number, line)| file.at(number, line))
            .collect::<Vec<_>>()
    };
    let offences = rust()
        .into_iter()
        .chain(web())
        .filter(|file| file.path != here)
        .flat_map(offence)
        .collect();
    refuse(offences, "Finish it, or put it on an issue.");
}
