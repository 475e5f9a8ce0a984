// Table with a header row and a header column. It scrolls horizontally if it does not fit.
import type { ReactNode } from 'react';
import { ScrollRegion } from './parts';

interface NamedRow {
  /** Required if `name` is not a unique string. */
  key?: string;
  name: ReactNode;
  /** One cell per column of `headers`. */
  cells: readonly ReactNode[];
}

interface NamedRowsProps {
  /** Accessible name of the table. */
  label: string;
  /** Header of the name column. */
  corner: string;
  headers: readonly ReactNode[];
  /** Header row above `headers`; the spans must add up to the number of headers. */
  groups?: readonly { label: ReactNode; span: number }[];
  rows: readonly NamedRow[];
  /** Monospace, for identifiers. */
  mono?: boolean;
  className?: string;
  /** CSS class of the scroll region. */
  region?: string;
}

export function NamedRows({
  label,
  corner,
  headers,
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
            {headers.map((header, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the order is fixed
              <th key={index} scope="col">
                {header}
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
