//! Permissions granted by a token.

use axum::http::Method;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Scope {
    /// All endpoints.
    Full,
    /// Read-only requests.
    Read,
    /// Only metrics.
    Metrics,
}

impl Scope {
    /// `path` is the request path, such as `/api/v1/runs`.
    pub(crate) fn permits(self, method: &Method, path: &str) -> bool {
        match self {
            Self::Full => true,
            Self::Read => {
                // Planning and importing change nothing, although they use POST.
                method.is_safe() || path.ends_with("/plan") || path == "/api/v1/import"
            }
            Self::Metrics => *method == Method::GET && path == "/api/v1/metrics",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permissions_by_scope() {
        for (method, path, read, metrics) in [
            (Method::GET, "/api/v1/runs", true, false),
            (Method::GET, "/api/v1/metrics", true, true),
            (Method::POST, "/api/v1/metrics", false, false),
            (Method::GET, "/api/v1/metrics/", true, false),
            (Method::POST, "/api/v1/runs", false, false),
            (Method::DELETE, "/api/v1/runs/1", false, false),
            (Method::POST, "/api/v1/plan", true, false),
            (Method::POST, "/api/v1/studies/plan", true, false),
            (Method::POST, "/api/v1/import", true, false),
            (Method::POST, "/api/v1/login-links", false, false),
        ] {
            assert!(Scope::Full.permits(&method, path));
            assert_eq!(Scope::Read.permits(&method, path), read, "{method} {path}");
            assert_eq!(
                Scope::Metrics.permits(&method, path),
                metrics,
                "{method} {path}"
            );
        }
    }
}
