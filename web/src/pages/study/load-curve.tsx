// Results of a load–latency curve: a sentence about the saturation point and the knee, charts, and
// a table.
import { Button } from '@mantine/core';
import { lazy, Suspense } from 'react';
import type { LoadCurveResults, Study } from '../../api';
import { count } from '../../model/format/numbers';
import {
  byRate,
  CURVE_LATENCIES,
  classText,
  curveCsv,
  latencyText,
  type RatePoint,
  reasonText,
  repeatedRates,
  repeatText,
} from '../../model/study/load-curve';
import { copyText } from '../../ui/clipboard';
import { NamedRows } from '../../ui/named-rows';
import { Card, Notice } from '../../ui/parts';
import { RunLink } from '../../ui/run-links';

const LoadCurveCharts = lazy(() => import('../../charts/load-curve-charts'));
const HEADERS = [
  'Achieved IOPS',
  ...CURVE_LATENCIES.map(({ label }) => label),
  <span key="result">Result</span>,
];

interface LoadCurveProps {
  results: LoadCurveResults;
  study: Study;
}

export function LoadCurve({ results, study }: LoadCurveProps) {
  const { points, sentence, probe_iops: probe, not_run } = results;
  const repeated = repeatedRates(results);
  return (
    <>
      <Notice
        badge={results.state === 'found' ? 'Saturation point' : undefined}
        title={sentence}
        detail={[
          probe != null && `Probe without a rate limit: ${iops(probe)}.`,
          repeated,
          not_run.length > 0 && `Not run: ${not_run.map(iops).join(', ')}.`,
          'Latencies are measured from the intended start.',
          results.warning,
        ]
          .filter(Boolean)
          .join(' ')}
      />
      {points.length > 0 && (
        <Suspense fallback={<div style={{ minHeight: 480 }} />}>
          <LoadCurveCharts results={results} />
        </Suspense>
      )}
      {points.length > 0 && (
        <Card
          title="Rates"
          aside={
            <Button onClick={() => void copyText('Rates', curveCsv(results))}>Copy as CSV</Button>
          }
        >
          <NamedRows
            className="rates"
            label="Rates"
            corner="Offered IOPS"
            headers={HEADERS}
            rows={byRate(results).map((point) => ({
              key: String(point.step),
              name: <OfferedRate point={point} study={study} />,
              cells: [
                count(point.achieved),
                ...CURVE_LATENCIES.map(({ name }) => latencyText(point, name)),
                <div key="class" className="result">
                  {classText(point)}
                  <div className="mute small">{reasonText(point)}</div>
                </div>,
              ],
            }))}
          />
        </Card>
      )}
    </>
  );
}

const iops = (value: number) => `${count(value)} IOPS`;

/** All digits, because rates can be close to each other. */
function OfferedRate({ point, study }: { point: RatePoint; study: Study }) {
  const text = count(point.offered);
  const repeat = repeatText(point);
  const run = study.steps.find(({ step }) => step === point.step)?.run;
  return (
    <>
      {run ? <RunLink n={run.number}>{text}</RunLink> : text}
      {repeat && <div className="mute small">{repeat}</div>}
    </>
  );
}
