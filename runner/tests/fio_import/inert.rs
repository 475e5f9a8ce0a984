//! Directives in imported text do not execute programs, include files or read anything. Variables
//! get values only from the request. The command-line program passes its environment in the
//! request, as a shell does.

use crate::input;
use leadline_protocol::import::{Import, ImportRequest, ImportSeverity};
use std::{env, fs, path::Path, process::Command};

/// Imports text with the runner program in the working directory `dir`.
fn plan(dir: &Path, text: &str) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_leadline-runner"));
    command
        .args(["plan", "-", "--target-root", "."])
        .current_dir(dir);
    let output = input::output(&mut command, text);
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

fn imported(text: &str) -> Import {
    let request = ImportRequest {
        text: text.into(),
        variables: None,
    };
    crate::with_host(|host| leadline_runner::dialect::import(&request, host))
}

#[test]
fn imported_directives_have_no_effect() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let dir = directory.path();
    let proof = dir.join("executed");
    let touch = format!("touch {}", proof.display());
    // A job that would appear in the result if the file were included.
    fs::write(
        dir.join("other.fio"),
        "[included-job]\nioengine=null\nsize=1m\n",
    )
    .unwrap();
    let before = fs::read_dir(dir).unwrap().count();
    let job = "[j]\nfilename=t1\nsize=1m\nrw=read\nbs=4k\n";
    let command = "fio --name=j --filename=t1 --size=1m --rw=read --bs=4k";
    for text in [
        format!("{job}exec_prerun={touch}\n"),
        format!("{job}exec_postrun={touch}\n"),
        format!("[global]\nexec_prerun={touch}\n{job}"),
        format!("{job}include other.fio\n"),
        format!("include other.fio\n{job}"),
        format!("{job}include=other.fio\n"),
        format!("{job}ioengine=external:./engine.so\n"),
        format!("{job}allow_mounted_write=1\n"),
        format!("{job}replay_no_stall=1\nread_iolog=other.fio\n"),
        format!("{job}write_iolog={}\n", proof.display()),
        format!("{job}write_bw_log={}\n", proof.display()),
        format!("{job}description=${{HOME}}\n"),
        format!("{job}filename=$HOME\n"),
        format!("{job}description=`{touch}`\n"),
        format!("{job}filename=$({touch})\n"),
        format!("{command} --exec_prerun='{touch}'"),
        format!("{command} --description=$({touch})"),
        format!("{command} --description=`{touch}`"),
        format!("{command} --description=${{HOME}}"),
        format!("{command}; {touch}"),
        format!("{command} && {touch}"),
        format!("{command} | sh -c '{touch}'"),
        format!("{command} > {}", proof.display()),
        format!("{touch}\n{command}"),
        format!("{command} --output={}", proof.display()),
        "fio other.fio".to_owned(),
        "fio --section=included-job other.fio".to_owned(),
        format!("{command} --server=127.0.0.1,1"),
        format!("{command} --client=127.0.0.1 other.fio"),
        format!("{command} --trigger='{touch}'"),
        format!(
            "diskspd -b4k -Z1m,{} -w100 t1",
            dir.join("other.fio").display()
        ),
        format!("diskspd -b4k -c1m $({touch})"),
    ] {
        let found = plan(dir, &text);
        assert!(!found.contains("included-job\""), "{text}: {found}");
        assert!(!proof.exists(), "{text}");
        assert_eq!(fs::read_dir(dir).unwrap().count(), before, "{text}");
        let import = imported(&text);
        assert!(!import.notes.is_empty(), "{text}");
        let home = env::var("HOME").unwrap_or_else(|_| "/root".into());
        let document = import.document.map(|document| document.to_string());
        let is_expanded = |document: String| {
            document.contains("included-job") || document.contains(&format!("\"{home}"))
        };
        assert!(!document.is_some_and(is_expanded), "{text}");
    }
}

/// A rejected directive results in an error with its line number, but the other lines are still
/// parsed. The text contains a byte order mark, CRLF line ends, and a colon, which separates file
/// names in fio.
#[test]
fn unsupported_directives_are_reported_with_their_lines() {
    let text = "\u{feff}[j]\r\nfilename=a:b\r\nsize=1m\r\nexec_prerun=id\r\nallow_mounted_write=1\r\nioengine=external:x.so\r\n";
    let import = imported(text);
    let errors: Vec<u32> = import
        .notes
        .iter()
        .filter(|note| note.severity == ImportSeverity::Error)
        .map(|note| note.span.line)
        .collect();
    for line in [4, 6] {
        assert!(errors.contains(&line), "{line}: {:?}", import.notes);
    }
    assert!(
        import.notes.iter().any(|note| note.span.line == 5),
        "{:?}",
        import.notes
    );
}
