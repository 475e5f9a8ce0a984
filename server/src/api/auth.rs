//! Access control. All routes validate `Host`, which prevents DNS rebinding. They also validate
//! `Origin` if it is present, which blocks requests from other sites. Routes under `/api` also
//! require either a bearer token or a session created by signing in. The health checks (`livez`,
//! `readyz`) require neither.

pub(crate) mod allowed_hosts;
pub(crate) mod login;
pub(crate) mod scope;
pub(crate) mod sessions;
pub(crate) mod token_file;
pub(crate) mod tokens;

use crate::api::{
    auth::{
        allowed_hosts::{AllowedHosts, is_same_origin},
        scope::Scope,
        sessions::Sessions,
        tokens::Tokens,
    },
    problem::ApiError,
};
use axum::{
    extract::{Request, State},
    http::{HeaderMap, StatusCode, header},
    middleware::Next,
    response::Response,
};
use axum_extra::extract::cookie::CookieJar;
use std::sync::Arc;

const FETCH_SITE: &str = "sec-fetch-site";

#[derive(Clone)]
pub(crate) struct Auth(Arc<Rules>);

struct Rules {
    hosts: AllowedHosts,
    /// `None` if `--no-auth` is set.
    access: Option<(Tokens, Sessions)>,
    /// Name of the session cookie. It includes the port, because browsers send cookies to all ports
    /// on a host.
    cookie_name: String,
}

impl Auth {
    pub(crate) fn new(hosts: AllowedHosts, access: Option<(Tokens, Sessions)>, port: u16) -> Self {
        Self(Arc::new(Rules {
            hosts,
            access,
            cookie_name: format!("leadline-{port}"),
        }))
    }

    fn tokens(&self) -> Option<&Tokens> {
        self.0.access.as_ref().map(|(tokens, _)| tokens)
    }

    fn sessions(&self) -> Result<&Sessions, ApiError> {
        let sessions = self.0.access.as_ref().map(|(_, sessions)| sessions);
        sessions.ok_or_else(|| {
            ApiError::not_found("sign-in, which this server does not require".into())
        })
    }

    fn cookie_name(&self) -> &str {
        &self.0.cookie_name
    }

    /// Path of a one-time sign-in link.
    ///
    /// # Errors
    /// Returns 404 if `--no-auth` is set.
    pub(crate) fn login_path(&self) -> Result<String, ApiError> {
        let ticket = self.sessions()?.new_link()?;
        Ok(format!("/login?ticket={ticket}"))
    }

    fn bearer_scope(&self, headers: &HeaderMap) -> Option<Scope> {
        let authorization = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
        let (scheme, token) = authorization.split_once(' ')?;
        let is_bearer = scheme.eq_ignore_ascii_case("bearer");
        is_bearer.then(|| self.tokens()?.scope(token.trim()))?
    }

    fn cookie(&self, headers: &HeaderMap) -> Option<String> {
        let jar = CookieJar::from_headers(headers);
        let cookie = jar.get(&self.0.cookie_name)?;
        Some(cookie.value().to_owned())
    }

    fn cookie_scope(&self, headers: &HeaderMap) -> Option<Scope> {
        let secret = self.cookie(headers)?;
        self.0.access.as_ref()?.1.scope(&secret)
    }
}

/// Middleware: returns 403 if the `Host` or `Origin` header is not allowed.
pub(crate) async fn require_host(
    State(auth): State<Auth>,
    request: Request,
    next: Next,
) -> Result<Response, ApiError> {
    let host = auth.0.hosts.check(request.uri(), request.headers())?;
    let origins: Vec<_> = request.headers().get_all(header::ORIGIN).iter().collect();
    match origins[..] {
        [] => {}
        [origin] if is_same_origin(origin.as_bytes(), &host) => {}
        [origin, ..] => {
            let origin = String::from_utf8_lossy(origin.as_bytes());
            return Err(foreign_origin(format!(
                "Requests from {origin} are not allowed. Open Leadline at the server's address."
            )));
        }
    }
    let site = request.headers().get(FETCH_SITE);
    if !request.method().is_safe() && site.is_some_and(|site| site == "cross-site") {
        return Err(foreign_origin(
            "Cross-site requests cannot make changes.".into(),
        ));
    }
    Ok(next.run(request).await)
}

/// Middleware: returns 401 for requests without a token or session, and 403 for requests that the
/// token or session does not permit. Changes and WebSockets that use the cookie must come from one
/// of this server's pages.
pub(crate) async fn require_access(
    State(auth): State<Auth>,
    mut request: Request,
    next: Next,
) -> Result<Response, ApiError> {
    let scope = match auth.bearer_scope(request.headers()) {
        Some(scope) => scope,
        None => {
            let scope = match &auth.0.access {
                Some(_) => auth.cookie_scope(request.headers()),
                None => Some(Scope::Full),
            };
            let scope = scope.ok_or_else(unauthorized)?;
            check_browser(&request, auth.0.access.is_some())?;
            scope
        }
    };
    if !scope.permits(request.method(), request.uri().path()) {
        return Err(ApiError::forbidden(
            "read_only",
            match scope {
                Scope::Metrics => "This token permits only GET /api/v1/metrics.",
                _ => "This token is read-only.",
            }
            .into(),
        ));
    }
    request.extensions_mut().insert(scope);
    Ok(next.run(request).await)
}

/// Checks a request without a bearer token, because a browser also sends the cookie with requests
/// that originate from other sites.
fn check_browser(request: &Request, has_cookie: bool) -> Result<(), ApiError> {
    let headers = request.headers();
    let is_upgrade = headers.contains_key(header::UPGRADE);
    let is_change = !request.method().is_safe();
    let has_origin = headers.contains_key(header::ORIGIN)
        || headers
            .get(FETCH_SITE)
            .is_some_and(|site| site == "same-origin");
    if has_cookie && (is_upgrade || is_change) && !has_origin {
        return Err(foreign_origin(
            "Changes and WebSockets authenticated by a cookie require an Origin header. \
             Scripts should use `Authorization: Bearer TOKEN`."
                .into(),
        ));
    }
    if is_change && has_body(headers) && !is_json(headers) {
        return Err(ApiError::Request {
            status: StatusCode::UNSUPPORTED_MEDIA_TYPE,
            code: "wrong_content_type",
            detail: "Send the body with `Content-Type: application/json`.".into(),
        });
    }
    Ok(())
}

fn has_body(headers: &HeaderMap) -> bool {
    let length = headers.get(header::CONTENT_LENGTH);
    headers.contains_key(header::TRANSFER_ENCODING) || length.is_some_and(|length| length != "0")
}

/// Other sites cannot send this content type without a CORS preflight.
fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let essence = kind.split(';').next().unwrap_or_default();
    essence.trim().eq_ignore_ascii_case("application/json")
}

fn unauthorized() -> ApiError {
    ApiError::Request {
        status: StatusCode::UNAUTHORIZED,
        code: "unauthorized",
        detail: "A token is required. Send `Authorization: Bearer TOKEN`, \
                 or sign in at /login."
            .into(),
    }
}

fn foreign_origin(detail: String) -> ApiError {
    ApiError::forbidden("foreign_origin", detail)
}
