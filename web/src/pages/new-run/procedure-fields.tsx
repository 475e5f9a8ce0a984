// Selects the procedure that defines a study's runs, and its settings.
import { NativeSelect, NumberInput, TextInput } from '@mantine/core';
import type {
  LoadCurveDefinition,
  SniaClass,
  SniaPurge,
  SniaTestDefinition,
  SniaTestName,
} from '../../api';
import { withCurve, withTest } from '../../model/study/procedure';
import { SNIA_TESTS } from '../../model/study/snia';
import { Card } from '../../ui/parts';
import type { StudyEditor } from './use-study';

const NONE = 'steps';
const CURVE = 'load_curve';
const CLASSES: { value: SniaClass; label: string }[] = [
  { value: 'enterprise', label: 'Enterprise: cache off, active range 100 %' },
  { value: 'client', label: 'Client: cache on, active range 75 %' },
];
const PURGES: { value: SniaPurge; label: string }[] = [
  { value: 'none', label: 'No purge' },
  { value: 'discard', label: 'Discard the active range instead' },
  { value: 'operator', label: 'Purged outside Leadline' },
];

export function ProcedureFields({ study: { draft, change, problems } }: { study: StudyEditor }) {
  const { snia, loadCurve } = draft;
  const choose = (value: string) =>
    change((old) => {
      if (value === NONE) return withTest(old, undefined);
      if (value === CURVE) return withCurve(old);
      return withTest(old, { class: 'enterprise', ...old.snia, test: value as SniaTestName });
    });
  const found =
    problems.get(-1)?.filter(({ option }) => /^(snia|load_curve)/.test(option ?? '')) ?? [];
  return (
    <Card title="Procedure">
      <NativeSelect
        label="Runs in this study"
        maw={420}
        value={snia?.test ?? (loadCurve ? CURVE : NONE)}
        onChange={({ currentTarget }) => choose(currentTarget.value)}
        data={[
          { value: NONE, label: 'The steps below' },
          { value: CURVE, label: 'Load–latency curve' },
          {
            group: 'SNIA SSS PTS 2.0.2: preconditioning, rounds until steady state',
            items: Object.entries(SNIA_TESTS).map(([value, label]) => ({ value, label })),
          },
        ]}
      />
      {snia && (
        <>
          <p className="mute small" style={{ margin: '6px 0 10px' }}>
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
      {loadCurve && (
        <>
          <p className="mute small">
            Runs the job below at increasing rates with Poisson arrivals, until a rate is not
            sustained.
          </p>
          <CurveSettings
            curve={loadCurve}
            set={(part) =>
              change((old) =>
                old.loadCurve ? { ...old, loadCurve: { ...old.loadCurve, ...part } } : old,
              )
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
          label="Purge method and time"
          placeholder="nvme format -s1 at 10:15"
          value={snia.purge_note ?? ''}
          onChange={({ currentTarget }) => set({ purge_note: currentTarget.value })}
        />
      )}
      <NumberInput
        label={isSaturation ? 'Maximum duration (s)' : 'Duration per cell (s)'}
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

interface CurveSettingsProps {
  curve: LoadCurveDefinition;
  set: (part: Partial<LoadCurveDefinition>) => void;
}

function CurveSettings({ curve, set }: CurveSettingsProps) {
  const number = (value: number | string) => (value === '' ? undefined : Number(value));
  return (
    <div className="row">
      <ListField
        label="Rates (IOPS)"
        placeholder="from a probe"
        values={curve.rates?.map(String)}
        onChange={(values) => set({ rates: values?.map(Number) })}
      />
      <NumberInput
        label="Duration per rate (s)"
        w={170}
        min={1}
        max={3600}
        allowDecimal={false}
        placeholder="10 to 120"
        value={curve.seconds ?? ''}
        onChange={(value) => set({ seconds: number(value) })}
      />
      <NumberInput
        label="Ramp (s)"
        w={110}
        min={0}
        max={600}
        allowDecimal={false}
        placeholder="2"
        value={curve.ramp_seconds ?? ''}
        onChange={(value) => set({ ramp_seconds: number(value) })}
      />
      <NumberInput
        label="p99 limit (ms)"
        w={130}
        min={0.001}
        placeholder="none"
        value={curve.p99_limit_ms ?? ''}
        onChange={(value) => set({ p99_limit_ms: number(value) })}
      />
      <NumberInput
        label="Maximum bytes written"
        w={190}
        min={1}
        allowDecimal={false}
        thousandSeparator=","
        placeholder="none"
        value={curve.max_bytes ?? ''}
        onChange={(value) => set({ max_bytes: number(value) })}
      />
    </div>
  );
}

interface ListFieldProps {
  label: string;
  placeholder: string;
  values: string[] | undefined;
  onChange: (values: string[] | undefined) => void;
}

/** Field for values separated by spaces. They are parsed when the field loses focus. */
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
