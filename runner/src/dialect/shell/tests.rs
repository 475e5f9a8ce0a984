//! Tests for shell words and commands.

use super::{Separator, ShellCommand, commands};
use crate::dialect::{notes::Notes, source::Source};
use std::collections::BTreeMap;

fn words(text: &str) -> Vec<(Vec<String>, Separator)> {
    let source = Source::new(text);
    let mut notes = Notes::new(&source);
    let variables = BTreeMap::from([("DEV".to_owned(), "/dev/sdb".to_owned())]);
    let commands = commands(&source, &variables, &mut notes);
    let texts = |command: ShellCommand| {
        let words = command.words.into_iter().map(|word| word.text);
        (words.collect(), command.end)
    };
    commands.into_iter().map(texts).collect()
}

#[test]
fn words_are_split_and_unquoted_as_in_a_shell() {
    for (text, want) in [
        ("fio --name=a b", &["fio", "--name=a", "b"][..]),
        (
            "fio --name='a b' \"c d\" e\\ f",
            &["fio", "--name=a b", "c d", "e f"],
        ),
        ("fio \\\n  --bs=4k", &["fio", "--bs=4k"]),
        (
            "fio a=$DEV b='$DEV' c=\"${DEV}\"",
            &["fio", "a=/dev/sdb", "b=$DEV", "c=/dev/sdb"],
        ),
        ("fio a#b # comment", &["fio", "a#b"]),
        ("fio x > out.txt 2>&1", &["fio", "x"]),
        ("$ fio x", &["fio", "x"]),
        ("$ fio \\\n> x", &["fio", "x"]),
        ("fio a\\ \t\nb \\ \n c", &["fio", "a", "b", "c"]),
        ("fio a\\ b\\  c", &["fio", "a b ", "c"]),
    ] {
        assert_eq!(words(text)[0].0, want, "{text}");
    }
}

#[test]
fn commands_are_separated() {
    let names = |text: &str| -> Vec<(String, Separator)> {
        let first = |(words, end): (Vec<String>, Separator)| (words.concat(), end);
        words(text).into_iter().map(first).collect()
    };
    assert_eq!(
        names("a && b; c | d\ne &\n"),
        [
            ("a".into(), Separator::IfSuccessful),
            ("b".into(), Separator::Then),
            ("c".into(), Separator::Pipe),
            ("d".into(), Separator::Then),
            ("e".into(), Separator::Background),
        ]
    );
    assert_eq!(names("X=1\na $X\ncat <<EOF\n[j]\nEOF\nb").len(), 3);
}
