// A line chart: title, legend, menu and canvas. Time series use `time-chart`.
import type { Chart, ChartData, ChartOptions } from 'chart.js';
import { useRef } from 'react';
import { Line } from 'react-chartjs-2';
import type { LineStyle } from '../model/series/line-style';
import { chartImage } from './chart-export';
import { ChartMenu } from './chart-menu';
import { Legend } from './legend';

type Point = number | null | { x: number; y: number };

interface PlotCardProps<P extends Point, L> {
  title: string;
  /** Name for screen readers; by default, the title. */
  label?: string;
  data: ChartData<'line', P[], L>;
  options: ChartOptions<'line'>;
  /** Legend entries; empty if there is only one line. */
  legend: readonly (LineStyle & { label: string })[];
}

export function PlotCard<P extends Point, L>({
  title,
  label = title,
  data,
  options,
  legend,
}: PlotCardProps<P, L>) {
  const chart = useRef<Chart<'line', P[], L>>(null);
  return (
    <section className="card chart">
      <h2>
        {title}
        {legend.length > 0 && <Legend entries={legend} />}
        <ChartMenu
          title={title}
          image={() => chart.current && chartImage(chart.current, title, legend)}
        />
      </h2>
      <div className="canvas">
        <Line ref={chart} data={data} options={options} role="img" aria-label={label} />
      </div>
    </section>
  );
}
