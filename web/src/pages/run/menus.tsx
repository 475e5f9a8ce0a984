// Menus of the run header: copy, export, and delete.
import { Button, Menu, Modal } from '@mantine/core';
import { useState } from 'react';
import { type ExportFormat, exportRun, type Run } from '../../api';
import { toCurl, toRunRequest } from '../../model/job/export';
import { copyText } from '../../ui/clipboard';
import { LinkItem } from '../../ui/link-button';
import { useDelete } from './actions';

export function CopyMenu({ run }: { run: Run }) {
  const item = (label: string, text: () => string | Promise<string>) => (
    <Menu.Item onClick={async () => copyText(label, await text())}>{label}</Menu.Item>
  );
  return (
    <Menu>
      <Menu.Target>
        <Button>Copy ▾</Button>
      </Menu.Target>
      <Menu.Dropdown>
        {item('fio job file', () => fioJobFile(run))}
        {item('curl command', () => toCurl(run, location.origin))}
        {item('Request JSON', () => JSON.stringify(toRunRequest(run), null, 2))}
        {item('Page link', () => location.href)}
      </Menu.Dropdown>
    </Menu>
  );
}

async function fioJobFile({ number: n }: Run): Promise<string> {
  const { data } = await exportRun({ path: { n }, query: { format: 'fio-job' }, parseAs: 'text' });
  return String(data);
}

interface ExportedFile {
  label: string;
  format: ExportFormat;
  extension: string;
  /** Whether it contains results, so that it is only complete after the run. */
  isResult: boolean;
}

const FILES: ExportedFile[] = [
  { label: 'Web page (HTML, opens offline)', format: 'html', extension: 'html', isResult: true },
  { label: 'CSV (one row per sample)', format: 'csv', extension: 'csv', isResult: true },
  { label: 'NDJSON (all events)', format: 'ndjson', extension: 'ndjson', isResult: false },
  { label: 'fio JSON', format: 'fio-json', extension: 'json', isResult: true },
  { label: 'fio JSON with histograms', format: 'fio-json+', extension: 'json', isResult: true },
  { label: 'fio job file', format: 'fio-job', extension: 'fio', isResult: false },
];

export function ExportMenu({ run, isFinished }: { run: Run; isFinished: boolean }) {
  const url = `/api/v1/runs/${run.number}`;
  const item = ({ label, format, extension, isResult }: ExportedFile) => (
    <Menu.Item
      key={format}
      component="a"
      href={`${url}/export?format=${encodeURIComponent(format)}`}
      download={`run-${run.number}.${extension}`}
      disabled={isResult && !isFinished}
    >
      {label}
    </Menu.Item>
  );
  return (
    <Menu>
      <Menu.Target>
        <Button>Export ▾</Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item component="a" href={url} target="_blank">
          JSON (complete run)
        </Menu.Item>
        {FILES.map(item)}
        <Menu.Item onClick={() => window.print()}>Print</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

export function MoreMenu({ run }: { run: Run }) {
  const [confirming, setConfirming] = useState(false);
  const close = () => setConfirming(false);
  const remove = useDelete(run);
  const label = `Delete run #${run.number}`;
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
          <Menu.Item c="var(--bad-text)" onClick={() => setConfirming(true)}>
            Delete run…
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Modal opened={confirming} onClose={close} title={`${label}?`}>
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
      </Modal>
    </>
  );
}
