//! The server's startup message.

use crate::{config::ResolvedConfig, supervisor::runner::Runner};
use leadline_protocol::doctor::CheckStatus;
use std::{
    io::{self, Write},
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
};

pub(crate) struct Banner<'a> {
    pub config: &'a ResolvedConfig,
    pub address: SocketAddr,
    /// Path of a one-time sign-in link.
    pub login_path: Option<String>,
    /// Whether the requested port was already in use.
    pub other_port: bool,
    /// Number of runs interrupted by the previous shutdown.
    pub interrupted: usize,
}

impl Banner<'_> {
    pub(crate) fn print(&self) -> io::Result<()> {
        let config = self.config;
        let address = self.address;
        let mut out = io::stdout().lock();
        writeln!(out, "Leadline {}", env!("CARGO_PKG_VERSION"))?;
        if self.other_port {
            let requested = config.listen.port();
            let port = address.port();
            writeln!(out, "  Port {requested} is in use; using port {port}.")?;
        }
        let origin = url(address);
        let origin = origin.trim_end_matches('/');
        match &self.login_path {
            Some(path) => writeln!(out, "  Open     {origin}{path}")?,
            None => writeln!(out, "  Open     {origin}/")?,
        }
        if config.tokens.is_some() {
            let data_dir = config.data_dir.display();
            let what = match self.login_path {
                Some(_) => "this link works once and expires in an hour. For another, run ",
                None => "",
            };
            writeln!(out, "  Sign in  {what}leadline login --data-dir {data_dir}")?;
        }
        writeln!(out, "  Data     {}", config.data_dir.display())?;
        for root in &config.target_roots {
            writeln!(out, "  Targets  {}", root.display())?;
        }
        if address.ip().is_unspecified() && config.allowed_hosts.is_empty() {
            writeln!(
                out,
                "  Access from other hosts requires --allowed-host NAME."
            )?;
        }
        if self.interrupted > 0 {
            let runs = match self.interrupted {
                1 => "1 run was".into(),
                runs => format!("{runs} runs were"),
            };
            writeln!(
                out,
                "  {runs} interrupted when the server last stopped; the results measured until then are kept."
            )?;
        }
        out.flush()
    }
}

/// The URL to open in a browser.
pub(crate) fn url(mut address: SocketAddr) -> String {
    if address.ip().is_unspecified() {
        let loopback: IpAddr = match address {
            SocketAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
            SocketAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
        };
        address.set_ip(loopback);
    }
    format!("http://{address}/")
}

/// Prints the checks that this host fails.
pub(crate) async fn print_host_problems(runner: Runner) {
    let lines: Vec<String> = match runner.doctor().await {
        Err(error) => vec![format!("  Runner   not available; runs will fail: {error}")],
        Ok(doctor) => doctor
            .checks
            .into_iter()
            .filter(|check| check.status != CheckStatus::Ok)
            .map(|check| {
                let problem = format!("  Host     {}: {}", check.name, check.detail);
                match check.remedy {
                    Some(remedy) => format!("{problem}\n           {remedy}"),
                    None => problem,
                }
            })
            .collect(),
    };
    let mut out = io::stdout().lock();
    for line in lines {
        let _ = writeln!(out, "{line}");
    }
    let _ = out.flush();
}
