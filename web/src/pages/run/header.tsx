// Number, name, what the run does in one line, tags, and what can be done to it.
import { Button, Menu, Modal } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Run } from '../../api';
import { type Live, useLiveValue } from '../../charts/use-live';
import { isFinal } from '../../model/fold/run-fold';
import { toCurl, toFioJobText, toRunRequest } from '../../model/job/export';
import { describeRun, runTitle, STATUS } from '../../model/run/summary';
import { copyText } from '../../ui/clipboard';
import { LinkButton, LinkItem } from '../../ui/link-button';
import { Badge } from '../../ui/parts';
import { StatusBadge } from '../../ui/status';
import { useCancel, useDelete, useRunField, useRerun } from './actions';

/** The head of the page. */
export function RunHeader({ run, live: { fold, chartGroup } }: { run: Run; live: Live }) {
  const status = useLiveValue(chartGroup, () => fold.status);
  const over = isFinal(status);
  return (
    <div className="row top">
      <div style={{ flex: '1 1 420px', minWidth: 0 }}>
        <div className="run-title">
          <h1>
            #{run.number} <NameField run={run} />
          </h1>
          <StatusBadge standing={STATUS[status]} />
          {run.study && <StudyChip study={run.study} step={run.step ?? 0} />}
        </div>
        <p className="mono mute breaks" style={{ marginTop: 2 }}>
          {describeRun(run)}
        </p>
      </div>
      <div className="row tight no-print">
        <RerunButtons run={run} />
        <CopyMenu run={run} />
        <ExportMenu run={run} over={over} />
        {over ? <MoreMenu run={run} /> : <CancelButton run={run} />}
      </div>
    </div>
  );
}

function StudyChip({ study, step }: { study: number; step: number }) {
  return (
    <Link to="/studies/$n" params={{ n: String(study) }} className="chip">
      step {step} of study #{study}
    </Link>
  );
}

/** The name, changed in place: Enter or leaving the field keeps it, Escape does not. */
function NameField({ run }: { run: Run }) {
  const { keep, unsaved } = useRunField(run, 'name');
  return (
    <>
      <input
        key={run.name}
        className="title-edit"
        aria-label="Name of the run"
        aria-invalid={unsaved}
        defaultValue={run.name}
        placeholder={runTitle({ ...run, name: '' })}
        maxLength={200}
        onKeyDown={(event) => {
          if (event.key === 'Escape') event.currentTarget.value = run.name;
          if (event.key === 'Enter') event.currentTarget.blur();
        }}
        onBlur={({ currentTarget: { value } }) => keep(value.trim())}
      />
      {unsaved && <Badge tone="bad">not saved</Badge>}
    </>
  );
}

function RerunButtons({ run }: { run: Run }) {
  const { rerun, pending } = useRerun(run);
  const flipped = run.direct ? 0 : 1;
  return (
    <>
      <Button
        data-key="r"
        data-does="run the same again"
        loading={pending}
        onClick={() => rerun({})}
      >
        Rerun
      </Button>
      {run.mode !== 'null' && (
        <Button
          disabled={pending}
          onClick={() =>
            rerun({
              patch: { direct: flipped },
              name: `${runTitle(run)}, ${flipped ? 'direct' : 'buffered'}`,
            })
          }
        >
          Rerun {flipped ? 'direct' : 'buffered'}
        </Button>
      )}
      <LinkButton to="/new" search={{ from: String(run.number) }}>
        Edit as new
      </LinkButton>
    </>
  );
}

function CopyMenu({ run }: { run: Run }) {
  return (
    <Menu>
      <Menu.Target>
        <Button>Copy as ▾</Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => void copyText('fio job file', toFioJobText(run))}>
          fio job file
        </Menu.Item>
        <Menu.Item onClick={() => void copyText('curl command', toCurl(run, location.origin))}>
          curl command
        </Menu.Item>
        <Menu.Item
          onClick={() => void copyText('Job JSON', JSON.stringify(toRunRequest(run), null, 2))}
        >
          JSON of the request
        </Menu.Item>
        <Menu.Item onClick={() => void copyText('Link', location.href)}>
          link to this page
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

function ExportMenu({ run, over }: { run: Run; over: boolean }) {
  const base = `/api/v1/runs/${run.number}`;
  return (
    <Menu>
      <Menu.Target>
        <Button>Export ▾</Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item component="a" href={base} target="_blank">
          JSON: the whole run
        </Menu.Item>
        <Menu.Item
          component="a"
          href={`${base}/export?format=csv`}
          download={`run-${run.number}.csv`}
          disabled={!over}
        >
          CSV: one line a sample
        </Menu.Item>
        <Menu.Item
          component="a"
          href={`${base}/export?format=ndjson`}
          download={`run-${run.number}.ndjson`}
        >
          NDJSON: every event
        </Menu.Item>
        <Menu.Item onClick={() => window.print()}>Print</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

function CancelButton({ run }: { run: Run }) {
  const { cancel, pending } = useCancel(run);
  return (
    <Button
      data-key="x"
      data-does="cancel the run"
      c="var(--bad-text)"
      loading={pending}
      onClick={cancel}
    >
      Cancel
    </Button>
  );
}

function MoreMenu({ run }: { run: Run }) {
  const [asking, setAsking] = useState(false);
  const remove = useDelete(run);
  return (
    <>
      <Menu>
        <Menu.Target>
          <Button aria-label="More actions">⋯</Button>
        </Menu.Target>
        <Menu.Dropdown>
          <LinkItem to="/compare" search={{ runs: String(run.number) }}>
            Compare with…
          </LinkItem>
          <Menu.Item c="var(--bad-text)" onClick={() => setAsking(true)}>
            Delete this run…
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Modal opened={asking} onClose={() => setAsking(false)} title={`Delete run #${run.number}?`}>
        <div className="stack">
          <p>
            Its report, its samples and its events are gone for good. Files that it wrote stay where
            they are.
          </p>
          <div className="row">
            <Button c="var(--bad-text)" onClick={remove} data-autofocus>
              Delete #{run.number}
            </Button>
            <Button onClick={() => setAsking(false)}>Keep it</Button>
          </div>
        </div>
      </Modal>
    </>
  );
}
