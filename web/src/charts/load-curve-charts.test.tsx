import { MantineProvider } from '@mantine/core';
import { render, screen } from '@testing-library/react';
import type { ChartData } from 'chart.js';
import { expect, it, vi } from 'vitest';
import type { LoadCurveResults, LoadPoint, PointClass } from '../api';
import LoadCurveCharts from './load-curve-charts';

type Data = ChartData<'line', { x: number; y: number }[]>;
const drawn = new Map<string, Data>();
// jsdom has no canvas, so the test checks the datasets.
vi.mock('react-chartjs-2', () => ({
  Line: (props: { data: Data; 'aria-label': string }) => {
    drawn.set(props['aria-label'], props.data);
    return <img alt={props['aria-label']} />;
  },
}));

const plugin = vi.hoisted(() => ({ load: vi.fn(async () => null) }));
vi.mock('./plugins', () => ({
  annotations: { get: () => null, subscribe: () => () => undefined, load: plugin.load },
}));

const point = (offered: number, kind: PointClass): LoadPoint => ({
  step: 1,
  offered,
  achieved: kind === 'overloaded' ? 500 : offered,
  class: kind,
  backlog: [],
  lat_p50_ns: 1e6,
  is_lower_bound: kind === 'overloaded',
});

it('distinguishes overloaded rates from sustained ones by shape and color', () => {
  const points = [
    point(400, 'sustained'),
    point(800, 'overloaded'),
    point(500, 'disturbed'),
    point(600, 'inconsistent'),
  ];
  render(
    <MantineProvider env="test">
      <LoadCurveCharts results={{ points } as unknown as LoadCurveResults} />
    </MantineProvider>,
  );
  const datasets = drawn.get('Achieved vs. offered IOPS')?.datasets ?? [];
  const named = (label: string) => datasets.find((dataset) => dataset.label === label);
  expect(named('Sustained')).toMatchObject({ data: [{ x: 400, y: 400 }], pointStyle: 'circle' });
  expect(named('Overloaded')).toMatchObject({ data: [{ x: 800, y: 500 }], pointStyle: 'triangle' });
  expect(named('Disturbed')).toMatchObject({ pointStyle: 'rectRot' });
  expect(named('Inconsistent')).toMatchObject({ pointStyle: 'cross' });
  // The first datasets are drawn on top. The line has no points of its own, because they would hide
  // the others.
  expect(datasets.indexOf(named('Overloaded') as never)).toBeLessThan(
    datasets.indexOf(named('Achieved') as never),
  );
  expect(named('Achieved')).toMatchObject({ pointRadius: 0 });
  for (const label of ['Sustained', 'Overloaded', 'Disturbed'])
    expect(screen.getByText(label)).toBeVisible();
  expect(screen.queryByText('Too short')).not.toBeInTheDocument();
});

it('loads the plugin that draws the range of the saturation point', () => {
  const show = (range: object) =>
    render(
      <MantineProvider env="test">
        <LoadCurveCharts
          results={{ points: [point(400, 'sustained')], ...range } as unknown as LoadCurveResults}
        />
      </MantineProvider>,
    );
  show({});
  expect(plugin.load).not.toHaveBeenCalled();
  show({ saturation: 400, upper: 800 });
  expect(plugin.load).toHaveBeenCalled();
});
