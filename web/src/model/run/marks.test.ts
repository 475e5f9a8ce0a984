import { expect, it } from 'vitest';
import { marksOf } from './marks';

it('numbers annotations, and counts seconds from the start of the measurement', () => {
  const note = (number: number, t_ms: number, text: string) => ({
    number,
    t_ms,
    text,
    created_at_ms: 0,
  });
  expect(marksOf([note(7, 1500, 'ramp'), note(9, 4500, 'cache dropped')], 2000)).toEqual([
    { seconds: -0.5, label: '1', text: 'ramp' },
    { seconds: 2.5, label: '2', text: 'cache dropped' },
  ]);
});
