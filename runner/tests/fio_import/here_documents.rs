//! Job files in shell here-documents: fio and the runner start the same jobs and transfer the same
//! number of blocks.

use crate::input;
use serde_json::Value;
use std::process::Command;

const TEXTS: [&str; 6] = [
    "fio --output-format=json --ioengine=null --bs=8k --name=c --rw=read --size=1m - <<'EOF'
[j]
rw=read
size=1m
[k]
rw=write
size=2m
EOF
",
    "fio --output-format=json --ioengine=null - --bs=16k <<EOF
[j]
rw=read
size=1m
EOF
",
    "fio --output-format=json --ioengine=null --bs=8k --name=c --rw=read --size=1m - --name=d --rw=write --size=1m <<EOF
[global]
bs=64k
[j]
rw=read
size=1m
EOF
",
    "cat > job.fio <<'EOF'
[global]
ioengine=null
[j]
rw=read
bs=32k
size=1m
EOF
fio --output-format=json job.fio
",
    "tee job.fio <<'EOF' > /dev/null
[j]
ioengine=null
size=4k
kb_base=1000
bs=1000
rw=write
EOF
fio --output-format=json job.fio --bs=500
",
    "fio --output-format=json --ioengine=null --name=a --rw=read --size=64k <<EOF
[b]
rw=write
size=64k
EOF
",
];

/// Returns the name, reads and writes of each job.
fn jobs(output: &[u8], context: &str) -> Vec<(String, u64, u64)> {
    let result: Value = serde_json::from_slice(output)
        .unwrap_or_else(|error| panic!("{context}: {error}: {}", String::from_utf8_lossy(output)));
    let ios = |job: &Value, direction: &str| job[direction]["total_ios"].as_u64().unwrap();
    let job = |job: &Value| {
        let name = job["jobname"].as_str().unwrap().to_owned();
        (name, ios(job, "read"), ios(job, "write"))
    };
    result["jobs"].as_array().unwrap().iter().map(job).collect()
}

#[test]
fn job_files_in_here_documents_match_fio() {
    if Command::new("fio").arg("--version").output().is_err() {
        eprintln!("SKIP: fio is not installed");
        return;
    }
    for text in TEXTS {
        let root = tempfile::tempdir().unwrap();
        let fio = Command::new("sh")
            .args(["-c", text])
            .current_dir(root.path())
            .output()
            .unwrap();
        let mut runner = Command::new(env!("CARGO_BIN_EXE_leadline-runner"));
        runner
            .args(["run", "-", "--output-format=json"])
            .current_dir(root.path());
        let runner_output = input::output(&mut runner, text);
        let messages = String::from_utf8_lossy(&runner_output.stderr);
        assert_eq!(
            jobs(&runner_output.stdout, &format!("{text}{messages}")),
            jobs(&fio.stdout, text),
            "{text}{messages}"
        );
    }
}
