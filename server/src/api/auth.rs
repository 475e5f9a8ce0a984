//! Who may talk to the server. Every route: the `Host` must be one of ours, so that no foreign name can be pointed at
//! us (DNS rebinding); an `Origin`, where there is one, must be the page's own, on sockets too. Everything under `/api`:
//! the token, as `Authorization: Bearer` or as the cookie that the login link sets.
//!
//! Not here: what a caller may do. Who has the token may do everything.

pub(crate) mod names;
pub(crate) mod token;

use crate::api::auth::names::{Names, same_origin};
use crate::error::ApiError;
use axum::extract::{Query, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{Html, IntoResponse, Redirect, Response};
use constant_time_eq::constant_time_eq;
use serde::Deserialize;
use std::sync::Arc;

/// How long a browser stays logged in, in seconds: a month.
const COOKIE_MAX_AGE: u32 = 30 * 24 * 60 * 60;

/// What callers are held against; clones share it.
#[derive(Clone, Debug)]
pub struct Auth(Arc<Rules>);

#[derive(Debug)]
struct Rules {
    names: Names,
    /// `None`: everybody may, which `config` allows on loopback only.
    token: Option<String>,
    /// Cookies know no ports: two servers on one host must not take each other's.
    cookie: String,
}

impl Auth {
    /// For a server with these names and this token on this port.
    pub fn new(names: Names, token: Option<String>, port: u16) -> Self {
        Self(Arc::new(Rules {
            names,
            token,
            cookie: format!("leadline-{port}"),
        }))
    }

    fn is_token(&self, given: &str) -> bool {
        self.0
            .token
            .as_ref()
            .is_none_or(|token| constant_time_eq(token.as_bytes(), given.as_bytes()))
    }

    fn bearer<'a>(&self, headers: &'a HeaderMap) -> Option<&'a str> {
        let (scheme, token) = headers
            .get(header::AUTHORIZATION)?
            .to_str()
            .ok()?
            .split_once(' ')?;
        scheme
            .eq_ignore_ascii_case("bearer")
            .then_some(token.trim())
    }

    fn cookie<'a>(&self, headers: &'a HeaderMap) -> Option<&'a str> {
        let cookies = headers
            .get_all(header::COOKIE)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(';'));
        cookies
            .filter_map(|cookie| cookie.trim().split_once('='))
            .find(|(name, _)| *name == self.0.cookie)
            .map(|(_, value)| value)
    }
}

/// Lets a request through whose `Host` and `Origin` are ours.
///
/// # Errors
/// 403 for all others.
pub async fn guard_names(
    State(auth): State<Auth>,
    request: Request,
    next: Next,
) -> Result<Response, ApiError> {
    let host = auth.0.names.check(request.uri(), request.headers())?;
    let mut origins = request.headers().get_all(header::ORIGIN).iter();
    match (origins.next(), origins.next()) {
        (None, _) => {}
        (Some(origin), None) if same_origin(origin.as_bytes(), &host) => {}
        (Some(origin), _) => return Err(foreign_origin(origin)),
    }
    Ok(next.run(request).await)
}

fn foreign_origin(origin: &HeaderValue) -> ApiError {
    ApiError::Forbidden {
        code: "foreign_origin",
        sentence: format!(
            "The page {} may not talk to this server.",
            String::from_utf8_lossy(origin.as_bytes())
        ),
        remedy: "Open the server's own address; scripts send no Origin.".into(),
    }
}

/// Lets a request through that has the token.
///
/// # Errors
/// 401 for all others; 403 for a socket that a cookie without an `Origin` wants to open, which no browser sends.
pub async fn guard_token(
    State(auth): State<Auth>,
    request: Request,
    next: Next,
) -> Result<Response, ApiError> {
    let headers = request.headers();
    if auth.0.token.is_none()
        || auth
            .bearer(headers)
            .is_some_and(|token| auth.is_token(token))
    {
        return Ok(next.run(request).await);
    }
    if !auth
        .cookie(headers)
        .is_some_and(|token| auth.is_token(token))
    {
        return Err(ApiError::Unauthorized);
    }
    if headers.contains_key(header::UPGRADE) && !headers.contains_key(header::ORIGIN) {
        let sentence = "A socket with the cookie must tell its Origin.".into();
        let remedy = "Scripts send `Authorization: Bearer TOKEN` instead.".into();
        return Err(ApiError::Forbidden {
            code: "foreign_origin",
            sentence,
            remedy,
        });
    }
    Ok(next.run(request).await)
}

/// The login link.
#[derive(Deserialize)]
pub struct Login {
    token: Option<String>,
}

const LOGIN_PAGE: &str = "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content=\"width=device-width\"><title>Leadline: log in</title>\
    <h1>Leadline</h1><p>Open the login link that the server printed when it started, or enter its token. \
    It is also in the file <code>token</code> in its data directory.</p>\
    <form action=/login><label>Token <input name=token type=password autofocus required></label> <button>Log in</button></form></html>";

/// Sets the cookie and goes to the first page; without the token, asks for it.
pub async fn login(State(auth): State<Auth>, Query(login): Query<Login>) -> Response {
    match login.token {
        _ if auth.0.token.is_none() => Redirect::to("/").into_response(),
        Some(token) if auth.is_token(token.trim()) => {
            let cookie = format!(
                "{}={}; Path=/; HttpOnly; SameSite=Strict; Max-Age={COOKIE_MAX_AGE}",
                auth.0.cookie,
                token.trim()
            );
            let mut response = Redirect::to("/").into_response();
            if let Ok(cookie) = HeaderValue::try_from(cookie) {
                response.headers_mut().insert(header::SET_COOKIE, cookie);
            }
            response
        }
        Some(_) => (StatusCode::UNAUTHORIZED, Html(LOGIN_PAGE)).into_response(),
        None => Html(LOGIN_PAGE).into_response(),
    }
}
