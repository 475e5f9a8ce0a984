// Menus in the run header: copy, export, and delete.
import { Button } from '@mantine/core';
import { useState } from 'react';
import type { ExportFormat, Run } from '../../api';
import { fioJobFile } from '../../api/job-file';
import { toCurl, toFioCommand, toRunnerCommand, toRunRequest } from '../../model/job/export';
import { isImported } from '../../model/run/summary';
import { copyText } from '../../ui/clipboard';
import { Dialog } from '../../ui/dialog';
import { MenuButton } from '../../ui/menu-button';
import type { MenuEntry } from '../../ui/menu-entry';
import { useDelete } from './actions';

export function CopyMenu({ run }: { run: Run }) {
  const entry = (label: string, text: () => string | Promise<string>): MenuEntry => ({
    type: 'action',
    label,
    onSelect: async () => copyText(label, await text()),
  });
  const requests = [
    entry('leadline-runner command', () => toRunnerCommand(run)),
    entry('curl command', () => toCurl(run, location.origin)),
    entry('Request JSON', () => JSON.stringify(toRunRequest(run), null, 2)),
  ];
  return (
    <MenuButton
      target={<Button>Copy ▾</Button>}
      entries={[
        entry('fio job file', () => fioJobFile(run.number)),
        entry('fio command', async () => toFioCommand(await fioJobFile(run.number))),
        ...(isImported(run) ? [] : requests),
        entry('Page link', () => location.href),
      ]}
    />
  );
}

interface ExportedFile {
  label: string;
  format: ExportFormat;
  extension: string;
  /** Whether the export contains results, which are complete only after the run has ended. */
  isResult: boolean;
}

const FILES: ExportedFile[] = [
  { label: 'HTML report (opens offline)', format: 'html', extension: 'html', isResult: true },
  { label: 'CSV (one row per sample)', format: 'csv', extension: 'csv', isResult: true },
  { label: 'NDJSON (all events)', format: 'ndjson', extension: 'ndjson', isResult: false },
  { label: 'fio JSON', format: 'fio-json', extension: 'json', isResult: true },
  { label: 'fio JSON with histograms', format: 'fio-json+', extension: 'json', isResult: true },
  { label: 'fio job file', format: 'fio-job', extension: 'fio', isResult: false },
];

export function ExportMenu({ run, isFinished }: { run: Run; isFinished: boolean }) {
  const url = `/api/v1/runs/${run.number}`;
  const entry = ({ label, format, extension, isResult }: ExportedFile): MenuEntry => ({
    type: 'file',
    label: isResult && !isFinished ? `${label}, after the run ends` : label,
    href: `${url}/export?format=${encodeURIComponent(format)}`,
    download: `run-${run.number}.${extension}`,
    disabled: isResult && !isFinished,
  });
  return (
    <MenuButton
      target={<Button>Export ▾</Button>}
      entries={[
        { type: 'file', label: 'JSON (complete run)', href: url },
        ...FILES.filter(({ format }) => !isImported(run) || format !== 'csv').map(entry),
        { type: 'action', label: 'Print', onSelect: () => window.print() },
      ]}
    />
  );
}

export function MoreMenu({ run }: { run: Run }) {
  const [confirming, setConfirming] = useState(false);
  const close = () => setConfirming(false);
  const remove = useDelete(run);
  const label = `Delete run #${run.number}`;
  return (
    <>
      <MenuButton
        target={<Button aria-label="More actions">⋯</Button>}
        entries={[
          {
            type: 'page',
            label: 'Compare with…',
            link: { to: '/compare', search: { runs: String(run.number) } },
          },
          {
            type: 'action',
            label: 'Delete run…',
            onSelect: () => setConfirming(true),
            isDestructive: true,
          },
        ]}
      />
      <Dialog opened={confirming} onClose={close} title={`${label}?`}>
        <div className="stack">
          <p>
            This permanently deletes its report, samples and events. Files written by the run are
            kept.
          </p>
          <div className="row">
            <Button c="var(--bad-text)" onClick={remove} data-autofocus>
              {label}
            </Button>
            <Button onClick={close}>Cancel</Button>
          </div>
        </div>
      </Dialog>
    </>
  );
}
