// A run as fio job text and back. The text is the one truth of the form: a field is read out of it, a change is the
// smallest edit of it, so that comments and order stay. Our own subset of fio's language: sections, `option=value`,
// bare options (= 1), `#` and `;` comments. What an option means is the server's business, not known here.

/** One line that sets an option. */
interface Setting {
  /** Line in the text, from 0. */
  line: number;
  name: string;
  value: string;
}

/** One section of a job file. */
interface Section {
  /** Line of its heading, from 0; -1 for settings before the first heading, which count as [global]. */
  line: number;
  name: string;
  settings: Setting[];
}

/** A line that is neither heading, setting nor comment. */
interface SyntaxProblem {
  line: number;
  detail: string;
}

/** A job file taken apart. */
export interface JobFile {
  sections: Section[];
  errors: SyntaxProblem[];
}

/** The options of one job as one would post them: every value as text. */
export type JobOptions = Record<string, string>;

const GLOBAL = 'global';
const isGlobal = (section: Section) => section.name === GLOBAL;
/** fio cuts a line at the first of these, wherever it stands. */
const stripComment = (line: string) => line.replace(/[#;].*$/, '').trim();

/** Takes a text apart; never fails, faults are listed with their line. */
export function parseJobText(text: string): JobFile {
  const file: JobFile = { sections: [], errors: [] };
  text.split('\n').forEach((raw, line) => {
    const content = stripComment(raw);
    if (content === '') return;
    if (content.startsWith('[')) readHeading(content, line, file);
    else readSetting(content, line, file);
  });
  return file;
}

function readHeading(content: string, line: number, file: JobFile) {
  const name = /^\[\s*([^\]]+?)\s*\]$/.exec(content)?.[1];
  if (name === undefined)
    file.errors.push({ line, detail: `“${content}” is no heading: write [name].` });
  file.sections.push({ line, name: name ?? content, settings: [] });
}

function readSetting(content: string, line: number, file: JobFile) {
  const match = /^([A-Za-z_][\w-]*)\s*(?:=\s*(.*))?$/.exec(content);
  if (!match?.[1]) {
    file.errors.push({ line, detail: `“${content}” is neither option=value nor a [heading].` });
    return;
  }
  if (file.sections.length === 0) file.sections.push({ line: -1, name: GLOBAL, settings: [] });
  file.sections.at(-1)?.settings.push({ line, name: match[1], value: match[2] ?? '1' });
}

/**
 * The jobs of a file, each with what the [global] sections before it said. An option without its value says nothing, nor
 * does what stood there before it.
 */
export function jobsOf(file: JobFile): JobOptions[] {
  const shared: JobOptions = {};
  const jobs: JobOptions[] = [];
  for (const section of file.sections) {
    const said = Object.fromEntries(section.settings.map(({ name, value }) => [name, value]));
    if (isGlobal(section)) Object.assign(shared, said);
    else jobs.push(withoutEmpty({ name: section.name, ...shared, ...said }));
  }
  return jobs;
}

const withoutEmpty = (options: JobOptions): JobOptions =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== ''));

const jobSections = (file: JobFile) => file.sections.filter((section) => !isGlobal(section));

/** Where an option of a job is set: in its section, and in the [global] ones before it. */
function settingsOf(
  file: JobFile,
  section: Section,
  option: string,
): { own?: Setting; shared?: Setting } {
  const last = (sections: Section[]) =>
    sections.flatMap(({ settings }) => settings).findLast(({ name }) => name === option);
  return {
    own: last([section]),
    shared: last(file.sections.filter((one) => isGlobal(one) && one.line < section.line)),
  };
}

/** The line, from 0, that sets an option of a job, or else its heading; null when there is no such job. */
export function lineOf(text: string, job: number, option: string): number | null {
  const file = parseJobText(text);
  const section = jobSections(file)[job];
  if (!section) return null;
  const { own, shared } = settingsOf(file, section, option);
  return (own ?? shared ?? section).line;
}

const spell = (name: string, value: string) => `${name}=${value}`;

/**
 * The text with one option of one job set to a value, or taken out (null). What several jobs share stays as it is: the job
 * gets a line of its own, an empty one where it is to say nothing.
 */
export function setOption(text: string, job: number, option: string, value: string | null): string {
  const file = parseJobText(text);
  const jobs = jobSections(file);
  const section = jobs[job];
  if (!section) return text;
  const lines = text.split('\n');
  const { own, shared } = settingsOf(file, section, option);
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
  if (setting && value === null) lines.splice(setting.line, 1);
  else if (setting && value !== null) {
    const comment = /\s*[#;].*$/.exec(lines[setting.line] ?? '')?.[0] ?? '';
    lines[setting.line] = spell(option, value) + comment;
  } else if (value !== null) {
    const after = section.settings.at(-1)?.line ?? section.line;
    lines.splice(after + 1, 0, spell(option, value));
  }
}

/** Jobs as a job file: what all have in common under [global] when there are several, the rest per job. */
export function writeJobText(jobs: readonly Readonly<Record<string, unknown>>[]): string {
  const asked = jobs.map((job) =>
    Object.entries(job).filter(
      ([name, value]) => name !== 'name' && value !== null && value !== undefined,
    ),
  );
  const [first = []] = asked;
  const isShared = ([name, value]: [string, unknown]) =>
    asked.every((job) => job.some(([n, v]) => n === name && String(v) === String(value)));
  const shared = jobs.length > 1 ? first.filter(isShared) : [];
  const write = (settings: [string, unknown][]) =>
    settings.map(([name, value]) => spell(name, optionText(value)));
  const sections = asked.map((job, i) => [
    `[${String(jobs[i]?.name ?? 'job')}]`,
    ...write(job.filter((setting) => !shared.length || !isShared(setting))),
  ]);
  return [...(shared.length ? [['[global]', ...write(shared)]] : []), ...sections]
    .map((lines) => lines.join('\n'))
    .join('\n\n')
    .concat('\n');
}

/** A value of a posted job as fio would spell it. */
function optionText(value: unknown): string {
  return typeof value === 'boolean' ? (value ? '1' : '0') : String(value);
}
