//! Caches results of the runner's host queries for all clients, so open pages do not start
//! processes during a measurement.

use crate::{error::RunnerError, supervisor::runner::Runner};
use leadline_protocol::{device::DeviceList, doctor::Doctor, host::HostFacts};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::sync::Mutex;

/// Short, because a device can come into use at any time.
const DEFAULT_AGE: Duration = Duration::from_secs(30);

/// Maximum age of a result.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum MaxAge {
    Zero,
    /// 30 seconds.
    Default,
    Unlimited,
}

/// Clones share the cache.
#[derive(Clone)]
pub(crate) struct HostCache {
    runner: Runner,
    facts: Arc<Cached<HostFacts>>,
    doctor: Arc<Cached<Doctor>>,
    devices: Arc<Cached<DeviceList>>,
}

impl HostCache {
    pub(crate) fn new(runner: Runner) -> Self {
        Self {
            runner,
            facts: Arc::default(),
            doctor: Arc::default(),
            devices: Arc::default(),
        }
    }

    pub(crate) async fn facts(&self, max_age: MaxAge) -> Result<HostFacts, RunnerError> {
        self.facts.get(max_age, self.runner.facts()).await
    }

    pub(crate) async fn doctor(&self, max_age: MaxAge) -> Result<Doctor, RunnerError> {
        self.doctor.get(max_age, self.runner.doctor()).await
    }

    pub(crate) async fn devices(&self, max_age: MaxAge) -> Result<DeviceList, RunnerError> {
        self.devices.get(max_age, self.runner.devices()).await
    }
}

/// A result and the time at which its query started. The lock is held during a query, so concurrent
/// requests share the result.
struct Cached<T>(Mutex<Option<(Instant, T)>>);

impl<T> Default for Cached<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T: Clone> Cached<T> {
    /// Errors are not cached.
    async fn get(
        &self,
        max_age: MaxAge,
        query: impl Future<Output = Result<T, RunnerError>>,
    ) -> Result<T, RunnerError> {
        let requested = Instant::now();
        let mut cached = self.0.lock().await;
        if let Some((began, value)) = &*cached {
            let is_recent = match max_age {
                // A result is accepted if another request started its query after this request
                // arrived.
                MaxAge::Zero => *began >= requested,
                MaxAge::Default => began.elapsed() < DEFAULT_AGE,
                MaxAge::Unlimited => true,
            };
            if is_recent {
                return Ok(value.clone());
            }
        }
        let began = Instant::now();
        let value = query.await?;
        *cached = Some((began, value.clone()));
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[tokio::test]
    async fn concurrent_and_later_requests_share_a_query() {
        let cached = Cached::default();
        let queries = AtomicU32::new(0);
        let query = || async {
            tokio::task::yield_now().await;
            Ok(queries.fetch_add(1, Ordering::Relaxed))
        };
        let get = |max_age| cached.get(max_age, query());
        let (first, second) = tokio::join!(get(MaxAge::Zero), get(MaxAge::Default));
        assert_eq!((first.unwrap(), second.unwrap()), (0, 0));
        assert_eq!(get(MaxAge::Unlimited).await.unwrap(), 0);
        let (first, second) = tokio::join!(get(MaxAge::Zero), get(MaxAge::Zero));
        // The first two queries started before these requests, so a later query is required.
        assert!(first.unwrap() >= 1 && second.unwrap() >= 1);
    }
}
