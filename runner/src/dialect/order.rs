//! The order of jobs: `stonewall` and `wait_for` (backend.c, `run_threads`).

use crate::dialect::{
    fio_jobs::FioJob,
    notes::{NoteText, Notes, quoted},
};

/// Indexes of the jobs that start together, in order. `stonewall` waits for all earlier jobs; later
/// jobs start together with the job that has it, or after it. `wait_for` waits for all jobs with a
/// name.
pub(crate) fn waves(jobs: &[FioJob], notes: &mut Notes<'_>) -> Vec<Vec<usize>> {
    let mut waves: Vec<Vec<usize>> = Vec::new();
    let mut first_of_segment = 0;
    let mut wave_of: Vec<usize> = Vec::new();
    for (index, job) in jobs.iter().enumerate() {
        if job.options.flag("stonewall") == Some(true) {
            first_of_segment = waves.len();
        }
        let after = last_awaited_wave(job, &jobs[..index], &wave_of, notes);
        let wave = after.map_or(first_of_segment, |wave| first_of_segment.max(wave + 1));
        waves.resize_with(waves.len().max(wave + 1), Vec::new);
        waves[wave].push(index);
        wave_of.push(wave);
    }
    waves.retain(|wave| !wave.is_empty());
    waves
}

/// Returns the last wave that contains a job named by `wait_for`.
fn last_awaited_wave(
    job: &FioJob,
    earlier: &[FioJob],
    wave_of: &[usize],
    notes: &mut Notes<'_>,
) -> Option<usize> {
    let entry = job.options.get("wait_for")?;
    let name = job.options.text("wait_for")?;
    let waves = earlier.iter().zip(wave_of);
    let named = waves.filter(|(earlier, _)| earlier.name == name);
    let last = named.map(|(_, wave)| *wave).max();
    if last.is_none() {
        let sentence = format!("No earlier job is named `{}`.", quoted(name));
        let remedy = "Use the name of an earlier job.";
        notes.error(
            &entry.span,
            Some("wait_for"),
            NoteText::new("unknown_job", sentence, remedy),
        );
    } else if earlier
        .iter()
        .zip(wave_of)
        .any(|(other, wave)| Some(*wave) == last && other.name != name)
    {
        let sentence = format!(
            "The job starts when `{}` and all jobs that started with it have ended; fio waits only for `{}`.",
            quoted(name),
            quoted(name)
        );
        notes.warning(
            &entry.span,
            Some("wait_for"),
            NoteText::new("wait_for_wave", sentence, ""),
        );
    }
    last
}
