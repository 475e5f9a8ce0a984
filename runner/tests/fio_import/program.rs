//! `plan` and `run` with job files and command lines.

use crate::input;
use serde_json::Value;
use std::{
    path::Path,
    process::{Command, Output},
};

fn runner(arguments: &[&str], text: &[u8], root: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_leadline-runner"));
    command
        .args(arguments)
        .current_dir(root)
        .env("LEADLINE_TEST_FILE", "from-environment");
    input::output(&mut command, text)
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stdout)))
}

const COMMAND: &[u8] = b"$ fio --name=a --filename=a --rw=read --bs=4k-8k --size=64k";

#[test]
fn plan_prints_how_a_command_was_interpreted() {
    let root = tempfile::tempdir().unwrap();
    let output = runner(&["plan", "-"], COMMAND, root.path());
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{text}");
    let note = text
        .find("`4k-8k` is not a range: it sets 4k for reads")
        .unwrap();
    assert!(text[..note].ends_with("1:44         warning: "), "{text}");
    assert!(text[note..].contains("read · 4 KiB · depth 1"), "{text}");
    assert!(!root.path().join("a").exists());

    let plan = json(&runner(&["plan", "-", "--json"], COMMAND, root.path()));
    assert_eq!(plan["import"]["dialect"], "fio_command");
    assert_eq!(plan["jobs"][0]["ioengine"], "psync", "{plan}");
}

#[test]
fn run_accepts_a_job_file_and_environment_variables() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("job.fio");
    let text = "[j]\nfilename=${LEADLINE_TEST_FILE}\nrw=write\nsize=64k\nbs=2300\nfdatasync=1\n";
    std::fs::write(&path, text).unwrap();
    let output = runner(&["run", "job.fio", "--json"], b"", root.path());
    let report = json(&output);
    assert_eq!(output.status.code(), Some(0), "{report}");
    assert_eq!(report["report"]["write"]["ios"], 28, "{report}");
    assert!(root.path().join("from-environment").exists());
    let messages = String::from_utf8(output.stderr).unwrap();
    assert!(
        messages.contains("line 1, column 1: j: direct is not set"),
        "{messages}"
    );
}

#[test]
fn import_errors_are_reported_with_positions() {
    let root = tempfile::tempdir().unwrap();
    for (input, code, part) in [
        (
            &b"[j]\nruntime=10sec\n"[..],
            2,
            "Line 2, column 9: fio reads `10sec` as 10 µs",
        ),
        (
            b"[j]\nexec_prerun=reboot\n",
            2,
            "Line 2, column 1: exec_prerun would run a command",
        ),
        (
            b"[j]\nfilename=${LEADLINE_UNSET}\n",
            2,
            "env 'LEADLINE_UNSET=VALUE' leadline-runner",
        ),
        (b"[j]\n\xff\xfe\n", 2, "line 2 is not valid UTF-8"),
        (b"dd if=/dev/zero of=x", 2, "dd is another benchmark"),
    ] {
        let output = runner(&["run", "-"], input, root.path());
        let messages = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{messages}");
        assert!(messages.contains(part), "{messages}");
    }
    assert_eq!(std::fs::read_dir(root.path()).unwrap().count(), 0);
}

#[test]
fn plan_errors_are_reported_with_the_line_of_the_option() {
    let root = tempfile::tempdir().unwrap();
    let input = b"[j]\nioengine=null\nsize=1m\nloops=0\n";
    for command in ["plan", "run"] {
        let output = runner(&[command, "-"], input, root.path());
        let texts = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
        let text = texts.concat();
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.contains("line 4, loops: loops must be"), "{text}");
    }
    let plan = json(&runner(&["plan", "-", "--json"], input, root.path()));
    assert_eq!(plan["problems"][0]["field"], "jobs[0].loops", "{plan}");
}

#[test]
fn jobs_that_wait_for_others_run_as_a_study() {
    let root = tempfile::tempdir().unwrap();
    let input = b"[global]\nioengine=null\nsize=1m\n[a]\nrw=read\n[b]\nstonewall\nrw=write\n";
    let plan = json(&runner(&["plan", "-", "--json"], input, root.path()));
    assert_eq!(plan["steps"].as_array().map(Vec::len), Some(2), "{plan}");
    let output = runner(&["run", "-", "--json"], input, root.path());
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
