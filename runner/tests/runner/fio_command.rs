//! When started through a link named `fio`, the runner accepts fio's arguments and prints output in
//! fio's formats. The tests pass the same arguments to fio.

use crate::scratch;
use crate::scratch::fio_link::Programs;
use serde_json::Value;
use std::{fs, path::Path};

const JOB_FILE: &str = "\
[global]
filename=target
bs=${LEADLINE_TEST_BLOCK}

[first]
rw=write

[second]
stonewall
rw=randread
bs=4k
";

#[test]
fn job_files_inherit_the_options_before_them() {
    let programs = Programs::new();
    fs::write(programs.path().join("it's a job.fio"), JOB_FILE).unwrap();
    let arguments = [
        "--size",
        "1m",
        "--direct=0",
        "--output-format=json",
        "--eta",
        "never",
        "../it's a job.fio",
    ];
    let Some([fio, runner]) = programs.both(&arguments, "") else {
        return;
    };
    assert_eq!(runner, [r#""first" 0 0 128"#, r#""second" 1 256 0"#]);
    assert_eq!(runner, fio);
}

#[test]
fn jobs_are_read_from_arguments_and_standard_input() {
    let programs = Programs::new();
    let arguments = ["--output-format=json", "--direct=0", "--size=524288.0", "-"];
    let Some([fio, runner]) = programs.both(&arguments, JOB_FILE) else {
        return;
    };
    assert_eq!(runner, fio);
    let two = "--output-format=json --direct=0 --size=64k --filename=a --name=a --rw=write \
        --name=b --rw=randwrite --bs=512";
    let two: Vec<&str> = two.split_whitespace().collect();
    let Some([fio, runner]) = programs.both(&two, "") else {
        return;
    };
    assert_eq!(runner, [r#""a" 0 0 16"#, r#""b" 0 0 128"#]);
    assert_eq!(runner, fio);
}

/// Additional job files do not inherit global options, and their jobs wait for those in previous
/// files.
#[test]
fn multiple_job_files_run_sequentially() {
    let programs = Programs::new();
    let second = "[third]\nrw=write\nfilename=target\nsize=256k\n[fourth]\nrw=read\n\
        filename=target\nsize=256k\n[global]\nbs=16k\n[fifth]\nrw=read\nfilename=target\nsize=256k\n";
    let last = "[global]\nrw=read\n[sixth]\nstonewall=0\nfilename=target\nsize=256k\n";
    fs::write(programs.path().join("first.fio"), JOB_FILE).unwrap();
    fs::write(programs.path().join("last.fio"), last).unwrap();
    fs::write(programs.path().join("empty.fio"), "# nothing\n").unwrap();
    let arguments = [
        "--output-format=json",
        "--size=256k",
        "--direct=0",
        "../first.fio",
        "-",
        "../empty.fio",
        "../last.fio",
        "../first.fio",
        "--name=from_command",
        "--rw=write",
        "--filename=target",
    ];
    // In the second run, first.fio does not set a size, but its file already exists.
    let Some([fio, runner]) = programs.both(&arguments, second) else {
        return;
    };
    let expected = [
        r#""from_command" 0 0 64"#,
        r#""first" 0 0 32"#,
        r#""second" 1 64 0"#,
        r#""third" 2 0 64"#,
        r#""fourth" 2 64 0"#,
        r#""fifth" 2 16 0"#,
        r#""sixth" 2 64 0"#,
        r#""first" 3 0 32"#,
        r#""second" 4 64 0"#,
    ];
    assert_eq!(fio, expected);
    assert_eq!(runner, fio);
}

#[test]
fn sections_are_selected() {
    let programs = Programs::new();
    let file = "[global]\nrw=write\nsize=64k\nbs=4k\n[first]\nloops=2\n[second]\nstonewall\n\
        [globals]\nbs=8k\n[third]\n";
    fs::write(programs.path().join("three.fio"), file).unwrap();
    let options = "--output-format=json --direct=0";
    for sections in [
        "--section=second",
        "--section first --section=third",
        "--section=third --name=from_command --rw=write --size=4k --loops=2",
        "--name=from_command --rw=write --size=4k --section=third",
    ] {
        let text = format!("{options} {sections} ../three.fio");
        let arguments: Vec<&str> = text.split_whitespace().collect();
        let Some([fio, runner]) = programs.both(&arguments, "") else {
            return;
        };
        assert_eq!(runner, fio, "{sections}");
    }
    let output = programs.runner(&["--section=fourth", "../three.fio"], "");
    assert!(!output.status.success());
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(message.contains("--section selects no job"), "{message}");
}

#[test]
fn repeated_filenames_add_files() {
    let programs = Programs::new();
    fs::write(
        programs.path().join("two.fio"),
        "[global]\nfilename=a\n[j]\nrw=write\nfilename=b\n",
    )
    .unwrap();
    let options = "--output-format=json --direct=0 --size=1m --bs=4k";
    let command = format!("{options} --name=j --rw=write --filename=a --filename=b");
    for text in [command, format!("{options} ../two.fio")] {
        let arguments: Vec<&str> = text.split_whitespace().collect();
        let Some([fio, runner]) = programs.both(&arguments, "") else {
            return;
        };
        assert_eq!(runner, fio);
        for (program, file) in [("fio", "a"), ("fio", "b"), ("runner", "a"), ("runner", "b")] {
            let path = programs.path().join(program).join(file);
            let length = fs::metadata(&path).map_or(0, |metadata| metadata.len());
            assert_eq!(length, 512 << 10, "{program}, {file}: {text}");
            let _ = fs::remove_file(path);
        }
    }
}

/// fio's `--readonly` also covers layout: no file is created, extended or filled.
#[test]
fn readonly_commands_do_not_write() {
    let programs = Programs::new();
    let directory = programs.path().join("runner");
    let run = |options: &str| {
        let arguments = format!("--readonly --name=j --rw=read --direct=0 --filename=h {options}");
        let arguments: Vec<&str> = arguments.split_whitespace().collect();
        programs.runner(&arguments, "").status.code()
    };
    assert_eq!(run("--size=64k"), Some(2));
    let written = directory.join("h");
    assert!(!written.exists());
    fs::create_dir_all(&directory).unwrap();
    fs::write(&written, vec![7; 65_536]).unwrap();
    assert_eq!(run("--size=64k --overwrite=1"), Some(2));
    assert_eq!(run("--size=128k"), Some(2));
    assert_eq!(fs::read(&written).unwrap(), vec![7; 65_536]);
    assert_eq!(run("--size=64k"), Some(0));
    assert_eq!(fs::read(&written).unwrap(), vec![7; 65_536]);
}

#[test]
fn errors_identify_the_job_file() {
    let programs = Programs::new();
    fs::write(programs.path().join("good.fio"), JOB_FILE).unwrap();
    fs::write(programs.path().join("bad.fio"), "[a]\nbs=4x\nrw=rite\n").unwrap();
    let output = programs.runner(&["../good.fio", "../bad.fio", "../good.fio"], "");
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{errors}");
    for line in ["line 2, column 4: fio reads", "line 3, column 4: `rite`"] {
        let expected = format!("leadline-runner: ../bad.fio, {line}");
        assert!(errors.contains(&expected), "{expected}: {errors}");
    }
    let missing = programs.runner(&["../good.fio", "missing.fio"], "");
    let errors = String::from_utf8(missing.stderr).unwrap();
    assert_eq!(missing.status.code(), Some(2));
    assert!(errors.contains("missing.fio cannot be read"), "{errors}");
}

#[test]
fn errors_name_the_option_or_the_line_of_the_job_file() {
    let programs = Programs::new();
    let text = "[a]\nrw=rite\nfilename=${LEADLINE_TEST_UNSET}\n";
    fs::write(programs.path().join("bad.fio"), text).unwrap();
    let output = programs.runner(&["--bs=4x", "../bad.fio"], "");
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(output.stdout.is_empty());
    for expected in [
        "leadline-runner: --bs: fio reads `4x` as 4",
        "leadline-runner: ../bad.fio, line 2, column 4: `rite` is not one of",
        "leadline-runner: ../bad.fio, line 3, column 1: The value of ${LEADLINE_TEST_UNSET}",
    ] {
        assert!(errors.contains(expected), "{expected}: {errors}");
    }
    let missing = programs.runner(&["missing.fio"], "");
    let errors = String::from_utf8(missing.stderr).unwrap();
    assert_eq!(missing.status.code(), Some(2));
    assert!(errors.contains("missing.fio cannot be read"), "{errors}");
    let format = programs.runner(&["--output-format=xml", "../bad.fio"], "");
    let errors = String::from_utf8(format.stderr).unwrap();
    assert!(errors.contains("json, json+, terse and normal"), "{errors}");
}

#[test]
fn options_without_a_job_run_nothing() {
    let programs = Programs::new();
    fs::write(
        programs.path().join("global.fio"),
        "[global]\nsize=64k\nrw=write\n",
    )
    .unwrap();
    fs::write(programs.path().join("empty.fio"), "").unwrap();
    for arguments in [
        &["../global.fio"][..],
        &["../empty.fio"],
        &["--rw=write", "--size=64k"],
        &["--output-format=json"],
        &[],
    ] {
        let output = programs.runner(arguments, "");
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {errors}");
        assert!(
            errors.contains("not define a job") || errors.contains("No jobs"),
            "{errors}"
        );
        assert!(output.stdout.is_empty(), "{arguments:?}");
    }
}

#[test]
fn priority_latencies_add_up_to_the_direction() {
    let programs = Programs::new();
    let arguments = "--output-format=json --name=a --size=4m --rw=randread --ioengine=libaio \
        --iodepth=4 --direct=1 --cmdprio_percentage=30 --cmdprio_class=1 --lat_percentiles=1";
    let arguments: Vec<&str> = arguments.split_whitespace().collect();
    let output = programs.runner(&arguments, "");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let read = &document["jobs"][0]["read"];
    let priorities = read["prios"].as_array().unwrap();
    assert_eq!(priorities.len(), 2);
    let of = |part: &Value, key: &str| part["lat_ns"][key].as_f64().unwrap();
    let ios: f64 = priorities.iter().map(|part| of(part, "N")).sum();
    let sum: f64 = priorities
        .iter()
        .map(|part| of(part, "N") * of(part, "mean"))
        .sum();
    let min = priorities
        .iter()
        .map(|part| of(part, "min"))
        .fold(f64::MAX, f64::min);
    let max = priorities
        .iter()
        .map(|part| of(part, "max"))
        .fold(0.0, f64::max);
    assert_eq!(ios, of(read, "N"));
    assert!(
        (sum / ios - of(read, "mean")).abs() < 1.0,
        "{sum} ns: {read}"
    );
    assert_eq!(min, of(read, "min"));
    assert_eq!(max, of(read, "max"));
}

#[test]
fn options_that_fio_applies_differently_are_reported() {
    let programs = Programs::new();
    let mixed = "--size=64k --rw=randrw --bs=4k,16k";
    let arguments = format!("--output-format=json --name=a {mixed} --name=b --stonewall {mixed}");
    let arguments: Vec<_> = arguments.split(' ').collect();
    let output = programs.runner(&arguments, "");
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{errors}");
    assert_eq!(errors.matches("fio shares one map").count(), 1, "{errors}");
    let arguments: Vec<_> = "--name=a --size=64k --rw=randread".split(' ').collect();
    let output = programs.runner(&arguments, "");
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(!errors.contains("fio"), "{errors}");
}

#[test]
fn output_is_written_to_a_file() {
    let programs = Programs::new();
    let arguments = "--output-format json+ --output ../result --name=a --size=64k --rw=read \
        --direct=0 --filename=new";
    let arguments: Vec<&str> = arguments.split_whitespace().collect();
    let output = programs.runner(&arguments, "");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(output.stdout.is_empty());
    let text = fs::read_to_string(programs.path().join("result")).unwrap();
    let document: Value = serde_json::from_str(&text).unwrap();
    assert!(document["jobs"][0]["read"]["clat_ns"]["bins"].is_object());
    // A shorter result replaces the file completely.
    let shorter: Vec<&str> = arguments.iter().map(|a| a.trim_end_matches('+')).collect();
    let output = programs.runner(&shorter, "");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let json = fs::read_to_string(programs.path().join("result")).unwrap();
    assert!(json.len() < text.len());
    let document: Value = serde_json::from_str(&json).unwrap();
    assert!(document["jobs"][0]["read"]["clat_ns"]["bins"].is_null());
    // A rejected run leaves the file unchanged.
    let rejected = programs.runner(&["--output=../result", "--name=a", "--rw=rite"], "");
    assert_eq!(rejected.status.code(), Some(2), "{rejected:?}");
    let kept = fs::read_to_string(programs.path().join("result")).unwrap();
    assert_eq!(kept, json);
}

#[test]
fn parse_only_runs_nothing() {
    let programs = Programs::new();
    let arguments = "--parse-only --name=a --filename=new --rw=write --size=1m --direct=1";
    let arguments: Vec<&str> = arguments.split(' ').collect();
    let output = programs.runner(&arguments, "");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(!programs.path().join("runner/new").exists());
    let version = programs.runner(&["--version"], "");
    assert!(version.stdout.starts_with(b"fio-3.33-leadline-"));
}

/// Damaged data and exceeded limits are also reported as errors in fio's formats.
#[test]
fn failed_jobs_have_the_same_error_as_in_fio() {
    let programs = Programs::new();
    if let Err(error) = scratch::run("fio", &["--version"]) {
        return scratch::skip(&error);
    }
    let verify = "--name=w --filename=v --size=256k --bs=4k --verify=crc32c --direct=0";
    let cases = [
        (format!("{verify} --rw=read --verify_only=1"), 84),
        (
            "--name=l --filename=v --size=256k --rw=read --direct=0 --max_latency=1us".into(),
            110,
        ),
    ];
    for program in [Path::new("fio"), &programs.runner] {
        let start = |options: &str| {
            let arguments = format!("--output-format=json {options}");
            let arguments: Vec<&str> = arguments.split_whitespace().collect();
            programs.start(program, &arguments, "")
        };
        let written = start(&format!("{verify} --rw=write --do_verify=0"));
        assert!(written.status.success(), "{program:?}: {written:?}");
        let file = programs.directory_of(program).join("v");
        let mut data = fs::read(&file).unwrap();
        data[70_000] ^= 1;
        fs::write(&file, data).unwrap();
        for (options, error) in &cases {
            let failed = start(options);
            assert_eq!(failed.status.code(), Some(1), "{program:?} {options}");
            let text = String::from_utf8(failed.stdout).unwrap();
            let start = text.find('{').unwrap();
            let document: Value = serde_json::from_str(&text[start..]).unwrap();
            assert_eq!(
                document["jobs"][0]["error"], *error,
                "{program:?} {options}"
            );
            assert!(!failed.stderr.is_empty(), "{program:?} {options}");
        }
    }
}

/// Unlike the runner, fio truncates any file given with `--output`.
#[test]
fn output_does_not_replace_other_files() {
    let programs = Programs::new();
    let image = programs.path().join("image");
    fs::write(&image, [0; 4096]).unwrap();
    let arguments = ["--output=../image", "--name=a", "--size=64k", "--rw=write"];
    let output = programs.runner(&arguments, "");
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(errors.contains("../image cannot be written"), "{errors}");
    assert_eq!(fs::read(&image).unwrap(), [0; 4096]);
}

/// The runner reports that nothing was measured; fio reports the I/Os of the ramp.
#[test]
fn jobs_that_end_during_the_ramp_are_reported() {
    let programs = Programs::new();
    let arguments = "--name=a --size=64k --rw=write --direct=0 --ramp_time=1";
    let arguments: Vec<&str> = arguments.split_whitespace().collect();
    let output = programs.runner(&arguments, "");
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{errors}");
    assert!(errors.contains("so nothing was measured"), "{errors}");
}
