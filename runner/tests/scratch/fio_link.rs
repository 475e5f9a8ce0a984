//! Runs fio, and the runner through a link named `fio`, with the same arguments.

use serde_json::Value;
use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::{Command, Output},
};

pub(crate) struct Programs {
    directory: tempfile::TempDir,
    pub runner: PathBuf,
}

impl Programs {
    pub(crate) fn new() -> Self {
        let directory = super::directory();
        let runner = directory.path().join("bin/fio");
        fs::create_dir(directory.path().join("bin")).unwrap();
        symlink(env!("CARGO_BIN_EXE_leadline-runner"), &runner).unwrap();
        Self { directory, runner }
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Runs a program in its own directory so that it does not find the other program's files.
    pub(crate) fn start(&self, program: &Path, arguments: &[&str], input: &str) -> Output {
        let directory = self.directory_of(program);
        fs::create_dir_all(&directory).unwrap();
        let mut command = Command::new(program);
        command
            .args(arguments)
            .current_dir(directory)
            .env("LEADLINE_TEST_BLOCK", "8k")
            .env_remove("LEADLINE_TEST_UNSET");
        super::input::output(&mut command, input)
    }

    /// The working directory of a program.
    pub(crate) fn directory_of(&self, program: &Path) -> PathBuf {
        let name = if program == self.runner {
            "runner"
        } else {
            "fio"
        };
        self.path().join(name)
    }

    pub(crate) fn runner(&self, arguments: &[&str], input: &str) -> Output {
        self.start(&self.runner, arguments, input)
    }

    /// Name, group, reads and writes of each job in the output of both programs; `None` if fio is
    /// not installed.
    pub(crate) fn both(&self, arguments: &[&str], input: &str) -> Option<[Vec<String>; 2]> {
        let fio = super::run("fio", &["--version"]);
        if let Err(error) = fio {
            super::skip(&error);
            return None;
        }
        let run = |program: &Path| {
            let output = self.start(program, arguments, input);
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{errors}");
            summary(&serde_json::from_slice(&output.stdout).unwrap())
        };
        Some([run(Path::new("fio")), run(&self.runner)])
    }
}

fn summary(document: &Value) -> Vec<String> {
    let jobs = document["jobs"].as_array().unwrap().iter();
    let line = |job: &Value| {
        let ios = |direction: &str| job[direction]["total_ios"].clone();
        format!(
            "{} {} {} {}",
            job["jobname"],
            job["groupid"],
            ios("read"),
            ios("write")
        )
    };
    jobs.map(line).collect()
}
