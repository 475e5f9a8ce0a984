// Chooses a test that defines the runs of a study, and its settings.
import { NativeSelect, NumberInput, TextInput } from '@mantine/core';
import type { SniaClass, SniaPurge, SniaTestDefinition, SniaTestName } from '../../api';
import { withTest } from '../../model/study/procedure';
import { SNIA_TESTS } from '../../model/study/snia';
import { Card } from '../../ui/parts';
import type { StudyEditor } from './use-study';

const NONE = 'steps';
const CLASSES: { value: SniaClass; label: string }[] = [
  { value: 'enterprise', label: 'Enterprise: cache off, active range 100 %' },
  { value: 'client', label: 'Client: cache on, active range 75 %' },
];
const PURGES: { value: SniaPurge; label: string }[] = [
  { value: 'none', label: 'No purge' },
  { value: 'discard', label: 'Discard the active range instead' },
  { value: 'operator', label: 'Purged outside of Leadline' },
];

export function ProcedureFields({ study: { draft, change, problems } }: { study: StudyEditor }) {
  const { snia } = draft;
  const choose = (test: string) =>
    change((old) =>
      withTest(
        old,
        test === NONE
          ? undefined
          : { class: 'enterprise', ...old.snia, test: test as SniaTestName },
      ),
    );
  const found = problems.get(-1)?.filter(({ option }) => option?.startsWith('snia')) ?? [];
  return (
    <Card title="Procedure">
      <NativeSelect
        label="Runs of this study"
        maw={420}
        value={snia?.test ?? NONE}
        onChange={({ currentTarget }) => choose(currentTarget.value)}
        data={[
          { value: NONE, label: 'The steps below' },
          {
            group: 'SNIA SSS PTS 2.0.2: preconditioning, rounds until steady state',
            items: Object.entries(SNIA_TESTS).map(([value, label]) => ({ value, label })),
          },
        ]}
      />
      {snia && (
        <>
          <p className="mute small">
            The job below defines only the target, its size, <code>iodepth</code> and{' '}
            <code>numjobs</code>. The test sets everything else, and overwrites the target.
          </p>
          <SniaSettings
            snia={snia}
            set={(part) =>
              change((old) => (old.snia ? { ...old, snia: { ...old.snia, ...part } } : old))
            }
          />
        </>
      )}
      {found.map(({ detail, remedy }) => (
        <p key={detail} className="bad-text" role="alert">
          {detail} {remedy}
        </p>
      ))}
    </Card>
  );
}

interface SniaSettingsProps {
  snia: SniaTestDefinition;
  set: (part: Partial<SniaTestDefinition>) => void;
}

function SniaSettings({ snia, set }: SniaSettingsProps) {
  const isSaturation = snia.test === 'write_saturation';
  return (
    <div className="row">
      <NativeSelect
        label="Device class"
        value={snia.class}
        onChange={({ currentTarget }) => set({ class: currentTarget.value as SniaClass })}
        data={CLASSES}
      />
      <NativeSelect
        label="Purge"
        value={snia.purge ?? 'none'}
        onChange={({ currentTarget }) => {
          const purge = currentTarget.value as SniaPurge;
          set({ purge, ...(purge !== 'operator' && { purge_note: undefined }) });
        }}
        data={PURGES}
      />
      {snia.purge === 'operator' && (
        <TextInput
          label="Method and time of the purge"
          placeholder="nvme format -s1 at 10:15"
          value={snia.purge_note ?? ''}
          onChange={({ currentTarget }) => set({ purge_note: currentTarget.value })}
        />
      )}
      <NumberInput
        label={isSaturation ? 'Maximum duration (s)' : 'Duration of a cell (s)'}
        w={170}
        min={1}
        max={isSaturation ? 86_400 : 3600}
        allowDecimal={false}
        placeholder={isSaturation ? '21600' : '60'}
        value={snia.cell_seconds ?? ''}
        onChange={(value) => set({ cell_seconds: value === '' ? undefined : Number(value) })}
      />
      {!isSaturation && (
        <>
          <NumberInput
            label="Maximum rounds"
            w={140}
            min={5}
            max={25}
            allowDecimal={false}
            placeholder="25"
            value={snia.max_rounds ?? ''}
            onChange={(value) => set({ max_rounds: value === '' ? undefined : Number(value) })}
          />
          <ListField
            label="Read percentages"
            placeholder="as specified"
            values={snia.mixes?.map(String)}
            onChange={(values) => set({ mixes: values?.map(Number) })}
          />
          <ListField
            label="Block sizes"
            placeholder="as specified"
            values={snia.blocks ?? undefined}
            onChange={(blocks) => set({ blocks })}
          />
        </>
      )}
    </div>
  );
}

interface ListFieldProps {
  label: string;
  placeholder: string;
  values: string[] | undefined;
  onChange: (values: string[] | undefined) => void;
}

/** Values separated by spaces; read when the field loses the focus. */
function ListField({ label, placeholder, values, onChange }: ListFieldProps) {
  const text = values?.join(' ') ?? '';
  return (
    <TextInput
      key={text}
      label={label}
      placeholder={placeholder}
      defaultValue={text}
      onBlur={({ currentTarget }) => {
        const list = currentTarget.value.split(/[\s,]+/).filter(Boolean);
        onChange(list.length > 0 ? list : undefined);
      }}
    />
  );
}
