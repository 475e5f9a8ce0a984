//! What the server is told on the command line and by its environment, and what that amounts to: after `settle` no
//! option is open.

use crate::api::auth::token;
use anyhow::Context;
use clap::{Args, ValueEnum};
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};

/// How many runs run side by side when nothing is said: enough for a few disks, few enough to leave them the processors.
const MAX_RUNNING: usize = 4;
/// The name of the runner, beside the server.
const RUNNER: &str = "leadline-runner";

/// What `leadline serve` is told.
#[derive(Args, Clone, Debug)]
pub struct Config {
    /// Address and port to listen on; the next free port is taken when this one is in use
    #[arg(
        long,
        env = "LEADLINE_LISTEN",
        value_name = "ADDR",
        default_value = "127.0.0.1:7070"
    )]
    pub listen: String,
    /// Where runs, token and default targets are kept
    #[arg(
        long,
        env = "LEADLINE_DATA_DIR",
        value_name = "DIR",
        default_value = "var"
    )]
    pub data_dir: PathBuf,
    /// Files may be targets only under these directories; several times [env: LEADLINE_TARGET_ROOT, separated by colons] [default: DATA_DIR/targets]
    #[arg(long = "target-root", value_name = "DIR")]
    pub target_roots: Vec<PathBuf>,
    /// Devices that may be overwritten, by identity. Not built yet: raw writes stay refused
    #[arg(
        long,
        env = "LEADLINE_ALLOW_RAW_WRITE",
        value_name = "IDENTITY",
        value_delimiter = ','
    )]
    pub allow_raw_write: Vec<String>,
    /// The token that callers must have, instead of the one in DATA_DIR/token
    #[arg(
        long,
        env = "LEADLINE_TOKEN",
        hide_env_values = true,
        conflicts_with = "no_auth"
    )]
    pub token: Option<String>,
    /// Ask for no token; only on a loopback address
    #[arg(long)]
    pub no_auth: bool,
    /// Further names that this server is reached by; several times
    #[arg(
        long = "allowed-host",
        env = "LEADLINE_ALLOWED_HOST",
        value_name = "NAME",
        value_delimiter = ','
    )]
    pub allowed_hosts: Vec<String>,
    /// How many runs may run side by side, each on devices of its own
    #[arg(long, value_name = "N", default_value_t = MAX_RUNNING)]
    pub max_running: usize,
    /// The runner [default: leadline-runner beside this program]
    #[arg(long, env = "LEADLINE_RUNNER", value_name = "PATH")]
    pub runner: Option<PathBuf>,
    /// How the log is written
    #[arg(long, value_enum, default_value_t = LogFormat::Auto)]
    pub log_format: LogFormat,
}

/// How the log is written.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum LogFormat {
    /// Text on a terminal, JSON otherwise
    Auto,
    /// For people
    Text,
    /// One object a line
    Json,
}

/// What the configuration amounts to.
#[derive(Clone, Debug)]
pub struct Settled {
    /// Where to listen.
    pub listen: SocketAddr,
    /// Where runs and token are kept; there.
    pub data_dir: PathBuf,
    /// Where targets may lie; there.
    pub target_roots: Vec<PathBuf>,
    /// The token; `None` when none is asked for.
    pub token: Option<String>,
    /// Further names of the server.
    pub allowed_hosts: Vec<String>,
    /// How many runs may run side by side.
    pub max_running: usize,
    /// The runner.
    pub runner: PathBuf,
}

