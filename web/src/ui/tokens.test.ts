import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const css = readFileSync('src/ui/tokens.css', 'utf8');
const [light = '', dark = ''] = css.split(/:root\[data-mantine-color-scheme="dark"\]|@media print/);
const RUNS = ['run-ink', 'run-rose', 'run-gray'];
const LAYERS = ['app', 'cache', 'block', 'device', 'bad'];

/** A token's RGB channels, 0-1. */
function readChannels(theme: string, name: string): [number, number, number] {
  const [, digits = ''] = new RegExp(`--${name}: #([0-9a-f]{3,6});`).exec(theme) ?? [];
  const six = digits.length === 3 ? digits.replace(/./g, '$&$&') : digits;
  const channel = (offset: number) => Number.parseInt(six.slice(offset, offset + 2), 16) / 255;
  return [channel(0), channel(2), channel(4)];
}

/** Relative luminance as defined in WCAG 2.2. */
function luminance(theme: string, name: string): number {
  const [r, g, b] = readChannels(theme, name).map((c) =>
    c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4,
  );
  return 0.2126 * (r ?? 0) + 0.7152 * (g ?? 0) + 0.0722 * (b ?? 0);
}

function contrast(theme: string, one: string, other: string): number {
  const [lighter = 0, darker = 0] = [luminance(theme, one), luminance(theme, other)].sort(
    (a, b) => b - a,
  );
  return (lighter + 0.05) / (darker + 0.05);
}

/** Hue in degrees; null for near-gray colors. */
function hue(theme: string, name: string): number | null {
  const [r, g, b] = readChannels(theme, name);
  const most = Math.max(r, g, b);
  const least = Math.min(r, g, b);
  if (most - least < 0.15) return null;
  const sixth =
    most === r
      ? (g - b) / (most - least)
      : most === g
        ? 2 + (b - r) / (most - least)
        : 4 + (r - g) / (most - least);
  return (sixth * 60 + 360) % 360;
}

describe.each([
  ['light', light],
  ['dark', dark],
])('runs, %s', (_, theme) => {
  it.each(RUNS)('%s has enough contrast on every background', (run) => {
    for (const background of ['bg', 'surface'])
      expect(contrast(theme, run, background)).toBeGreaterThanOrEqual(3);
  });

  it.each(RUNS)('%s differs in hue from every layer', (run) => {
    const own = hue(theme, run);
    for (const layer of LAYERS) {
      const apart =
        own === null ? 180 : Math.abs(((own - (hue(theme, layer) ?? 0) + 540) % 360) - 180);
      expect(apart, layer).toBeGreaterThan(40);
    }
  });

  it.each(['run-rose', 'run-gray'])('%s differs from ink in lightness', (run) => {
    expect(contrast(theme, 'run-ink', run)).toBeGreaterThan(2);
  });
});
