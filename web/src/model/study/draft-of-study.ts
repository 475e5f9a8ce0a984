// A study that was started, as a draft of the form again. Its steps are told from their runs, which know their jobs.
import type { Job, Run, Study } from '../../api';
import { toJobText } from '../job/export';
import type { Step, StudyDraft } from './draft';

/** What stands in file names for the mark of the study. */
const MARK = '$study';
/** A mark as the runner makes them. */
const MARK_IN_NAME = /[0-9a-f]{16}/;

/** The draft; `runs` are those of its steps that were not deleted. A step without its run has no job left. */
export function draftOfStudy(study: Study, runs: readonly Run[]): StudyDraft {
  const mark = markIn(runs);
  const steps = study.steps.map(({ step, name, note, run }): Step => {
    const found = runs.find(({ number }) => number === run?.number);
    const text = found
      ? toJobText({
          requested: {
            ...found.requested,
            jobs: found.requested.jobs.map((job) => unmarked(job, mark)),
          },
        })
      : '';
    return { id: step, name, note: note ?? '', text, sampleMs: found?.requested.sample_ms };
  });
  const tags = runs[0]?.tags.filter((tag) => runs.every((run) => run.tags.includes(tag))) ?? [];
  const { number, name, about, continue_on_failure } = study;
  return {
    from: number,
    name,
    about: about ?? '',
    tags,
    continueOnFailure: continue_on_failure,
    steps,
    active: steps[0]?.id ?? 1,
  };
}

/** The mark of a study: what looks like one in the first name of a file that was not there before; null where there is none. */
function markIn(runs: readonly Run[]): string | null {
  const seen = new Set<string>();
  for (const { path, existed } of runs
    .flatMap(({ resolved }) => resolved ?? [])
    .flatMap(({ targets }) => targets)) {
    const mark = MARK_IN_NAME.exec(path)?.[0];
    if (mark && !existed && !seen.has(path)) return mark;
    seen.add(path);
  }
  return null;
}

/** A job whose files carry a mark of the next study's own. */
function unmarked(job: Job, mark: string | null): Job {
  if (mark === null) return job;
  const again = ([name, value]: [string, unknown]) =>
    [
      name,
      typeof value === 'string' && ['filename', 'directory'].includes(name)
        ? value.replaceAll(mark, MARK)
        : value,
    ] as const;
  return Object.fromEntries(Object.entries(job).map(again)) as Job;
}
