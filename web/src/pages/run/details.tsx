// Details of a run: results by job, tags and notes, times, runner decisions, resolved settings,
// host.
import { TagsInput, Textarea } from '@mantine/core';
import type { JobReport, Run } from '../../api';
import { type LiveRun, useLiveValue } from '../../charts/use-live-run';
import { PHASE_LABELS } from '../../model/fold/phases';
import { fieldRows } from '../../model/format/fields';
import { fioRate, plural, shortCount, text } from '../../model/format/numbers';
import { dateTime, duration } from '../../model/format/time';
import {
  DIRECTIONS,
  isUsed,
  maxOf,
  percentileOf,
  reportedText,
} from '../../model/run/reported-latency';
import { Facts } from '../../ui/facts';
import { MaybeLowerBound } from '../../ui/lower-bound';
import { NamedRows } from '../../ui/named-rows';
import { Card } from '../../ui/parts';
import { useIsSaved } from '../../ui/saved';
import { useRunField } from './actions';

export function Details({ run, live: { fold, chartGroup } }: { run: Run; live: LiveRun }) {
  const isSaved = useIsSaved();
  const result = useLiveValue(chartGroup, () => fold.result);
  const accepted = useLiveValue(chartGroup, () => fold.accepted);
  const jobs = result?.report.jobs ?? [];
  const resolved = accepted?.jobs ?? run.resolved ?? [];
  const host = accepted?.host ?? run.host_facts;
  const decisions = jobs.flatMap((job) =>
    job.decisions.map(
      ({ name, used, reason }) =>
        [
          jobs.length > 1 ? `${job.name}: ${name}` : name,
          `${used ? 'Used' : 'Not used'}: ${reason}`,
        ] as const,
    ),
  );
  return (
    <>
      {jobs.length > 1 && <JobTable jobs={jobs} />}
      {isSaved ? <SavedTagsAndNotes run={run} /> : <TagsAndNotes run={run} />}
      <div className="two">
        <Card title="Times">
          <Facts facts={timesOf(run)} />
        </Card>
        {decisions.length > 0 && (
          <Card title="Runner decisions">
            <Facts facts={decisions} />
          </Card>
        )}
        {resolved.map((job) => (
          <FactsCard key={job.name} title={`Resolved settings for ${job.name}`} of={job} />
        ))}
        {host && (
          <FactsCard title="Host" of={host} summary={`${host.hostname} · kernel ${host.kernel}`} />
        )}
      </div>
    </>
  );
}

/** Collapsed by default. */
function FactsCard({ title, of, summary }: { title: string; of: object; summary?: string }) {
  const facts = fieldRows(of);
  return (
    <Card title={title}>
      <details>
        <summary>{summary ?? plural(facts.length, 'setting')}</summary>
        <Facts mono facts={facts} />
      </details>
    </Card>
  );
}

function timesOf({ created_at_ms, started_at_ms, finished_at_ms, report }: Run) {
  const times: [name: string, value: string][] = [
    ['Requested', dateTime(created_at_ms)],
    ['Started', dateTime(started_at_ms)],
    ['Finished', dateTime(finished_at_ms)],
  ];
  if (started_at_ms && finished_at_ms)
    times.push(['Total', duration(finished_at_ms - started_at_ms)]);
  for (const { phase, duration_ms } of report?.phases ?? [])
    times.push([PHASE_LABELS[phase], duration(duration_ms)]);
  return times;
}

function TagsAndNotes({ run }: { run: Run }) {
  const tags = useRunField(run, 'tags');
  const notes = useRunField(run, 'notes');
  return (
    <Card title="Tags and notes">
      <div className="stack">
        <TagsInput
          aria-label="Tags"
          placeholder="Add a tag and press Enter"
          value={tags.value}
          onChange={tags.save}
          error={tags.unsaved && 'Not saved. Change the tags to retry.'}
          maxTags={20}
          clearable
        />
        <Textarea
          key={run.notes}
          aria-label="Notes"
          placeholder="Notes about this run"
          defaultValue={run.notes}
          autosize
          minRows={2}
          onBlur={({ currentTarget: { value } }) => notes.save(value)}
          error={notes.unsaved && 'Not saved. Edit the notes to retry.'}
        />
      </div>
    </Card>
  );
}

function SavedTagsAndNotes({ run: { tags, notes } }: { run: Run }) {
  if (tags.length === 0 && !notes) return null;
  return (
    <Card title="Tags and notes">
      {tags.length > 0 && <p>{tags.join(', ')}</p>}
      {notes && <p className="breaks">{notes}</p>}
    </Card>
  );
}

const JOB_HEADERS = [
  'Engine',
  'Workers',
  'Direction',
  'IOPS',
  'Bandwidth',
  'p50',
  'p99',
  'Max',
  'Errors',
];
function JobTable({ jobs }: { jobs: readonly JobReport[] }) {
  const rows = jobs.flatMap((job) =>
    DIRECTIONS.filter((direction) => isUsed(job[direction])).map((direction) => ({
      key: job.name + direction,
      name: job.name,
      cells: cellsOf(job, direction),
    })),
  );
  return (
    <Card title="Results by job">
      <NamedRows label="Results by job" corner="Job" headers={JOB_HEADERS} rows={rows} />
    </Card>
  );
}

function cellsOf(job: JobReport, direction: (typeof DIRECTIONS)[number]) {
  const { iops, bytes_per_second, lat_ns } = job[direction];
  const latencies = [percentileOf(lat_ns, '50'), percentileOf(lat_ns, '99'), maxOf(lat_ns)];
  return [
    job.engine,
    job.workers,
    direction,
    text(shortCount(iops)),
    fioRate(bytes_per_second),
    ...latencies.map((value) => (
      // biome-ignore lint/correctness/useJsxKeyInIterable: the table assigns keys
      <MaybeLowerBound {...value} text={reportedText(value)} />
    )),
    job.errors,
  ];
}
