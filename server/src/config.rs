//! Options for `leadline serve`. `resolve` applies all defaults.

use crate::api::auth::{token_file, tokens::Tokens};
use anyhow::Context;
use clap::{Args, ValueEnum};
use std::{
    ffi::OsString,
    fs::DirBuilder,
    net::{IpAddr, SocketAddr, ToSocketAddrs},
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
    time::Duration,
};

/// Environment variables that contain tokens. They are not passed to other processes.
pub(crate) const TOKEN_VARIABLES: [&str; 3] = [
    "LEADLINE_TOKEN",
    "LEADLINE_READ_TOKEN",
    "LEADLINE_METRICS_TOKEN",
];
/// Default maximum number of concurrent runs. Concurrent runs disturb each other's results.
const MAX_RUNNING: usize = 1;
/// Default heartbeat interval, shorter than the idle timeouts of common proxies.
const HEARTBEAT_MS: u64 = 10_000;
/// Name of the runner program in the server program's directory.
const RUNNER: &str = "leadline-runner";
/// Minimum token length in characters. Tokens must not be guessable, because sign-in attempts are
/// not rate-limited.
const MIN_TOKEN: usize = 16;

#[derive(Args, Clone, Debug)]
pub struct DataDir {
    /// Directory for the database, the token and the default target root
    #[arg(
        id = "data_dir",
        long = "data-dir",
        env = "LEADLINE_DATA_DIR",
        value_name = "DIR",
        default_value = "var"
    )]
    pub(crate) dir: PathBuf,
}

#[derive(Args, Clone, Debug)]
pub struct Config {
    /// Address and port to listen on; if the port is in use, the next free one is used
    #[arg(
        long,
        env = "LEADLINE_LISTEN",
        value_name = "ADDR",
        default_value = "127.0.0.1:7070"
    )]
    listen: String,
    #[command(flatten)]
    data: DataDir,
    /// Directory whose files may be used as targets; repeatable [env: LEADLINE_TARGET_ROOT,
    /// separated by colons] [default: DATA_DIR/targets]
    #[arg(long = "target-root", value_name = "DIR")]
    target_roots: Vec<PathBuf>,
    /// Permit raw writes to the device with this identity, as shown on the Devices page; repeatable
    /// [env: LEADLINE_ALLOW_RAW_WRITE, separated by commas]
    #[arg(long = "allow-raw-write", value_name = "IDENTITY")]
    raw_writes: Vec<String>,
    /// Token that clients must send [default: the token in DATA_DIR/token]
    #[arg(
        long,
        env = "LEADLINE_TOKEN",
        hide_env_values = true,
        conflicts_with = "no_auth"
    )]
    token: Option<String>,
    /// Token that permits read-only requests
    #[arg(
        long,
        env = "LEADLINE_READ_TOKEN",
        hide_env_values = true,
        value_name = "TOKEN",
        conflicts_with = "no_auth"
    )]
    read_token: Option<String>,
    /// Token that permits only GET /api/v1/metrics
    #[arg(
        long,
        env = "LEADLINE_METRICS_TOKEN",
        hide_env_values = true,
        value_name = "TOKEN",
        conflicts_with = "no_auth"
    )]
    metrics_token: Option<String>,
    /// Disable authentication; allowed only on loopback addresses
    #[arg(long)]
    no_auth: bool,
    /// Additional host name of this server; repeatable
    #[arg(
        long = "allowed-host",
        env = "LEADLINE_ALLOWED_HOST",
        value_name = "NAME",
        value_delimiter = ','
    )]
    allowed_hosts: Vec<String>,
    /// Maximum number of concurrent runs; they disturb each other's results, and never overlap on
    /// the same device
    #[arg(long, env = "LEADLINE_MAX_RUNNING", value_name = "N", default_value_t = MAX_RUNNING)]
    max_running: usize,
    /// WebSocket heartbeat interval, in milliseconds
    #[arg(
        long,
        env = "LEADLINE_HEARTBEAT_MS",
        value_name = "MS",
        default_value_t = HEARTBEAT_MS,
        value_parser = clap::value_parser!(u64).range(100..)
    )]
    heartbeat_ms: u64,
    /// Runner program [default: leadline-runner in this program's directory]
    #[arg(long, env = "LEADLINE_RUNNER", value_name = "PATH")]
    runner: Option<PathBuf>,
    /// Log format
    #[arg(long, value_enum, default_value_t = LogFormat::Auto)]
    pub log_format: LogFormat,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum LogFormat {
    /// Text on a terminal, JSON otherwise
    Auto,
    /// Human-readable text
    Text,
    /// One JSON object per line
    Json,
}

/// Configuration with all defaults applied. Directories exist, and paths are canonical.
#[derive(Clone, Debug)]
pub(crate) struct ResolvedConfig {
    pub listen: SocketAddr,
    pub data_dir: PathBuf,
    pub target_roots: Vec<PathBuf>,
    /// Identities of devices to which raw writes are permitted.
    pub raw_writes: Vec<String>,
    /// `None` disables authentication.
    pub tokens: Option<Tokens>,
    pub allowed_hosts: Vec<String>,
    pub max_running: usize,
    pub heartbeat: Duration,
    pub runner: PathBuf,
}

