// Chart group toolbar: a hint about zooming, and a reset button, which also works by keyboard.
import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import type { ChartGroup } from './chart-group';
import { useLiveValue } from './use-live-run';

export function ZoomRow({
  chartGroup,
  children,
}: {
  chartGroup: ChartGroup;
  children?: ReactNode;
}) {
  // Rerender only when the zoom changes: the buttons do not depend on the data.
  const zoom = useLiveValue(chartGroup, () => chartGroup.zoom);
  return (
    <div className="row tight no-print">
      <span className="mute small for-mouse">
        Drag to zoom, Shift-drag to pan, double-click to reset.
      </span>
      <span className="mute small for-touch">Pinch to zoom, then swipe to pan.</span>
      <span className="push" />
      {zoom && (
        <Button
          data-key="0"
          data-action="Show the whole run"
          onClick={() => chartGroup.zoomTo(null)}
        >
          Reset zoom
        </Button>
      )}
      {children}
    </div>
  );
}
