//! Tests `leadline-runner compare` with real results, copies with changed numbers, and rules.

use crate::scratch::program::{report, runner};
use serde_json::{Value, json};
use std::{
    fs,
    io::{Read, Write},
    net::{SocketAddr, TcpListener},
    path::{Path, PathBuf},
    process::Output,
    thread::{self, JoinHandle},
};

/// The result of a run that uses no device.
fn result() -> Value {
    report(
        &json!({"ioengine": "null", "size": "1g", "rw": "randread", "direct": 1,
        "runtime": "200ms", "time_based": 1}),
    )
}

/// Writes copies of a result with its read rates multiplied by these factors.
fn write_copies(directory: &Path, name: &str, result: &Value, factors: &[f64]) -> PathBuf {
    let directory = directory.join(name);
    fs::create_dir(&directory).unwrap();
    for (index, factor) in factors.iter().enumerate() {
        let mut copy = result.clone();
        let seconds = copy["report"]["duration_ms"].as_f64().unwrap() / 1000.0;
        let read = &mut copy["report"]["read"];
        let ios = read["ios"].as_f64().unwrap();
        let block = read["bytes"].as_f64().unwrap() / ios;
        let ios = (ios * factor).round();
        read["ios"] = json!(ios as u64);
        read["bytes"] = json!((ios * block) as u64);
        read["iops"] = json!(ios / seconds);
        read["bytes_per_second"] = json!(ios * block / seconds);
        fs::write(directory.join(format!("{index}.json")), copy.to_string()).unwrap();
    }
    directory
}

const STEADY: [f64; 10] = [
    1.0, 1.01, 0.99, 1.005, 0.995, 1.002, 1.008, 0.992, 0.998, 1.001,
];

fn groups(directory: &Path, factor: f64) -> [PathBuf; 2] {
    let result = result();
    let changed = STEADY.map(|steady| steady * factor);
    [
        write_copies(directory, "before", &result, &STEADY),
        write_copies(directory, "after", &result, &changed),
    ]
}

