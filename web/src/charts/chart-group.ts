// State shared by the charts on a page: redraw schedule, zoom and crosshair. A requested redraw
// calls all listeners in the same animation frame, but not before a chart could have changed by a
// pixel. It does nothing while drawing is paused, and waits while the page is hidden (browsers
// suspend the animation frames of hidden pages). Zooming, pausing and resuming call the listeners
// immediately.

/** A range of the time axis, in seconds since the start of the measurement. */
export interface Range {
  from: number;
  to: number;
}

/** Maximum redraw interval in ms. Values in long runs are at most this old. */
const MAX_INTERVAL_MS = 1000;

/**
 * Redraw interval in ms: the time that one pixel represents in a chart that is `width` pixels wide,
 * at most `MAX_INTERVAL_MS`.
 */
export const redrawIntervalMs = ({ from, to }: Range, width: number): number =>
  Math.min(MAX_INTERVAL_MS, ((to - from) * 1000) / Math.max(1, width));

type Listener = () => void;

/**
 * Idle time after a redraw, as a multiple of the redraw's duration. Redraws thus take at
 * most a tenth of a core and do not disturb the run on a slow host.
 */
const IDLE_RATIO = 9;

export class ChartGroup {
  private flushListeners = new Set<Listener>();
  private crosshairListeners = new Set<Listener>();
  private frame = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private flushed_at = Number.NEGATIVE_INFINITY;
  private idleUntil = 0;
  /** Number of flushes, as the snapshot of `useSyncExternalStore`. */
  version = 0;
  paused = false;
  /** Zoomed range; null for the full range. */
  zoom: Range | null = null;
  /** Time at the crosshair in seconds; null if the crosshair is hidden. */
  crosshair: number | null = null;
  /** Minimum time between redraws that are not urgent, in milliseconds. */
  interval: () => number = () => 0;

  /**
   * Schedules a redraw. If `isUrgent`, it happens in the next frame. Otherwise, it happens in the
   * first frame in which a chart could have moved by a pixel, or later if drawing is slow.
   */
  request(isUrgent = false) {
    if (this.paused || this.frame !== 0) return;
    const due_at = Math.max(this.flushed_at + this.interval(), this.idleUntil);
    const wait_ms = due_at - performance.now();
    if (isUrgent || wait_ms <= 0) this.requestFrame();
    else this.timer ??= setTimeout(() => this.requestFrame(), wait_ms);
  }

  private requestFrame() {
    this.cancelTimer();
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      if (!this.paused) this.flush();
    });
  }

  private cancelTimer() {
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  /** Pauses or resumes drawing. Data is still collected while drawing is paused. */
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
    this.cancelTimer();
    const begin = performance.now();
    this.flushed_at = begin;
    this.version += 1;
    for (const listener of this.flushListeners) listener();
    const end = performance.now();
    this.idleUntil = end + Math.min(MAX_INTERVAL_MS, (end - begin) * IDLE_RATIO);
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
