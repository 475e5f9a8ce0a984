// Chart.js as we use it: what is registered, and the options every chart shares (no animation, no parsing, thin lines,
// our tokens as colours). Not here: what is drawn.
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
import zoomPlugin from 'chartjs-plugin-zoom';

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
  zoomPlugin,
);
Chart.defaults.animation = false;
Chart.defaults.font.size = 11;
Chart.defaults.font.family = '"Inter Variable", Inter, system-ui, sans-serif';

/** Width of the value axis in pixels: the same in all charts, so that one moment stands at one place. */
const AXIS_WIDTH = 66;

/** The value of one of our colour tokens, such as `app`. */
export function token(name: string): string {
  return (
    getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim() || '#888888'
  );
}

/** A token with an alpha from 0 to 1. */
export function faded(name: string, alpha: number): string {
  return `color-mix(in srgb, ${token(name)} ${alpha * 100}%, transparent)`;
}

type Axis = Partial<Pick<ScaleOptionsByType<'linear'>, 'min' | 'max'>>;

/** A moment on an axis with ticks every `step` seconds: 5 ms, 0.5 s, 1:30 min; before 0 is the ramp. */
export function timeLabel(seconds: number, step: number): string {
  if (step < 0.1) return `${Number((seconds * 1000).toFixed(step < 0.001 ? 2 : 0))} ms`;
  if (Math.abs(seconds) < 60) return `${Number(seconds.toFixed(2))} s`;
  const past = Math.abs(seconds);
  return `${seconds < 0 ? '-' : ''}${Math.floor(past / 60)}:${String(Math.floor(past % 60)).padStart(2, '0')} min`;
}

/** A time axis in seconds. */
export function timeAxis(range: Axis) {
  return {
    type: 'linear' as const,
    ...range,
    grid: { display: false },
    border: { color: token('line') },
    ticks: {
      color: token('mute'),
      maxRotation: 0,
      includeBounds: false,
      maxTicksLimit: 7,
      callback: (value: number | string, _: number, ticks: readonly { value: number }[]) =>
        timeLabel(Number(value), (ticks[1]?.value ?? 1) - (ticks[0]?.value ?? 0)),
    },
  };
}

/** Axes that span less than this many decades are labelled at 1, 2 and 5 too. */
const FEW_DECADES = 1.6;

/** Whether a tick of a logarithmic axis gets a label. */
export function isLabelled(value: number, ticks: readonly { value: number }[]): boolean {
  const [first, last] = [ticks[0]?.value ?? 1, ticks.at(-1)?.value ?? 1];
  const leading = value / 10 ** Math.floor(Math.log10(value) + 1e-9);
  const is = (digit: number) => Math.abs(leading - digit) < 1e-6;
  return is(1) || (Math.log10(last / first) < FEW_DECADES && (is(2) || is(5)));
}

/** A value axis with our labels; `decades`: where it is logarithmic, whether only round decimals have one. */
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
        isLog && decades && !isLabelled(Number(value), ticks) ? null : label(Number(value)),
    },
  };
}

const BINARY_STEPS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];

/** The step, in bytes, that divides a value axis into at most five: a round number of KiB, MiB, GiB. */
export function binaryStep(greatest: number): number {
  const wanted = Math.max(1, greatest / 5);
  const unit = 1024 ** Math.floor(Math.log(wanted) / Math.log(1024));
  return unit * (BINARY_STEPS.find((step) => step * unit >= wanted) ?? 1024);
}

/** An axis of bytes: its ticks are round in binary units. */
export const BINARY_AXIS = {
  bounds: 'data' as const,
  afterDataLimits: (axis: { max: number }) => {
    const step = binaryStep(axis.max);
    axis.max = Math.max(1, Math.ceil(axis.max / step)) * step;
  },
  afterBuildTicks: (axis: { max: number; ticks: { value: number }[] }) => {
    const step = binaryStep(axis.max);
    axis.ticks = Array.from({ length: Math.floor(axis.max / step) + 1 }, (_, i) => ({
      value: i * step,
    }));
  },
};

/** Less than this is not worth a place on a logarithmic axis of memory, in bytes. */
const LEAST_MEMORY = 2 ** 20;
/** The most ticks of such an axis. */
const MEMORY_TICKS = 6;

/** A logarithmic axis of bytes: its ticks are powers of two, and nothing lies at its foot. */
export const BINARY_LOG_AXIS = {
  min: LEAST_MEMORY,
  afterDataLimits: (axis: { max: number }) => {
    axis.max = 2 ** Math.ceil(Math.log2(Math.max(axis.max, 2 * LEAST_MEMORY)));
  },
  afterBuildTicks: (axis: { max: number; ticks: { value: number }[] }) => {
    const doublings = Math.log2(axis.max / LEAST_MEMORY);
    const step = Math.ceil(doublings / (MEMORY_TICKS - 1));
    axis.ticks = Array.from({ length: Math.floor(doublings / step) + 1 }, (_, i) => ({
      value: LEAST_MEMORY * 2 ** (i * step),
    }));
  },
};

/** What all charts have in common. */
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
