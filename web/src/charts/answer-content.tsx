// The answers of a comparison as a title and details: sentences, or a list by verdict if the
// sentences would repeat each other.
import type { ReactNode } from 'react';
import type { Comparison } from '../api';
import { summarizeAnswers } from '../model/compare/answer-summary';

export function answerContent(comparison: Comparison): { title: string; detail: ReactNode } {
  const summary = summarizeAnswers(comparison);
  if (summary) return { title: summary.title, detail: <AnswerRows rows={summary.rows} /> };
  const [title = '', ...others] = new Set(comparison.answers);
  return { title, detail: others.map((answer) => <p key={answer}>{answer}</p>) };
}

type AnswerRowsProps = Pick<NonNullable<ReturnType<typeof summarizeAnswers>>, 'rows'>;

function AnswerRows({ rows }: AnswerRowsProps) {
  return (
    <dl className="facts">
      {rows.map(({ label, lines }) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>
            {lines.map((line) => (
              <p key={line}>{line}</p>
            ))}
          </dd>
        </div>
      ))}
    </dl>
  );
}
