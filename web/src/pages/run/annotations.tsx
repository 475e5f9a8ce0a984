// The run's annotations, which are notes at points in time, and a button that adds one.
import { Button } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { deleteAnnotation, type Run } from '../../api';
import { runQuery } from '../../api/queries';
import { type LiveRun, useLiveValue } from '../../charts/use-live-run';
import { originMs } from '../../model/fold/series-view';
import { Dialog } from '../../ui/dialog';
import { notifyError } from '../../ui/notify';
import { onDemand, useOnDemand } from '../../ui/on-demand';
import { Card } from '../../ui/parts';
import { useIsSaved } from '../../ui/saved';

const formCode = onDemand(() => import('./annotation-form'));

/**
 * Opens the dialog. The initial time is at the crosshair, otherwise in the middle of the zoomed
 * range, otherwise at the latest event.
 */
export function AnnotateButton({ run, live }: { run: Run; live: LiveRun }) {
  const [seconds, setSeconds] = useState<number | null>(null);
  const code = useOnDemand(formCode, seconds !== null);
  const refresh = useRefresh(run);
  const { fold, chartGroup } = live;
  const open = () => {
    const { crosshair, zoom } = chartGroup;
    const latest = (fold.now_ms - originMs(fold)) / 1000;
    setSeconds(crosshair ?? (zoom ? (zoom.from + zoom.to) / 2 : latest));
  };
  return (
    <>
      <Button data-key="a" data-action="Add an annotation" onClick={open}>
        Annotate
      </Button>
      <Dialog opened={seconds !== null} onClose={() => setSeconds(null)} title="Add annotation">
        {code && (
          <code.AnnotationForm
            run={run}
            live={live}
            seconds={seconds ?? 0}
            onAdded={() => {
              void refresh();
              setSeconds(null);
            }}
          />
        )}
      </Dialog>
    </>
  );
}

export function Annotations({ run, live: { fold, chartGroup } }: { run: Run; live: LiveRun }) {
  const isSaved = useIsSaved();
  const origin_ms = useLiveValue(chartGroup, () => originMs(fold));
  const refresh = useRefresh(run);
  const { mutate } = useMutation({
    mutationFn: (annotation: number) =>
      deleteAnnotation({ path: { n: run.number, annotation }, throwOnError: true }),
    onSuccess: refresh,
    onError: notifyError,
  });
  const { annotations, damaged_annotations } = run;
  if (annotations.length + damaged_annotations.length === 0) return null;
  return (
    <Card title="Annotations">
      <ol className="annotations">
        {annotations.map(({ number, t_ms, text }) => (
          <li key={number}>
            <span className="mono">{((t_ms - origin_ms) / 1000).toFixed(1)} s</span>
            <span className="breaks">{text}</span>
            {!isSaved && <DeleteButton text={text} onClick={() => mutate(number)} />}
          </li>
        ))}
        {damaged_annotations.map((number) => (
          <li key={number}>
            <span className="mono">–</span>
            <span>Annotation {number} is damaged and cannot be shown.</span>
            {!isSaved && <DeleteButton text={String(number)} onClick={() => mutate(number)} />}
          </li>
        ))}
      </ol>
    </Card>
  );
}

function DeleteButton({ text, onClick }: { text: string; onClick: () => void }) {
  return (
    <Button className="no-print" aria-label={`Delete annotation: ${text}`} onClick={onClick}>
      Delete
    </Button>
  );
}

function useRefresh({ number }: Run) {
  const queryClient = useQueryClient();
  return () => queryClient.invalidateQueries({ queryKey: runQuery(number).queryKey });
}
