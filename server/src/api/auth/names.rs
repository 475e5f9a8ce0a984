//! The names that this server answers to, and whether a page is its own. Pure.

use crate::error::ApiError;
use axum::http::uri::{Authority, Uri};
use axum::http::{HeaderMap, header};
use std::collections::BTreeSet;
use std::net::IpAddr;

/// The names that may stand in `Host`, in lower case, without ports: behind a forwarded port the server does not know
/// the one that is seen outside, and the name is what tells a foreign page.
#[derive(Clone, Debug)]
pub struct Names(BTreeSet<String>);

impl Names {
    /// Loopback's names, the address listened on, and those that were allowed.
    pub fn new(listen: IpAddr, allowed: &[String]) -> Self {
        let mut names: BTreeSet<String> = ["localhost", "127.0.0.1", "[::1]"]
            .map(str::to_owned)
            .into();
        if !listen.is_unspecified() {
            names.insert(if listen.is_ipv6() {
                format!("[{listen}]")
            } else {
                listen.to_string()
            });
        }
        names.extend(allowed.iter().map(|name| name.to_lowercase()));
        Self(names)
    }

    /// The `Host` of a request, name and port, in lower case.
    ///
    /// # Errors
    /// It is missing, there are several, or it is none of ours.
    pub fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<String, ApiError> {
        let mut hosts = headers.get_all(header::HOST).iter();
        let (first, second) = (hosts.next(), hosts.next());
        let host = first
            .filter(|_| second.is_none())
            .and_then(|host| host.to_str().ok())
            .unwrap_or_default();
        // A request line with a whole address (`GET http://name/`) names its host twice.
        let line_agrees = uri
            .authority()
            .is_none_or(|authority| authority.as_str().eq_ignore_ascii_case(host));
        match self.knows(host) && line_agrees {
            true => Ok(host.to_lowercase()),
            false => Err(foreign(host)),
        }
    }

    fn knows(&self, host: &str) -> bool {
        let Ok(authority) = host.parse::<Authority>() else {
            return false;
        };
        !host.contains('@') && self.0.contains(&authority.host().to_lowercase())
    }
}

fn foreign(host: &str) -> ApiError {
    let shown: String = host.chars().take(100).collect();
    ApiError::Forbidden {
        code: "foreign_host",
        sentence: format!("`{shown}` is not a name of this server."),
        remedy: "Open the address that it printed, or start it with --allowed-host NAME.".into(),
    }
}

/// Whether an `Origin` is the page that this `Host` (lower case) serves.
pub fn same_origin(origin: &[u8], host: &str) -> bool {
    let Ok(origin) = std::str::from_utf8(origin) else {
        return false;
    };
    let rest = origin
        .strip_prefix("http://")
        .or_else(|| origin.strip_prefix("https://"));
    rest.is_some_and(|rest| !rest.is_empty() && rest.eq_ignore_ascii_case(host))
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn check(listen: &str, hosts: &[&str], uri: &str, expect: bool) {
        let names = Names::new(listen.parse().unwrap(), &["Bench.example".into()]);
        let mut headers = HeaderMap::new();
        headers.extend(
            hosts
                .iter()
                .map(|host| (header::HOST, HeaderValue::from_str(host).unwrap())),
        );
        assert_eq!(
            names.check(&uri.parse().unwrap(), &headers).is_ok(),
            expect,
            "{listen} {hosts:?} {uri}"
        );
    }

    #[test]
    fn only_our_names_are_answered() {
        for host in [
            "localhost",
            "localhost:7070",
            "LOCALHOST:1",
            "127.0.0.1:7070",
            "[::1]:7070",
            "10.0.0.5:7070",
            "bench.example",
            "BENCH.example:80",
        ] {
            check("10.0.0.5", &[host], "/", true);
        }
        for host in [
            "",
            "evil.example",
            "evil.example:7070",
            "localhost.evil.example",
            "a@localhost",
            "localhost@evil",
            "localhost/",
            "10.0.0.6",
            "127.0.0.1.nip.io",
            "[::2]",
        ] {
            check("10.0.0.5", &[host], "/", false);
        }
        check("0.0.0.0", &["0.0.0.0:7070"], "/", false);
        check("::", &["[::]:7070"], "/", false);
        check("10.0.0.5", &[], "/", false);
        check("10.0.0.5", &["localhost", "evil.example"], "/", false);
        check("10.0.0.5", &["localhost"], "http://localhost/", true);
        check("10.0.0.5", &["localhost"], "http://evil.example/", false);
    }

    #[test]
    fn only_our_own_pages_may_call() {
        for (origin, host, expect) in [
            ("http://localhost:7070", "localhost:7070", true),
            ("https://bench.example", "bench.example", true),
            ("HTTP://localhost:7070", "localhost:7070", false),
            ("http://LOCALHOST:7070", "localhost:7070", true),
            ("http://localhost:3000", "localhost:7070", false),
            ("http://127.0.0.1:7070", "localhost:7070", false),
            ("http://evil.example", "localhost:7070", false),
            (
                "http://localhost:7070.evil.example",
                "localhost:7070",
                false,
            ),
            ("null", "localhost:7070", false),
            ("", "localhost:7070", false),
            ("http://", "localhost:7070", false),
            ("file://localhost:7070", "localhost:7070", false),
        ] {
            assert_eq!(
                same_origin(origin.as_bytes(), host),
                expect,
                "{origin} {host}"
            );
        }
    }
}
