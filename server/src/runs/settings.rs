//! Settings that users change in the pages.

use crate::{
    error::Error,
    query::groups::THRESHOLDS,
    runs::{Runs, detached},
};
use leadline_protocol::{metrics::METRICS, problem::Problem, settings::Settings};

impl Runs {
    pub(crate) async fn settings(&self) -> Result<Settings, Error> {
        Ok(self.store.settings().await?)
    }

    pub(crate) async fn set_settings(&self, settings: Settings) -> Result<Settings, Error> {
        check(&settings).map_err(Error::Rejected)?;
        let (store, new) = (self.store.clone(), settings.clone());
        let stored = async move { Ok(store.set_settings(&new).await?) };
        detached(stored).await?;
        Ok(settings)
    }
}

fn check(settings: &Settings) -> Result<(), Vec<Problem>> {
    let mut problems = Vec::new();
    for (name, percent) in &settings.thresholds {
        let field = format!("thresholds.{name}");
        let mut reject = |detail: String, remedy: &str| {
            problems.push(Problem::invalid("bad_value", &field, detail, remedy));
        };
        let is_tested = |name: &str| METRICS.iter().any(|m| m.name == name && m.is_tested);
        if !is_tested(name) {
            let detail = format!("{name} is not a metric that is tested.");
            reject(
                detail,
                "Use one of the metrics of comparisons, such as read_iops.",
            );
        } else if !THRESHOLDS.contains(percent) {
            let detail = format!("{percent} is not between 0.01 and 1000 %.");
            reject(detail, "For example: 2.");
        }
    }
    if problems.is_empty() {
        Ok(())
    } else {
        Err(problems)
    }
}
