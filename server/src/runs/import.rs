//! Parses jobs that are submitted as text.

use crate::{error::Error, runs::Runs};
use leadline_protocol::{
    import::{Import, ImportRequest},
    problem::Problem,
    run::RunRequest,
    study::parse::is_study,
};
use serde_json::Value;

/// A request with the jobs parsed from its text.
pub(crate) struct ImportedRequest {
    pub request: RunRequest,
    /// `None` if the request contains the jobs as JSON.
    pub import: Option<Import>,
    /// Why the text does not define the jobs of a single run.
    pub problems: Vec<Problem>,
}

impl Runs {
    /// Replaces `job_text` with the jobs parsed from it.
    pub(crate) async fn with_imported_jobs(
        &self,
        mut request: RunRequest,
    ) -> Result<ImportedRequest, Error> {
        let Some(text) = request.job_text.take() else {
            return Ok(ImportedRequest {
                request,
                import: None,
                problems: Vec::new(),
            });
        };
        let variables = request.variables.take();
        let import = self
            .runner
            .import(&ImportRequest { text, variables })
            .await?;
        let mut problems = import.problems();
        match &import.document {
            Some(document) if is_study(document) => problems.push(Problem::invalid(
                "text_is_study",
                "job_text",
                "The jobs in the text run one after another, which requires a study.",
                "Send the document returned by POST /import to POST /studies.",
            )),
            Some(document) => {
                let jobs = document.get("jobs").and_then(Value::as_array);
                request.jobs = jobs.cloned().unwrap_or_else(|| vec![document.clone()]);
            }
            None => {}
        }
        Ok(ImportedRequest {
            request,
            import: Some(import),
            problems,
        })
    }
}
