//! Browser sessions, and the links that create them. A cookie contains a random secret instead of
//! the token, because browsers send cookies to all ports on a host.

use crate::{
    api::auth::{
        scope::Scope,
        tokens::{Tokens, digest},
    },
    clock::now_ms,
    store::{
        Store,
        sessions::{Digest, StoredSession},
    },
};
use rand::{TryRng, rngs::SysRng};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

pub(crate) const LIFETIME: Duration = Duration::from_secs(30 * 24 * 60 * 60);
pub(crate) const LINK_LIFETIME: Duration = Duration::from_secs(60 * 60);
/// Maximum number of sessions, enough for a team. At the limit, a new session replaces the oldest.
const MAX_SESSIONS: usize = 1000;
const MAX_LINKS: usize = 16;
/// 256 bits.
const SECRET_BYTES: usize = 32;

#[derive(Clone, Copy)]
struct Session {
    scope: Scope,
    expires_at_ms: u64,
}

/// Clones share their sessions.
#[derive(Clone)]
pub(crate) struct Sessions {
    store: Store,
    open: Arc<Mutex<HashMap<Digest, Session>>>,
    /// Hashes of unused link tickets, with their expiration times.
    links: Arc<Mutex<HashMap<Digest, u64>>>,
}

impl Sessions {
    /// Loads the sessions that were opened with the current tokens.
    ///
    /// # Errors
    /// The sessions cannot be read from the database.
    pub(crate) async fn load(store: Store, tokens: &Tokens) -> anyhow::Result<Self> {
        let mut open = HashMap::new();
        for stored in store.sessions(now_ms()).await? {
            let scope = if stored.is_read_only {
                Scope::Read
            } else {
                Scope::Full
            };
            if tokens.digest(scope) == Some(stored.token) {
                let expires_at_ms = stored.expires_at_ms;
                open.insert(
                    stored.id,
                    Session {
                        scope,
                        expires_at_ms,
                    },
                );
            } else {
                store.remove_session(stored.id).await?;
            }
        }
        Ok(Self {
            store,
            open: Arc::new(Mutex::new(open)),
            links: Arc::default(),
        })
    }

    /// Creates a session and returns its secret. A session that cannot be stored ends when the
    /// server stops.
    pub(crate) async fn open(&self, tokens: &Tokens, scope: Scope) -> anyhow::Result<String> {
        let secret = random_secret()?;
        let id = digest(secret.as_bytes());
        let expires_at_ms = now_ms() + LIFETIME.as_millis() as u64;
        let ended = {
            let mut open = lock(&self.open);
            open.insert(
                id,
                Session {
                    scope,
                    expires_at_ms,
                },
            );
            let oldest = open.iter().min_by_key(|(_, session)| session.expires_at_ms);
            let oldest = oldest.map(|(id, _)| *id);
            oldest.filter(|id| open.len() > MAX_SESSIONS && open.remove(id).is_some())
        };
        if let Some(ended) = ended {
            self.forget(ended).await;
        }
        if let Some(token) = tokens.digest(scope) {
            let is_read_only = scope != Scope::Full;
            let stored = StoredSession {
                id,
                token,
                is_read_only,
                expires_at_ms,
            };
            if let Err(error) = self.store.add_session(stored).await {
                tracing::warn!(%error, "cannot store a session: it will be lost when the server stops");
            }
        }
        Ok(secret)
    }

    pub(crate) fn scope(&self, secret: &str) -> Option<Scope> {
        let open = lock(&self.open);
        let session = open.get(&digest(secret.as_bytes()))?;
        (session.expires_at_ms > now_ms()).then_some(session.scope)
    }

    pub(crate) async fn end(&self, secret: &str) {
        let id = digest(secret.as_bytes());
        if lock(&self.open).remove(&id).is_some() {
            self.forget(id).await;
        }
    }

    async fn forget(&self, id: Digest) {
        if let Err(error) = self.store.remove_session(id).await {
            tracing::warn!(%error, "cannot remove a closed session from the database");
        }
    }

    /// Creates a single-use sign-in link and returns its ticket.
    pub(crate) fn new_link(&self) -> anyhow::Result<String> {
        let ticket = random_secret()?;
        let mut links = lock(&self.links);
        links.retain(|_, expires_at_ms| *expires_at_ms > now_ms());
        let oldest = links
            .iter()
            .min_by_key(|(_, expires_at_ms)| **expires_at_ms);
        if let Some(oldest) = oldest.map(|(id, _)| *id)
            && links.len() >= MAX_LINKS
        {
            links.remove(&oldest);
        }
        let expires_at_ms = now_ms() + LINK_LIFETIME.as_millis() as u64;
        links.insert(digest(ticket.as_bytes()), expires_at_ms);
        Ok(ticket)
    }

    /// Returns true only the first time a ticket is used.
    pub(crate) fn use_link(&self, ticket: &str) -> bool {
        let expires_at_ms = lock(&self.links).remove(&digest(ticket.as_bytes()));
        expires_at_ms.is_some_and(|expires_at_ms| expires_at_ms > now_ms())
    }
}

fn random_secret() -> anyhow::Result<String> {
    let mut random = [0; SECRET_BYTES];
    SysRng.try_fill_bytes(&mut random)?;
    Ok(random.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Ignores poisoning, because no code leaves the maps partially updated.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
