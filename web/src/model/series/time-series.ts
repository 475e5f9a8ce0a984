// A run's windows, downsampled to at most MAX_POINTS: when the list is full, neighbors are
// merged, and each new point covers twice the time. Charts draw this list.
import { type Row, rowOf } from './columns';
import { mergeWindows, type Window } from './window';

/** A chart's horizontal resolution. Redrawing one line takes less than 1 ms. */
export const MAX_POINTS = 600;

export interface Point {
  window: Window;
  row: Row;
}

const pointOf = (window: Window): Point => ({ window, row: rowOf(window) });

export class TimeSeries {
  private list: Point[] = [];
  /** Windows per point. */
  private perPoint = 1;
  /** Windows in the last point. */
  private inLast = 0;
  /** Number of times that neighboring points were merged. */
  halvings = 0;

  /** In chronological order; the last point can still change. */
  get points(): readonly Point[] {
    return this.list;
  }

  add(window: Window) {
    const last = this.list.at(-1);
    if (last && this.inLast < this.perPoint && last.window.phase === window.phase) {
      this.list[this.list.length - 1] = pointOf(mergeWindows(last.window, window));
      this.inLast += 1;
    } else {
      this.list.push(pointOf(window));
      this.inLast = 1;
    }
    if (this.list.length > MAX_POINTS) this.halve();
  }

  /** Merges pairs of points that are in the same phase. */
  private halve() {
    const joined: Point[] = [];
    let i = 0;
    while (i < this.list.length) {
      const [a, b] = this.list.slice(i, i + 2);
      const isPair = a && b && a.window.phase === b.window.phase;
      if (isPair) joined.push(pointOf(mergeWindows(a.window, b.window)));
      else if (a) joined.push(a);
      i += isPair ? 2 : 1;
    }
    this.list = joined;
    this.perPoint *= 2;
    this.halvings += 1;
  }
}
