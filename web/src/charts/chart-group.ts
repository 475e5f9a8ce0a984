// What the charts of one page share: when to draw, which stretch of time, where the crosshair stands. Frames may arrive
// at any rate; listeners are called once per animation frame at most, and never while the page is hidden or paused
// (the browser gives hidden pages no animation frames).

/** A stretch of the time axis in seconds since the measured window began. */
export interface Range {
  from: number;
  to: number;
}

type Listener = () => void;

/** After drawing, rest this many times as long: on a slow or busy machine the page must not take from the run it shows. */
const REST = 3;

/** The shared state of a group of charts. */
export class ChartGroup {
  private flushers = new Set<Listener>();
  private pointers = new Set<Listener>();
  private frame = 0;
  private restUntil = 0;
  /** Counts the flushes, for `useSyncExternalStore`. */
  version = 0;
  paused = false;
  /** What is zoomed to; null shows everything. */
  zoom: Range | null = null;
  /** Where the crosshair stands, in seconds; null when nowhere. */
  crosshair: number | null = null;

  /** Data changed: draw at the next frame, or a little later where drawing is slow. */
  request() {
    if (this.paused || this.frame !== 0) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      if (performance.now() >= this.restUntil) this.flush();
      else this.request();
    });
  }

  /** Stops or resumes drawing; data keeps coming in. */
  pause(paused: boolean) {
    this.paused = paused;
    this.flush();
  }

  /** Shows a stretch, or everything. */
  zoomTo(zoom: Range | null) {
    this.zoom = zoom;
    this.flush();
  }

  /** Moves the crosshair of all charts. */
  point(crosshair: number | null) {
    if (crosshair === this.crosshair) return;
    this.crosshair = crosshair;
    for (const listener of this.pointers) listener();
  }

  private flush() {
    const begin = performance.now();
    this.version += 1;
    for (const listener of this.flushers) listener();
    const end = performance.now();
    this.restUntil = end + (end - begin) * REST;
  }

  /** Calls back at every flush. Returns how to stop it. */
  onFlush = (listener: Listener) => {
    this.flushers.add(listener);
    return () => {
      this.flushers.delete(listener);
    };
  };

  /** Calls back when the crosshair moves. Returns how to stop it. */
  onPoint = (listener: Listener) => {
    this.pointers.add(listener);
    return () => {
      this.pointers.delete(listener);
    };
  };
}
