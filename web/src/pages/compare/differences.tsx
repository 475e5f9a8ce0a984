// Only what differs: settings of the jobs, and facts of the hosts.
import type { Comparison, Difference } from '../../api';
import { UNKNOWN } from '../../model/format';
import { settingInWords } from '../../model/setting';
import { NamedRows } from '../../ui/named-rows';
import { Card } from '../../ui/parts';

/** Both tables. */
export function Differences({ comparison }: { comparison: Comparison }) {
  const { settings_that_differ, settings_equal, host_that_differ, host_equal, runs } = comparison;
  const heads = runs.map(({ run }) => `#${run.number}`);
  return (
    <Card title="Only what differs">
      {settings_that_differ.length > 0 && <DifferenceTable title="setting" heads={heads} differences={settings_that_differ} />}
      {host_that_differ.length > 0 && <DifferenceTable title="host" heads={heads} differences={host_that_differ} />}
      <p className="mute" style={{ marginTop: 8 }}>
        {settings_equal} settings and {host_equal} host facts are equal.
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
    cells: values.map((value) => (value === null || value === undefined ? UNKNOWN : settingInWords(name, value))),
  }));
  return <NamedRows mono label={`What differs: ${title}`} corner={title} heads={heads} rows={rows} />;
}
