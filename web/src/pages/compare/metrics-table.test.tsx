import { render, screen } from '@testing-library/react';
import { expect, it } from 'vitest';
import type { ComparedMetric, Comparison } from '../../api';
import { MetricsTable } from './metrics-table';

const REASON = 'A verdict requires at least 6 runs per group.';

const metric = (name: ComparedMetric['name'], threshold_percent: number): ComparedMetric => ({
  name,
  unit: '1/s',
  better: 'higher',
  threshold_percent,
  values: [1, 1, 1, 1],
  at_least: [false, false, false, false],
  groups: [],
  changes: [
    null,
    { percent: 1, paired: false, baseline_n: 2, n: 2, verdict: 'undecided', reason: REASON },
  ],
});

const group = (label: string, first: number) => ({
  label,
  runs: [`#${first}`, `#${first + 1}`],
  complete: 2,
});

it('shows thresholds that differ, and draws each band at its own width', () => {
  const comparison = {
    threshold_percent: 2,
    baseline: 0,
    groups: [group('a', 1), group('b', 3)],
    metrics: [metric('read_iops', 20), metric('read_bytes_per_second', 2)],
    runs: [0, 0, 1, 1].map((group) => ({ group, run: { status: 'done' } })),
  } as unknown as Comparison;
  const { container } = render(<MetricsTable comparison={comparison} shown={1} />);
  expect(screen.getByText('±20 %')).toBeVisible();
  expect(screen.getByText(/± smallest change that matters/)).toBeVisible();
  expect(screen.getAllByRole('button', { name: 'Undecided', description: REASON })).toHaveLength(2);
  const bands = [...container.querySelectorAll('.forest .band')];
  const widths = bands.map((band) => Number(band.getAttribute('width')));
  expect(widths[0]).toBeCloseTo((widths[1] ?? 0) * 10);
});
