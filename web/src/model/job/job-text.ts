// Parses and edits job text, a subset of fio's job file format: sections, `option=value`, bare
// options (= 1), `#` and `;` comments. Forms read their values from the text and make minimal
// edits, so that comments and line order are kept. The server validates the options.

interface Setting {
  /** Zero-based line in the text. */
  line: number;
  name: string;
  value: string;
}

interface Section {
  /**
   * Line of the section header; -1 for settings before the first header, which belong to [global].
   */
  line: number;
  name: string;
  settings: Setting[];
}

interface SyntaxProblem {
  line: number;
  detail: string;
}

export interface JobFile {
  sections: Section[];
  errors: SyntaxProblem[];
}

/** The job's options by name, with their values as text. */
export type JobOptions = Record<string, string>;

const GLOBAL = 'global';
const isGlobal = (section: Section) => section.name === GLOBAL;
const jobSections = (file: JobFile) => file.sections.filter((section) => !isGlobal(section));

/** As in fio, `#` or `;` starts a comment anywhere in a line. */
const stripComment = (line: string) => line.replace(/[#;].*$/, '').trim();

/** Never fails: invalid lines are returned as errors. */
export function parseJobText(text: string): JobFile {
  const file: JobFile = { sections: [], errors: [] };
  text.split('\n').forEach((raw, line) => {
    const content = stripComment(raw);
    if (content === '') return;
    if (content.startsWith('[')) parseHeader(content, line, file);
    else parseSetting(content, line, file);
  });
  return file;
}

function parseHeader(content: string, line: number, file: JobFile) {
  const name = /^\[\s*([^\]]+?)\s*\]$/.exec(content)?.[1];
  if (name === undefined) {
    file.errors.push({ line, detail: `“${content}” is not a valid section header: use [name].` });
  }
  file.sections.push({ line, name: name ?? content, settings: [] });
}

function parseSetting(content: string, line: number, file: JobFile) {
  const match = /^([A-Za-z_][\w-]*)\s*(?:=\s*(.*))?$/.exec(content);
  if (!match?.[1]) {
    file.errors.push({ line, detail: `“${content}” is neither option=value nor a [section].` });
    return;
  }
  if (file.sections.length === 0) file.sections.push({ line: -1, name: GLOBAL, settings: [] });
  file.sections.at(-1)?.settings.push({ line, name: match[1], value: match[2] ?? '1' });
}

/**
 * The jobs, each including the settings of the [global] sections before it. An empty value removes
 * an option.
 */
export function jobsOf(file: JobFile): JobOptions[] {
  const shared: JobOptions = {};
  const jobs: JobOptions[] = [];
  for (const section of file.sections) {
    const own = Object.fromEntries(section.settings.map(({ name, value }) => [name, value]));
    if (isGlobal(section)) Object.assign(shared, own);
    else jobs.push(omitEmpty({ name: section.name, ...shared, ...own }));
  }
  return jobs;
}

const omitEmpty = (options: JobOptions): JobOptions =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== ''));

/**
 * An option's settings that apply to a job: in its section, and in the [global] sections
 * before it.
 */
function findSettings(file: JobFile, section: Section, option: string) {
  const last = (sections: Section[]) =>
    sections.flatMap(({ settings }) => settings).findLast(({ name }) => name === option);
  const globals = file.sections.filter((other) => isGlobal(other) && other.line < section.line);
  return { own: last([section]), shared: last(globals) };
}

/**
 * Returns the line that sets an option of a job, or the line of the job's header; null if there is
 * no such job.
 */
export function lineOf(file: JobFile, job: number, option: string): number | null {
  const section = jobSections(file)[job];
  if (!section) return null;
  const { own, shared } = findSettings(file, section, option);
  return (own ?? shared ?? section).line;
}

/**
 * Sets an option of a job, or removes it (null). Settings that are shared with other jobs are
 * not changed. Instead, the job overrides them, or removes them with an empty value.
 */
export function setOption(text: string, job: number, option: string, value: string | null): string {
  const file = parseJobText(text);
  const jobs = jobSections(file);
  const section = jobs[job];
  if (!section) return text;
  const lines = text.split('\n');
  const { own, shared } = findSettings(file, section, option);
  if (option === 'name') lines[section.line] = `[${value ?? 'job'}]`;
  else if (jobs.length === 1) editLine(lines, section, own ?? shared, option, value);
  else editLine(lines, section, own, option, value ?? (shared ? '' : null));
  return lines.join('\n');
}

function editLine(
  lines: string[],
  section: Section,
  setting: Setting | undefined,
  option: string,
  value: string | null,
) {
  if (!setting) {
    const last = section.settings.at(-1)?.line ?? section.line;
    if (value !== null) lines.splice(last + 1, 0, `${option}=${value}`);
  } else if (value === null) {
    lines.splice(setting.line, 1);
  } else {
    const comment = /\s*[#;].*$/.exec(lines[setting.line] ?? '')?.[0] ?? '';
    lines[setting.line] = `${option}=${value}${comment}`;
  }
}

type JobSetting = [option: string, value: unknown];

/** Writes jobs as a job file. Settings that jobs have in common go to [global]. */
export function writeJobText(jobs: readonly Readonly<Record<string, unknown>>[]): string {
  const settings = jobs.map((job) =>
    Object.entries(job).filter(
      ([name, value]) => name !== 'name' && value !== null && value !== undefined,
    ),
  );
  const isShared = ([name, value]: JobSetting) =>
    settings.every((job) => job.some(([n, v]) => n === name && String(v) === String(value)));
  const shared = jobs.length > 1 ? (settings[0] ?? []).filter(isShared) : [];
  const sections = settings.map((job, i) =>
    section(
      String(jobs[i]?.name ?? 'job'),
      shared.length > 0 ? job.filter((setting) => !isShared(setting)) : job,
    ),
  );
  if (shared.length > 0) sections.unshift(section(GLOBAL, shared));
  return `${sections.join('\n\n')}\n`;
}

function section(name: string, settings: JobSetting[]): string {
  const lines = settings.map(([option, value]) => {
    const text = typeof value === 'boolean' ? Number(value) : value;
    return `${option}=${text}`;
  });
  return [`[${name}]`, ...lines].join('\n');
}
