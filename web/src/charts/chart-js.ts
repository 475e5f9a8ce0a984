// Chart.js setup: registered components, axes, and options for all charts. There is no animation
// and no parsing, and colors come from CSS tokens.
import {
  BarController,
  BarElement,
  CategoryScale,
  Chart,
  type ChartOptions,
  Filler,
  LinearScale,
  LineController,
  LineElement,
  LogarithmicScale,
  PointElement,
  type ScaleOptionsByType,
} from 'chart.js';

Chart.register(
  BarController,
  BarElement,
  CategoryScale,
  Filler,
  LinearScale,
  LineController,
  LineElement,
  LogarithmicScale,
  PointElement,
);
Chart.defaults.animation = false;
Chart.defaults.font.size = 11;
Chart.defaults.font.family = '"Inter Variable", Inter, system-ui, sans-serif';

/** Y-axis width in pixels, the same in all charts so that their time axes align. */
export const AXIS_WIDTH = 66;
/**
 * Space to the right of a time axis in pixels, for half of its last label. Chart.js would otherwise
 * shrink the plots in which that label overflows.
 */
export const TIME_AXIS_MARGIN = 26;

/** The value of a CSS color token, such as `app`. */
export function token(name: string): string {
  return (
    getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim() || '#888888'
  );
}

/** The color of a token with an alpha from 0 to 1. */
export function withAlpha(name: string, alpha: number): string {
  return `color-mix(in srgb, ${token(name)} ${alpha * 100}%, transparent)`;
}

type Tick = { value: number };
type Axis = Partial<Pick<ScaleOptionsByType<'linear'>, 'min' | 'max'>>;

/**
 * Returns the label of a tick on a time axis whose ticks are `step` seconds apart: 5 ms, 0.5 s,
 * 1:30 min. Times during the ramp are negative.
 */
export function timeLabel(seconds: number, step: number): string {
  if (step < 0.1)
    return `${Number((seconds * 1000).toFixed(step < 0.001 ? 2 : 0))} ms`.replace('-', '−');
  if (Math.abs(seconds) < 60) return `${Number(seconds.toFixed(2))} s`.replace('-', '−');
  const size = Math.abs(seconds);
  const minutes = Math.floor(size / 60);
  const rest = String(Math.floor(size % 60)).padStart(2, '0');
  return `${seconds < 0 ? '−' : ''}${minutes}:${rest} min`;
}

/**
 * Possible intervals between time ticks, in seconds. Intervals below one second are 1, 2 or 5 times
 * a power of ten.
 */
const TIME_STEPS = [
  ...[1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800],
  ...[3600, 7200, 14_400, 21_600, 43_200, 86_400],
];

/** Returns a tick interval that yields at most `most` ticks in a range of `seconds`. */
function timeStep(seconds: number, most: number): number {
  const rough = seconds / most;
  const power = 10 ** Math.floor(Math.log10(Math.max(rough, 1e-6)));
  const decimal = ([1, 2, 5].find((factor) => factor * power >= rough) ?? 10) * power;
  if (decimal < 1) return decimal;
  return TIME_STEPS.find((step) => step >= rough) ?? Math.ceil(rough / 86_400) * 86_400;
}

const MAX_TIME_TICKS = 7;
/** In pixels. */
const MIN_TIME_TICK_SPACING = 60;

/**
 * Returns ticks at round times for an axis of `width` pixels, and their interval, all in seconds.
 */
export function timeTicks({ min, max, width }: { min: number; max: number; width: number }) {
  const fitting = Math.floor(width / MIN_TIME_TICK_SPACING);
  const step = timeStep(max - min, Math.max(1, Math.min(MAX_TIME_TICKS, fitting)));
  const first = Math.ceil(min / step - 1e-9);
  const last = Math.floor(max / step + 1e-9);
  const ticks = Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => (first + i) * step);
  return { ticks, step };
}

/** A time axis in seconds. */
export function timeAxis(range: Axis) {
  return {
    type: 'linear' as const,
    ...range,
    grid: { display: false },
    border: { color: token('line') },
    afterBuildTicks: (axis: { min: number; max: number; width: number; ticks: Tick[] }) => {
      axis.ticks = timeTicks(axis).ticks.map((value) => ({ value }));
    },
    ticks: {
      color: token('mute'),
      maxRotation: 0,
      autoSkip: false,
      callback: (value: number | string, _: number, ticks: readonly Tick[]) =>
        timeLabel(Number(value), (ticks[1]?.value ?? 1) - (ticks[0]?.value ?? 0)),
    },
  };
}

