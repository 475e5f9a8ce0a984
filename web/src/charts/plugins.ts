// Chart.js plugins that a chart does not need at first: annotations, and zoom with its gesture
// library. They are loaded when a chart has annotations or at the first interaction with the page,
// and zoom earlier on touch screens.
import { Chart, type Plugin } from 'chart.js';
import { onDemand } from '../ui/on-demand';

/** Existing charts start the plugin in their next update. */
function register(plugin: Plugin) {
  Chart.register(plugin);
  for (const chart of Object.values(Chart.instances)) chart.update('none');
}

export const annotations = onDemand(async () => {
  const { default: plugin } = await import('chartjs-plugin-annotation');
  // The plugin's state for a chart is created by a hook that does not run for existing charts.
  register({ ...plugin, start: plugin.beforeInit });
});

/** At the first interaction. */
const zoom = onDemand(async () => {
  const { default: plugin } = await import('chartjs-plugin-zoom');
  register(plugin);
});

/** On a touch screen the first interaction may be a pinch, which would be lost during loading. */
const hasTouch = matchMedia('(any-pointer: coarse)').matches;
if (hasTouch) void zoom.load().catch(() => undefined);