impl Config {
    /// Resolves defaults and creates missing directories.
    pub(crate) fn resolve(self) -> anyhow::Result<ResolvedConfig> {
        let listen = parse_address(&self.listen)?;
        check_no_auth(self.no_auth, listen.ip())?;
        let data_dir = create_dir(&self.data.dir)?;
        let environment = std::env::var_os("LEADLINE_TARGET_ROOT");
        let target_roots = match target_roots(self.target_roots, environment) {
            roots if roots.is_empty() => vec![create_dir(&data_dir.join("targets"))?],
            roots => canonical_roots(&roots)?,
        };
        let tokens = match self.token {
            _ if self.no_auth => None,
            token => Some(Tokens {
                full: match token {
                    Some(token) => check_token("--token", token)?,
                    None => token_file::load_or_create(&data_dir.join("token"))?,
                },
                read: check_optional_token("--read-token", self.read_token)?,
                metrics: check_optional_token("--metrics-token", self.metrics_token)?,
            }),
        };
        let runner = match self.runner {
            Some(path) => std::path::absolute(path)?,
            None => std::env::current_exe()?.with_file_name(RUNNER),
        };
        Ok(ResolvedConfig {
            listen,
            target_roots,
            raw_writes: self.raw_writes,
            data_dir,
            tokens,
            allowed_hosts: self.allowed_hosts,
            max_running: self.max_running.max(1),
            heartbeat: Duration::from_millis(self.heartbeat_ms),
            runner,
        })
    }
}

fn parse_address(text: &str) -> anyhow::Result<SocketAddr> {
    let addresses = text.to_socket_addrs().ok();
    addresses
        .and_then(|mut addresses| addresses.next())
        .with_context(|| {
            format!(
                "invalid --listen address {text}: use a form such as 127.0.0.1:7070 or [::1]:7070"
            )
        })
}

fn check_no_auth(no_auth: bool, listen: IpAddr) -> anyhow::Result<()> {
    anyhow::ensure!(
        !no_auth || listen.is_loopback(),
        "--no-auth is not allowed on {listen}: anyone on the network could write to this host. Listen on 127.0.0.1 or omit --no-auth"
    );
    Ok(())
}

fn check_optional_token(option: &str, token: Option<String>) -> anyhow::Result<Option<String>> {
    token.map(|token| check_token(option, token)).transpose()
}

fn check_token(option: &str, token: String) -> anyhow::Result<String> {
    anyhow::ensure!(
        token_file::is_valid_token(&token),
        "{option} may contain only letters, digits and -_.~"
    );
    anyhow::ensure!(
        token.len() >= MIN_TOKEN,
        "{option} has only {} characters and can be guessed. Use at least {MIN_TOKEN}, such as the output of: openssl rand -hex 16",
        token.len()
    );
    Ok(token)
}

/// Returns the roots from the command line or, if there are none, from the environment.
fn target_roots(arguments: Vec<PathBuf>, environment: Option<OsString>) -> Vec<PathBuf> {
    if !arguments.is_empty() {
        return arguments;
    }
    match environment {
        Some(paths) if !paths.is_empty() => std::env::split_paths(&paths)
            .filter(|path| !path.as_os_str().is_empty())
            .collect(),
        _ => Vec::new(),
    }
}

/// Returns the canonical paths. Does not create missing directories, because they may be mount
/// points whose filesystem is not mounted.
fn canonical_roots(roots: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    let canonical = |root: &PathBuf| {
        let path = root.canonicalize().ok().filter(|path| path.is_dir());
        path.with_context(|| {
            format!(
                "the target root {} is not a directory. Create it, or mount its filesystem",
                root.display()
            )
        })
    };
    roots.iter().map(canonical).collect()
}

/// Returns the canonical path of the directory. If it does not exist, creates it so that only its
/// owner has access.
fn create_dir(directory: &Path) -> anyhow::Result<PathBuf> {
    let mut private = DirBuilder::new();
    private.recursive(true).mode(0o700);
    private
        .create(directory)
        .and_then(|()| directory.canonicalize())
        .with_context(|| format!("cannot create directory {}", directory.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_auth_requires_loopback() {
        for (no_auth, listen, expect) in [
            (true, "127.0.0.1", true),
            (true, "::1", true),
            (true, "0.0.0.0", false),
            (true, "10.0.0.5", false),
            (false, "0.0.0.0", true),
        ] {
            assert_eq!(
                check_no_auth(no_auth, listen.parse().unwrap()).is_ok(),
                expect,
                "{no_auth} {listen}"
            );
        }
    }

    #[test]
    fn command_line_roots_override_the_environment() {
        let check = |arguments: &[&str], environment: Option<&str>, expect: &[&str]| {
            let arguments = arguments.iter().map(PathBuf::from).collect();
            let expect: Vec<PathBuf> = expect.iter().map(PathBuf::from).collect();
            assert_eq!(target_roots(arguments, environment.map(Into::into)), expect);
        };
        check(&["/a:b"], Some("/x"), &["/a:b"]);
        check(&[], Some("/x:/y:"), &["/x", "/y"]);
        check(&[], Some(""), &[]);
        check(&[], None, &[]);
    }

    #[test]
    fn parses_listen_addresses() {
        assert_eq!(parse_address("127.0.0.1:0").unwrap().port(), 0);
        assert!(parse_address("[::1]:7070").unwrap().is_ipv6());
        assert!(parse_address("7070").is_err());
    }
}
