// A value that may be a lower bound. A note next to it, such as below its table, explains the sign.

const EXPLANATION = 'Lower bound: I/Os were still in flight at the end';

export function MaybeLowerBound({ text, isLowerBound }: { text: string; isLowerBound: boolean }) {
  return isLowerBound ? <span title={EXPLANATION}>{text}</span> : text;
}
