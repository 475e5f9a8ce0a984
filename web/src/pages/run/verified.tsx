// Results of reading blocks back (`verify`), with the bad blocks.
import type { BadBlock, JobReport, VerifyReport } from '../../api';
import { type LiveRun, useLiveValue } from '../../charts/use-live-run';
import { bytes, count, text } from '../../model/format/numbers';
import { duration } from '../../model/format/time';
import { Facts } from '../../ui/facts';
import { NamedRows } from '../../ui/named-rows';
import { Card } from '../../ui/parts';

export function Verified({ live: { fold, chartGroup } }: { live: LiveRun }) {
  const jobs = useLiveValue(chartGroup, () => fold.result?.report.jobs) ?? [];
  return jobs.map((job) =>
    job.verify ? (
      <VerifiedCard key={job.name} job={job} verify={job.verify} isOnly={jobs.length === 1} />
    ) : null,
  );
}

interface VerifiedCardProps {
  job: JobReport;
  verify: VerifyReport;
  isOnly: boolean;
}

function VerifiedCard({ job, verify, isOnly }: VerifiedCardProps) {
  const hidden = verify.bad_blocks - verify.failures.length;
  return (
    <Card title={isOnly ? 'Verified blocks' : `Verified blocks for ${job.name}`}>
      <div className="stack">
        <Facts facts={toFacts(verify)} />
        {verify.failures.length > 0 && (
          <NamedRows
            label={`Bad blocks for ${job.name}`}
            corner="Offset"
            headers={['Damage', 'Details', 'First bad sector', 'Path']}
            rows={verify.failures.map(rowOf)}
            className="left"
            region="bad-blocks"
          />
        )}
        {hidden > 0 && (
          <p className="mute small">{count(hidden)} more bad blocks are not listed.</p>
        )}
      </div>
    </Card>
  );
}

function toFacts(verify: VerifyReport) {
  const facts: [name: string, value: string][] = [
    ['Checked', `${count(verify.checked_blocks)} blocks (${text(bytes(verify.checked_bytes))})`],
    ['Bad', count(verify.bad_blocks)],
    ['Duration', duration(verify.duration_ms)],
  ];
  if (verify.skipped_blocks > 0) facts.push(['Not checked', count(verify.skipped_blocks)]);
  if (verify.cached_bytes) facts.push(['Read from memory', text(bytes(verify.cached_bytes))]);
  if (verify.not_run) facts.push(['Incomplete', verify.not_run]);
  return facts;
}

const rowOf = ({ path, offset, kind, detail, bad_offset }: BadBlock) => ({
  key: `${path}:${offset}`,
  name: count(offset),
  cells: [kind, detail, count(bad_offset), path],
});
