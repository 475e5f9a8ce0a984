//! Endpoints that create and end sessions. `/login` itself is a page in the web application.

use crate::api::{
    auth::{Auth, scope::Scope, sessions::LIFETIME},
    extract::JsonBody,
    problem::{ApiError, ProblemResponses},
};
use axum::{
    Extension, Json,
    extract::State,
    http::{HeaderMap, StatusCode},
};
use axum_extra::extract::cookie::{Cookie, CookieJar, SameSite};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Login {
    token: Option<String>,
    /// From a sign-in link.
    ticket: Option<String>,
}

/// `POST /login`: exchanges a token, or the ticket of a sign-in link, for a session cookie.
pub(crate) async fn login(
    State(auth): State<Auth>,
    jar: CookieJar,
    body: JsonBody,
) -> Result<(StatusCode, CookieJar), ApiError> {
    let Some(tokens) = auth.tokens() else {
        return Ok((StatusCode::NO_CONTENT, jar));
    };
    let login: Login = serde_json::from_value(body.parse()?)
        .map_err(|_| invalid_sign_in("Send {\"token\": \"…\"} or {\"ticket\": \"…\"} as JSON."))?;
    let scope = match (&login.token, &login.ticket) {
        (Some(token), None) => tokens
            .scope(token.trim())
            .filter(|scope| *scope != Scope::Metrics)
            .ok_or_else(|| {
                invalid_sign_in(
                    "This token cannot be used to sign in. Use the one in DATA_DIR/token.",
                )
            })?,
        (None, Some(ticket)) if auth.sessions()?.use_link(ticket) => Scope::Full,
        (None, Some(_)) => {
            return Err(invalid_sign_in(
                "This link has already been used or has expired. Run `leadline login` on the server's host to create a new one.",
            ));
        }
        _ => return Err(invalid_sign_in("Send either a token or a ticket.")),
    };
    let secret = auth.sessions()?.open(tokens, scope).await?;
    Ok((StatusCode::NO_CONTENT, jar.add(cookie(&auth, secret))))
}

fn cookie(auth: &Auth, secret: String) -> Cookie<'static> {
    Cookie::build((auth.cookie_name().to_owned(), secret))
        .path("/")
        .http_only(true)
        .same_site(SameSite::Strict)
        .max_age(time::Duration::seconds(LIFETIME.as_secs().cast_signed()))
        .build()
}

fn invalid_sign_in(detail: &str) -> ApiError {
    ApiError::Request {
        status: StatusCode::UNAUTHORIZED,
        code: "sign_in_rejected",
        detail: detail.into(),
    }
}

/// `POST /logout`: ends the session identified by the cookie.
pub(crate) async fn logout(
    State(auth): State<Auth>,
    headers: HeaderMap,
    jar: CookieJar,
) -> Result<(StatusCode, CookieJar), ApiError> {
    if let Some(secret) = auth.cookie(&headers) {
        auth.sessions()?.end(&secret).await;
    }
    let removed = Cookie::build(auth.cookie_name().to_owned()).path("/");
    Ok((StatusCode::NO_CONTENT, jar.remove(removed)))
}

/// The caller's permissions.
#[derive(Serialize, ToSchema)]
pub(crate) struct SessionState {
    /// True if the caller cannot make changes.
    read_only: bool,
    /// Whether there is a session to sign out of: false for bearer tokens and under `--no-auth`.
    can_sign_out: bool,
}

/// Get the caller's permissions
#[utoipa::path(get, path = "/session", tag = "server",
    responses((status = 200, body = SessionState), ProblemResponses))]
pub(crate) async fn get_session(
    State(auth): State<Auth>,
    Extension(scope): Extension<Scope>,
    headers: HeaderMap,
) -> Json<SessionState> {
    Json(SessionState {
        read_only: scope != Scope::Full,
        can_sign_out: auth.cookie_scope(&headers).is_some(),
    })
}

/// A link that signs in one browser.
#[derive(Serialize, ToSchema)]
pub(crate) struct LoginLink {
    /// Path with a ticket that can be used once and expires after an hour.
    path: String,
}

/// Create a sign-in link for one browser
#[utoipa::path(post, path = "/login-links", tag = "server",
    responses((status = 201, body = LoginLink), ProblemResponses))]
pub(crate) async fn create_login_link(
    State(auth): State<Auth>,
) -> Result<(StatusCode, Json<LoginLink>), ApiError> {
    let path = auth.login_path()?;
    Ok((StatusCode::CREATED, Json(LoginLink { path })))
}
