// A sweep's results: its axes, lines along the longest axis, a table over two axes, and the
// knee.
import type { GroupStatistics, StepStatistics, StudyStep } from '../../api';
import { digits } from '../format/numbers';

export type SweepMetric = 'iops' | 'bytes_per_second' | 'lat_p99_ns';

export interface SweepAxis {
  option: string;
  /** Values in step order. */
  values: string[];
}

export interface SweepLine {
  /** Values of the other options, which identify the line. Empty if there are no other options. */
  label: string;
  /** One element per value of the longest axis; null if it has no result. */
  points: (GroupStatistics | null)[];
}

/** A step in a study or in a study's plan. */
type SweptStep = Pick<StudyStep, 'step'> & Partial<Pick<StudyStep, 'sweep'>>;

/** The swept options; empty if there is no sweep. */
export function axesOf(steps: readonly SweptStep[]): SweepAxis[] {
  const axes = new Map<string, Set<string>>();
  for (const { sweep = [] } of steps.toSorted((a, b) => a.step - b.step))
    for (const { option, value } of sweep) {
      if (!axes.has(option)) axes.set(option, new Set());
      axes.get(option)?.add(value);
    }
  return [...axes].map(([option, values]) => ({ option, values: [...values] }));
}

/** The axis with the most values. It becomes the charts' horizontal axis. */
export const longestAxis = (axes: readonly SweepAxis[]): SweepAxis | undefined =>
  axes.reduce<SweepAxis | undefined>(
    (longest, axis) => (longest && longest.values.length >= axis.values.length ? longest : axis),
    undefined,
  );

/** The step's name in the form, without the swept values that the server appended. */
export function baseName({ name, sweep }: Pick<StudyStep, 'name' | 'sweep'>): string {
  const values = sweepText({ sweep });
  return values && name.endsWith(` ${values}`) ? name.slice(0, -values.length - 1) : name;
}

const namesOf = (results: readonly StepStatistics[]) => new Set(results.map(baseName));

/**
 * The number of the first study step that is created from a form step. A form step of a sweep
 * creates one study step per combination.
 */
export const firstStep = (index: number, steps: readonly SweptStep[]): number =>
  index * combinations(steps) + 1;

const combinations = (steps: readonly SweptStep[]): number =>
  axesOf(steps).reduce((count, { values }) => count * values.length, 1);

const NONE: GroupStatistics = { n: 0, outliers: [] };

/** The results for all cells, in step order. Cells that have no result have no values. */
export function sweepCells(
  steps: readonly Pick<StudyStep, 'step' | 'name' | 'sweep'>[],
  results: readonly StepStatistics[],
): StepStatistics[] {
  const cells = new Map<number, StepStatistics>();
  for (const { step, name, sweep } of steps.toSorted((a, b) => a.step - b.step))
    cells.set(step, { step, name, sweep, iops: NONE, bytes_per_second: NONE, lat_p99_ns: NONE });
  for (const result of results) cells.set(result.step, result);
  return [...cells.values()];
}

const valueIn = ({ sweep }: StepStatistics, option: string) =>
  sweep.find((setting) => setting.option === option)?.value;

/** Lines along `axis`: one for each combination of the other options. */
export function sweepLines(
  results: readonly StepStatistics[],
  axis: SweepAxis,
  metric: SweepMetric,
): SweepLine[] {
  const lines = new Map<string, SweepLine>();
  const names = namesOf(results);
  for (const result of results) {
    const others = result.sweep.filter(({ option }) => option !== axis.option);
    const values = others.map(({ option, value }) => `${option}=${value}`);
    const name = names.size > 1 ? baseName(result) : '';
    const text = [name, ...values].filter(Boolean).join(' ');
    const position = axis.values.indexOf(valueIn(result, axis.option) ?? '');
    // Compare numbers, because steps can share a name.
    let label = text;
    for (let number = 2; lines.get(label)?.points[position]; number++)
      label = `${text} (${number})`;
    const line = lines.get(label) ?? { label, points: axis.values.map(() => null) };
    line.points[position] = result[metric];
    lines.set(label, line);
  }
  return [...lines.values()];
}

/** If cells have multiple runs, explains the values in the table. */
export function repeatsText(results: readonly StepStatistics[]): string {
  const counts = results.map(({ iops }) => iops.n).filter((n) => n > 0);
  const [least, most] = [Math.min(...counts), Math.max(...counts)];
  if (!(most > 1)) return '';
  const runs = least === most ? String(most) : `${least} to ${most}`;
  return `Medians of ${runs} runs per cell; ↕ is the spread from the lowest to the highest run as a percentage of the median.`;
}

/** `↕ 12 %` */
export const spreadText = (point: GroupStatistics | null): string =>
  point?.spread_percent == null ? '' : `↕ ${digits(point.spread_percent)} %`;

/** The step with the highest IOPS whose p99 latency is within the limit. */
export function knee(results: readonly StepStatistics[], limit_ns: number): StepStatistics | null {
  const within = results.filter(
    ({ lat_p99_ns: { median } }) => median != null && median <= limit_ns,
  );
  return within.reduce<StepStatistics | null>(
    (best, result) => ((result.iops.median ?? 0) > (best?.iops.median ?? 0) ? result : best),
    null,
  );
}

/** `iodepth=24 bs=4k` */
export const sweepText = ({ sweep }: Pick<StepStatistics, 'sweep'>): string =>
  sweep.map(({ option, value }) => `${option}=${value}`).join(' ');

/** The swept values of a result. Includes the step's name if there is more than one step. */
export const cellText = (result: StepStatistics, results: readonly StepStatistics[]): string =>
  namesOf(results).size > 1 ? result.name : sweepText(result);

/** Quote values with a comma, such as `bs=4k,8k`. */
const quoted = (value: string) =>
  /[",\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;

/** All cells as CSV. Includes step names if there is more than one step. */
export function sweepCsv(results: readonly StepStatistics[]): string {
  const isNamed = namesOf(results).size > 1;
  const options = results[0]?.sweep.map(({ option }) => option) ?? [];
  const metrics = ['iops', 'bytes_per_second', 'lat_p99_ns'] as const;
  const columns = metrics.flatMap((metric) => [
    `${metric}_median`,
    `${metric}_low`,
    `${metric}_high`,
  ]);
  const rows = results.map((result) => {
    const numbers = metrics.flatMap((metric) => {
      const { median, interval } = result[metric];
      return [median ?? '', interval?.low ?? '', interval?.high ?? ''];
    });
    const name = isNamed ? [quoted(baseName(result))] : [];
    const values = result.sweep.map(({ value }) => quoted(value));
    return [...name, ...values, result.iops.n, ...numbers].join(',');
  });
  return [[...(isNamed ? ['step'] : []), ...options, 'runs', ...columns].join(','), ...rows].join(
    '\n',
  );
}
