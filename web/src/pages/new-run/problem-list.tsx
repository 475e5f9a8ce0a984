// What is in the way of a start, one line each, with what would help.
import type { ReactNode } from 'react';
import type { FormProblem } from '../../model/job/job-form';

interface ObstaclesProps {
  of: readonly FormProblem[];
  /** Where they stand, when it is not plain. */
  at?: ReactNode;
}

/** The list. */
export function ProblemList({ of, at }: ObstaclesProps) {
  return (
    <ul className="obstacles">
      {of.map(({ detail, remedy, option, line }) => (
        <li key={`${option}${line}${detail}`}>
          {at} {line !== null && <span className="mute">line {line + 1}: </span>}
          {detail} <span className="mute">{remedy}</span>
        </li>
      ))}
    </ul>
  );
}
