// Settings and host facts that differ between the compared runs.
import type { Comparison, Difference } from '../../api';
import { includedRuns } from '../../model/compare/metrics';
import { formatSetting } from '../../model/compare/setting-text';
import { UNKNOWN } from '../../model/format/numbers';
import { NamedRows } from '../../ui/named-rows';
import { Badge, Card } from '../../ui/parts';

export function Differences({ comparison }: { comparison: Comparison }) {
  const headers = comparison.groups.map(({ label }) => label);
  const groups = headers.map((_, group) => includedRuns(comparison, group));
  const table = (title: string, rows: readonly Difference[]) => (
    <DifferenceTable title={title} headers={headers} groups={groups} rows={rows} />
  );
  return (
    <Card title="Differences">
      {table('Result', comparison.result_differences)}
      {table('Setting', comparison.setting_differences)}
      {table('Host fact', comparison.host_differences)}
      <p className="mute" style={{ marginTop: 8 }}>
        {comparison.equal_settings} settings and {comparison.equal_host_facts} host facts are equal.
      </p>
    </Card>
  );
}

interface DifferenceTableProps {
  title: string;
  headers: readonly string[];
  /** Indices of the included runs in each group. */
  groups: readonly number[][];
  rows: readonly Difference[];
}

function DifferenceTable({ title, headers, groups, rows }: DifferenceTableProps) {
  if (rows.length === 0) return null;
  return (
    <NamedRows
      mono
      label={`${title} differences`}
      corner={title}
      headers={headers}
      rows={rows.map(({ name, values, is_harmful }) => ({
        key: name,
        name: <DifferenceName name={name} isHarmful={is_harmful} />,
        cells: groups.map((runs) =>
          valuesText(
            name,
            runs.map((run) => values[run] ?? null),
          ),
        ),
      }))}
    />
  );
}

function DifferenceName({ name, isHarmful }: { name: string; isHarmful: boolean }) {
  return (
    <>
      {name}{' '}
      {isHarmful && (
        <Badge tone="cache" title="Can change the result on its own">
          affects results
        </Badge>
      )}
    </>
  );
}

/** The different values in a group, each once. */
function valuesText(name: string, values: readonly (string | null)[]): string {
  const texts = values.map((value) => (value === null ? UNKNOWN : formatSetting(name, value)));
  return [...new Set(texts)].join(' / ');
}
