// A run's details: results by job, tags and notes, times, runner decisions, resolved settings,
// host.
import { useInViewport } from '@mantine/hooks';
import type { Job, JobReport, Run } from '../../api';
import { type LiveRun, useLiveValue } from '../../charts/use-live-run';
import { PHASE_LABELS } from '../../model/fold/phases';
import { isFinal } from '../../model/fold/run-fold';
import { fieldRows } from '../../model/format/fields';
import { fioRate, plural, shortCount, text, UNKNOWN } from '../../model/format/numbers';
import { dateTime, duration } from '../../model/format/time';
import {
  DIRECTIONS,
  isUsed,
  maxOf,
  percentileOf,
  reportedText,
} from '../../model/run/reported-latency';
import { isImported } from '../../model/run/summary';
import { Facts } from '../../ui/facts';
import { MaybeLowerBound } from '../../ui/lower-bound';
import { NamedRows } from '../../ui/named-rows';
import { onDemand, useOnDemand } from '../../ui/on-demand';
import { Card } from '../../ui/parts';
import { useIsSaved } from '../../ui/saved';

export default function Details({ run, live }: { run: Run; live: LiveRun }) {
  const { fold, chartGroup } = live;
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
      {isSaved ? <SavedTagsAndNotes run={run} /> : <TagsAndNotes run={run} live={live} />}
      <div className="two">
        <Card title="Times">
          <Facts facts={runTimes(run)} />
        </Card>
        {isImported(run) &&
          run.requested.jobs.map((job) => (
            <Card key={String(job.name)} title={`Options of ${job.name}`}>
              <Facts mono facts={jobOptions(run, job)} />
            </Card>
          ))}
        {decisions.length > 0 && (
          <Card title="Runner decisions" className="no-print">
            <Facts facts={decisions} />
          </Card>
        )}
        {resolved.map((job) => (
          <FactsCard key={job.name} title={`Resolved settings for ${job.name}`} of={job} />
        ))}
        {host && (
          <FactsCard title="Host" of={host} summary={`${host.hostname} · kernel ${host.kernel}`} />
        )}
        {isFinal(run.status) && !run.damaged && !run.has_checksum && (
          <p className="mute small">
            Stored by an earlier version of Leadline: this run’s host, times and fingerprints have
            no checksum.
          </p>
        )}
      </div>
    </>
  );
}

/** The job's options as the program printed them. All other options have the program's defaults. */
function jobOptions({ report }: Run, job: Job): [name: string, value: string][] {
  const hosts = report?.foreign?.hostnames ?? [];
  return [
    ['version', report?.foreign?.version ?? UNKNOWN],
    ['host', hosts.join(', ') || UNKNOWN],
    ...Object.entries(job)
      .filter(([name]) => name !== 'name')
      .map(([name, value]): [string, string] => [name, String(value) || 'set']),
  ];
}

/** A card that is collapsed by default. */
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

function runTimes(run: Run) {
  const { created_at_ms, started_at_ms, finished_at_ms, report } = run;
  const times: [name: string, value: string][] = [
    [isImported(run) ? 'Imported' : 'Requested', dateTime(created_at_ms)],
    ['Started', dateTime(started_at_ms)],
    ['Finished', dateTime(finished_at_ms)],
  ];
  if (started_at_ms && finished_at_ms)
    times.push(['Total', duration(finished_at_ms - started_at_ms)]);
  for (const { phase, duration_ms } of report?.phases ?? [])
    times.push([PHASE_LABELS[phase], duration(duration_ms)]);
  return times;
}

/**
 * Loaded on demand: the fields are below the first screen, and their code is as large as the rest
 * of the page.
 */
const fieldsCode = onDemand(() => import('./tags-and-notes'));

function TagsAndNotes({ run, live }: { run: Run; live: LiveRun }) {
  const { ref, inViewport } = useInViewport<HTMLDivElement>();
  // Wait for the results: before they are loaded, the page is so short that the fields are visible.
  const isLoaded = useLiveValue(live.chartGroup, () => live.bucketed || live.fold.lastSeq >= 0);
  const isVisible = inViewport || typeof IntersectionObserver === 'undefined';
  const code = useOnDemand(fieldsCode, isLoaded && isVisible);
  const isEmpty = run.tags.length === 0 && !run.notes;
  return (
    <Card title="Tags and notes">
      <div ref={ref} className={`tags-and-notes ${isEmpty ? 'empty-fields' : ''}`}>
        {code ? <code.TagsAndNotesFields run={run} /> : <TagsAndNotesText run={run} />}
        {!code && isEmpty && <p className="mute">No tags or notes.</p>}
      </div>
    </Card>
  );
}

function SavedTagsAndNotes({ run }: { run: Run }) {
  if (run.tags.length === 0 && !run.notes) return null;
  return (
    <Card title="Tags and notes">
      <TagsAndNotesText run={run} />
    </Card>
  );
}

const TagsAndNotesText = ({ run: { tags, notes } }: { run: Run }) => (
  <>
    {tags.length > 0 && <p>{tags.join(', ')}</p>}
    {notes && <p className="breaks">{notes}</p>}
  </>
);

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
      cells: toCells(job, direction),
    })),
  );
  const hasLowerBound = jobs.some((job) =>
    DIRECTIONS.some((direction) => latenciesOf(job, direction).some((value) => value.isLowerBound)),
  );
  return (
    <Card title="Results by job">
      <NamedRows label="Results by job" corner="Job" headers={JOB_HEADERS} rows={rows} />
      {hasLowerBound && (
        <p className="mute small">≥ lower bound: I/Os were still in flight at the end.</p>
      )}
    </Card>
  );
}

const latenciesOf = (job: JobReport, direction: (typeof DIRECTIONS)[number]) => {
  const { lat_ns } = job[direction];
  return [percentileOf(lat_ns, '50'), percentileOf(lat_ns, '99'), maxOf(lat_ns)];
};

function toCells(job: JobReport, direction: (typeof DIRECTIONS)[number]) {
  const { iops, bytes_per_second } = job[direction];
  return [
    job.engine,
    job.workers,
    direction,
    text(shortCount(iops)),
    fioRate(bytes_per_second),
    ...latenciesOf(job, direction).map((value) => (
      // biome-ignore lint/correctness/useJsxKeyInIterable: the table assigns keys
      <MaybeLowerBound {...value} text={reportedText(value)} />
    )),
    job.errors,
  ];
}
