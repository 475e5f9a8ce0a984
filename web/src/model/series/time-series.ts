// The course of a run so far: at most MAX_POINTS rows however long it takes. When it is full, neighbours are joined and
// every point from then on stands for twice the time. What is drawn and what is kept are therefore the same list.
import { type Row, rowOf } from './columns';
import { joinWindows, type Window } from './window';

/** A chart of 1,200 pixels cannot show more, and a redraw of this many stays under a millisecond a series. */
export const MAX_POINTS = 600;

/** One drawn point of time. */
export interface Point {
  window: Window;
  row: Row;
}

const pointOf = (window: Window): Point => ({ window, row: rowOf(window) });

/** Rows in the order of time. */
export class TimeSeries {
  private list: Point[] = [];
  private perPoint = 1;
  private inLast = 0;
  /** How often neighbours were joined. */
  halvings = 0;

  /** What is drawn; the last point may still grow. */
  get points(): readonly Point[] {
    return this.list;
  }

  /** Adds the next window. */
  add(window: Window) {
    const last = this.list.at(-1);
    if (last && this.inLast < this.perPoint && last.window.phase === window.phase) {
      this.list[this.list.length - 1] = pointOf(joinWindows(last.window, window));
      this.inLast += 1;
    } else {
      this.list.push(pointOf(window));
      this.inLast = 1;
    }
    if (this.list.length > MAX_POINTS) this.halve();
  }

  private halve() {
    const joined: Point[] = [];
    let at = 0;
    while (at < this.list.length) {
      const [a, b] = this.list.slice(at, at + 2);
      const pair = a && b && a.window.phase === b.window.phase;
      if (pair) joined.push(pointOf(joinWindows(a.window, b.window)));
      else if (a) joined.push(a);
      at += pair ? 2 : 1;
    }
    this.list = joined;
    this.perPoint *= 2;
    this.halvings += 1;
  }
}
