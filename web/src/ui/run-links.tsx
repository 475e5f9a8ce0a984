// Links to runs and studies, and hooks that open them.
import { Link, useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useIsSaved } from './saved';

interface NumberLinkProps {
  n: number;
  className?: string;
  title?: string;
  children: ReactNode;
}

interface HasNumber {
  number: number;
}

const paramsOf = (n: number) => ({ n: String(n) });

/** On a saved page, this is plain text, because the file contains no other pages. */
export function RunLink({ n, ...props }: NumberLinkProps) {
  if (useIsSaved()) return <span {...props} />;
  return <Link to="/runs/$n" params={paramsOf(n)} {...props} />;
}

export const StudyLink = ({ n, ...props }: NumberLinkProps) => (
  <Link to="/studies/$n" params={paramsOf(n)} {...props} />
);

export function useOpenRun() {
  const navigate = useNavigate();
  return ({ number }: HasNumber) => navigate({ to: '/runs/$n', params: paramsOf(number) });
}

export function useOpenStudy() {
  const navigate = useNavigate();
  return ({ number }: HasNumber) => navigate({ to: '/studies/$n', params: paramsOf(number) });
}

interface TrendLinkProps {
  /** The test's fingerprint. */
  job: string;
  /** The machine's fingerprint. */
  machine: string;
  className?: string;
  children: ReactNode;
}

export const TrendLink = ({ job, machine, ...props }: TrendLinkProps) => (
  <Link to="/trends/$job/$machine" params={{ job, machine }} {...props} />
);
