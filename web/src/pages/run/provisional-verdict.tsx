// A live run's provisional verdict, based on its gauge. It has the position and height of the
// final verdict, so that the layout does not shift when the run ends.
import type { Layer, Run } from '../../api';
import { type LiveRun, useLiveValue } from '../../charts/use-live-run';
import { toneOf } from '../../charts/verdict-badge';
import { gaugeText } from '../../model/gauge/gauge-text';
import { LAYER_LABELS } from '../../model/gauge/layers';
import { runGauge } from '../../model/gauge/run-gauge';
import { DIRECTION_LABELS, getDirections } from '../../model/run/summary';
import { Notice } from '../../ui/parts';

export function ProvisionalVerdict({ run, live }: { run: Run; live: LiveRun }) {
  const { fold, chartGroup } = live;
  const gauge = useLiveValue(chartGroup, () => runGauge(fold));
  const text = gauge && gaugeText(gauge, run.device ?? null);
  const layer = (text && gauge?.served_by) || null;
  const reason = text && gauge?.served_by_unknown;
  const { reads, writes } = getDirections(run);
  return (
    <>
      <Notice
        tone={toneOf(layer)}
        badge="Provisional"
        title={servedByTitle(layer, reason)}
        detail={text ?? 'The verdict appears when the run ends.'}
      />
      {reads && writes && (
        <Notice
          badge={DIRECTION_LABELS.write}
          title="Reads and writes are combined while the run is active"
          detail="Each direction gets its own verdict when the run ends."
        />
      )}
    </>
  );
}

function servedByTitle(layer: Layer | null, reason: string | null | undefined): string {
  if (layer) return `Served by: ${LAYER_LABELS[layer].toLowerCase()}`;
  return reason ? `Layer not yet known: ${reason}` : 'No I/O measured yet';
}
