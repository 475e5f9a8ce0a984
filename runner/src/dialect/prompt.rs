//! Shell prompts at the start of pasted lines.

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
    // A prompt of a user, before any command.
    if line.starts_with("$ ") { 2 } else { 0 }
}

/// Whether a text before `$ ` or `# ` is a prompt and not a part of a command.
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
    let name = first.rsplit(['/', '\\']).next().unwrap_or_default();
    let has_arguments = text.split_whitespace().nth(1).is_some();
    COMMANDS.contains(&name) && has_arguments
}

#[cfg(test)]
mod tests {
    use super::prompt_length;

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
