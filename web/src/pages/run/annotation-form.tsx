// Form that adds an annotation. Its code is loaded on demand.
import { Button, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { createAnnotation, type Run } from '../../api';
import type { LiveRun } from '../../charts/use-live-run';
import { originMs } from '../../model/fold/series-view';
import { notifyError } from '../../ui/notify';

/** Limit in characters, as on the server. */
const MAX_TEXT = 500;

interface AnnotationFormProps {
  run: Run;
  live: LiveRun;
  /** Time since the start of the measurement. */
  seconds: number;
  onAdded: () => void;
}

export function AnnotationForm({ run, live: { fold }, seconds, onAdded }: AnnotationFormProps) {
  const { mutateAsync } = useMutation({
    mutationFn: (body: { t_ms: number; text: string }) =>
      createAnnotation({ path: { n: run.number }, body, throwOnError: true }),
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
