// Problems that prevent a start, one per line.
import type { ReactNode } from 'react';
import { plural } from '../../model/format/numbers';
import type { FormProblem } from '../../model/job/form-problems';

/** Maximum number of problems to list. A file from another program can have thousands. */
const MAX_LISTED = 20;

interface ProblemListProps {
  problems: readonly FormProblem[];
  /** Renders content before each problem's line number. */
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
