//! Fuzzes trees of sysfs and procfs files, which describe stacks of block devices, their users and
//! their identities. Each input line is `path = text`, or `path @` for a directory, below a root
//! directory; `\n` is a line break.
#![no_main]

use leadline_runner::fuzzing::inventory;
use libfuzzer_sys::fuzz_target;
use std::{
    fs,
    os::unix::fs::symlink,
    path::{Component, Path},
};

/// More files only slow down the target.
const MAX_FILES: usize = 48;

fuzz_target!(|text: &str| {
    let root = tempfile::tempdir_in("/dev/shm").expect("a temporary directory");
    let classes = root.path().join("sys/class/block");
    fs::create_dir_all(&classes).expect("a writable directory");
    for line in text.lines().map(str::trim).take(MAX_FILES) {
        // Lines whose file cannot be created are skipped.
        let _ = create(root.path(), &classes, line);
    }
    inventory(root.path());
});

fn create(root: &Path, classes: &Path, line: &str) -> std::io::Result<()> {
    let (path, text) = match line.split_once(" = ") {
        Some((path, text)) => (path, Some(text)),
        None => (line.trim_end_matches(" @"), None),
    };
    let path = Path::new(path);
    let is_below = |part: Component| matches!(part, Component::Normal(_));
    if !path.components().all(is_below) {
        return Ok(());
    }
    let path = root.join(path);
    let Some(text) = text else {
        return fs::create_dir_all(path);
    };
    let dir = path.parent().unwrap_or(root);
    fs::create_dir_all(dir)?;
    fs::write(&path, text.replace("\\n", "\n") + "\n")?;
    match (path.ends_with("dev"), dir.file_name()) {
        (true, Some(name)) => symlink(dir, classes.join(name)),
        _ => Ok(()),
    }
}
