// Chart.js plugins that are not needed for the first paint. The annotation plugin is loaded when a
// chart has annotations. The zoom plugin, with its gesture library, is loaded on the first
// interaction with the page, or immediately on touch screens.
import { Chart, type Plugin } from 'chart.js';
import { onDemand } from '../ui/on-demand';

/** Existing charts start the plugin at their next update. */
function register(plugin: Plugin) {
  Chart.register(plugin);
  for (const chart of Object.values(Chart.instances)) chart.update('none');
}

export const annotations = onDemand(async () => {
  const { default: plugin } = await import('chartjs-plugin-annotation');
  // The plugin sets up its per-chart state in the `beforeInit` hook, which does not run for
  // existing charts.
  register({ ...plugin, start: plugin.beforeInit });
});

/** Load on the first interaction. */
const zoom = onDemand(async () => {
  const { default: plugin } = await import('chartjs-plugin-zoom');
  register(plugin);
});

/**
 * On touch screens, load immediately: the first interaction may be a pinch, which would be lost
 * while the plugin is loading.
 */
const hasTouch = matchMedia('(any-pointer: coarse)').matches;
if (hasTouch) void zoom.load().catch(() => undefined);
