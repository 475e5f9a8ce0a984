// The steps of a study in their order, a line each: what it does, the state before it, what is wrong with it. One of them is
// shown in the form below. Everything is done by button or by key: Alt with an arrow moves the step that has the focus.
import { Button, TextInput } from '@mantine/core';
import { type KeyboardEvent, useEffect, useRef } from 'react';
import { FIRST_TEXT } from '../../model/job/presets';
import {
  addStep,
  changeStep,
  duplicateStep,
  MAX_STEPS,
  moveStep,
  removeStep,
  type Step,
  type StudyDraft,
  stepSummary,
} from '../../model/study/draft';
import { Badge, Card } from '../../ui/parts';
import type { StudyEditor } from './use-study';

/** The list. */
export function StepList({ study }: { study: StudyEditor }) {
  const { draft, change } = study;
  const list = useRef<HTMLOListElement>(null);
  const next = useRef<string | null>(null);
  // What was moved or made keeps the focus, which the browser takes from an element that changes its place.
  useEffect(() => {
    if (next.current === null) return;
    list.current?.querySelector<HTMLElement>(next.current)?.focus();
    next.current = null;
  });
  const edit = (make: (draft: StudyDraft) => StudyDraft, focus: (made: StudyDraft) => string) =>
    change((old) => {
      const made = make(old);
      next.current = focus(made);
      return made;
    });
  return (
    <Card title={`Its steps, in order: ${draft.steps.length}`}>
      <ol className="step-list" ref={list}>
        {draft.steps.map((step, place) => (
          <StepLine key={step.id} step={step} place={place} study={study} edit={edit} />
        ))}
      </ol>
      <Button
        mt={8}
        disabled={draft.steps.length >= MAX_STEPS}
        onClick={() => edit((old) => addStep(old, FIRST_TEXT), nameOfActive)}
      >
        Add a step
      </Button>
    </Card>
  );
}

const nameOf = (id: number) => `[data-step="${id}"] [data-name]`;
const nameOfActive = ({ active }: StudyDraft) => nameOf(active);

interface StepLineProps {
  step: Step;
  place: number;
  study: StudyEditor;
  edit: (make: (draft: StudyDraft) => StudyDraft, focus: (made: StudyDraft) => string) => void;
}

function StepLine({ step, place, study: { draft, change, obstacles }, edit }: StepLineProps) {
  const { id, name, note } = step;
  const { job, does, state } = stepSummary(step);
  const found = obstacles.get(place) ?? [];
  const shown = draft.active === id;
  const show = () => change((old) => ({ ...old, active: id }));
  const move = (by: number, focus: string) =>
    edit(
      (old) => moveStep(old, place, by),
      () => focus,
    );
  const press = (event: KeyboardEvent) => {
    const by = event.altKey ? { ArrowUp: -1, ArrowDown: 1 }[event.key] : undefined;
    if (by === undefined) return;
    event.preventDefault();
    move(by, nameOf(id));
  };
  const fault = found.find(({ job, option }) => job === null && option === 'name');
  return (
    <li data-step={id} className={shown ? 'on' : ''} onKeyDown={press}>
      <input
        type="radio"
        name="step"
        aria-label={`Show step ${place + 1}`}
        checked={shown}
        onChange={show}
      />
      <b>{place + 1}</b>
      <TextInput
        size="xs"
        data-name
        aria-label={`Name of step ${place + 1}`}
        placeholder={job || 'name'}
        maxLength={100}
        value={name}
        error={fault?.detail}
        onFocus={show}
        onChange={({ currentTarget }) =>
          change((old) => changeStep(old, place, { name: currentTarget.value }))
        }
      />
      <button type="button" className="does" tabIndex={-1} onClick={show}>
        <span className="mono">{does}</span> {state && <span className="mute small">{state}</span>}{' '}
        {found.length > 0 && (
          <Badge tone="bad">{found.length === 1 ? '1 problem' : `${found.length} problems`}</Badge>
        )}
        {note && <span className="mute small clip note">{note}</span>}
      </button>
      <Buttons place={place} id={id} last={draft.steps.length - 1} edit={edit} move={move} />
    </li>
  );
}

interface ButtonsProps extends Pick<StepLineProps, 'place' | 'edit'> {
  id: number;
  last: number;
  move: (by: number, focus: string) => void;
}

function Buttons({ place, id, last, edit, move }: ButtonsProps) {
  const one = (label: string, sign: string, off: boolean, act: () => void) => (
    <Button
      key={label}
      size="compact-sm"
      aria-label={`${label} step ${place + 1}`}
      title={label}
      data-act={label}
      aria-disabled={off}
      className={off ? 'off' : ''}
      onClick={() => !off && act()}
    >
      {sign}
    </Button>
  );
  const itself = (label: string) => `[data-step="${id}"] [data-act="${label}"]`;
  return (
    <span className="acts">
      {one('Move up', '↑', place === 0, () => move(-1, itself('Move up')))}
      {one('Move down', '↓', place === last, () => move(1, itself('Move down')))}
      {one('Duplicate', 'copy', last + 1 >= MAX_STEPS, () =>
        edit((old) => duplicateStep(old, place), nameOfActive),
      )}
      {one('Remove', '×', last === 0, () => edit((old) => removeStep(old, place), nameOfActive))}
    </span>
  );
}
