//! Detects the dialect of job text.

use crate::dialect::prompt::prompt_length;
use leadline_protocol::import::Dialect;

/// Decides based on the first lines that are not comments.
pub(crate) fn detect(text: &str) -> Dialect {
    let text = text.trim_start_matches('\u{feff}').trim_start();
    if text.starts_with('{') {
        return Dialect::Json;
    }
    let mut first = None;
    let has_section = has_section(text);
    for line in text.lines() {
        let trimmed = line.trim();
        let content = &line[prompt_length(line).min(line.len())..];
        let content = content.trim();
        // `# fio job.fio` is a comment in a job file.
        let has_prompt = content.len() < trimmed.len() && !has_section;
        if !has_prompt && (trimmed.starts_with([';', '#']) || trimmed.is_empty()) {
            continue;
        }
        if !has_prompt && trimmed.starts_with('[') {
            return Dialect::FioJobFile;
        }
        if let Some(dialect) = command_dialect(content) {
            return dialect;
        }
        if content.contains("<<") && !is_option_line(content) && has_fio(text) {
            return Dialect::FioCommand;
        }
        first = first.or(Some(trimmed));
    }
    match first {
        None => Dialect::FioJobFile,
        Some(line) if is_option_line(line) => Dialect::FioJobFile,
        Some(_) => Dialect::Unknown,
    }
}

/// Whether a line is a section header outside here documents.
fn has_section(text: &str) -> bool {
    let is_header = |line: &str| {
        let line = line.trim();
        line.starts_with('[') && line.ends_with(']') && !line.contains('@')
    };
    text.lines().any(is_header) && !text.contains("<<")
}

fn has_fio(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim);
    lines.any(|line| command_dialect(line) == Some(Dialect::FioCommand))
}

fn command_dialect(line: &str) -> Option<Dialect> {
    let mut words = line.split_whitespace().map(|word| {
        let word = word.trim_matches(['"', '\'']);
        word.rsplit(['/', '\\']).next().unwrap_or(word)
    });
    let is_diskspd = |word: &str| {
        word.eq_ignore_ascii_case("diskspd") || word.eq_ignore_ascii_case("diskspd.exe")
    };
    if line.starts_with("--") || line.starts_with('–') || line.starts_with('—') {
        return Some(Dialect::FioCommand);
    }
    let first = words.next()?;
    if is_diskspd(first) {
        return Some(Dialect::DiskspdCommand);
    }
    if first == "fio" || words.any(|word| word == "fio") {
        return Some(Dialect::FioCommand);
    }
    None
}

/// Whether the line has the form `option=value`.
fn is_option_line(line: &str) -> bool {
    let name = line.split('=').next().unwrap_or_default().trim_end();
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    line.contains('=') && !name.is_empty() && name.chars().all(is_name)
}

#[cfg(test)]
mod tests {
    use super::detect;
    use leadline_protocol::import::Dialect;

    #[test]
    fn dialects_are_recognized() {
        for (text, want) in [
            ("{\"rw\":\"read\"}", Dialect::Json),
            ("[global]\nbs=4k", Dialect::FioJobFile),
            ("; comment\n\n[j]", Dialect::FioJobFile),
            ("bs=4k\n[j]", Dialect::FioJobFile),
            ("\u{feff}[j]", Dialect::FioJobFile),
            ("", Dialect::FioJobFile),
            ("fio --name=a", Dialect::FioCommand),
            ("# fio --name=a", Dialect::FioCommand),
            ("[root@node1 ~]# fio --name=j", Dialect::FioCommand),
            ("echo 3 > x\nsudo fio --name=a", Dialect::FioCommand),
            ("sudo -E /usr/bin/fio --name=a", Dialect::FioCommand),
            ("--name=a --rw=read", Dialect::FioCommand),
            ("diskspd.exe -w0 f", Dialect::DiskspdCommand),
            ("C:\\tools\\DiskSpd.exe -w0 f", Dialect::DiskspdCommand),
            ("# fio a.fio --x\n[j]\nrw=read", Dialect::FioJobFile),
            (
                "cat > a.fio <<EOF\n[j]\nrw=read\nEOF\nfio a.fio",
                Dialect::FioCommand,
            ),
            ("description=a << b\n[j]\n# fio a.fio", Dialect::FioJobFile),
            ("dd if=/dev/zero of=x", Dialect::Unknown),
            ("hello world", Dialect::Unknown),
        ] {
            assert_eq!(detect(text), want, "{text}");
        }
    }
}
