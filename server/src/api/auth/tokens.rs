//! The server's tokens.

use crate::{api::auth::scope::Scope, store::sessions::Digest};
use constant_time_eq::constant_time_eq;
use sha2::Sha256;

#[derive(Clone, Debug)]
pub(crate) struct Tokens {
    pub full: String,
    pub read: Option<String>,
    pub metrics: Option<String>,
}

impl Tokens {
    /// Returns `None` for an unknown token.
    pub(crate) fn scope(&self, candidate: &str) -> Option<Scope> {
        let known = [
            (Some(&self.full), Scope::Full),
            (self.read.as_ref(), Scope::Read),
            (self.metrics.as_ref(), Scope::Metrics),
        ];
        let is_same = |token: &String| constant_time_eq(token.as_bytes(), candidate.as_bytes());
        // Always compare with all tokens: the duration must not reveal which token matches.
        known.into_iter().fold(None, |found, (token, scope)| {
            let is_found = token.is_some_and(is_same);
            found.or(is_found.then_some(scope))
        })
    }

    /// Hash of the token that grants this scope. Sessions with this scope are bound to it.
    pub(crate) fn digest(&self, scope: Scope) -> Option<Digest> {
        let token = match scope {
            Scope::Full => Some(&self.full),
            Scope::Read => self.read.as_ref(),
            Scope::Metrics => None,
        };
        token.map(|token| digest(token.as_bytes()))
    }
}

pub(crate) fn digest(secret: &[u8]) -> Digest {
    <Sha256 as sha2::Digest>::digest(secret).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_token_has_its_scope() {
        let tokens = Tokens {
            full: "full".into(),
            read: Some("read".into()),
            metrics: None,
        };
        for (candidate, scope) in [
            ("full", Some(Scope::Full)),
            ("read", Some(Scope::Read)),
            ("", None),
            ("ful", None),
            ("fulll", None),
        ] {
            assert_eq!(tokens.scope(candidate), scope, "{candidate}");
        }
    }
}
