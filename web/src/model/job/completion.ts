// Completion in job text: option names at the start of a line, and values after `=`.
import type { OptionDoc } from '../../api';

export interface CompletionItem {
  label: string;
  /** Text that replaces the range. */
  insert: string;
  doc: OptionDoc;
}

export interface Completion {
  kind: 'name' | 'value';
  /** Range of the text to replace. */
  from: number;
  to: number;
  /** The part of the range before the caret, which is used to filter the items. */
  word: string;
  /** At least one item, best match first. */
  items: CompletionItem[];
}

type Options = readonly OptionDoc[];

const NAME = /^\s*((?:[A-Za-z_][\w-]*)?)$/;
const VALUE = /^\s*([A-Za-z_][\w-]*)\s*=\s*([^\s#;]*)$/;

const namesOf = ({ name, aliases }: OptionDoc) => [name, ...aliases];

const findOption = (options: Options, name: string) =>
  options.find((doc) => namesOf(doc).includes(name)) ?? null;

/** Returns the option that a line sets. */
export function optionOfLine(line: string, options: Options): OptionDoc | null {
  const name = /^\s*([A-Za-z_][\w-]*)/.exec(line)?.[1];
  return name === undefined ? null : findOption(options, name);
}

/** Returns null if nothing matches, or if the only match is the text that is already there. */
export function completionAt(text: string, caret: number, options: Options): Completion | null {
  const before = text.slice(text.slice(0, caret).lastIndexOf('\n') + 1, caret);
  const after = /^.*/.exec(text.slice(caret))?.[0] ?? '';
  const found = completeName(before, after, options) ?? completeValue(before, after, options);
  if (!found) return null;
  const { kind, word, rest, items } = found;
  if (items.every(({ label }) => label === word)) return null;
  return { kind, word, items, from: caret - word.length, to: caret + rest.length };
}

function completeName(before: string, after: string, options: Options) {
  const word = NAME.exec(before)?.[1];
  if (word === undefined) return null;
  const rest = /^[\w-]*/.exec(after)?.[0] ?? '';
  const hasValue = /^\s*=/.test(after.slice(rest.length));
  const items = sortByRank(options, (doc) => rankName(doc, word)).map((doc) => {
    return { label: doc.name, insert: hasValue ? doc.name : `${doc.name}=`, doc };
  });
  return { kind: 'name' as const, word, rest, items };
}

function completeValue(before: string, after: string, options: Options) {
  const [, name, word] = VALUE.exec(before) ?? [];
  if (name === undefined || word === undefined) return null;
  const doc = findOption(options, name);
  if (!doc) return null;
  const rest = /^[^\s#;]*/.exec(after)?.[0] ?? '';
  const items = sortByRank(doc.values, (value) => rankText(value, word)).map((value) => {
    return { label: value, insert: value, doc };
  });
  return { kind: 'value' as const, word, rest, items };
}

/** Sorts items by rank, lowest first. Items that have no rank are omitted. */
function sortByRank<T>(items: readonly T[], rankOf: (item: T) => number | null): T[] {
  return items
    .map((item) => ({ item, rank: rankOf(item) }))
    .filter((one): one is { item: T; rank: number } => one.rank !== null)
    .sort((a, b) => a.rank - b.rank)
    .map(({ item }) => item);
}

/** Name matches come first, then alias matches, then abbreviations such as `rdist`. */
function rankName(doc: OptionDoc, word: string): number | null {
  const ranks = namesOf(doc).map((name) => rankText(name, word));
  const [own, ...aliases] = ranks.map((rank) => rank ?? Number.POSITIVE_INFINITY);
  const best = Math.min(own ?? Number.POSITIVE_INFINITY, ...aliases.map((rank) => rank + 0.5));
  if (Number.isFinite(best)) return best;
  return isAbbreviation(doc.name, word) ? ABBREVIATION_RANK : null;
}

const ABBREVIATION_RANK = 4;

/** Rank of a match. 0: equal, 1: starts with the word, 2: contains the word. Null: no match. */
function rankText(text: string, word: string): number | null {
  const wanted = word.toLowerCase();
  if (text === wanted) return 0;
  if (text.startsWith(wanted)) return 1;
  return text.includes(wanted) ? 2 : null;
}

/**
 * Returns true if the word abbreviates the name: the initials of its words in order, starting with
 * the first word.
 */
const isAbbreviation = (name: string, word: string) =>
  new RegExp(`^${[...word.toLowerCase()].join('(?:.*_)?')}`).test(name);
