import { describe, expect, it } from 'vitest';
import type { OptionDoc } from '../../api';
import { completionAt, optionOfLine } from './completion';
import { positionAt } from './text-position';

const option = (name: string, values: string[] = [], aliases: string[] = []): OptionDoc => ({
  name,
  aliases,
  values,
  group: 'pattern',
  kind: 'count',
  help: '',
});
const OPTIONS = [
  option('ramp_time'),
  option('rw', ['read', 'write', 'randread', 'randwrite'], ['readwrite']),
  option('rwmixread'),
  option('bs', [], ['blocksize']),
  option('random_distribution'),
  option('time_based', ['1', '0']),
];

/** Completes at `|`. */
function complete(marked: string) {
  const caret = marked.indexOf('|');
  return completionAt(marked.replace('|', ''), caret, OPTIONS);
}
/** Returns the text after accepting the first item at `|`. */
function accept(marked: string) {
  const text = marked.replace('|', '');
  const found = complete(marked);
  const insert = found?.items[0]?.insert ?? '';
  return found && text.slice(0, found.from) + insert + text.slice(found.to);
}
const labels = (marked: string) => complete(marked)?.items.map(({ label }) => label) ?? null;

describe('names', () => {
  it.each<[string, string[] | null]>([
    ['ra|', ['ramp_time', 'random_distribution']],
    ['[a]\n  ra|', ['ramp_time', 'random_distribution']],
    // Exact matches come first, then names with the prefix, aliases and abbreviations.
    ['rw|', ['rw', 'rwmixread']],
    ['block|', ['bs']],
    ['time|', ['time_based', 'ramp_time']],
    ['rdist|', ['random_distribution']],
    ['RDIST|', ['random_distribution']],
    ['|', OPTIONS.map(({ name }) => name)],
    ['bs|', null],
    ['xyz|', null],
    ['[ra|', null],
    ['# ra|', null],
    ['bs=4k # ra|', null],
    ['bs 4k|', null],
  ])('at %j are %j', (marked, expected) => expect(labels(marked)).toEqual(expected));
});

describe('values', () => {
  it.each<[string, string[] | null]>([
    ['rw=|', ['read', 'write', 'randread', 'randwrite']],
    [' rw = ra|', ['randread', 'randwrite']],
    ['readwrite=w|', ['write', 'randwrite']],
    ['time_based=|', ['1', '0']],
    ['rw=randread|', null],
    ['rw=randread:8|', null],
    ['bs=|', null],
    ['unknown=|', null],
    ['rw=read # |', null],
  ])('at %j are %j', (marked, expected) => expect(labels(marked)).toEqual(expected));
});

it.each<[string, string | null]>([
  ['[a]\nrd|\nbs=4k', '[a]\nrandom_distribution=\nbs=4k'],
  // An existing value is kept.
  ['rwm|ix=50', 'rwmixread=50'],
  ['rwm| = 50', 'rwmixread = 50'],
  ['rw=ra|nd # comment', 'rw=randread # comment'],
  ['rw=randread|', null],
])('accepts %j as %j', (marked, expected) => expect(accept(marked)).toBe(expected));

it.each<[string, string | null]>([
  ['  rw = read', 'rw'],
  ['readwrite', 'rw'],
  ['rw=read # bs', 'rw'],
  ['r', null],
  ['[rw]', null],
  ['# rw=read', null],
  ['', null],
])('%j sets %j', (line, expected) => {
  expect(optionOfLine(line, OPTIONS)?.name ?? null).toBe(expected);
});

it.each([
  ['', 0, { line: 0, column: 0 }],
  ['[a]\nrw=read', 6, { line: 1, column: 2 }],
  ['[a]\n \tbs=4k', 8, { line: 1, column: 10 }],
])('locates the offset in %j', (text, offset, expected) => {
  expect(positionAt(text, offset)).toEqual(expected);
});
