//! Starts programs with text on stdin.

use std::{
    io::{ErrorKind, Write},
    process::{Child, Command, Output, Stdio},
};

/// Starts a program. It may exit without reading its input.
pub(crate) fn spawn(command: &mut Command, input: impl AsRef<[u8]>) -> Child {
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    if let Err(error) = stdin.write_all(input.as_ref()) {
        assert_eq!(error.kind(), ErrorKind::BrokenPipe, "{error}");
    }
    child
}

/// Runs a program to completion.
pub(crate) fn output(command: &mut Command, input: impl AsRef<[u8]>) -> Output {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    spawn(command, input).wait_with_output().unwrap()
}