impl Config {
    /// Settles everything, and makes the directories that are missing.
    ///
    /// # Errors
    /// What is wrong, with what to do about it.
    pub fn settle(self) -> anyhow::Result<Settled> {
        let listen = address(&self.listen)?;
        refuse_open_door(self.no_auth, listen.ip())?;
        let data_dir = made(&self.data_dir)?;
        let target_roots = target_roots(
            self.target_roots,
            std::env::var_os("LEADLINE_TARGET_ROOT"),
            &data_dir,
        );
        let target_roots = target_roots
            .iter()
            .map(|root| made(root))
            .collect::<anyhow::Result<_>>()?;
        let token = match (self.no_auth, self.token) {
            (true, _) => None,
            (false, Some(token)) => Some(checked(token)?),
            (false, None) => Some(token::load_or_make(&data_dir.join("token"))?),
        };
        if !self.allow_raw_write.is_empty() {
            tracing::warn!("--allow-raw-write has no effect yet: raw writes stay refused");
        }
        Ok(Settled {
            listen,
            data_dir,
            target_roots,
            token,
            allowed_hosts: self.allowed_hosts,
            max_running: self.max_running.max(1),
            runner: runner(self.runner)?,
        })
    }
}

fn address(text: &str) -> anyhow::Result<SocketAddr> {
    let found = text
        .to_socket_addrs()
        .ok()
        .and_then(|mut addresses| addresses.next());
    found.with_context(|| {
        format!("--listen {text} is no address: write 127.0.0.1:7070 or [::1]:7070")
    })
}

fn refuse_open_door(no_auth: bool, listen: IpAddr) -> anyhow::Result<()> {
    anyhow::ensure!(
        !no_auth || listen.is_loopback(),
        "--no-auth is refused on {listen}: everybody on the network could write to this host. Listen on 127.0.0.1, or leave --no-auth out"
    );
    Ok(())
}

fn checked(token: String) -> anyhow::Result<String> {
    anyhow::ensure!(
        token::is_plain(&token),
        "--token may hold letters, digits and -_.~ only"
    );
    if token.len() < 16 {
        tracing::warn!("the token is short: whoever guesses it may do everything");
    }
    Ok(token)
}

fn target_roots(
    said: Vec<PathBuf>,
    environment: Option<std::ffi::OsString>,
    data_dir: &Path,
) -> Vec<PathBuf> {
    match (said.is_empty(), environment) {
        (false, _) => said,
        (true, Some(paths)) if !paths.is_empty() => std::env::split_paths(&paths)
            .filter(|path| !path.as_os_str().is_empty())
            .collect(),
        (true, _) => vec![data_dir.join("targets")],
    }
}

/// The directory, made where it is missing, as an absolute path without links.
fn made(directory: &Path) -> anyhow::Result<PathBuf> {
    std::fs::create_dir_all(directory)
        .with_context(|| format!("making {}", directory.display()))?;
    directory
        .canonicalize()
        .with_context(|| format!("looking at {}", directory.display()))
}

fn runner(said: Option<PathBuf>) -> anyhow::Result<PathBuf> {
    match said {
        Some(path) => {
            std::path::absolute(&path).with_context(|| format!("looking at {}", path.display()))
        }
        None => Ok(std::env::current_exe()?.with_file_name(RUNNER)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_token_only_on_loopback() {
        for (no_auth, listen, expect) in [
            (true, "127.0.0.1", true),
            (true, "::1", true),
            (true, "0.0.0.0", false),
            (true, "10.0.0.5", false),
            (false, "0.0.0.0", true),
        ] {
            assert_eq!(
                refuse_open_door(no_auth, listen.parse().unwrap()).is_ok(),
                expect,
                "{no_auth} {listen}"
            );
        }
    }

    #[test]
    fn target_roots_come_from_the_first_that_says_some() {
        let check = |said: &[&str], environment: Option<&str>, expect: &[&str]| {
            let said = said.iter().map(PathBuf::from).collect();
            let expect: Vec<PathBuf> = expect.iter().map(PathBuf::from).collect();
            assert_eq!(
                target_roots(said, environment.map(Into::into), Path::new("/d")),
                expect
            );
        };
        check(&["/a:b"], Some("/x"), &["/a:b"]);
        check(&[], Some("/x:/y:"), &["/x", "/y"]);
        check(&[], Some(""), &["/d/targets"]);
        check(&[], None, &["/d/targets"]);
    }

    #[test]
    fn addresses_are_read() {
        assert_eq!(address("127.0.0.1:0").unwrap().port(), 0);
        assert!(address("[::1]:7070").unwrap().is_ipv6());
        assert!(address("7070").is_err());
    }
}
