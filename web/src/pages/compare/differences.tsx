// Settings and host facts that differ between the compared runs.
import type { Comparison, Difference } from '../../api';
import {
  differenceName,
  equalText,
  excludedGroups,
  groupValue,
  isKnownDifference,
  unrecordedText,
} from '../../model/compare/differences';
import { NamedRows } from '../../ui/named-rows';
import { Card } from '../../ui/parts';

export function Differences({ comparison }: { comparison: Comparison }) {
  const { result_differences, setting_differences, host_differences } = comparison;
  const isKnown = (difference: Difference) => isKnownDifference(comparison, difference);
  const equal = equalText(comparison);
  const unrecorded = host_differences.filter((difference) => !isKnown(difference));
  return (
    <Card title="Differences" className="differences">
      <div className="stack">
        <DifferenceTable
          comparison={comparison}
          label="Differences"
          sections={{
            Results: result_differences.filter(isKnown),
            Settings: setting_differences,
            'Host facts': host_differences.filter(isKnown),
          }}
        />
        {equal && <p className="mute">{equal}</p>}
        {excludedGroups(comparison).map(({ label, text }) => (
          <p key={label} className="mute breaks">
            {label} is excluded. {text}
          </p>
        ))}
        {unrecorded.length > 0 && (
          <details>
            <summary>{unrecordedText(comparison, unrecorded)}</summary>
            <DifferenceTable
              comparison={comparison}
              label="Host facts that are not recorded for all runs"
              sections={{ 'Host facts': unrecorded }}
            />
          </details>
        )}
      </div>
    </Card>
  );
}

interface DifferenceTableProps {
  comparison: Comparison;
  label: string;
  /** Differences by heading. */
  sections: Record<string, readonly Difference[]>;
}

function DifferenceTable({ comparison, label, sections }: DifferenceTableProps) {
  const shown = Object.entries(sections).filter(([, differences]) => differences.length > 0);
  if (shown.length === 0) return null;
  const excluded = excludedGroups(comparison).map((group) => group.label);
  return (
    <NamedRows
      mono
      label={label}
      corner="Name"
      headers={comparison.groups.map(({ label }) =>
        excluded.includes(label) ? `${label} (excluded)` : label,
      )}
      rows={[]}
      sections={shown.map(([heading, differences]) => ({
        heading,
        rows: differences.map((difference) => ({
          key: difference.name,
          name: <Name difference={difference} />,
          cells: comparison.groups.map((_, group) => groupValue(comparison, difference, group)),
        })),
      }))}
    />
  );
}

function Name({ difference }: { difference: Difference }) {
  const { text, isIdentifier } = differenceName(difference.name);
  return (
    <>
      {isIdentifier ? text : <span className="label">{text}</span>}
      {difference.is_harmful && <div className="label mute small">affects results</div>}
    </>
  );
}
