// Fields for a study's swept options. Values are separated by spaces or commas; values that
// contain commas are quoted.
import { Button, TextInput } from '@mantine/core';
import type { SweepField } from '../../model/study/draft';
import type { StudyEditor } from './use-study';

/** Maximum number of swept options in the form. */
const MAX_AXES = 4;

export function SweepFields({ study: { draft, change, problems } }: { study: StudyEditor }) {
  const axes = draft.sweep ?? [];
  const set = (sweep: SweepField[]) => change((old) => ({ ...old, sweep }));
  const edit = (index: number, part: Partial<SweepField>) =>
    set(axes.map((axis, other) => (other === index ? { ...axis, ...part } : axis)));
  const own = problems.get(-1)?.filter(({ option }) => option?.startsWith('sweep')) ?? [];
  return (
    <fieldset className="sweep-fields">
      <legend>Sweep: run each step with every combination of these values</legend>
      {axes.map(({ option, values }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rows have no ID
        <div key={index} className="row tight">
          <TextInput
            aria-label={`Option ${index + 1}`}
            placeholder="iodepth"
            value={option}
            onChange={({ currentTarget }) => edit(index, { option: currentTarget.value })}
          />
          <TextInput
            aria-label={`Values of option ${index + 1}`}
            placeholder="1 2 4 8 16 32"
            value={values}
            onChange={({ currentTarget }) => edit(index, { values: currentTarget.value })}
          />
          <Button
            aria-label={`Remove option ${index + 1}`}
            onClick={() => set(axes.toSpliced(index, 1))}
          >
            ×
          </Button>
        </div>
      ))}
      {own.map(({ detail, remedy }) => (
        <p key={detail} className="bad-text" role="alert">
          {detail} {remedy}
        </p>
      ))}
      {axes.length < MAX_AXES && (
        <Button onClick={() => set([...axes, { option: '', values: '' }])}>
          Add option to sweep
        </Button>
      )}
    </fieldset>
  );
}
