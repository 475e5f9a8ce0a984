// The depth gauge's layers from top to bottom, and the state of the gauge before the first
// I/O.
import type { Gauge, Layer } from '../../api';

export const LAYERS: readonly Layer[] = ['application', 'page_cache', 'filesystem', 'device'];

export const LAYER_LABELS: Record<Layer, string> = {
  application: 'Application',
  page_cache: 'Page cache',
  filesystem: 'Filesystem',
  device: 'Device',
};

export const EMPTY_GAUGE: Gauge = {
  issued: { ios: 0, bytes: 0 },
  past_cache: null,
  reached: null,
  bypassed: false,
  foreign: null,
  served_by: 'application',
  served_by_unknown: null,
  uncertainty: 0,
  notes: {},
};
