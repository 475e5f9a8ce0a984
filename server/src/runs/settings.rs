//! Settings that users change in the web UI.

use crate::{
    error::Error,
    runs::{Runs, run_detached},
};
use leadline_protocol::settings::Settings;

impl Runs {
    pub(crate) async fn settings(&self) -> Result<Settings, Error> {
        Ok(self.store.settings().await?)
    }

    pub(crate) async fn set_settings(&self, settings: Settings) -> Result<Settings, Error> {
        let (store, new) = (self.store.clone(), settings.clone());
        let stored = async move { Ok(store.set_settings(&new).await?) };
        run_detached(stored).await?;
        Ok(settings)
    }
}
