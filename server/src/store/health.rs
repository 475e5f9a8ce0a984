//! Whether the database accepts writes.

use crate::store::{fault::StoreFault, location::DatabaseFile};
use anyhow::Result;
use tokio::sync::watch;

#[derive(Debug)]
pub(super) struct Health {
    pub file: DatabaseFile,
    fault: watch::Sender<Option<StoreFault>>,
}

impl Health {
    pub(super) fn new(file: DatabaseFile) -> Self {
        Self {
            file,
            fault: watch::Sender::new(None),
        }
    }

    /// If a fault caused an error, records it and adds it to the error.
    pub(super) fn record_fault<T>(&self, result: Result<T>) -> Result<T> {
        result.map_err(|error| {
            let Some(fault) = StoreFault::from_error(&error) else {
                return error;
            };
            let fault = self.with_lock_holder(fault);
            self.set(Some(fault.clone()));
            if error.is::<StoreFault>() {
                error
            } else {
                error.context(fault)
            }
        })
    }

    fn with_lock_holder(&self, fault: StoreFault) -> StoreFault {
        match fault {
            StoreFault::Locked(None) => StoreFault::Locked(self.file.lock_holder()),
            other => other,
        }
    }

    /// Records that a transaction was committed, so the database accepts writes.
    pub(super) fn clear(&self) {
        self.set(None);
    }

    pub(super) fn fault(&self) -> Option<StoreFault> {
        self.fault.borrow().clone()
    }

    pub(super) fn subscribe(&self) -> watch::Receiver<Option<StoreFault>> {
        self.fault.subscribe()
    }

    fn set(&self, fault: Option<StoreFault>) {
        let changed = self.fault.send_if_modified(|current| {
            let changed = *current != fault;
            current.clone_from(&fault);
            changed
        });
        match fault {
            Some(fault) if changed => tracing::error!(code = fault.code(), "{fault}"),
            None if changed => tracing::info!("the database accepts writes again"),
            _ => {}
        }
    }
}
