// A study's steps, one per row. The form below shows the selected step. Alt and an arrow key
// move the focused step.
import { Button, TextInput } from '@mantine/core';
import { type KeyboardEvent, useEffect, useRef } from 'react';
import { plural } from '../../model/format/numbers';
import { DEFAULT_JOB_TEXT } from '../../model/job/presets';
import {
  addStep,
  changeStep,
  duplicateStep,
  MAX_STEPS,
  moveStep,
  removeStep,
  type Step,
  type StudyDraft,
} from '../../model/study/draft';
import { stepSummary } from '../../model/study/step-summary';
import { Badge, Card } from '../../ui/parts';
import type { StudyEditor } from './use-study';

/** Applies an edit, and then focuses the element that matches the selector. */
type Edit = (
  edit: (draft: StudyDraft) => StudyDraft,
  focus: (edited: StudyDraft) => string,
) => void;

const nameField = (id: number) => `[data-step="${id}"] [data-name]`;
const activeNameField = ({ active }: StudyDraft) => nameField(active);

export function StepList({ study }: { study: StudyEditor }) {
  const { steps } = study.draft;
  const list = useRef<HTMLOListElement>(null);
  const nextFocus = useRef<string | null>(null);
  // Restore the focus, which an element loses when it is moved in the DOM.
  useEffect(() => {
    if (nextFocus.current === null) return;
    list.current?.querySelector<HTMLElement>(nextFocus.current)?.focus();
    nextFocus.current = null;
  });
  const edit: Edit = (change, focus) =>
    study.change((old) => {
      const edited = change(old);
      nextFocus.current = focus(edited);
      return edited;
    });
  return (
    <Card title={`Steps (${steps.length})`}>
      <ol className="step-list" ref={list}>
        {steps.map((step, index) => (
          <StepRow key={step.id} step={step} index={index} study={study} edit={edit} />
        ))}
      </ol>
      <Button
        mt={8}
        disabled={steps.length >= MAX_STEPS}
        onClick={() => edit((old) => addStep(old, DEFAULT_JOB_TEXT), activeNameField)}
      >
        Add step
      </Button>
    </Card>
  );
}

interface StepRowProps {
  step: Step;
  index: number;
  study: StudyEditor;
  edit: Edit;
}

function StepRow({ step, index, study, edit }: StepRowProps) {
  const { id, name, note } = step;
  const { draft, change } = study;
  const { job, summary, state } = stepSummary(step);
  const problems = study.problems.get(index) ?? [];
  const nameProblem = problems.find(({ job, option }) => job === null && option === 'name');
  const isActive = draft.active === id;
  const select = () => change((old) => ({ ...old, active: id }));
  const onKeyDown = (event: KeyboardEvent) => {
    const by = event.altKey ? { ArrowUp: -1, ArrowDown: 1 }[event.key] : undefined;
    if (by === undefined) return;
    event.preventDefault();
    edit(
      (old) => moveStep(old, index, by),
      () => nameField(id),
    );
  };
  return (
    <li data-step={id} className={isActive ? 'on' : ''} onKeyDown={onKeyDown}>
      <input
        type="radio"
        name="step"
        aria-label={`Edit step ${index + 1}`}
        checked={isActive}
        onChange={select}
      />
      <b>{index + 1}</b>
      <TextInput
        size="xs"
        data-name
        aria-label={`Step ${index + 1} name`}
        placeholder={job || 'Name'}
        maxLength={100}
        value={name}
        error={nameProblem?.detail}
        onFocus={select}
        onChange={({ currentTarget }) =>
          change((old) => changeStep(old, index, { name: currentTarget.value }))
        }
      />
      <button type="button" className="plain summary" tabIndex={-1} onClick={select}>
        <span className="mono">{summary}</span>{' '}
        {state && <span className="mute small">{state}</span>}{' '}
        {problems.length > 0 && <Badge tone="bad">{plural(problems.length, 'problem')}</Badge>}
        {note && <span className="mute small clip note">{note}</span>}
      </button>
      <StepButtons id={id} index={index} last={draft.steps.length - 1} edit={edit} />
    </li>
  );
}

interface StepButtonsProps {
  id: number;
  index: number;
  /** Index of the last step. */
  last: number;
  edit: Edit;
}

function StepButtons({ id, index, last, edit }: StepButtonsProps) {
  const button = (label: string, text: string, isDisabled: boolean, act: () => void) => (
    <Button
      size="compact-sm"
      aria-label={`${label} step ${index + 1}`}
      title={label}
      data-action-name={label}
      aria-disabled={isDisabled}
      className={isDisabled ? 'off' : ''}
      onClick={() => !isDisabled && act()}
    >
      {text}
    </Button>
  );
  const move = (label: string, by: number) => () =>
    edit(
      (old) => moveStep(old, index, by),
      () => `[data-step="${id}"] [data-action-name="${label}"]`,
    );
  const duplicate = () => edit((old) => duplicateStep(old, index), activeNameField);
  const remove = () => edit((old) => removeStep(old, index), activeNameField);
  return (
    <span className="actions">
      {button('Move up', '↑', index === 0, move('Move up', -1))}
      {button('Move down', '↓', index === last, move('Move down', 1))}
      {button('Duplicate', 'Copy', last + 1 >= MAX_STEPS, duplicate)}
      {button('Remove', '×', last === 0, remove)}
    </span>
  );
}
