// Settings and host facts that differ between the compared runs.
import type { Comparison, Difference } from '../../api';
import { formatSetting } from '../../model/compare/setting-text';
import { UNKNOWN } from '../../model/format/numbers';
import { NamedRows } from '../../ui/named-rows';
import { Card } from '../../ui/parts';

export function Differences({ comparison }: { comparison: Comparison }) {
  const heads = comparison.runs.map(({ run }) => `#${run.number}`);
  return (
    <Card title="Differences">
      <DifferenceTable title="Setting" heads={heads} rows={comparison.setting_differences} />
      <DifferenceTable title="Host fact" heads={heads} rows={comparison.host_differences} />
      <p className="mute" style={{ marginTop: 8 }}>
        {comparison.equal_settings} settings and {comparison.equal_host_facts} host facts are equal.
      </p>
    </Card>
  );
}

interface DifferenceTableProps {
  title: string;
  heads: readonly string[];
  rows: readonly Difference[];
}

function DifferenceTable({ title, heads, rows }: DifferenceTableProps) {
  if (rows.length === 0) return null;
  return (
    <NamedRows
      mono
      label={`${title} differences`}
      corner={title}
      heads={heads}
      rows={rows.map(({ name, values }) => ({
        name,
        cells: values.map((value) => (value == null ? UNKNOWN : formatSetting(name, value))),
      }))}
    />
  );
}
