// State shared by the charts of a page: redraw schedule, zoom and crosshair. Listeners run at most
// once per animation frame, and never while paused or hidden (browsers suspend animation frames of
// hidden pages).

/** A range of the time axis, in seconds since the start of the measurement. */
export interface Range {
  from: number;
  to: number;
}

type Listener = () => void;

/**
 * Idle time after a redraw, as a multiple of its duration, so that redraws on a slow host do not
 * disturb the run.
 */
const IDLE_RATIO = 3;

export class ChartGroup {
  private flushListeners = new Set<Listener>();
  private crosshairListeners = new Set<Listener>();
  private frame = 0;
  private idleUntil = 0;
  /** Number of flushes, for `useSyncExternalStore`. */
  version = 0;
  paused = false;
  /** Null shows the full range. */
  zoom: Range | null = null;
  /** In seconds; null when hidden. */
  crosshair: number | null = null;

  /** Schedules a redraw for the next frame, or later if drawing is slow. */
  request() {
    if (this.paused || this.frame !== 0) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      if (performance.now() >= this.idleUntil) this.flush();
      else this.request();
    });
  }

  /** Pauses or resumes drawing; data is still collected. */
  pause(paused: boolean) {
    this.paused = paused;
    this.flush();
  }

  zoomTo(zoom: Range | null) {
    this.zoom = zoom;
    this.flush();
  }

  moveCrosshair(crosshair: number | null) {
    if (crosshair === this.crosshair) return;
    this.crosshair = crosshair;
    for (const listener of this.crosshairListeners) listener();
  }

  private flush() {
    const begin = performance.now();
    this.version += 1;
    for (const listener of this.flushListeners) listener();
    const end = performance.now();
    this.idleUntil = end + (end - begin) * IDLE_RATIO;
  }

  /** Calls `listener` at every flush. Returns an unsubscribe function. */
  onFlush = (listener: Listener) => subscribe(this.flushListeners, listener);

  /** Calls `listener` when the crosshair moves. Returns an unsubscribe function. */
  onCrosshair = (listener: Listener) => subscribe(this.crosshairListeners, listener);
}

function subscribe(listeners: Set<Listener>, listener: Listener): () => void {
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
  };
}
