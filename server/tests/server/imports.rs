//! Jobs submitted as text: `POST /import`, and `job_text` in `POST /plan` and `POST /runs`.

use crate::program::Program;
use reqwest::StatusCode;
use serde_json::{Value, json};
use std::sync::Arc;

const JOB_FILE: &str =
    "[global]\nsize=1m\nbs=4k\n[a]\nfilename=a\nrw=read\nioengine=psync\ndirect=0\n";

async fn server() -> Option<Program> {
    Program::start_real(Arc::new(tempfile::tempdir().unwrap())).await
}

fn codes(notes: &Value) -> Vec<&str> {
    let notes = notes.as_array().unwrap().iter();
    notes.filter_map(|note| note["code"].as_str()).collect()
}

#[tokio::test]
async fn text_is_interpreted_without_running_it() {
    let Some(server) = server().await else { return };
    let text = "fio --name=a --rw=write --size=1m --filename=$FILE; touch /tmp/leadline-import";
    let (status, import) = server.post("/import", &json!({"text": text})).await;
    assert_eq!(status, StatusCode::OK, "{import}");
    assert_eq!(import["dialect"], "fio_command");
    assert_eq!(import["document"], Value::Null);
    assert_eq!(import["questions"][0]["name"], "FILE");
    assert!(codes(&import["notes"]).contains(&"not_run"), "{import}");

    let request = json!({"text": text, "variables": {"FILE": "f"}});
    let (_, import) = server.post("/import", &request).await;
    assert_eq!(import["document"]["jobs"][0]["filename"], "f", "{import}");
    let runs = server.get("/runs").await;
    assert_eq!(runs["total"], 0);
    assert!(!std::path::Path::new("/tmp/leadline-import").exists());
}

#[tokio::test]
async fn environment_is_not_read() {
    let Some(server) = server().await else { return };
    let (_, import) = server
        .post("/import", &json!({"text": "[j]\nfilename=${HOME}/f\n"}))
        .await;
    assert_eq!(import["questions"][0]["name"], "HOME", "{import}");
}

#[tokio::test]
async fn run_is_planned_and_started_from_a_job_file() {
    let Some(server) = server().await else { return };
    let (status, plan) = server.post("/plan", &json!({"job_text": JOB_FILE})).await;
    assert_eq!(status, StatusCode::OK, "{plan}");
    assert_eq!(plan["problems"], json!([]), "{plan}");
    assert_eq!(plan["import"]["dialect"], "fio_job_file");
    let (status, run) = server.post("/runs", &json!({"job_text": JOB_FILE})).await;
    assert_eq!(status, StatusCode::CREATED, "{run}");
    assert_eq!(run["requested"]["jobs"][0]["bs"], "4k");
    let ended = server
        .wait_until_ended(run["number"].as_u64().unwrap())
        .await;
    assert_eq!(ended["status"], "done", "{ended}");
}

#[tokio::test]
async fn errors_in_the_text_are_problems() {
    let Some(server) = server().await else { return };
    for (text, code) in [
        ("[j]\nruntime=10sec\n", "seconds_suffix"),
        ("[j]\nfilename=${X}\n", "unset_variable"),
        ("[a]\nrw=read\n[b]\nstonewall\nrw=read\n", "text_is_study"),
        ("[a]\nexec_prerun=reboot\n", "unsupported_option"),
    ] {
        let (status, problem) = server.post("/runs", &json!({"job_text": text})).await;
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{problem}");
        assert!(codes(&problem["errors"]).contains(&code), "{problem}");
        let (status, plan) = server.post("/plan", &json!({"job_text": text})).await;
        assert_eq!(status, StatusCode::OK, "{plan}");
        assert!(codes(&plan["problems"]).contains(&code), "{plan}");
    }
}
