import { renderHook } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import type { FormProblem } from '../../model/job/form-problems';
import { setIoMode } from '../../model/job/io-mode';
import { type ChangeText, useJobForm } from './use-job-form';
import { useJobText } from './use-job-text';

const TEXT = '[a]\nrw=read\nbs=4k\n\n[b]\nrw=write\n';

interface Props {
  text: string;
  problems?: FormProblem[];
}

const useForm = ({ text, problems = [], change }: Props & { change: ChangeText }) =>
  useJobForm(useJobText(text, change).jobs, problems, change);

/** Creates the form for a text. Also returns the text after each edit. */
function formOf({ text }: Props) {
  const edited: string[] = [];
  const change: ChangeText = (edit) => {
    edited.push(edit(edited.at(-1) ?? text));
  };
  const { result, rerender } = renderHook(useForm, { initialProps: { text, change } });
  return { result, rerender: (props: Props) => rerender({ ...props, change }), edited };
}

const problem = (part: Partial<FormProblem>): FormProblem => ({
  job: 0,
  option: 'bs',
  line: 2,
  detail: 'Wrong.',
  remedy: 'Fix it.',
  ...part,
});

describe('the form of a job text', () => {
  it('stays the same while comments and other jobs are typed', () => {
    const { result, rerender } = formOf({ text: TEXT });
    const before = result.current;
    rerender({ text: `; why\n\n${TEXT.replace('bs=4k', 'bs = 4k ; small')}` });
    expect(result.current).toBe(before);
    rerender({ text: `${TEXT}iodepth=4\n` });
    expect(result.current).toBe(before);
    rerender({ text: TEXT, problems: [problem({ job: 1 }), problem({ isPrompt: true })] });
    expect(result.current).toBe(before);
  });

  it('changes with its job, job names and problems, but keeps its edits', () => {
    const { result, rerender } = formOf({ text: TEXT });
    const { edits } = result.current;
    rerender({ text: TEXT.replace('bs=4k', 'bs=8k') });
    expect(result.current.job).toEqual({ name: 'a', rw: 'read', bs: '8k' });
    rerender({ text: `${TEXT}[c]\n`, problems: [problem({}), problem({ remedy: 'Again.' })] });
    expect(result.current).toMatchObject({
      names: ['a', 'b', 'c'],
      errors: { bs: 'Wrong. Fix it. Wrong. Again.' },
    });
    expect(result.current.edits).toBe(edits);
  });

  it('edits the current text, not the text that was rendered', () => {
    const { result, edited } = formOf({ text: TEXT });
    const { edits } = result.current;
    edits.set('bs', '');
    edits.unsetIfEmpty('bs');
    edits.unsetIfEmpty('rw');
    edits.edit((text, active) => setIoMode(text, active, {}, 'direct'));
    expect(edited).toEqual([
      TEXT.replace('bs=4k', 'bs='),
      TEXT.replace('bs=4k\n', ''),
      TEXT.replace('bs=4k\n', ''),
      TEXT.replace('bs=4k', 'direct=1'),
    ]);
  });
});
