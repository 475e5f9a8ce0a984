//! Flags that exclude or require each other.

use crate::dialect::{
    diskspd::flags::Flags,
    notes::{NoteText, Notes, quoted},
};

impl Flags {
    /// Reports flags that exclude each other (Common.cpp, `Validate`).
    pub(crate) fn check(&self, targets: usize, notes: &mut Notes<'_>) {
        let has = |letter: char| self.given.iter().any(|(given, ..)| *given == letter);
        let mut reject = |letter: char, applies: bool, reason: &str| {
            let Some((_, name, span)) = self.given.iter().find(|(given, ..)| *given == letter)
            else {
                return;
            };
            if applies {
                let sentence = format!("{} {reason}", quoted(name));
                let text = NoteText::new("bad_flag", sentence, "Correct or remove it.");
                notes.error(span, Some(name), text);
            }
        };
        let is_random = self.random.is_some();
        reject(
            'F',
            targets > 1,
            "with multiple targets lets each thread access all of them, which is not supported.",
        );
        reject(
            's',
            self.is_interlocked && self.threads > 1,
            "shares one position between all threads, which fio jobs cannot do.",
        );
        reject('F', has('t'), "and -t are mutually exclusive.");
        reject(
            'T',
            is_random || self.threads < 2,
            "requires multiple threads and sequential access.",
        );
        reject('p', true, "is not supported.");
        reject('g', has('x'), "and -x are mutually exclusive.");
        reject('n', has('a'), "and -a are mutually exclusive.");
        reject('i', !has('j'), "requires -j.");
        reject('j', !has('i'), "requires -i.");
        reject(
            'r',
            self.distribution.is_some() && !is_random,
            "requires -r or -rs.",
        );
    }
}
