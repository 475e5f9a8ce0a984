//! Timestamped notes on runs.

use crate::{
    clock::now_ms,
    error::Error,
    runs::{Runs, run_detached},
    store::annotations::InsertOutcome,
};
use leadline_protocol::{
    annotation::{Annotation, AnnotationRequest},
    runs_event::RunsEvent,
};

/// Maximum number of annotations per run. More would hide the chart.
const MAX_ANNOTATIONS: u32 = 100;

impl Runs {
    pub(crate) async fn annotate(
        &self,
        run: u64,
        request: AnnotationRequest,
    ) -> Result<Annotation, Error> {
        let store = self.store.clone();
        let inserted = async move {
            let inserted = store.insert_annotation(run, request, MAX_ANNOTATIONS, now_ms());
            Ok(inserted.await?)
        };
        match run_detached(inserted).await? {
            InsertOutcome::Done(annotation) => {
                self.publish(&RunsEvent::Annotations { run });
                Ok(annotation)
            }
            InsertOutcome::Missing => Err(Error::run_not_found(run)),
            InsertOutcome::Full => Err(Error::Conflict {
                code: "too_many_annotations",
                detail: format!(
                    "Run #{run} has the maximum of {MAX_ANNOTATIONS} annotations. Delete one first."
                ),
            }),
        }
    }

    pub(crate) async fn delete_annotation(&self, run: u64, number: u64) -> Result<(), Error> {
        let store = self.store.clone();
        let deleted = async move { Ok(store.delete_annotation(run, number).await?) };
        if !run_detached(deleted).await? {
            return Err(Error::NotFound {
                what: format!("annotation {number} of run #{run}"),
            });
        }
        self.publish(&RunsEvent::Annotations { run });
        Ok(())
    }
}
