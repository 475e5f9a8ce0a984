// Annotations of the run (notes at points in time): a button that adds one, and their list.
import { Button, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { createAnnotation, deleteAnnotation, type Run } from '../../api';
import { runQuery } from '../../api/queries';
import { type LiveRun, useLiveValue } from '../../charts/use-live-run';
import { originMs } from '../../model/fold/series-view';
import { Dialog } from '../../ui/dialog';
import { notifyError } from '../../ui/notify';
import { Card } from '../../ui/parts';
import { useIsSaved } from '../../ui/saved';

/** In bytes, as in the server. */
const MAX_TEXT = 500;

/** Opens the dialog at the time of the crosshair, the latest sample, or the middle of the zoom. */
export function AnnotateButton({ run, live }: { run: Run; live: LiveRun }) {
  const [seconds, setSeconds] = useState<number | null>(null);
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
        <AnnotationForm
          run={run}
          live={live}
          seconds={seconds ?? 0}
          onAdded={() => setSeconds(null)}
        />
      </Dialog>
    </>
  );
}

interface AnnotationFormProps {
  run: Run;
  live: LiveRun;
  /** Since the start of the measurement. */
  seconds: number;
  onAdded: () => void;
}

function AnnotationForm({ run, live: { fold }, seconds, onAdded }: AnnotationFormProps) {
  const refresh = useRefresh(run);
  const { mutateAsync } = useMutation({
    mutationFn: (body: { t_ms: number; text: string }) =>
      createAnnotation({ path: { n: run.number }, body, throwOnError: true }),
    onSuccess: refresh,
    onError: notifyError,
  });
  const add = async (form: FormData) => {
    const t_ms = Math.max(0, Number(form.get('seconds')) * 1000 + originMs(fold));
    await mutateAsync({ t_ms, text: String(form.get('text') ?? '') }).then(onAdded, () => null);
  };
  return (
    <form action={add} className="stack">
      <TextInput
        name="seconds"
        type="number"
        step="any"
        label="Seconds since the start of the measurement"
        defaultValue={seconds.toFixed(1)}
        required
      />
      <TextInput name="text" label="Text" maxLength={MAX_TEXT} data-autofocus required />
      <div className="row">
        <Button type="submit" variant="filled">
          Add annotation
        </Button>
      </div>
    </form>
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
  if (run.annotations.length === 0) return null;
  return (
    <Card title="Annotations">
      <ol className="annotations">
        {run.annotations.map(({ number, t_ms, text }) => (
          <li key={number}>
            <span className="mono">{((t_ms - origin_ms) / 1000).toFixed(1)} s</span>
            <span className="breaks">{text}</span>
            {!isSaved && (
              <Button
                className="no-print"
                aria-label={`Delete annotation: ${text}`}
                onClick={() => mutate(number)}
              >
                Delete
              </Button>
            )}
          </li>
        ))}
      </ol>
    </Card>
  );
}

function useRefresh({ number }: Run) {
  const queryClient = useQueryClient();
  return () => queryClient.invalidateQueries({ queryKey: runQuery(number).queryKey });
}