fn compare(a: &Path, b: &Path, options: &[&str]) -> Output {
    let mut command = runner();
    command.arg("compare").args([a, b]).args(options);
    command.output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Joins all lines, because line wrapping depends on path lengths.
fn words(bytes: &[u8]) -> String {
    text(bytes).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn copies_of_a_run_are_not_independent_runs() {
    let directory = tempfile::tempdir().unwrap();
    let [before, after] = groups(directory.path(), 0.9);
    let run = before.join("0.json");
    let twice = PathBuf::from(format!("{0},{0}", run.display()));
    fs::copy(&run, before.join("copy.json")).unwrap();
    for (a, b, expected) in [
        (&twice, &after, "0.json is listed twice."),
        (&after, &before, "are copies of the same result."),
    ] {
        let output = compare(a, b, &["--fail-if", "read.iops worse than 5%"]);
        assert_eq!(output.status.code(), Some(2));
        let message = words(&output.stderr);
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn a_copy_in_both_groups_is_the_same_run() {
    let directory = tempfile::tempdir().unwrap();
    let [before, after] = groups(directory.path(), 0.9);
    fs::copy(before.join("3.json"), after.join("copy.json")).unwrap();
    let output = compare(&before, &after, &["--fail-if", "read.iops worse than 5%"]);
    let printed = words(&output.stdout);
    assert_eq!(output.status.code(), Some(6), "{printed}");
    let expected = "3.json is in both “before” and “after”.";
    assert!(printed.contains(expected), "{printed}");
}

#[test]
fn reports_with_negative_numbers_are_damaged() {
    let directory = tempfile::tempdir().unwrap();
    let result = result();
    let before = write_copies(directory.path(), "before", &result, &STEADY);
    let after = write_copies(directory.path(), "after", &result, &[1.0, -1.0]);
    let output = compare(&before, &after, &[]);
    assert_eq!(output.status.code(), Some(2));
    let message = words(&output.stderr);
    let expected = "1.json: the report is damaged: read.iops is negative.";
    assert!(message.contains(expected), "{message}");
    let mut edited = result;
    edited["report"]["jobs"][0]["read"]["clat_ns"]["mean"] = json!(-5.0);
    fs::write(after.join("1.json"), edited.to_string()).unwrap();
    let message = words(&compare(&before, &after, &[]).stderr);
    assert!(
        message.contains(".read.a mean latency is negative."),
        "{message}"
    );
}

#[test]
fn contradictory_reports_are_damaged() {
    let directory = tempfile::tempdir().unwrap();
    let result = result();
    let before = write_copies(directory.path(), "before", &result, &STEADY);
    let after = write_copies(directory.path(), "after", &result, &STEADY[..1]);
    for (field, value, expected) in [
        ("/report/read/iops", json!(5.0), "read.iops is 5, but"),
        ("/report/read/bytes", json!(512), "but 512 bytes in"),
        ("/report/duration_ms", json!(-1.0), "duration_ms is -1."),
        (
            "/report/read/lat_ns/mean",
            json!(0.001),
            "read.lat_ns.mean is 0.001, which is not between min and max.",
        ),
        (
            "/verdict/read/shares",
            json!({"device": 0.9, "page_cache": 0.2}),
            "the verdict is damaged: its shares add up to more than 1.",
        ),
    ] {
        let mut edited = result.clone();
        *edited.pointer_mut(field).unwrap() = value;
        fs::write(after.join("0.json"), edited.to_string()).unwrap();
        let output = compare(&before, &after, &[]);
        let message = words(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{field}: {message}");
        assert!(message.contains(expected), "{field}: {message}");
    }
}

#[test]
fn files_are_paired_in_natural_order() {
    let directory = tempfile::tempdir().unwrap();
    let result = result();
    // Without natural sorting, 10.json would sort second in only one of the groups.
    let factors: Vec<f64> = (0..12).map(|run| 1.0 + f64::from(run)).collect();
    let a = write_copies(directory.path(), "a", &result, &factors);
    let slower: Vec<f64> = factors.iter().map(|factor| factor * 0.93).collect();
    let b = write_copies(directory.path(), "b", &result, &slower);
    for run in 0..10 {
        fs::rename(
            b.join(format!("{run}.json")),
            b.join(format!("0{run}.json")),
        )
        .unwrap();
    }
    let rule = ["--paired", "--fail-if", "read.iops worse than 5%"];
    let output = compare(&a, &b, &rule);
    assert_eq!(output.status.code(), Some(4), "{}", text(&output.stdout));
}

#[test]
fn rules_determine_the_exit_code() {
    let directory = tempfile::tempdir().unwrap();
    let [before, after] = groups(directory.path(), 0.9);
    for (rules, expected) in [
        (&[][..], 0),
        (&["--fail-if", "read.iops worse than 20%"], 0),
        (&["--fail-if", "read.iops worse than 5%"], 4),
        (&["--fail-if", "read.iops worse than 10%"], 6),
        (
            &[
                "--fail-if",
                "read.iops worse than 10%",
                "--fail-if",
                "read.iops worse than 5%",
            ],
            4,
        ),
        // Not measured.
        (&["--fail-if", "write.iops worse than 5%"], 6),
        (&["--fail-if", "read.speed worse than 5%"], 2),
        (&["--threshold", "0"], 2),
    ] {
        let output = compare(&before, &after, rules);
        let printed = text(&output.stdout) + &text(&output.stderr);
        assert_eq!(output.status.code(), Some(expected), "{rules:?}: {printed}");
    }
    let single = compare(
        &before.join("0.json"),
        &after.join("0.json"),
        &["--fail-if", "read.iops worse than 5%"],
    );
    assert_eq!(
        single.status.code(),
        Some(6),
        "a single run is inconclusive"
    );
}

#[test]
fn output_formats_have_the_same_numbers() {
    let directory = tempfile::tempdir().unwrap();
    let [before, after] = groups(directory.path(), 0.9);
    let rule = ["--fail-if", "read.iops worse than 5%"];
    let formatted = |format: &str| {
        let output = compare(
            &before,
            &after,
            &[&rule[..], &["--format", format]].concat(),
        );
        text(&output.stdout)
    };
    let json: Value = serde_json::from_str(&formatted("json")).unwrap();
    let metrics = json["comparison"]["metrics"].as_array().unwrap();
    let iops = metrics
        .iter()
        .find(|metric| metric["name"] == "read_iops")
        .unwrap();
    assert_eq!(iops["changes"][1]["verdict"], "worse");
    assert_eq!(json["rules"][0]["outcome"], "failed");
    let plain = formatted("text");
    assert!(
        plain.contains("“after” has 10 % lower read IOPS than “before”"),
        "{plain}"
    );
    let markdown = formatted("markdown");
    assert!(
        markdown.contains("| Read IOPS |") && markdown.contains("| −10 % |"),
        "{markdown}"
    );
    let html = formatted("html");
    let tests = html.split("<h2>Tests</h2>").nth(1).unwrap();
    let hosts = json["comparison"]["groups"][0]["hosts"].as_array().unwrap();
    for expected in [
        "randread · 4 KiB · depth 1 · 1 worker",
        " UTC",
        hosts[0].as_str().unwrap(),
    ] {
        assert!(tests.contains(expected), "{expected}: {html}");
    }
    let junit = formatted("junit");
    assert!(
        junit.contains("tests=\"1\" failures=\"1\" errors=\"0\"")
            && junit.contains("<failure message=\"Changed by −10 %"),
        "{junit}"
    );
}

/// The JSON results of a study with two repeated steps.
fn study_results(directory: &Path, repeats: u32, order: &str) -> (Value, Vec<u8>) {
    let job = json!({"ioengine": "null", "size": "1g", "rw": "randread", "direct": 1,
        "runtime": "20ms", "time_based": 1});
    let study = json!({"name": "ab", "repeats": repeats, "idle_wait_seconds": 0, "order_seed": 1, "order": order, "steps": [
        {"name": "one", "jobs": [job]}, {"name": "two", "jobs": [job]}]});
    let file = directory.join("study.json");
    fs::write(&file, study.to_string()).unwrap();
    let run = runner()
        .arg("run")
        .arg(&file)
        .arg("--json")
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", text(&run.stderr));
    (serde_json::from_slice(&run.stdout).unwrap(), run.stdout)
}

/// Compares two steps, each given as file and step number, and returns the comparison as JSON.
fn compare_steps(a: (&Path, u32), b: (&Path, u32)) -> Value {
    let step = |(path, number): (&Path, u32)| PathBuf::from(format!("{}#{number}", path.display()));
    let output = compare(&step(a), &step(b), &["--format", "json"]);
    let printed = text(&output.stdout) + &text(&output.stderr);
    let json: Value = serde_json::from_slice(&output.stdout).expect(&printed);
    json["comparison"].clone()
}

fn is_paired(comparison: &Value) -> bool {
    let change = &comparison["metrics"][0]["changes"][1];
    let is_marked = comparison["comparability"]["reasons"]
        .to_string()
        .contains("not interleaved");
    assert_ne!(change["paired"], is_marked, "{comparison}");
    change["paired"] == true
}

#[test]
fn only_runs_of_the_same_interleaved_study_are_paired() {
    let directory = tempfile::tempdir().unwrap();
    let store = |name: &str, order: &str| {
        let file = directory.path().join(name);
        fs::write(&file, study_results(directory.path(), 3, order).1).unwrap();
        file
    };
    let monday = store("monday.json", "interleaved");
    let tuesday = store("tuesday.json", "interleaved");
    let sequential = store("sequential.json", "sequential");
    assert!(is_paired(&compare_steps((&monday, 1), (&monday, 2))));
    assert!(!is_paired(&compare_steps((&monday, 1), (&tuesday, 1))));
    assert!(!is_paired(&compare_steps(
        (&sequential, 1),
        (&sequential, 2)
    )));
    let labels = compare_steps((&monday, 1), (&tuesday, 1))["groups"].to_string();
    assert!(
        labels.contains("monday.json#1)") && labels.contains("tuesday.json#1)"),
        "{labels}"
    );
    let same = compare_steps((&monday, 1), (&monday, 1));
    let sentence = same["comparability"]["sentence"].as_str().unwrap();
    assert!(sentence.contains("are in both"), "{sentence}");
}

#[test]
fn steps_without_a_result_are_incomplete_runs() {
    let directory = tempfile::tempdir().unwrap();
    let (mut results, _) = study_results(directory.path(), 3, "interleaved");
    let last = results["steps"].as_array_mut().unwrap().last_mut().unwrap();
    let skipped = json!({"step": last["step"], "repeat": last["repeat"], "name": last["name"],
        "note": null, "status": "cancelled", "exit_code": null});
    let number = last["step"].as_u64().unwrap() as usize;
    *last = skipped;
    let file = directory.path().join("interrupted.json");
    fs::write(&file, results.to_string()).unwrap();
    let comparison = compare_steps((&file, 1), (&file, 2));
    assert_eq!(comparison["groups"][number - 1]["complete"], 2);
    assert_eq!(comparison["metrics"][0]["changes"][1]["n"], 2);
    let reasons = comparison["comparability"]["reasons"].to_string();
    assert!(
        reasons.contains("has no report (status: cancelled), so it is excluded."),
        "{reasons}"
    );
}

#[test]
fn steps_of_a_repeated_study_are_paired() {
    let directory = tempfile::tempdir().unwrap();
    let (results, stdout) = study_results(directory.path(), 6, "interleaved");
    let steps = results["steps"].as_array().unwrap();
    let order: Vec<(u64, u64)> = steps
        .iter()
        .map(|step| {
            (
                step["repeat"].as_u64().unwrap(),
                step["step"].as_u64().unwrap(),
            )
        })
        .collect();
    assert_eq!(order.len(), 12);
    assert!(
        order
            .chunks(2)
            .all(|pair| pair[0].0 == pair[1].0 && pair[0].1 != pair[1].1)
    );
    assert!(
        order.chunks(2).any(|pair| pair[0].1 == 2),
        "the order is not random: {order:?}"
    );
    let seeds = |repeat: u64| -> Vec<&Value> {
        let block = steps.iter().filter(|step| step["repeat"] == repeat);
        block.map(|step| &step["jobs"][0]["randseed"]).collect()
    };
    assert_eq!(seeds(1)[0], seeds(1)[1]);
    assert_ne!(seeds(1)[0], seeds(2)[0]);

    let stored = directory.path().join("results.json");
    fs::write(&stored, &stdout).unwrap();
    let step = |number: u32| PathBuf::from(format!("{}#{number}", stored.display()));
    let output = compare(&step(1), &step(2), &["--format", "json"]);
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let comparison = &json["comparison"];
    assert_eq!(comparison["groups"][0]["label"], "one");
    assert_eq!(comparison["metrics"][0]["changes"][1]["paired"], true);
    let ambiguous = compare(&stored, &step(2), &[]);
    assert_eq!(ambiguous.status.code(), Some(2));
    assert!(text(&ambiguous.stderr).contains("multiple steps"));
}

#[test]
fn invalid_sources_are_reported_by_name() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    fs::write(path("text.json"), "no").unwrap();
    fs::write(path("other.json"), "{\"a\": 1}").unwrap();
    fs::create_dir(path("empty")).unwrap();
    for (name, expected) in [
        ("missing.json", "cannot be read"),
        ("text.json", "is not valid JSON"),
        ("other.json", "this is not a run result"),
        ("empty", "contains no results"),
    ] {
        let output = compare(&path(name), &path(name), &[]);
        let printed = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{printed}");
        assert!(
            printed.matches(expected).count() == 2,
            "not reported for both sources: {printed}"
        );
    }
}

/// A run in the server's response format.
fn server_run(number: u32, result: &Value) -> Value {
    json!({"number": number, "status": "done", "jobs": 1, "resolved": result["jobs"],
        "host_facts": result["host"], "report": result["report"], "verdict": result["verdict"],
        "findings": [], "sample_ms": 100, "study": null, "repeat": null, "damaged": false})
}

/// Starts a server that returns one run per request, in order. The thread returns the requests.
fn serve(runs: Vec<Value>) -> (SocketAddr, JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = thread::spawn(move || {
        let mut requests = Vec::new();
        for run in runs {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = vec![0; 4096];
            let length = stream.read(&mut request).unwrap();
            requests.push(String::from_utf8_lossy(&request[..length]).into_owned());
            let run = run.to_string();
            write!(
                stream,
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{run}",
                run.len()
            )
            .unwrap();
        }
        requests
    });
    (address, server)
}

/// A server omits the results of a run that does not match its checksum. Such a run or baseline
/// must not pass a rule, even if the server returns results.
#[test]
fn damaged_runs_cannot_pass_a_rule() {
    let result = result();
    for has_result in [true, false] {
        for damaged in [7, 8] {
            let runs = [7, 8].map(|number| {
                let mut run = server_run(number, &result);
                if number == damaged {
                    run["damaged"] = json!(true);
                    run["report"] = if has_result {
                        run["report"].take()
                    } else {
                        Value::Null
                    };
                }
                run
            });
            let (address, server) = serve(runs.into());
            let [a, b] = [7, 8].map(|run| PathBuf::from(format!("http://{address}/runs/{run}")));
            let output = compare(&a, &b, &["--fail-if", "read.iops worse than 1000%"]);
            let message = words(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{message}");
            let expected = format!(
                "the stored data of run #{damaged} is damaged, so it cannot be compared. Delete or exclude the run."
            );
            assert!(message.contains(&expected), "{message}");
            assert!(output.stdout.is_empty(), "{}", text(&output.stdout));
            server.join().unwrap();
        }
    }
}

#[test]
fn server_runs_are_fetched_with_the_token() {
    let result = result();
    let (address, server) = serve([7, 8].map(|number| server_run(number, &result)).into());
    let run = |number: u32| PathBuf::from(format!("http://{address}/runs/{number}"));
    let mut command = runner();
    command.arg("compare").args([run(7), run(8)]);
    let output = command
        .env("LEADLINE_TOKEN", "secret-secret-secret")
        .output()
        .unwrap();
    let printed = text(&output.stdout);
    assert!(
        printed.contains("#7") || printed.contains("/runs/7"),
        "{printed}"
    );
    assert_eq!(output.status.code(), Some(0));
    let requests = server.join().unwrap();
    assert!(
        requests[0].starts_with("GET /api/v1/runs/7 "),
        "{}",
        requests[0]
    );
    let sent = requests[1].to_lowercase();
    assert!(
        sent.contains("authorization: bearer secret-secret-secret"),
        "{sent}"
    );
}
