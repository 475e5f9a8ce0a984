import { screen } from '@testing-library/react';
import { expect, it } from 'vitest';
import type { Comparison, VerdictClass } from '../../api';
import { summaryOf } from '../../model/fixtures/summary';
import { serve, showPage } from '../../test-page';
import { Answer } from './answer';

const FACT = 'Served by different layers: #1 was served by the device, #2 by memory.';
const ANSWER = 'Undecided: #2 has 14.0 times the read IOPS of #1.';

const comparisonOf = (...classes: VerdictClass[]) =>
  ({
    baseline: 0,
    groups: classes.map((name) => ({ runs: [name], excluded: [], obstacle: null })),
    runs: classes.map((name, group) => ({
      run: summaryOf(group + 1),
      group,
      verdict: { read: { class: name }, write: null },
    })),
    answers: [ANSWER],
    metrics: [],
    comparability: { level: 'with_differences', sentence: FACT, reasons: [], rerun: null },
    setting_differences: [],
  }) as unknown as Comparison;

it.each<[string, VerdictClass, string[]]>([
  ['precedes the answer if layers differ', 'page_cache', [FACT, ANSWER]],
  ['follows the answer otherwise', 'device', [ANSWER, FACT]],
])('comparability %s', async (_, second, expected) => {
  serve({});
  showPage(() => <Answer comparison={comparisonOf('device', second)} />, '/compare');
  await screen.findByText(ANSWER);
  const titles = document.querySelectorAll('.notice .title');
  expect([...titles].map(({ textContent }) => textContent)).toEqual(expected);
});

it.each<[number, string[]]>([
  [2, ['Repeat both 10 times, interleaved', 'Repeat both until decided']],
  [8, ['Repeat all 8 runs 10 times, interleaved']],
])('offers to repeat %i single runs', async (count, expected) => {
  serve({});
  const classes = Array<VerdictClass>(count).fill('device');
  showPage(() => <Answer comparison={comparisonOf(...classes)} />, '/compare');
  await screen.findByText(ANSWER);
  const buttons = screen.getAllByRole('button', { name: /^Repeat/ });
  expect(buttons.map(({ textContent }) => textContent)).toEqual(expected);
});
