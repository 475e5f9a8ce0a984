//! Consistency checks for reports, which may have been edited.

use super::{Report, stats::DirectionStats};

impl Report {
    /// The name of an impossible number, such as negative IOPS in an edited report; `None`
    /// if there is none.
    pub fn impossible_number(&self) -> Option<String> {
        let jobs = self.jobs.iter();
        let of_jobs = jobs.flat_map(|job| {
            let named = named(&job.read, &job.write, &job.trim);
            named.map(|(direction, stats)| (format!("jobs.{}.{direction}", job.name), stats))
        });
        let total = named(&self.read, &self.write, &self.trim);
        let total = total.map(|(direction, stats)| (direction.to_owned(), stats));
        let mut all = total.into_iter().chain(of_jobs);
        all.find_map(|(direction, stats)| {
            let number = stats.impossible_number()?;
            Some(format!("{direction}.{number}"))
        })
    }

    /// Numbers that contradict each other, as in an edited report; `None` if there are none.
    pub fn contradiction(&self) -> Option<String> {
        if !self.duration_ms.is_finite() || self.duration_ms < 0.0 {
            return Some(format!("duration_ms is {}", self.duration_ms));
        }
        // Rates cannot be checked without a duration, or if another program defines them
        // differently.
        if self.duration_ms == 0.0 || self.foreign.is_some() {
            return None;
        }
        let directions = named(&self.read, &self.write, &self.trim);
        directions.into_iter().find_map(|(name, stats)| {
            let contradiction = stats.contradiction(self.duration_ms)?;
            Some(format!("{name}.{contradiction}"))
        })
    }
}

fn named<'a>(
    read: &'a DirectionStats,
    write: &'a DirectionStats,
    trim: &'a DirectionStats,
) -> [(&'static str, &'a DirectionStats); 3] {
    [("read", read), ("write", write), ("trim", trim)]
}
