// Short option descriptions, for lists.
import type { OptionDoc } from '../../api';

/** The first clause in the option's help. */
export const summaryOf = ({ help }: OptionDoc): string =>
  /^.*?(?=[.:;](?:\s|$))/.exec(help)?.[0] ?? help;

/** Example: `time (s), default 0`. The type is omitted for options with a fixed set of values. */
export const typeAndDefault = ({ kind, values, default: fallback }: OptionDoc): string => {
  const type = values.length > 0 ? [] : [kind];
  return [...type, ...(fallback ? [`default ${fallback}`] : [])].join(', ');
};
