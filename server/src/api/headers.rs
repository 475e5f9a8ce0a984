//! Response headers.

use axum::{
    http::{HeaderName, HeaderValue, header},
    response::Response,
};

/// Headers sent with every response. `nosniff` also prevents browsers from showing a subresource as
/// a page.
const SECURITY: [(HeaderName, &str); 3] = [
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        "same-origin",
    ),
];

/// Additional headers for pages and for all other content that a browser can show as a page, such
/// as an SVG image. They restrict scripts and connections to this server. Inline styles are
/// allowed, because the component library needs them.
const PAGE_SECURITY: [(HeaderName, &str); 4] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; \
         img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; object-src 'none'; \
         base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    ),
    (header::X_FRAME_OPTIONS, "DENY"),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        "same-origin",
    ),
    (
        HeaderName::from_static("permissions-policy"),
        "camera=(), geolocation=(), microphone=()",
    ),
];

/// Content types that a browser never shows as a page. They require no policy, because the policy
/// of the page that loads them applies. Only worker scripts would need their own, but the pages use
/// no workers.
const SUBRESOURCES: [&str; 3] = ["text/javascript", "text/css", "font/"];

/// Middleware: adds the security headers.
pub(crate) async fn add_security_headers(mut response: Response) -> Response {
    let add = |response: &mut Response, headers: &[(HeaderName, &'static str)]| {
        let headers = headers.iter().cloned();
        let headers = headers.map(|(name, value)| (name, HeaderValue::from_static(value)));
        response.headers_mut().extend(headers);
    };
    add(&mut response, &SECURITY);
    if !is_subresource(&response) {
        add(&mut response, &PAGE_SECURITY);
    }
    response
}

fn is_subresource(response: &Response) -> bool {
    let content_type = response.headers().get(header::CONTENT_TYPE);
    let content_type = content_type.and_then(|value| value.to_str().ok());
    let mut types = SUBRESOURCES.iter();
    content_type.is_some_and(|found| types.any(|prefix| found.starts_with(prefix)))
}

/// Middleware: disables caching if the handler does not set a cache policy.
pub(crate) async fn disable_caching(mut response: Response) -> Response {
    response
        .headers_mut()
        .entry(header::CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Body;

    #[tokio::test]
    async fn page_security_headers_are_omitted_only_for_subresources() {
        let cases = [
            (Some("text/html; charset=utf-8"), true),
            (Some("image/svg+xml"), true),
            (Some("application/json"), true),
            (Some("application/problem+json"), true),
            (Some("text/plain; version=0.0.4"), true),
            (Some("text/csv"), true),
            (Some("TEXT/HTML"), true),
            (Some("unknown"), true),
            (None, true),
            (Some("text/javascript"), false),
            (Some("text/javascript; charset=utf-8"), false),
            (Some("text/css"), false),
            (Some("font/woff2"), false),
        ];
        for (content_type, is_page) in cases {
            let mut response = Response::new(Body::empty());
            if let Some(content_type) = content_type {
                let value = HeaderValue::from_static(content_type);
                response.headers_mut().insert(header::CONTENT_TYPE, value);
            }
            let response = add_security_headers(response).await;
            let has = |name: HeaderName| response.headers().contains_key(name);
            for (name, _) in PAGE_SECURITY {
                assert_eq!(has(name.clone()), is_page, "{content_type:?}: {name}");
            }
            for (name, _) in SECURITY {
                assert!(has(name.clone()), "{content_type:?}: {name}");
            }
        }
    }
}
