// Table with a header row and a header column. It scrolls sideways where it does not fit.
import type { ReactNode } from 'react';
import { ScrollRegion } from './parts';

interface NamedRow {
  /** Required for rows whose name is not a unique text. */
  key?: string;
  name: ReactNode;
  /** One per head. */
  cells: readonly ReactNode[];
}

interface NamedRowsProps {
  /** Accessible name of the table. */
  label: string;
  /** Head of the name column. */
  corner: string;
  heads: readonly ReactNode[];
  /** Second header row above `heads`; the spans add up to their number. */
  groups?: readonly { label: ReactNode; span: number }[];
  rows: readonly NamedRow[];
  /** Monospace, for identifiers. */
  mono?: boolean;
  className?: string;
  /** Class of the scroll region. */
  region?: string;
}

export function NamedRows({
  label,
  corner,
  heads,
  groups,
  rows,
  mono,
  className = '',
  region,
}: NamedRowsProps) {
  const cellClass = mono ? 'mono' : '';
  return (
    <ScrollRegion label={label} className={region}>
      <table className={`named-rows ${className}`}>
        <thead>
          {groups && (
            <tr className="groups">
              <td />
              {groups.map((group, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: the order is fixed
                <th key={index} scope="colgroup" colSpan={group.span}>
                  {group.label}
                </th>
              ))}
            </tr>
          )}
          <tr>
            <th scope="col">{corner}</th>
            {heads.map((head, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the order is fixed
              <th key={index} scope="col">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ key, name, cells }) => (
            <tr key={key ?? String(name)}>
              <th scope="row" className={cellClass}>
                {name}
              </th>
              {cells.map((cell, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: the order is fixed
                <td key={index} className={cellClass}>
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollRegion>
  );
}
