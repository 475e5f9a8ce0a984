import { MantineProvider, useMantineColorScheme } from '@mantine/core';
import { act, render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import type { ChartOptions } from 'chart.js';
import { expect, it, vi } from 'vitest';
import type { SeriesView } from '../model/fold/series-view';
import OverlayCharts from './overlay-charts';

let options: ChartOptions<'line'>[] = [];
// jsdom has no canvas, so the tests check the options.
vi.mock('react-chartjs-2', () => ({
  Line: (props: { options: ChartOptions<'line'>; 'aria-label': string }) => {
    options.push(props.options);
    return <img alt={props['aria-label']} />;
  },
}));

const view: SeriesView = {
  length: 0,
  banded: false,
  generation: '',
  seconds: () => 0,
  value: () => null,
};
function OtherTheme() {
  const { setColorScheme } = useMantineColorScheme();
  return (
    <button type="button" onClick={() => setColorScheme('dark')}>
      Other theme
    </button>
  );
}

const show = () => {
  options = [];
  render(
    <MantineProvider env="test">
      <OtherTheme />
      <OverlayCharts
        groups={[{ label: '#1', color: 'app', view, whole: {} }]}
        curves={[{ label: '#1', color: 'app', buckets: [[1000, 5]] }]}
        longest_s={10}
      />
    </MantineProvider>,
  );
};

it('does not refer to a table in accessible names', () => {
  show();
  const labels = screen.getAllByRole('img').map((chart) => chart.getAttribute('alt'));
  expect(labels).toEqual([
    'IOPS over time',
    'p99 latency (log) over time',
    'Bandwidth over time',
    'Latency percentiles',
  ]);
});

it('resets the zoom with a button', async () => {
  show();
  expect(screen.queryByRole('button', { name: 'Reset zoom' })).not.toBeInTheDocument();
  const chart = { scales: { x: { min: 2, max: 3 } } };
  act(() => options[0]?.plugins?.zoom?.zoom?.onZoomComplete?.({ chart } as never));
  await userEvent.click(screen.getByRole('button', { name: 'Reset zoom' }));
  expect(screen.queryByRole('button', { name: 'Reset zoom' })).not.toBeInTheDocument();
});

it('keeps hidden lines and the scale when the theme changes', async () => {
  show();
  const line = () => screen.getAllByRole('button', { name: '#1' })[0];
  await userEvent.click(line() as HTMLElement);
  await userEvent.click(screen.getByRole('button', { name: 'Chart options: IOPS' }));
  await userEvent.click(await screen.findByRole('menuitemcheckbox', { name: 'Logarithmic scale' }));
  const before = options.length;
  await userEvent.click(screen.getByRole('button', { name: 'Other theme' }));
  expect(options.length).toBeGreaterThan(before);
  expect(document.documentElement).toHaveAttribute('data-mantine-color-scheme', 'dark');
  expect(line()).toHaveAttribute('aria-pressed', 'false');
  expect(screen.getByRole('img', { name: 'IOPS (log) over time' })).toBeInTheDocument();
});
