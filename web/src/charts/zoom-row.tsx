// What stands above charts on one stage: how to zoom, and the way back, also for those without a mouse.
import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Stage } from './stage';
import { useTick } from './use-live';

/** The row; `children` are further tools. */
export function ZoomRow({ stage, children }: { stage: Stage; children?: ReactNode }) {
  useTick(stage);
  return (
    <div className="row tight no-print">
      <span className="mute small">Drag to zoom, Shift-drag to move, double-click to see everything.</span>
      <span className="push" />
      {stage.zoom && (
        <Button data-key="0" data-does="show the whole run" onClick={() => stage.zoomTo(null)}>
          Show everything
        </Button>
      )}
      {children}
    </div>
  );
}
