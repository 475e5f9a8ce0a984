// Everything else: tags and notes, each job by itself, the settings as resolved, the host as found.
import { TagsInput, Textarea } from '@mantine/core';
import type { JobReport, Run } from '../../api';
import { type Live, useLiveValue } from '../../charts/use-live';
import { fieldRows } from '../../model/format/fields';
import { duration, fioRate, latency, moment, shortCount, text } from '../../model/format/numbers';
import { Facts } from '../../ui/facts';
import { NamedRows } from '../../ui/named-rows';
import { Card } from '../../ui/parts';
import { useRunField } from './actions';

/** The lower part of the page. */
export function Details({ run, live: { fold, chartGroup } }: { run: Run; live: Live }) {
  const outcome = useLiveValue(chartGroup, () => fold.result);
  const accepted = useLiveValue(chartGroup, () => fold.accepted);
  const jobs = outcome?.report.jobs ?? [];
  const resolved = accepted?.jobs ?? run.resolved ?? [];
  const host = accepted?.host ?? run.host_facts;
  const decisions = jobs.flatMap((job) =>
    job.decisions.map((choice) => ({ ...choice, job: job.name })),
  );
  return (
    <>
      {jobs.length > 1 && <JobTable jobs={jobs} />}
      <TagsAndNotes run={run} />
      <div className="two">
        <Card title="Times">
          <Facts facts={timesOf(run)} />
        </Card>
        {decisions.length > 0 && (
          <Card title="What the runner chose, and why">
            <Facts
              facts={decisions.map(({ name, used, reason, job }) => [
                jobs.length > 1 ? `${job}: ${name}` : name,
                `${used ? 'used' : 'not used'}: ${reason}`,
              ])}
            />
          </Card>
        )}
        {resolved.map((job) => (
          <Card key={job.name} title={`Job ${job.name}, every setting as resolved`}>
            <details>
              <summary>{`${fieldRows(job).length} settings`}</summary>
              <Facts mono facts={fieldRows(job)} />
            </details>
          </Card>
        ))}
        {host && (
          <Card title="Host as found">
            <details>
              <summary>
                {host.hostname} · kernel {host.kernel}
              </summary>
              <Facts mono facts={fieldRows(host)} />
            </details>
          </Card>
        )}
      </div>
    </>
  );
}

function timesOf(run: Run): [string, string][] {
  const lasted =
    run.started_at_ms && run.finished_at_ms
      ? duration(run.finished_at_ms - run.started_at_ms)
      : null;
  const phases = (run.report?.phases ?? []).map(({ phase, duration_ms }): [string, string] => [
    phase.replaceAll('_', ' '),
    duration(duration_ms),
  ]);
  return [
    ['asked for', moment(run.created_at_ms)],
    ['started', moment(run.started_at_ms)],
    ['finished', moment(run.finished_at_ms)],
    ...(lasted ? [['took in all', lasted] as [string, string]] : []),
    ...phases,
  ];
}

/** What its owner says about it. */
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
          onChange={tags.keep}
          error={tags.unsaved && 'Not saved. The next change saves all of them.'}
          maxTags={20}
          clearable
        />
        <Textarea
          key={run.notes}
          aria-label="Notes"
          placeholder="What you want to remember about this run"
          defaultValue={run.notes}
          autosize
          minRows={2}
          onBlur={({ currentTarget: { value } }) => notes.keep(value)}
          error={notes.unsaved && 'Not saved. Leaving the field once more tries again.'}
        />
      </div>
    </Card>
  );
}

const JOB_HEADS = [
  'engine',
  'clones',
  'direction',
  'IOPS',
  'bandwidth',
  'p50',
  'p99',
  'max',
  'errors',
];

function JobTable({ jobs }: { jobs: readonly JobReport[] }) {
  const rows = jobs.flatMap((job) =>
    (['read', 'write', 'trim'] as const)
      .filter((direction) => job[direction].ios > 0)
      .map((direction) => ({
        key: job.name + direction,
        name: job.name,
        cells: cellsOf(job, direction),
      })),
  );
  return (
    <Card title="Each job by itself">
      <NamedRows label="Each job by itself" corner="job" heads={JOB_HEADS} rows={rows} />
    </Card>
  );
}

function cellsOf(job: JobReport, direction: 'read' | 'write' | 'trim') {
  const { iops, bytes_per_second, lat_ns } = job[direction];
  const latencies = [lat_ns.percentiles['50'], lat_ns.percentiles['99'], lat_ns.max].map((ns) =>
    text(latency(ns)),
  );
  return [
    job.engine,
    job.workers,
    direction,
    text(shortCount(iops)),
    fioRate(bytes_per_second),
    ...latencies,
    job.errors,
  ];
}
