import { describe, expect, it } from 'vitest';
import { MAX_RUNS } from '../compare/metrics';
import { LINE_STYLES, type LineStyle, lineStyle } from './line-style';

const pairs = LINE_STYLES.flatMap((one, place) =>
  LINE_STYLES.slice(place + 1).map((other): [LineStyle, LineStyle] => [one, other]),
);

describe('runs laid over each other', () => {
  it('have a stroke each', () => {
    const drawn = Array.from({ length: MAX_RUNS }, (_, place) => JSON.stringify(lineStyle(place)));
    expect(new Set(drawn).size).toBe(MAX_RUNS);
  });

  it('have no colour of a layer', () => {
    for (const { color } of LINE_STYLES) expect(color).toMatch(/^run-/);
  });

  it('are told apart without hues: of two with the same dash one is in ink', () => {
    const alike = pairs.filter(([one, other]) => one.dash === other.dash);
    expect(alike.length).toBeGreaterThan(0);
    for (const two of alike) expect(two.filter(({ color }) => color === 'run-ink')).toHaveLength(1);
  });
});
