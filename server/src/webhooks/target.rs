//! URLs of webhooks, and the addresses that they may have. Pure.

use hyper::{
    Uri,
    http::uri::{PathAndQuery, Scheme},
};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// In bytes.
const MAX_URL: usize = 2_000;
const HTTP_PORT: u16 = 80;

/// A URL that a message is sent to.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Target {
    /// Without brackets.
    pub host: String,
    pub port: u16,
    /// Host and port, as in the URL.
    pub authority: String,
    pub path_and_query: String,
}

impl Target {
    pub(crate) fn origin(&self) -> String {
        format!("http://{}", self.authority)
    }
}

/// # Errors
/// What is wrong, and how to fix it.
pub(crate) fn parse(url: &str) -> Result<Target, (String, &'static str)> {
    const REMEDY: &str = "Use http://HOST:PORT/PATH.";
    let invalid = |detail: &str| Err((detail.to_owned(), REMEDY));
    if url.len() > MAX_URL {
        return invalid("The URL is too long.");
    }
    let Ok(uri) = url.parse::<Uri>() else {
        return invalid("The URL is invalid.");
    };
    if uri.scheme() == Some(&Scheme::HTTPS) {
        return Err((
            "https is not supported.".into(),
            "Use http to a proxy on this host that forwards to the receiver with TLS.",
        ));
    }
    let (Some(scheme), Some(authority)) = (uri.scheme(), uri.authority()) else {
        return invalid("The URL is not absolute.");
    };
    if *scheme != Scheme::HTTP {
        return invalid("The URL has another scheme than http.");
    }
    if authority.as_str().contains('@') {
        return invalid("The URL contains a user name or password.");
    }
    if authority.host().is_empty() || url.contains('#') {
        return invalid("The URL has no host, or has a fragment.");
    }
    let host = authority.host().trim_matches(['[', ']']);
    Ok(Target {
        host: host.into(),
        port: authority.port_u16().unwrap_or(HTTP_PORT),
        authority: authority.as_str().into(),
        path_and_query: uri
            .path_and_query()
            .map_or("/", PathAndQuery::as_str)
            .into(),
    })
}

/// Refuses addresses that cannot be those of a receiver. 169.254.169.254, for example, returns the
/// credentials of cloud instances.
pub(crate) fn is_permitted(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(v4) => {
            !(v4.is_unspecified() || v4.is_link_local() || v4.is_multicast() || v4.is_broadcast())
        }
        IpAddr::V6(v6) => {
            !(v6.is_unspecified() || v6.is_unicast_link_local() || v6.is_multicast())
                && embedded_v4(v6).is_none_or(|v4| is_permitted(v4.into()))
        }
    }
}

/// The address behind a NAT64 gateway (64:ff9b::/96, RFC 6052).
fn embedded_v4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let bytes = address.octets();
    let (prefix, v4) = bytes.split_at(12);
    let is_nat64 = prefix == [0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0];
    let v4: [u8; 4] = v4.try_into().ok()?;
    is_nat64.then(|| v4.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_absolute_and_http() {
        for url in [
            "http://example.com/hook?key=1",
            "http://10.0.0.1:8080",
            "http://[::1]:9/",
            "http://localhost/a",
        ] {
            assert!(parse(url).is_ok(), "{url}");
        }
        for url in [
            "https://example.com",
            "ftp://example.com",
            "file:///etc/passwd",
            "/hook",
            "example.com/hook",
            "http://user:password@example.com",
            "http://user@example.com",
            "http://",
            "http:///hook",
            "http://example.com/#a",
            "http://exa mple.com",
            "",
        ] {
            assert!(parse(url).is_err(), "{url}");
        }
        let target = parse("http://[::1]:9/a?b=c").unwrap();
        assert_eq!((target.host.as_str(), target.port), ("::1", 9));
        assert_eq!(target.path_and_query, "/a?b=c");
        assert_eq!(target.origin(), "http://[::1]:9");
    }

    #[test]
    fn link_local_multicast_and_unspecified_addresses_are_refused() {
        for (address, expected) in [
            ("127.0.0.1", true),
            ("::1", true),
            ("10.1.2.3", true),
            ("192.168.0.1", true),
            ("203.0.113.1", true),
            ("fd00::1", true),
            ("169.254.169.254", false),
            ("::ffff:169.254.169.254", false),
            ("64:ff9b::a9fe:a9fe", false),
            ("64:ff9b::a01:203", true),
            ("0.0.0.0", false),
            ("::", false),
            ("224.0.0.1", false),
            ("255.255.255.255", false),
            ("fe80::1", false),
            ("ff02::1", false),
        ] {
            assert_eq!(
                is_permitted(address.parse().unwrap()),
                expected,
                "{address}"
            );
        }
    }
}
