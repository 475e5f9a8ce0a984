//! Shell prompts at the start of pasted lines, and the output between commands.

use crate::dialect::assignment::assignment;

/// Words that begin a pasted command after a prompt.
const COMMANDS: [&str; 10] = [
    "fio",
    "diskspd",
    "diskspd.exe",
    "sudo",
    "time",
    "env",
    "nice",
    "taskset",
    "numactl",
    "docker",
];

/// Length of the prompt at the start of a line, such as `$ ` or `[root@host ~]# `.
pub(crate) fn prompt_length(text: &str) -> usize {
    let line = text.lines().next().unwrap_or_default();
    let indent = line.len() - line.trim_start_matches([' ', '\t']).len();
    indent + length(&line[indent..])
}

fn length(line: &str) -> usize {
    let arrows = line.len() - line.trim_start_matches('>').len();
    if arrows > 0 && line[arrows..].starts_with(' ') {
        return arrows + 1;
    }
    for end in ["$ ", "# ", "% ", "> ", ">"] {
        let Some(at) = line.find(end) else { continue };
        let (prompt, command) = (&line[..at], &line[at + end.len()..]);
        if is_prompt(prompt, end) && begins_with_command(command) {
            return at + end.len();
        }
    }
    // The prompt of a non-root shell, before any command.
    if line.starts_with("$ ") { 2 } else { 0 }
}

/// Whether commands have prompts. If so, lines without a prompt are output.
pub(crate) fn is_session(text: &str) -> bool {
    text.lines().any(|line| {
        let indent = line.len() - line.trim_start_matches([' ', '\t']).len();
        let (prompt, command) = line.split_at(prompt_length(line));
        let is_prompted = prompt.len() > indent && begins_with_command(command);
        // `# fio random reads` may be a comment.
        is_prompted && (prompt.trim() != "#" || command.contains(" -"))
    })
}

/// Whether a line of a session is output: it has no prompt, and is not a command, a comment, or
/// options of the previous command.
pub(crate) fn is_output(line: &str) -> bool {
    let content = line.trim();
    let has_prompt = prompt_length(line) > line.len() - line.trim_start_matches([' ', '\t']).len();
    let is_code = |c: char| matches!(c, '#' | '-' | '–' | '—');
    let mut words = content.split_whitespace();
    let is_assignment = |word: &str| assignment(word).is_some();
    let command = words.by_ref().find(|word| !is_assignment(word));
    let is_command = command.is_none_or(|word| COMMANDS.contains(&base_name(word)));
    !content.is_empty() && !has_prompt && !content.starts_with(is_code) && !is_command
}

/// Whether the text before `$ ` or `# ` is a prompt and not part of a command.
fn is_prompt(prompt: &str, end: &str) -> bool {
    if end.starts_with('>') {
        // `C:\Tools> `, `C:\>` and `PS C:\> `
        return prompt.trim_start_matches("PS ").get(1..3) == Some(":\\");
    }
    let is_bracketed = prompt.starts_with('[') && prompt.ends_with(']');
    let is_user = prompt.contains('@') && !prompt.contains(' ');
    prompt.is_empty() || is_bracketed || is_user || matches!(prompt, "bash-5.1" | "sh-5.1")
}

fn begins_with_command(text: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or_default();
    let has_arguments = text.split_whitespace().nth(1).is_some();
    COMMANDS.contains(&base_name(first)) && has_arguments
}

fn base_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::{is_output, is_session, prompt_length};

    #[test]
    fn output_is_distinguished_from_commands() {
        for (text, expected) in [
            ("$ fio --name=a\n2952MiB/s\n", true),
            (
                ">>>> fio --name=a --rw=read\n\n1.  a: (g=0): rw=read\n",
                true,
            ),
            ("  [root@host ~]# fio --name=a\n", true),
            ("# fio --name=a\n", true),
            ("# fio random reads\nfio --name=a\necho (done)\n", false),
            ("fio --name=a\n", false),
            ("$ echo 3\nfio --name=a\n", false),
        ] {
            assert_eq!(is_session(text), expected, "{text}");
        }
        for line in [
            "2952MiB/s",
            "1.  a: (g=0): rw=read",
            "...",
            "```",
            "fio-3.33",
        ] {
            assert!(is_output(line), "{line}");
        }
        for line in [
            "$ fio --name=a",
            "$ echo 3",
            "fio --name=a",
            "sudo fio --name=a",
            "SIZE=1g fio --name=a",
            "SIZE=1g",
            "  --rw=read",
            "# comment",
            "",
        ] {
            assert!(!is_output(line), "{line}");
        }
    }

    #[test]
    fn prompts_are_recognized() {
        for (prompt, command) in [
            ("", "fio --name=a"),
            ("$ ", "fio --name=a"),
            ("# ", "fio --name=a"),
            ("  $ ", "sudo fio --name=a"),
            ("[root@node1 ~]# ", "fio --name=a"),
            ("admin@host:/mnt$ ", "sudo fio --name=a"),
            (">>>> ", "fio --name=a"),
            ("PS C:\\> ", "diskspd.exe -d10 a"),
            ("C:\\Tools> ", "diskspd -d10 a"),
            ("C:\\>", "diskspd -d10 a"),
            ("$ ", "echo 3"),
            ("", "# a comment"),
            ("", "# Random read"),
            ("", "fio --name=a # fio is here"),
        ] {
            assert_eq!(
                prompt_length(&format!("{prompt}{command}")),
                prompt.len(),
                "{prompt}{command}"
            );
        }
    }
}
