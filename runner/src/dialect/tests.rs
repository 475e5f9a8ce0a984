//! Tests for imported documents.

use crate::dialect::{HostFacts, ImportWithLogs, PathKind, import_with_logs};
use leadline_protocol::{
    import::{Import, ImportRequest, ImportSeverity},
    problem::Problem,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn imported(text: &str, variables: &[(&str, &str)]) -> Import {
    imported_with_logs(text, variables).import
}

fn imported_with_logs(text: &str, variables: &[(&str, &str)]) -> ImportWithLogs {
    let pairs = variables
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let variables: BTreeMap<String, String> = pairs.collect();
    let request = ImportRequest {
        text: text.into(),
        variables: Some(variables),
    };
    import_with_logs(
        &request,
        &HostFacts {
            cpus: 4,
            page_size: 4096,
            memory_mib: 1024,
            path_kind: &|path| match path {
                "/dev/sdb" => PathKind::Other,
                _ => PathKind::Missing,
            },
        },
    )
}

fn check(text: &str, want: Value) {
    let import = imported(text, &[]);
    assert_eq!(import.document, Some(want), "{text}\n{:?}", import.notes);
}

#[test]
fn fio_defaults_are_explicit() {
    check(
        "[j]\nrw=read",
        json!({"jobs": [{"name": "j", "rw": "read", "ioengine": "psync", "direct": 0}]}),
    );
    check(
        "fio --name=j --buffered=0 --ioengine=io_uring --bs=,8k --runtime=2m --size=10% --time_based",
        json!({"jobs": [{
            "name": "j", "direct": 1, "ioengine": "io_uring", "bs": "4k,8k", "runtime": "120s",
            "size": "10%", "time_based": 1
        }]}),
    );
}

/// All other repeated options replace the previous value.
#[test]
fn repeated_filenames_add_files() {
    let job = json!({"jobs": [{"name": "j", "filename": "a:b", "bs": "8k", "ioengine": "psync", "direct": 0}]});
    check(
        "fio --name=j --filename=a --bs=4k --filename=b --bs=8k",
        job.clone(),
    );
    check("[global]\nfilename=a\nbs=4k\n[j]\nfilename=b\nbs=8k\n", job);
}

#[test]
fn engines_have_multiple_names() {
    for name in ["aio", "linuxaio", "libaio"] {
        check(
            &format!("fio --name=j --ioengine={name}"),
            json!({"jobs": [{"name": "j", "ioengine": "libaio", "direct": 0}]}),
        );
    }
}

#[test]
fn readonly_commands_do_not_create_or_extend_files() {
    check(
        "fio --readonly --name=j --rw=read --filename=f",
        json!({"jobs": [{"name": "j", "rw": "read", "filename": "f", "ioengine": "psync", "direct": 0, "allow_file_create": 0}]}),
    );
    for options in ["--rw=write", "--rw=trim", "--rw=read --overwrite=1"] {
        let import = imported(
            &format!("fio --readonly --name=j {options} --filename=f"),
            &[],
        );
        assert_eq!(import.document, None, "{options}");
        assert!(import.notes.iter().any(|note| note.code == "readonly"));
    }
}

#[test]
fn options_that_fio_ignores_are_omitted() {
    check(
        "[j]\nfilename=f\nnrfiles=3\nbs=4k\nbsrange=4k-8k\nbssplit=4k/50:8k/50\ntime_based\nioengine=null\ndirect=0",
        json!({"jobs": [{
            "name": "j", "filename": "f", "bssplit": "4k/50:8k/50", "ioengine": "null", "direct": 0
        }]}),
    );
}

#[test]
fn sizes_do_not_depend_on_kb_base() {
    check(
        "[j]\nrw=write:4k\nkb_base=1000\nbs=4k\nbssplit=1ki/:2k/30\nioengine=null\ndirect=0",
        json!({"jobs": [{
            "name": "j", "rw": "write:4000", "bssplit": "1000/:2000/30", "ioengine": "null", "direct": 0
        }]}),
    );
}

#[test]
fn waiting_jobs_become_study_steps() {
    let job = |name: &str| json!({"ioengine": "null", "direct": 0, "name": name});
    let steps = |waves: &[&[&str]]| {
        let step = |wave: &&[&str]| {
            let jobs: Vec<Value> = wave.iter().map(|name| job(name)).collect();
            json!({"jobs": jobs})
        };
        let steps: Vec<Value> = waves.iter().map(step).collect();
        json!({"name": "Imported jobs", "continue_on_failure": true, "steps": steps})
    };
    let global = "[global]\nioengine=null\ndirect=0\n";
    check(
        &format!("{global}[a]\n[b]\nstonewall\n[c]\n"),
        steps(&[&["a"], &["b", "c"]]),
    );
    check(
        &format!("{global}[a]\n[b]\nwait_for=a\n[c]\n"),
        steps(&[&["a", "c"], &["b"]]),
    );
    check(
        &format!("{global}[a]\n[b]\nstartdelay=5\nstonewall\n"),
        steps(&[&["a"], &["b"]]),
    );
}

#[test]
fn a_job_name_may_be_its_device() {
    check(
        "[/dev/sdb]\nrw=read\ndirect=1\nioengine=psync",
        json!({"jobs": [{
            "name": "/dev/sdb", "filename": "/dev/sdb", "rw": "read", "direct": 1, "ioengine": "psync"
        }]}),
    );
}

#[test]
fn answers_are_inserted() {
    let text = "[j]\nfilename=${DIR}/f\nnumjobs=$ncpus*2\nioengine=null\ndirect=0";
    let import = imported(text, &[]);
    assert_eq!(
        (import.document, import.questions[0].name.as_str()),
        (None, "DIR")
    );
    assert_eq!(
        imported(text, &[("DIR", "/mnt")]).document,
        Some(json!({"jobs": [{
            "name": "j", "filename": "/mnt/f", "numjobs": 8, "ioengine": "null", "direct": 0
        }]}))
    );
    let diskspd = "diskspd -b4K -w100 -W0 -d5 -Su -r #1";
    let import = imported(diskspd, &[("#1", "/dev/sdb")]);
    let job = &import.document.unwrap()["jobs"][0];
    assert_eq!(
        (&job["filename"], &job["rw"]),
        (&json!("/dev/sdb"), &json!("randwrite"))
    );
}

#[test]
fn diskspd_numbers_are_32_bit() {
    for flag in [
        "-g",
        "-g4294967296i",
        "-i1 -j",
        "-d",
        "-W",
        "-o",
        "-t",
        "-z",
    ] {
        let text = format!("diskspd -b4K {flag}6148914691236517171 #1");
        let import = imported(&text, &[("#1", "/dev/sdb")]);
        let codes: Vec<&str> = import.notes.iter().map(|note| note.code.as_str()).collect();
        assert!(codes.contains(&"bad_flag"), "{text}: {codes:?}");
    }
    let largest = "diskspd -b4K -W4294967295 -d4294967295 -g4294967295 -j4294967295 -i1 #1";
    assert!(imported(largest, &[("#1", "/dev/sdb")]).document.is_some());
}

#[test]
fn documents_are_valid_or_null() {
    let sections: String = (0..65)
        .map(|job| format!("[j{job}]\nioengine=null\n"))
        .collect();
    let import = imported(&sections, &[]);
    assert_eq!(import.document, None);
    assert!(import.notes.iter().any(|note| note.code == "invalid_job"));
    let json = r#"{"jobs":[{"rw":"read","block":"4k"}]}"#;
    let import = imported(json, &[]);
    assert_eq!(import.notes[0].option.as_deref(), Some("jobs[0].block"));
    let json = r#"{"rw":"read","direct":1}"#;
    assert_eq!(
        imported(json, &[]).document,
        Some(json!({"rw": "read", "direct": 1}))
    );
}

#[test]
fn fields_are_described_by_their_lines() {
    let describe = |text: &str, field: &str| {
        let positions = imported_with_logs(text, &[]).positions;
        let mut problems = [Problem::invalid("out_of_range", field, "", "")];
        positions.describe_fields(&mut problems);
        problems[0].field.clone().unwrap()
    };
    let shared = "[global]\nloops=0\nioengine=null\nsize=1m\n[a]\n[b]\nbs=1,2\n";
    assert_eq!(describe(shared, "jobs[1].loops"), "line 2, loops");
    assert_eq!(describe(shared, "jobs[1].bs.write"), "line 7, bs");
    assert_eq!(describe(shared, "jobs[1].iodepth"), "line 6");
    assert_eq!(describe(shared, "jobs[2].iodepth"), "jobs[2].iodepth");
    assert_eq!(describe(shared, "confirm"), "confirm");
    let steps = "[global]\nioengine=null\nsize=1m\n[a]\n[b]\nstonewall\nloops=0\n";
    assert_eq!(describe(steps, "steps[1].jobs[0].loops"), "line 7, loops");
    let json = r#"{"rw":"read","loops":0}"#;
    assert_eq!(describe(json, "jobs[0].loops"), "jobs[0].loops");
}

#[test]
fn unset_variables_are_only_asked_for() {
    let import = imported("[j]\nioengine=null\nsize=${SIZE}", &[]);
    assert_eq!(import.document, None);
    assert_eq!(import.questions.len(), 1);
    let mut notes = import.notes.iter();
    assert!(
        notes.all(|note| note.severity != ImportSeverity::Error),
        "{:?}",
        import.notes
    );
}

#[test]
fn notes_on_variables_omit_their_values() {
    let import = imported("[j]\nfilename=${X}/f", &[("X", "/srv/secret")]);
    let mut notes = import.notes.iter();
    let note = notes.find(|note| note.code == "variable").unwrap();
    assert!(note.sentence.contains("${X}") && !note.sentence.contains("secret"));
}

#[test]
fn variables_with_line_breaks_are_requested_again() {
    let import = imported("[j]\nfilename=${X}", &[("X", "f\nexec_prerun=reboot")]);
    assert_eq!(import.document, None);
    assert_eq!(import.questions[0].name, "X");
}

#[test]
fn names_are_those_of_fio() {
    for (text, name, codes) in [
        ("[global]\nname=g\n[a]\nrw=read", "a", &["no_effect"][..]),
        ("[a]\nname=b\nrw=read", "b", &["file_names"]),
        ("[ a ]\nrw=read", "a", &["name_spaces"]),
    ] {
        let import = imported(text, &[]);
        assert_eq!(import.document.unwrap()["jobs"][0]["name"], name, "{text}");
        let found: Vec<&str> = import.notes.iter().map(|note| note.code.as_str()).collect();
        assert!(
            codes.iter().all(|code| found.contains(code)),
            "{text}: {found:?}"
        );
    }
}

#[test]
fn values_are_those_of_fio() {
    for (text, option, value) in [
        ("[j]\nbssplit=8k/100\nbsrange=4k-4k", "bsrange", "4k-4k"),
        ("[j]\nbsrange=4k-4k\nbssplit=8k/100", "bssplit", "8k/100"),
        ("fio --name=j --filename='x#y'", "filename", "x"),
    ] {
        let import = imported(text, &[]);
        let document = import.document.expect(text);
        assert_eq!(document["jobs"][0][option], value, "{text}");
    }
}

/// Each case: a text with one error, the error's option, and a part of its remedy.
#[test]
fn errors_name_their_cause() {
    for (text, option, remedy) in [
        ("[j]\n--rw=write", "--rw", "Write rw."),
        ("[j]\nsize=1e6", "size", "Use k, m, g or t."),
        ("[j]\nruntime=5x", "runtime", "Use us, ms, s, m, h or d."),
        (
            "fio --name=j --size=$((4*(1+2)))k --rw=read",
            "size",
            "Replace it with its output.",
        ),
        (
            "fio --name=j --size=`echo 4k` --rw=read",
            "size",
            "Replace it with its output.",
        ),
    ] {
        let import = imported(text, &[]);
        let errors: Vec<_> = import
            .notes
            .iter()
            .filter(|note| note.severity == ImportSeverity::Error)
            .map(|note| (note.option.as_deref(), note.remedy.as_str()))
            .collect();
        assert_eq!(errors, [(Some(option), remedy)], "{text}");
    }
}

#[test]
fn spaces_after_a_backslash_are_reported() {
    let import = imported("fio --name=j \\ \n  --rw=write", &[]);
    assert_eq!(import.document.unwrap()["jobs"][0]["rw"], "write");
    let warnings = import.notes.iter().map(|note| note.code.as_str());
    assert_eq!(
        warnings
            .filter(|code| *code == "broken_continuation")
            .count(),
        1
    );
}
