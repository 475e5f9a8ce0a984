// Problems that prevent a start, one per line.
import type { ReactNode } from 'react';
import type { FormProblem } from '../../model/job/form-problems';

interface ProblemListProps {
  problems: readonly FormProblem[];
  /** Rendered before the line number of each problem. */
  prefix?: (problem: FormProblem) => ReactNode;
}

export function ProblemList({ problems, prefix }: ProblemListProps) {
  return (
    <ul className="problems">
      {problems.map((problem) => (
        <li
          key={`${problem.option}${problem.line}${problem.detail}`}
          className={problem.isPrompt ? 'mute' : undefined}
        >
          {prefix?.(problem)} {problem.detail} <span className="mute">{problem.remedy}</span>
        </li>
      ))}
    </ul>
  );
}

export const LineNumber = ({ line }: FormProblem) =>
  line !== null && <span className="mute">line {line + 1}:</span>;
