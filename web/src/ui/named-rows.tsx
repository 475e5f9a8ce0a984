// A table of named rows: heads across the top, names down the side. It scrolls sideways where it does not fit, by
// keyboard too.
import type { ReactNode } from 'react';

/** One row: its name and one cell a head. */
interface NamedRow {
  key: string;
  name: ReactNode;
  cells: readonly ReactNode[];
}

interface NamedRowsProps {
  /** What is in the table, for those who do not see it. */
  label: string;
  /** What the names are. */
  corner: string;
  heads: readonly ReactNode[];
  /** What neighbouring heads have in common: a word and how many of them, all heads together. */
  groups?: readonly { word: ReactNode; span: number }[];
  rows: readonly NamedRow[];
  /** Names and values that are spelt as in code. */
  mono?: boolean;
  className?: string;
}

/** The table. */
export function NamedRows({
  label,
  corner,
  heads,
  groups,
  rows,
  mono,
  className = '',
}: NamedRowsProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section className="scroll-x" tabIndex={0} aria-label={`${label}, scrollable`}>
      <table className={`named-rows ${className}`}>
        <thead>
          {groups && (
            <tr className="groups">
              <td />
              {groups.map(({ word, span }, place) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: groups stand in the order of the heads
                <th key={place} scope="colgroup" colSpan={span}>
                  {word}
                </th>
              ))}
            </tr>
          )}
          <tr>
            <th scope="col">{corner}</th>
            {heads.map((head, place) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: heads stand in the order of the cells
              <th key={place} scope="col">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ key, name, cells }) => (
            <tr key={key}>
              <th scope="row" className={mono ? 'mono' : ''}>
                {name}
              </th>
              {cells.map((cell, place) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: cells stand in the order of the heads
                <td key={place} className={mono ? 'mono' : ''}>
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
