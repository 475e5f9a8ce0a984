// Only what differs: settings of the jobs, and facts of the hosts.
import type { Comparison, Difference } from '../../api';
import { settingInWords } from '../../model/compare';
import { UNKNOWN } from '../../model/format';
import { Card } from '../../ui/parts';

/** Both tables. */
export function Differences({ comparison }: { comparison: Comparison }) {
  const { settings_that_differ, settings_equal, host_that_differ, host_equal, runs } = comparison;
  const heads = runs.map(({ run }) => `#${run.number}`);
  return (
    <Card title="Only what differs">
      {settings_that_differ.length > 0 && <DifferenceTable title="setting" heads={heads} rows={settings_that_differ} />}
      {host_that_differ.length > 0 && <DifferenceTable title="host" heads={heads} rows={host_that_differ} />}
      <p className="mute" style={{ marginTop: 8 }}>
        {settings_equal} settings and {host_equal} host facts are equal.
      </p>
    </Card>
  );
}

function DifferenceTable({ title, heads, rows }: { title: string; heads: readonly string[]; rows: readonly Difference[] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section className="scroll-x" tabIndex={0} aria-label={`What differs: ${title}, scrollable`}>
      <table>
        <thead>
          <tr>
            <th scope="col">{title}</th>
            {heads.map((head) => (
              <th key={head} scope="col">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ name, values }) => (
            <tr key={name}>
              <th scope="row" className="mono">
                {name}
              </th>
              {values.map((value, place) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: values stand in the order of the runs
                <td key={place} className="mono">
                  {value === null || value === undefined ? UNKNOWN : settingInWords(name, value)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
