//! Invalid combinations of `file_state` and `cache_state` with other options.

use crate::plan::tests::{
    host::TableHost,
    merge, plan,
    problems::{check, check_on},
};
use serde_json::{Value, json};

#[test]
fn options_that_contradict_a_state() {
    let state = |file: &str, rw: &str, changes: Value| {
        merge(
            json!({"filename": "new", "size": "1m", "direct": 0, "rw": rw, "file_state": file}),
            &changes,
        )
    };
    for (file, rw, changes, text) in [
        ("fresh", "write", json!({"overwrite": 1}), "overwrite=1"),
        ("fresh", "write", json!({"file_append": 1}), "file_append=1"),
        (
            "fresh",
            "write",
            json!({"fallocate": "written"}),
            "fallocate=written",
        ),
        ("fresh", "randread", json!({}), "rw=randread"),
        ("fresh", "randrw", json!({}), "rw=randrw"),
        ("written", "read", json!({"overwrite": 0}), "overwrite=0"),
        (
            "written",
            "write",
            json!({"fallocate": "native"}),
            "fallocate=native",
        ),
        (
            "written",
            "write",
            json!({"create_on_open": 1}),
            "create_on_open=1",
        ),
        ("overwrite", "read", json!({}), "rw=read"),
        (
            "overwrite",
            "write",
            json!({"file_append": 1}),
            "file_append=1",
        ),
        (
            "append",
            "write",
            json!({"file_append": 0}),
            "file_append=0",
        ),
        ("append", "write", json!({"overwrite": 1}), "overwrite=1"),
    ] {
        let problem = check(
            state(file, rw, changes),
            "conflicting_options",
            "file_state",
            text,
        );
        assert!(
            problem.to_string().contains(&format!("file_state={file}")),
            "{problem}"
        );
    }
    for (cache, option, value) in [
        ("cold", "invalidate", 0),
        ("cold", "pre_read", 1),
        ("warm", "invalidate", 1),
        ("warm", "pre_read", 0),
    ] {
        let mut job = json!({"filename": "full", "direct": 0, "cache_state": cache});
        job[option] = json!(value);
        check(
            job,
            "conflicting_options",
            "cache_state",
            &format!("{option}={value}"),
        );
    }
    let both = json!([
        state("fresh", "write", json!({})),
        json!({"filename": "new", "size": "1m", "direct": 0})
    ]);
    check_on(
        &TableHost::default(),
        json!({"jobs": both}),
        &[(
            "conflicting_options",
            "jobs[1].file_state",
            "in one job and is used by another",
        )],
    );
}

#[test]
fn states_do_not_overwrite_foreign_files() {
    let on = |file: &str, state: &str, rw: &str| json!({"filename": file, "size": "1m", "direct": 0, "rw": rw, "file_state": state});
    check(
        on("full", "fresh", "write"),
        "file_not_owned",
        "file_state",
        "remove the file yourself",
    );
    check(
        on("sparse", "written", "read"),
        "file_not_owned",
        "file_state",
        "overwrite=1",
    );
    let rewritten = json!({"filename": "linked-sparse", "size": "1m", "direct": 0, "rw": "read", "overwrite": 1});
    check(rewritten, "hard_linked", "overwrite", "2 links");
    for job in [
        on("owned", "fresh", "write"),
        on("owned-sparse", "written", "read"),
        on("full", "written", "read"),
        on("new", "fresh", "write"),
    ] {
        assert!(plan(job.clone()).problems.is_empty(), "{job}");
    }
}
