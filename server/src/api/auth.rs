//! Access control. All routes check `Host` against DNS rebinding, and `Origin`, if present, against
//! other sites. Routes under `/api` also require the token, as bearer token or in the cookie set by
//! the sign-in link.
//!
//! There are no permissions: the token grants full access.

pub(crate) mod allowed_hosts;
pub(crate) mod token_file;

use crate::api::{
    auth::allowed_hosts::{AllowedHosts, is_same_origin},
    problem::ApiError,
};
use axum::{
    extract::{Query, Request, State},
    http::{HeaderMap, StatusCode, header},
    middleware::Next,
    response::{Html, IntoResponse, Redirect, Response},
};
use axum_extra::extract::cookie::{Cookie, CookieJar, SameSite};
use constant_time_eq::constant_time_eq;
use serde::Deserialize;
use std::sync::Arc;
use time::Duration;

/// Lifetime of the sign-in cookie.
const COOKIE_MAX_AGE: Duration = Duration::days(30);

#[derive(Clone)]
pub(crate) struct Auth(Arc<Rules>);

struct Rules {
    hosts: AllowedHosts,
    /// `None` with `--no-auth`.
    token: Option<String>,
    /// Includes the port: browsers send cookies to all ports of a host.
    cookie_name: String,
}

impl Auth {
    pub(crate) fn new(hosts: AllowedHosts, token: Option<String>, port: u16) -> Self {
        Self(Arc::new(Rules {
            hosts,
            token,
            cookie_name: format!("leadline-{port}"),
        }))
    }

    fn is_token(&self, candidate: &str) -> bool {
        match &self.0.token {
            Some(token) => constant_time_eq(token.as_bytes(), candidate.as_bytes()),
            None => true,
        }
    }

    fn has_bearer_token(&self, headers: &HeaderMap) -> bool {
        let authorization = headers.get(header::AUTHORIZATION);
        let Some((scheme, token)) = authorization
            .and_then(|value| value.to_str().ok())
            .and_then(|value| value.split_once(' '))
        else {
            return false;
        };
        scheme.eq_ignore_ascii_case("bearer") && self.is_token(token.trim())
    }

    fn has_cookie(&self, headers: &HeaderMap) -> bool {
        CookieJar::from_headers(headers)
            .get(&self.0.cookie_name)
            .is_some_and(|cookie| self.is_token(cookie.value()))
    }
}

/// Middleware: rejects foreign `Host` and `Origin` headers with 403.
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
    Ok(next.run(request).await)
}

/// Middleware: rejects requests without the token with 401, and WebSockets opened with the cookie
/// but without an `Origin`, which browsers always send, with 403.
pub(crate) async fn require_token(
    State(auth): State<Auth>,
    request: Request,
    next: Next,
) -> Result<Response, ApiError> {
    let headers = request.headers();
    if auth.0.token.is_some() && !auth.has_bearer_token(headers) {
        if !auth.has_cookie(headers) {
            return Err(unauthorized());
        }
        if headers.contains_key(header::UPGRADE) && !headers.contains_key(header::ORIGIN) {
            return Err(foreign_origin(
                "A WebSocket that uses the cookie requires an Origin header. \
                 Scripts use `Authorization: Bearer TOKEN`."
                    .into(),
            ));
        }
    }
    Ok(next.run(request).await)
}

fn unauthorized() -> ApiError {
    ApiError::Request {
        status: StatusCode::UNAUTHORIZED,
        code: "unauthorized",
        detail: "The token is required. Send `Authorization: Bearer TOKEN`, \
                 or open the sign-in link printed by the server."
            .into(),
    }
}

fn foreign_origin(detail: String) -> ApiError {
    ApiError::forbidden("foreign_origin", detail)
}

#[derive(Deserialize)]
pub(crate) struct Login {
    token: Option<String>,
}

const LOGIN_PAGE: &str = "<!doctype html><html lang=en><meta charset=utf-8>\
    <meta name=viewport content=\"width=device-width\"><title>Sign in - Leadline</title>\
    <h1>Leadline</h1><p>Open the sign-in link printed by the server, or enter the token. \
    The token is in the file <code>token</code> of the data directory.</p>\
    <form action=/login><label>Token <input name=token type=password autofocus required></label> \
    <button>Sign in</button></form></html>";

/// Sets the cookie and redirects to the application. Shows a form if the token is missing or wrong.
pub(crate) async fn login(
    State(auth): State<Auth>,
    Query(login): Query<Login>,
    jar: CookieJar,
) -> Response {
    if auth.0.token.is_none() {
        return Redirect::to("/").into_response();
    }
    match login.token.as_deref().map(str::trim) {
        None => Html(LOGIN_PAGE).into_response(),
        Some(token) if auth.is_token(token) => {
            let cookie = Cookie::build((auth.0.cookie_name.clone(), token.to_owned()))
                .path("/")
                .http_only(true)
                .same_site(SameSite::Strict)
                .max_age(COOKIE_MAX_AGE);
            (jar.add(cookie), Redirect::to("/")).into_response()
        }
        Some(_) => (StatusCode::UNAUTHORIZED, Html(LOGIN_PAGE)).into_response(),
    }
}