/** If a logarithmic axis has fewer decades than this, ticks at 2 and 5 are also labeled. */
const FEW_DECADES = 1.6;
const MIN_LABELS = 2;

/** Scales the value to the range from 1 to 10, without rounding errors in multiples of 0.1. */
function leadingDigits(value: number): number {
  const leading = value / 10 ** Math.floor(Math.log10(value) + 1e-9);
  const nearest = Math.round(leading * 10) / 10;
  return Math.abs(leading - nearest) < 1e-6 ? nearest : leading;
}

/** Rules for which leading digits are labeled, from the fewest labels to the most. */
const LABELED: readonly ((leading: number) => boolean)[] = [
  (leading) => leading === 1,
  (leading) => [1, 2, 5].includes(leading),
  (leading) => Number.isInteger(leading),
  (leading) => Number.isInteger(leading * 2),
];
/** Divisors of the range that set the label interval if no rule labels enough ticks. */
const PARTS = [2, 4, 8, 16];
const MIN_SPACED_LABELS = 3;

/** Rounds down to 1, 2 or 5 times a power of ten. */
function roundDown(distance: number): number {
  const power = 10 ** Math.floor(Math.log10(distance));
  return ([5, 2].find((factor) => factor * power <= distance) ?? 1) * power;
}

const isMultiple = (value: number, step: number) =>
  Math.abs(value / step - Math.round(value / step)) < 1e-6;

/**
 * Returns true if a tick on a logarithmic axis is labeled. Uses the first rule that labels at least
 * two ticks. If there is none, labels multiples of a round interval.
 */
export function isLabeled(value: number, ticks: readonly { value: number }[]): boolean {
  const digits = ticks.map((tick) => leadingDigits(tick.value));
  const decades = Math.log10((ticks.at(-1)?.value ?? 1) / (ticks[0]?.value ?? 1));
  const choices = LABELED.slice(decades < FEW_DECADES ? 1 : 0);
  const isRound = choices.find((isRound) => digits.filter(isRound).length >= MIN_LABELS);
  if (isRound) return isRound(leadingDigits(value));
  const values = ticks.map((tick) => tick.value);
  const range = (values.at(-1) ?? value) - (values[0] ?? value);
  const step = PARTS.map((parts) => roundDown(range / parts)).find(
    (step) => values.filter((one) => isMultiple(one, step)).length >= MIN_SPACED_LABELS,
  );
  return step === undefined || isMultiple(value, step);
}

/** Tick labels omit trailing zeros: 3.5 k instead of 3.50 k. */
export const trimZeros = (text: string): string =>
  text.replace(/(\d)\.0+(?!\d)|(\.\d*?[1-9])0+(?!\d)/, '$1$2');

/**
 * A value axis. With `decades`, a logarithmic axis labels only the ticks that `isLabeled` selects.
 */
export function valueAxis(
  scale: 'linear' | 'log',
  label: (value: number) => string,
  decades = true,
) {
  const isLog = scale === 'log';
  return {
    type: isLog ? ('logarithmic' as const) : ('linear' as const),
    beginAtZero: !isLog,
    grid: { color: token('line'), drawTicks: false },
    border: { display: false },
    afterFit: (axis: { width: number }) => {
      axis.width = AXIS_WIDTH;
    },
    ticks: {
      color: token('mute'),
      padding: 6,
      maxTicksLimit: isLog ? 40 : 6,
      precision: 0,
      callback: (value: number | string, _: number, ticks: readonly { value: number }[]) =>
        isLog && decades && !isLabeled(Number(value), ticks)
          ? null
          : trimZeros(label(Number(value))),
    },
  };
}

/** Options shared by all charts. */
export const COMMON = {
  responsive: true,
  maintainAspectRatio: false,
  parsing: false,
  normalized: true,
  events: ['mousemove', 'mouseout', 'click', 'touchstart', 'touchmove'],
  elements: {
    point: { radius: 0, hitRadius: 0, hoverRadius: 0 },
    line: { borderWidth: 1.6, borderJoinStyle: 'round' },
  },
  layout: { padding: { top: 6, right: 2 } },
} satisfies ChartOptions<'line'>;

/**
 * Options for a line chart without zoom and with a category axis, such as block sizes or rounds.
 */
export const categoryOptions = (y: object): ChartOptions<'line'> => ({
  ...COMMON,
  parsing: undefined,
  plugins: { zoom: { zoom: { drag: { enabled: false } }, pan: { enabled: false } } },
  scales: {
    x: {
      type: 'category',
      offset: true,
      grid: { display: false },
      border: { color: token('line') },
      ticks: { color: token('mute'), maxRotation: 0 },
    },
    y,
  },
});
