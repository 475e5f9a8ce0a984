//! Webhook URLs, and the addresses to which they may point. Pure.

use hyper::{
    Uri,
    http::uri::{Authority, PathAndQuery, Scheme},
};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Maximum length of a URL, in bytes.
const MAX_URL: usize = 2_000;
const HTTP_PORT: u16 = 80;
/// Addresses that are not permitted.
pub(crate) const REJECTED: &str = "link-local, multicast or unspecified";

/// A URL to which messages are sent.
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
/// Returns what is wrong and how to fix it.
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
            "Use http with a proxy on this host that forwards to the receiver over TLS.",
        ));
    }
    let (Some(scheme), Some(authority)) = (uri.scheme(), uri.authority()) else {
        return invalid("The URL is not absolute.");
    };
    if *scheme != Scheme::HTTP {
        return invalid("The URL scheme is not http.");
    }
    if authority.as_str().contains('@') {
        return invalid("The URL contains a user name or password.");
    }
    if authority.host().is_empty() || url.contains('#') {
        return invalid("The URL has no host, or has a fragment.");
    }
    let Some(port) = port(authority) else {
        return invalid("The port is not between 1 and 65535.");
    };
    let path_and_query = uri.path_and_query().map_or("/", PathAndQuery::as_str);
    Ok(Target {
        host: authority.host().trim_matches(['[', ']']).into(),
        port,
        authority: authority.as_str().into(),
        path_and_query: path_and_query.chars().map(encode).collect(),
    })
}

/// Parses the URL of a new webhook, and checks its address if the URL contains one.
///
/// # Errors
/// Returns what is wrong and how to fix it.
pub(crate) fn check(url: &str) -> Result<Target, (String, &'static str)> {
    let target = parse(url)?;
    let address = target.host.parse::<IpAddr>();
    if address
        .as_ref()
        .is_ok_and(|address| !is_permitted(*address))
    {
        let detail = format!(
            "{} is not a valid receiver address ({REJECTED}).",
            target.host
        );
        return Err((detail, "Use an address where the receiver can be reached."));
    }
    // getaddrinfo would parse such names as addresses in legacy notation, such as 0xa9fea9fe.
    let last = target.host.trim_end_matches('.').rsplit('.').next();
    let is_number = last.is_some_and(|last| {
        let hex = last.strip_prefix("0x").or_else(|| last.strip_prefix("0X"));
        let digits = hex.unwrap_or(last);
        let radix = if hex.is_some() { 16 } else { 10 };
        digits.chars().all(|digit| digit.is_digit(radix))
    });
    if address.is_err() && is_number {
        let detail = format!("{} is neither a name nor an address.", target.host);
        return Err((detail, "Use four decimal numbers, such as 192.0.2.1."));
    }
    Ok(target)
}

/// `None` if it is out of range.
fn port(authority: &Authority) -> Option<u16> {
    match authority.as_str().strip_prefix(authority.host())? {
        "" => Some(HTTP_PORT),
        port => port
            .strip_prefix(':')?
            .parse()
            .ok()
            .filter(|port| *port > 0),
    }
}

/// Percent-encodes characters that are not ASCII (RFC 3987).
fn encode(character: char) -> String {
    if character.is_ascii() {
        return character.into();
    }
    let mut buffer = [0; 4];
    let bytes = character.encode_utf8(&mut buffer).bytes();
    bytes.map(|byte| format!("%{byte:02X}")).collect()
}

/// Rejects addresses that no legitimate receiver can have. For example, 169.254.169.254 serves
/// cloud instances' credentials.
pub(crate) fn is_permitted(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(v4) => {
            // 0.0.0.0/8 is "this network" (RFC 1122).
            let is_unspecified = v4.octets()[0] == 0;
            !(is_unspecified || v4.is_link_local() || v4.is_multicast() || v4.is_broadcast())
        }
        IpAddr::V6(v6) => {
            !(v6.is_unspecified() || v6.is_unicast_link_local() || v6.is_multicast())
                && (v6.is_loopback() || embedded_v4(v6).is_none_or(|v4| is_permitted(v4.into())))
        }
    }
}

/// The IPv4 address behind a NAT64 gateway (64:ff9b::/96, RFC 6052), in a 6to4 address (2002::/16,
/// RFC 3056) or in an IPv4-compatible address (::/96, RFC 4291).
fn embedded_v4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let v4 = match address.octets() {
        [0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0, a, b, c, d]
        | [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, a, b, c, d]
        | [0x20, 0x02, a, b, c, d, ..] => [a, b, c, d],
        _ => return None,
    };
    Some(v4.into())
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
            "http://exämple.com",
            "http://example.com:0/",
            "http://example.com:99999/",
            "http://example.com:/",
            "http://[::1]:0/",
            "",
        ] {
            assert!(parse(url).is_err(), "{url}");
        }
        let target = parse("http://[::1]:9/a?b=c").unwrap();
        assert_eq!((target.host.as_str(), target.port), ("::1", 9));
        assert_eq!(target.path_and_query, "/a?b=c");
        assert_eq!(target.origin(), "http://[::1]:9");
        let target = parse("http://a/höok/%20?€=1").unwrap();
        assert_eq!(target.path_and_query, "/h%C3%B6ok/%20?%E2%82%AC=1");
    }

    #[test]
    fn addresses_in_urls_are_checked() {
        for (host, expected) in [
            ("127.0.0.1", true),
            ("[::1]", true),
            ("localhost", true),
            ("node3.example.com.", true),
            ("3com.example", true),
            ("3node", true),
            ("169.254.169.254", false),
            ("[::ffff:169.254.169.254]", false),
            ("[fe80::1]", false),
            ("0", false),
            ("2852039166", false),
            ("0xa9fea9fe", false),
            ("169.254.43518", false),
            ("0251.0376.0251.0376", false),
        ] {
            let url = format!("http://{host}:80/hook");
            assert_eq!(check(&url).is_ok(), expected, "{host}");
            assert!(parse(&url).is_ok(), "{host}");
        }
    }

    #[test]
    fn link_local_multicast_and_unspecified_addresses_are_rejected() {
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
            ("2002:a9fe:a9fe::", false),
            ("2002:a01:203::1", true),
            ("::a9fe:a9fe", false),
            ("::10.1.2.3", true),
            ("0.0.0.0", false),
            ("0.1.2.3", false),
            ("::ffff:0.1.2.3", false),
            ("2002:1:203::", false),
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
