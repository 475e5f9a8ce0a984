//! The files of the repository, and the one way a rule is broken aloud.

use std::fs;
use std::path::{Path, PathBuf};

/// Folders that hold nothing of ours.
const NOT_OURS: &[&str] = &[
    "target",
    "node_modules",
    "dist",
    "var",
    "generated",
    "test-results",
    "playwright-report",
];

/// One file: its path from the root of the repository, and its text.
pub struct Source {
    pub path: String,
    pub text: String,
}

impl Source {
    /// Lines that are not comments, numbered from 1.
    pub fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        self.lines()
            .filter(|(_, line)| !line.trim_start().starts_with("//"))
    }

    /// All lines, numbered from 1.
    pub fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text
            .lines()
            .enumerate()
            .map(|(index, line)| (index + 1, line))
    }

    /// Where any of these words stands in the code.
    pub fn mentions(&self, words: &[&str]) -> Vec<String> {
        self.code()
            .filter(|(_, line)| words.iter().any(|word| line.contains(word)))
            .map(|(number, line)| self.at(number, line))
            .collect()
    }

    /// Names a line.
    pub fn at(&self, number: usize, line: &str) -> String {
        format!("{}:{number}: {}", self.path, line.trim())
    }

    /// Whether it is one of these rooms of a folder or lies in it: `plan` is plan.rs and everything under plan/.
    pub fn is_in(&self, folder: &str, rooms: &[&str]) -> bool {
        let Some(inside) = self
            .path
            .strip_prefix(folder)
            .and_then(|path| path.strip_prefix('/'))
        else {
            return false;
        };
        rooms.iter().any(|room| {
            inside
                .strip_prefix(room)
                .is_some_and(|rest| rest.starts_with(['.', '/']))
        })
    }
}

/// The root of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// All files under a folder whose name ends in one of `ends`, in order; none where the folder is not there.
pub fn sources(folder: &str, ends: &[&str]) -> Vec<Source> {
    let mut found = Vec::new();
    collect(&root(), Path::new(folder), ends, &mut found);
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

fn collect(root: &Path, folder: &Path, ends: &[&str], found: &mut Vec<Source>) {
    let Ok(entries) = fs::read_dir(root.join(folder)) else {
        return;
    };
    for entry in entries.map(Result::unwrap) {
        let name = entry
            .file_name()
            .into_string()
            .expect("names of ours are UTF-8");
        let path = if folder == Path::new(".") {
            PathBuf::from(&name)
        } else {
            folder.join(&name)
        };
        let is_folder = entry.file_type().unwrap().is_dir();
        if is_folder && !NOT_OURS.contains(&name.as_str()) && name != ".git" {
            collect(root, &path, ends, found);
        } else if !is_folder && ends.iter().any(|end| name.ends_with(end)) {
            let text = fs::read_to_string(root.join(&path)).unwrap();
            found.push(Source {
                path: path.to_str().unwrap().into(),
                text,
            });
        }
    }
}

/// Fails with every offence and what to do about it.
pub fn refuse(offences: Vec<String>, remedy: &str) {
    assert!(
        offences.is_empty(),
        "\n{}\n→ {remedy}\n",
        offences.join("\n")
    );
}
