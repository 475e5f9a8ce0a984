// Axes of bytes with ticks at round binary units.

const BINARY_STEPS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];

/**
 * Returns the tick interval in bytes: a power of two in KiB, MiB or GiB, with at most five steps up
 * to `max`.
 */
export function binaryStep(max: number): number {
  const least = Math.max(1, max / 5);
  const unit = 1024 ** Math.floor(Math.log(least) / Math.log(1024));
  return unit * (BINARY_STEPS.find((step) => step * unit >= least) ?? 1024);
}

/** A linear axis of bytes with ticks at round binary units. */
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

/** Lower end of logarithmic memory axes, in bytes. */
const MIN_MEMORY = 2 ** 20;
const MAX_MEMORY_TICKS = 6;

/** A logarithmic axis of bytes with ticks at powers of two. */
export const BINARY_LOG_AXIS = {
  min: MIN_MEMORY,
  afterDataLimits: (axis: { max: number }) => {
    axis.max = 2 ** Math.ceil(Math.log2(Math.max(axis.max, 2 * MIN_MEMORY)));
  },
  afterBuildTicks: (axis: { max: number; ticks: { value: number }[] }) => {
    const doublings = Math.log2(axis.max / MIN_MEMORY);
    const step = Math.ceil(doublings / (MAX_MEMORY_TICKS - 1));
    axis.ticks = Array.from({ length: Math.floor(doublings / step) + 1 }, (_, i) => ({
      value: MIN_MEMORY * 2 ** (i * step),
    }));
  },
};
