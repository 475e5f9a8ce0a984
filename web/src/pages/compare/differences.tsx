// Only what differs: settings of the jobs, and facts of the hosts.
import type { Comparison, Difference } from '../../api';
import { formatSetting } from '../../model/compare/setting-text';
import { UNKNOWN } from '../../model/format/numbers';
import { NamedRows } from '../../ui/named-rows';
import { Card } from '../../ui/parts';

/** Both tables. */
export function Differences({ comparison }: { comparison: Comparison }) {
  const { setting_differences, equal_settings, host_differences, equal_host_facts, runs } =
    comparison;
  const heads = runs.map(({ run }) => `#${run.number}`);
  return (
    <Card title="Only what differs">
      {setting_differences.length > 0 && (
        <DifferenceTable title="setting" heads={heads} differences={setting_differences} />
      )}
      {host_differences.length > 0 && (
        <DifferenceTable title="host" heads={heads} differences={host_differences} />
      )}
      <p className="mute" style={{ marginTop: 8 }}>
        {equal_settings} settings and {equal_host_facts} host facts are equal.
      </p>
    </Card>
  );
}

function DifferenceTable({
  title,
  heads,
  differences,
}: {
  title: string;
  heads: readonly string[];
  differences: readonly Difference[];
}) {
  const rows = differences.map(({ name, values }) => ({
    key: name,
    name,
    cells: values.map((value) =>
      value === null || value === undefined ? UNKNOWN : formatSetting(name, value),
    ),
  }));
  return (
    <NamedRows mono label={`What differs: ${title}`} corner={title} heads={heads} rows={rows} />
  );
}
