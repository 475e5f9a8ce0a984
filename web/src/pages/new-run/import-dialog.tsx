// Shows how pasted job files and commands are interpreted, before they become a draft.
import { Button, Textarea, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useRef, useState } from 'react';
import type { Import, ImportNote, ImportQuestion } from '../../api';
import { importQuery } from '../../api/queries';
import { plural } from '../../model/format/numbers';
import { dialectName, noteRange, toSteps, withReplacement } from '../../model/job/import';
import { Dialog } from '../../ui/dialog';
import { ProblemNotice } from '../../ui/problem';
import { ImportNotes } from './import-notes';

const DEBOUNCE_MS = 250;
const PLACEHOLDER = `fio --name=etcd --rw=write --ioengine=psync --fdatasync=1 \\
    --directory=/var/lib/etcd --size=22m --bs=2300`;

interface ImportDialogProps {
  /** Pasted text. */
  initial: string;
  onClose: () => void;
  onUse: (imported: Import) => void;
}

export function ImportDialog({ initial, onClose, onUse }: ImportDialogProps) {
  const [text, setText] = useState(initial);
  const [variables, setVariables] = useState<Record<string, string>>({});
  const area = useRef<HTMLTextAreaElement>(null);
  const { imported, isCurrent, error } = useImport(text, variables);
  const steps = imported ? toSteps(imported) : [];
  const select = (note: ImportNote) => {
    const { start, end } = noteRange(text, note);
    area.current?.focus();
    area.current?.setSelectionRange(start, end);
  };
  return (
    <Dialog opened onClose={onClose} title="Paste a command or a job file" size={920}>
      <div className="stack import">
        <Textarea
          ref={area}
          label="fio job file, fio commands, or diskspd commands"
          description="Nothing is executed, and files named in the text are not read."
          placeholder={PLACEHOLDER}
          data-autofocus
          spellCheck={false}
          autosize
          minRows={5}
          maxRows={14}
          classNames={{ input: 'mono' }}
          value={text}
          onChange={({ currentTarget }) => setText(currentTarget.value)}
        />
        <ProblemNotice error={error} />
        {imported && (
          <>
            <Questions
              questions={imported.questions}
              variables={variables}
              onChange={(name, value) => setVariables((old) => ({ ...old, [name]: value }))}
            />
            <section aria-label="How the text was interpreted" className="stack">
              <Summary imported={imported} steps={steps.length} />
              <ImportNotes
                notes={imported.notes}
                onSelect={select}
                onReplace={(note) => setText(withReplacement(text, note))}
              />
              {steps.map((step, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: steps are identified by their number
                <Step key={index} number={steps.length > 1 ? index + 1 : null} {...step} />
              ))}
            </section>
          </>
        )}
        <div className="row">
          <Button
            variant="filled"
            disabled={!isCurrent || steps.length === 0}
            onClick={() => imported && onUse(imported)}
          >
            {steps.length > 1 ? `Create a study with ${steps.length} steps` : 'Use these jobs'}
          </Button>
          <Button onClick={onClose}>Cancel</Button>
        </div>
      </div>
    </Dialog>
  );
}

function useImport(text: string, variables: Record<string, string>) {
  const request = useMemo(() => {
    const given = Object.entries(variables).filter(([, value]) => value !== '');
    return { text, variables: Object.fromEntries(given) };
  }, [text, variables]);
  const [sent] = useDebouncedValue(request, DEBOUNCE_MS);
  const isEmpty = text.trim() === '';
  const { data, error, isPlaceholderData } = useQuery({
    ...importQuery(sent),
    enabled: sent.text.trim() !== '',
  });
  const isCurrent = data !== undefined && sent === request && !isPlaceholderData;
  return { imported: isEmpty ? undefined : data, isCurrent: !isEmpty && isCurrent, error };
}

interface QuestionsProps {
  questions: readonly ImportQuestion[];
  variables: Record<string, string>;
  onChange: (name: string, value: string) => void;
}

/**
 * The server no longer returns answered questions, but their fields stay in the
 * form.
 */
function Questions({ questions, variables, onChange }: QuestionsProps) {
  const answered = Object.keys(variables).filter((name) =>
    questions.every((question) => question.name !== name),
  );
  if (questions.length + answered.length === 0) return null;
  return (
    <div className="fields two-columns">
      {answered.map((name) => (
        <QuestionField key={name} name={name} value={variables[name] ?? ''} onChange={onChange} />
      ))}
      {questions.map(({ name, sentence }) => (
        <QuestionField
          key={name}
          name={name}
          description={sentence}
          value={variables[name] ?? ''}
          onChange={onChange}
        />
      ))}
    </div>
  );
}

interface QuestionFieldProps {
  name: string;
  description?: string;
  value: string;
  onChange: (name: string, value: string) => void;
}

function QuestionField({ name, description, value, onChange }: QuestionFieldProps) {
  return (
    <TextInput
      label={<span className="mono">{name}</span>}
      description={description}
      spellCheck={false}
      autoComplete="off"
      value={value}
      onChange={({ currentTarget }) => onChange(name, currentTarget.value)}
    />
  );
}

function Summary({ imported, steps }: { imported: Import; steps: number }) {
  const count = (severity: string) =>
    imported.notes.filter((note) => note.severity === severity).length;
  const parts = [
    dialectName(imported.dialect),
    steps > 1 && `${steps} steps, one after another`,
    count('error') > 0 && plural(count('error'), 'error'),
    count('warning') > 0 && plural(count('warning'), 'warning'),
    imported.questions.length > 0 && `${plural(imported.questions.length, 'value')} missing`,
  ];
  return (
    <p role="status">
      <b>{parts.filter(Boolean).join(' · ')}</b>
    </p>
  );
}

function Step({ number, name, text }: { number: number | null; name: string; text: string }) {
  return (
    <figure className="import-step">
      <figcaption className="mute small">
        {number ? `Step ${number}: ${name}` : 'The jobs that would run'}
      </figcaption>
      <pre className="mono">{text.trimEnd()}</pre>
    </figure>
  );
}
