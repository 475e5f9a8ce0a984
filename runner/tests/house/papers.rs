//! What is not code: migrations, documents, container files.

use std::path::Path;

use super::source::{Source, refuse, root, sources};

#[test]
fn every_column_says_what_it_holds() {
    let mut offences = Vec::new();
    for file in sources("migrations", &[".sql"]) {
        let mut in_table = false;
        for (number, line) in file.lines() {
            let code = line.trim();
            in_table = code.starts_with("CREATE TABLE") || (in_table && !code.starts_with(')'));
            let is_column = in_table && code.starts_with(|first: char| first.is_ascii_lowercase());
            if is_column && !code.contains("-- ") {
                offences.push(file.at(number, line));
            }
        }
    }
    refuse(
        offences,
        "Say after `--` what the column holds and in what unit.",
    );
}

/// The targets of `[text](target)` in a document, code blocks left out.
fn links(file: &Source) -> Vec<(usize, &str)> {
    let mut in_block = false;
    let mut found = Vec::new();
    for (number, line) in file.lines() {
        in_block ^= line.trim_start().starts_with("```");
        if !in_block {
            found.extend(
                line.split("](")
                    .skip(1)
                    .filter_map(|rest| Some((number, rest.split_once(')')?.0))),
            );
        }
    }
    found
}

fn leads_nowhere(file: &Source, link: &str) -> bool {
    let path = link.split('#').next().unwrap_or_default();
    let is_elsewhere = link.contains("://") || link.starts_with("mailto:") || path.is_empty();
    let folder = Path::new(&file.path).parent().unwrap_or(Path::new(""));
    !is_elsewhere && !root().join(folder).join(path).exists()
}

#[test]
fn links_between_documents_lead_somewhere() {
    let broken = |file: Source| {
        links(&file)
            .into_iter()
            .filter(|(_, link)| leads_nowhere(&file, link))
            .map(|(number, link)| file.at(number, link))
            .collect::<Vec<_>>()
    };
    refuse(
        sources(".", &[".md"])
            .into_iter()
            .flat_map(broken)
            .collect(),
        "Mend the link, or write what it should lead to.",
    );
}

/// Words in backquotes that look like files of ours, such as `runner/src/plan.rs`.
fn named_files(file: &Source) -> Vec<(usize, String)> {
    let looks_like_file = |word: &&str| {
        [
            "runner/",
            "server/",
            "web/",
            "tools/",
            "docs/",
            "docker/",
            "examples/",
            "migrations/",
        ]
        .iter()
        .any(|folder| word.starts_with(folder))
            && !word.contains(['*', '{', '<', ' ', '$', '…'])
    };
    let in_line = |(number, line): (usize, &str)| -> Vec<(usize, String)> {
        let words: Vec<&str> = line.split('`').collect();
        words
            .iter()
            .skip(1)
            .step_by(2)
            .filter(|word| looks_like_file(word))
            .map(|word| (number, word.trim_end_matches('/').to_string()))
            .collect()
    };
    file.lines().flat_map(in_line).collect()
}

#[test]
fn files_that_documents_name_are_there() {
    const MADE_BY_BUILDS: &[&str] = &["web/dist", "web/node_modules"];
    let gone = |path: &str| {
        !MADE_BY_BUILDS.iter().any(|made| path.starts_with(made)) && !root().join(path).exists()
    };
    let broken = |file: Source| {
        named_files(&file)
            .into_iter()
            .filter(|(_, path)| gone(path))
            .map(|(number, path)| file.at(number, &path))
            .collect::<Vec<_>>()
    };
    refuse(
        sources(".", &[".md"])
            .into_iter()
            .flat_map(broken)
            .collect(),
        "Name the file where it is now.",
    );
}

#[test]
fn the_container_gets_io_uring_and_nothing_privileged() {
    let profile: serde_json::Value = serde_json::from_str(
        &std::fs::read_to_string(root().join("docker/seccomp-io_uring.json")).unwrap(),
    )
    .unwrap();
    assert_eq!(
        profile["defaultAction"], "SCMP_ACT_ERRNO",
        "what is not named stays refused"
    );
    let allowed: Vec<&str> = profile["syscalls"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|group| group["names"].as_array().unwrap())
        .filter_map(|name| name.as_str())
        .collect();
    for call in ["io_uring_setup", "io_uring_enter", "io_uring_register"] {
        assert!(
            allowed.contains(&call),
            "{call} is missing in docker/seccomp-io_uring.json"
        );
    }
    for call in [
        "mount",
        "umount2",
        "bpf",
        "init_module",
        "kexec_load",
        "ptrace",
        "setns",
        "unshare",
        "keyctl",
        "reboot",
        "swapon",
    ] {
        assert!(
            !allowed.contains(&call),
            "{call} has no business in docker/seccomp-io_uring.json"
        );
    }
    let compose = std::fs::read_to_string(root().join("docker-compose.yml")).unwrap();
    assert!(
        !compose
            .lines()
            .any(|line| line.trim_start().starts_with("privileged:"))
            && !compose.contains("unconfined")
    );
}
