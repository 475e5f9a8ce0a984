//! Validation of the `Host` and `Origin` headers. Pure.

use crate::api::problem::ApiError;
use axum::http::{
    HeaderMap, header,
    uri::{Authority, Uri},
};
use std::{collections::BTreeSet, net::IpAddr};

/// Allowed values of `Host`, in lower case and without the port, which may differ behind port
/// forwarding.
#[derive(Clone, Debug)]
pub(crate) struct AllowedHosts(BTreeSet<String>);

impl AllowedHosts {
    /// Allows loopback addresses, the listen address, and `names`.
    pub(crate) fn new(listen: IpAddr, names: &[String]) -> Self {
        let loopback = ["localhost", "127.0.0.1", "[::1]"];
        let mut hosts: BTreeSet<String> = loopback.map(str::to_owned).into();
        match listen {
            _ if listen.is_unspecified() => {}
            IpAddr::V4(address) => drop(hosts.insert(address.to_string())),
            IpAddr::V6(address) => drop(hosts.insert(format!("[{address}]"))),
        }
        hosts.extend(names.iter().map(|name| name.to_lowercase()));
        Self(hosts)
    }

    /// Returns the `Host` header in lower case, with port.
    ///
    /// # Errors
    /// Returns 403 if the header is missing, repeated or not allowed.
    pub(crate) fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<String, ApiError> {
        let values: Vec<_> = headers.get_all(header::HOST).iter().collect();
        let host = match values[..] {
            [host] => host.to_str().unwrap_or_default(),
            _ => "",
        };
        // A request target in absolute form (`GET http://name/`) also contains a host.
        let uri_matches = match uri.authority() {
            Some(authority) => authority.as_str().eq_ignore_ascii_case(host),
            None => true,
        };
        if uri_matches && self.contains(host) {
            return Ok(host.to_lowercase());
        }
        let shown: String = host.chars().take(100).collect();
        Err(ApiError::forbidden(
            "foreign_host",
            format!(
                "The host name `{shown}` is not allowed. Open the address printed by the server, \
                 or start it with --allowed-host NAME."
            ),
        ))
    }

    fn contains(&self, host: &str) -> bool {
        let Ok(authority) = host.parse::<Authority>() else {
            return false;
        };
        // `Authority` ignores text between an IPv6 address and its port.
        let rest = host.strip_prefix(authority.host());
        let is_port = |text: &str| text.bytes().all(|digit| digit.is_ascii_digit());
        let is_exact =
            rest.is_some_and(|rest| rest.is_empty() || rest.strip_prefix(':').is_some_and(is_port));
        is_exact && self.0.contains(&authority.host().to_lowercase())
    }
}

/// Compares an `Origin` with a lower-case `Host`, ignoring the scheme.
pub(crate) fn is_same_origin(origin: &[u8], host: &str) -> bool {
    let Ok(origin) = std::str::from_utf8(origin) else {
        return false;
    };
    match origin.split_once("://") {
        Some(("http" | "https", name)) => !name.is_empty() && name.eq_ignore_ascii_case(host),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn check(listen: &str, hosts: &[&str], uri: &str, expected: bool) {
        let allowed = AllowedHosts::new(listen.parse().unwrap(), &["Bench.example".into()]);
        let mut headers = HeaderMap::new();
        headers.extend(
            hosts
                .iter()
                .map(|host| (header::HOST, HeaderValue::from_str(host).unwrap())),
        );
        assert_eq!(
            allowed.check(&uri.parse().unwrap(), &headers).is_ok(),
            expected,
            "{listen} {hosts:?} {uri}"
        );
    }

    #[test]
    fn only_allowed_hosts_pass() {
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
            "[::1]evil.example",
            "[::1]evil.example:7070",
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
    fn only_the_same_origin_passes() {
        for (origin, host, expected) in [
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
                is_same_origin(origin.as_bytes(), host),
                expected,
                "{origin} {host}"
            );
        }
    }
}
