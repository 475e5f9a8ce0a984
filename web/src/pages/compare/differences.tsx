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
  const section = (heading: string, differences: readonly Difference[]) => ({
    heading,
    rows: differences.map((difference) => differenceRow(difference, groups)),
  });
  const sections = [
    section('Results', comparison.result_differences),
    section('Settings', comparison.setting_differences),
    section('Host facts', comparison.host_differences),
  ].filter(({ rows }) => rows.length > 0);
  return (
    <Card title="Differences" className="differences">
      {sections.length > 0 && (
        <NamedRows
          mono
          label="Differences"
          corner="Name"
          headers={headers}
          rows={[]}
          sections={sections}
        />
      )}
      <p className="mute" style={{ marginTop: 8 }}>
        {comparison.equal_settings} settings and {comparison.equal_host_facts} host facts are equal.
      </p>
    </Card>
  );
}

/** `groups`: indices of the included runs, by group. */
const differenceRow = (
  { name, values, is_harmful }: Difference,
  groups: readonly (readonly number[])[],
) => ({
  key: name,
  name: <DifferenceName name={name} isHarmful={is_harmful} />,
  cells: groups.map((runs) =>
    valuesText(
      name,
      runs.map((run) => values[run] ?? null),
    ),
  ),
});

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

/** The distinct values in a group. */
function valuesText(name: string, values: readonly (string | null)[]): string {
  const texts = values.map((value) => (value === null ? UNKNOWN : formatSetting(name, value)));
  return [...new Set(texts)].join(' / ');
}
