// Table with a header row and a header column. It scrolls horizontally if it does not fit.
import type { ReactNode } from 'react';
import { ScrollRegion } from './parts';

interface NamedRow {
  /** Required unless `name` is a unique string. */
  key?: string;
  name: ReactNode;
  /** One cell per column in `headers`. */
  cells: readonly ReactNode[];
}

interface Section {
  heading: string;
  rows: readonly NamedRow[];
  className?: string;
}

interface NamedRowsProps {
  /** The table's accessible name. */
  label: string;
  /** Header above the column of names. */
  corner: string;
  headers: readonly ReactNode[];
  /** Header row above `headers`. The spans must add up to the number of headers. */
  groups?: readonly { label: ReactNode; span: number }[];
  rows: readonly NamedRow[];
  /** Additional rows with separate headings. They have the same columns. */
  sections?: readonly Section[];
  /** Uses a monospace font, for identifiers. */
  mono?: boolean;
  className?: string;
  /** CSS class for the scroll region. */
  region?: string;
}

export function NamedRows({
  label,
  corner,
  headers,
  groups,
  rows,
  sections = [],
  mono,
  className = '',
  region,
}: NamedRowsProps) {
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
        {[{ heading: '', rows }, ...sections].map((section) => (
          <RowGroup key={section.heading} columns={headers.length} mono={mono} {...section} />
        ))}
      </table>
    </ScrollRegion>
  );
}

/** The heading is empty for rows directly below the header row. */
interface RowGroupProps extends Section {
  /** Number of columns, excluding the name column. */
  columns: number;
  mono: boolean | undefined;
}

function RowGroup({ heading, rows, className, columns, mono }: RowGroupProps) {
  const cellClass = mono ? 'mono' : '';
  if (rows.length === 0) return null;
  return (
    <tbody className={className}>
      {heading && (
        <tr className="section-row">
          <th scope="rowgroup" colSpan={columns + 1}>
            {heading}
          </th>
        </tr>
      )}
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
  );
}
