import { describe, expect, it } from 'vitest';
import { MAX_RUNS } from '../compare/run-numbers';
import { LINE_STYLES, type LineStyle, lineStyle } from './line-style';

const pairs = LINE_STYLES.flatMap((one, i) =>
  LINE_STYLES.slice(i + 1).map((other): [LineStyle, LineStyle] => [one, other]),
);

describe('styles of compared runs', () => {
  it('are unique', () => {
    const drawn = Array.from({ length: MAX_RUNS }, (_, i) => JSON.stringify(lineStyle(i)));
    expect(new Set(drawn).size).toBe(MAX_RUNS);
  });

  it('do not use layer colors', () => {
    for (const { color } of LINE_STYLES) expect(color).toMatch(/^run-/);
  });

  it('differ without hues: if two styles share a dash pattern, one is run-ink', () => {
    const alike = pairs.filter(([one, other]) => one.dash === other.dash);
    expect(alike.length).toBeGreaterThan(0);
    for (const two of alike) expect(two.filter(({ color }) => color === 'run-ink')).toHaveLength(1);
  });
});
