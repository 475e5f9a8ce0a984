//! Runs a program pinned to CPUs. Its CPU time and context switches, including those of its
//! children, come from wait4(2), so all contenders are measured the same way.

use anyhow::{Context, Result, bail};
use std::{
    fs::read_to_string,
    io::{Read, Write},
    os::unix::process::ExitStatusExt,
    path::PathBuf,
    process::{Command, ExitStatus, Stdio},
};
use tempfile::NamedTempFile;

#[derive(Clone, Debug)]
pub struct Invocation {
    pub program: PathBuf,
    pub args: Vec<String>,
    pub input: Option<String>,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Cost {
    /// User CPU time in ns.
    pub user_ns: f64,
    /// System CPU time in ns.
    pub system_ns: f64,
    pub context_switches: f64,
}

/// Returns the program's standard output and cost. If the program fails, the error contains its
/// standard error output.
pub fn run(cpus: &str, invocation: &Invocation) -> Result<(String, Cost)> {
    let program = invocation.program.display();
    let errors = NamedTempFile::new()?;
    let mut child = Command::new("taskset")
        .args(["-c", cpus])
        .arg(&invocation.program)
        .args(&invocation.args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(errors.reopen()?)
        .spawn()
        .context("cannot start taskset")?;
    let mut stdin = child.stdin.take().expect("standard input is a pipe");
    stdin.write_all(invocation.input.as_deref().unwrap_or_default().as_bytes())?;
    drop(stdin);
    let mut output = String::new();
    child
        .stdout
        .take()
        .expect("standard output is a pipe")
        .read_to_string(&mut output)?;
    let (status, cost) = wait(child.id())?;
    if !status.success() {
        bail!(
            "{program} failed with {status}: {}{output}",
            read_to_string(errors.path())?.trim()
        );
    }
    Ok((output, cost))
}

/// Returns the standard output of a program, regardless of its exit status.
pub fn output(invocation: &Invocation) -> Result<String> {
    let mut child = Command::new(&invocation.program)
        .args(&invocation.args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let mut stdin = child.stdin.take().expect("standard input is a pipe");
    stdin.write_all(invocation.input.as_deref().unwrap_or_default().as_bytes())?;
    drop(stdin);
    let output = child.wait_with_output()?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn wait(pid: u32) -> Result<(ExitStatus, Cost)> {
    let mut status = 0;
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: both addresses are valid for the call; the process is our child and nothing else
    // waits for it.
    let waited = unsafe { libc::wait4(pid.cast_signed(), &raw mut status, 0, usage.as_mut_ptr()) };
    if waited < 0 {
        return Err(std::io::Error::last_os_error()).context("wait4");
    }
    // SAFETY: all zeros are a valid rusage, and wait4 filled it.
    let usage = unsafe { usage.assume_init() };
    let ns = |time: libc::timeval| time.tv_sec as f64 * 1e9 + time.tv_usec as f64 * 1e3;
    let cost = Cost {
        user_ns: ns(usage.ru_utime),
        system_ns: ns(usage.ru_stime),
        context_switches: (usage.ru_nvcsw + usage.ru_nivcsw) as f64,
    };
    Ok((ExitStatus::from_raw(status), cost))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Result<(String, Cost)> {
        let args = vec!["-c".into(), script.into()];
        run(
            "0",
            &Invocation {
                program: "sh".into(),
                args,
                input: Some("in".into()),
            },
        )
    }

    #[test]
    fn returns_stdout_and_cost() {
        let (output, cost) =
            shell("cat; i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done").unwrap();
        assert_eq!(output, "in");
        assert!(cost.user_ns > 1e6, "{cost:?}");
    }

    #[test]
    fn error_includes_stderr() {
        let error = shell("echo why >&2; exit 3").unwrap_err().to_string();
        assert!(
            error.contains("exit status: 3") && error.contains("why"),
            "{error}"
        );
    }
}
