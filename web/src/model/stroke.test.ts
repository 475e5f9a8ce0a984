import { describe, expect, it } from 'vitest';
import { MOST } from './compare';
import { STROKES, type Stroke, strokeOf } from './stroke';

const pairs = STROKES.flatMap((one, place) => STROKES.slice(place + 1).map((other): [Stroke, Stroke] => [one, other]));

describe('runs laid over each other', () => {
  it('have a stroke each', () => {
    const drawn = Array.from({ length: MOST }, (_, place) => JSON.stringify(strokeOf(place)));
    expect(new Set(drawn).size).toBe(MOST);
  });

  it('have no colour of a layer', () => {
    for (const { color } of STROKES) expect(color).toMatch(/^run-/);
  });

  it('are told apart without hues: of two with the same dash one is in ink', () => {
    const alike = pairs.filter(([one, other]) => one.dash === other.dash);
    expect(alike.length).toBeGreaterThan(0);
    for (const two of alike) expect(two.filter(({ color }) => color === 'run-ink')).toHaveLength(1);
  });
});
