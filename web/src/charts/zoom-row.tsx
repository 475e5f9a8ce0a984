// What stands above charts on one stage: how to zoom, and the way back, also for those without a mouse.
import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import type { ChartGroup } from './chart-group';
import { useTick } from './use-live';

/** The row; `children` are further tools. */
export function ZoomRow({
  chartGroup,
  children,
}: {
  chartGroup: ChartGroup;
  children?: ReactNode;
}) {
  useTick(chartGroup);
  return (
    <div className="row tight no-print">
      <span className="mute small">
        Drag to zoom, Shift-drag to move, double-click to see everything.
      </span>
      <span className="push" />
      {chartGroup.zoom && (
        <Button
          data-key="0"
          data-action="Show the whole run"
          onClick={() => chartGroup.zoomTo(null)}
        >
          Show everything
        </Button>
      )}
      {children}
    </div>
  );
}
