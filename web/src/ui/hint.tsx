// Text with an explanation that is not visible elsewhere. It is a button, so that the explanation
// can be opened by keyboard and by touch (`ui/hints`).
import type { ReactNode } from 'react';

interface HintProps {
  children: ReactNode;
  explanation: string;
  className?: string;
}

export function Hint({ children, explanation, className = '' }: HintProps) {
  return (
    <button type="button" className={`plain hint ${className}`} title={explanation}>
      {children}
    </button>
  );
}
