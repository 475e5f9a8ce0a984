// Problems that prevent a start, one per line.
import type { ReactNode } from 'react';
import { plural } from '../../model/format/numbers';
import type { FormProblem } from '../../model/job/form-problems';

/**
 * Maximum number of problems to list. In a file of another program, each of thousands of lines can
 * have one.
 */
const MAX_LISTED = 20;

interface ProblemListProps {
  problems: readonly FormProblem[];
  /** Renders content in front of the line number of each problem. */
  prefix?: (problem: FormProblem) => ReactNode;
}

export function ProblemList({ problems, prefix }: ProblemListProps) {
  const unlisted = problems.length - MAX_LISTED;
  return (
    <ul className="problems">
      {problems.slice(0, MAX_LISTED).map((problem) => (
        <li
          key={`${problem.option}${problem.line}${problem.detail}`}
          className={problem.isPrompt ? 'mute' : undefined}
        >
          {prefix?.(problem)} {problem.detail} <span className="mute">{problem.remedy}</span>
        </li>
      ))}
      {unlisted > 0 && <li>{plural(unlisted, 'more problem')}</li>}
    </ul>
  );
}

export const LineNumber = ({ line }: FormProblem) =>
  line !== null && <span className="mute">line {line + 1}:</span>;
