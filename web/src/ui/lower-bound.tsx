// A value that may be a lower bound. A tooltip explains this.

const EXPLANATION = 'Lower bound: I/Os were still in flight at the end';

export function MaybeLowerBound({ text, isLowerBound }: { text: string; isLowerBound: boolean }) {
  return isLowerBound ? <span title={EXPLANATION}>{text}</span> : text;
}
