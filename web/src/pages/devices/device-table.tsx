// A host's block devices as a tree. A row expands to show all of the device's properties.
import { Button } from '@mantine/core';
import { useSessionStorage } from '@mantine/hooks';
import { useNavigate } from '@tanstack/react-router';
import { Fragment, useMemo, useState } from 'react';
import type { Access, Device } from '../../api';
import { bytes, plural, text, UNKNOWN } from '../../model/format/numbers';
import { deviceTree, type TreeRow, usableRows } from '../../model/host/device-tree';
import { deviceDraft, RUN_DRAFT_KEY } from '../../model/job/device-job';
import { Card, Dot, ScrollRegion } from '../../ui/parts';
import { DeviceDetails } from './device-details';

/** Title and width in pixels. Columns with width 0 share the remaining space. */
const COLUMNS = [
  ['Device', 150],
  ['Size', 84],
  ['Model and identity', 0],
  ['Usage', 0],
  ['Read access', 0],
  ['Write access', 0],
  ['Test', 70],
] as const;

export function DeviceTable({ devices }: { devices: readonly Device[] }) {
  const [isComplete, setIsComplete] = useState(false);
  const all = useMemo(() => deviceTree(devices), [devices]);
  const usable = useMemo(() => usableRows(all), [all]);
  const folded = all.length - usable.length;
  const shown = isComplete ? all : usable;
  return (
    <Card
      title="Block devices"
      aside={
        folded > 0 && (
          <Button aria-expanded={isComplete} onClick={() => setIsComplete((old) => !old)}>
            {isComplete ? 'Hide' : 'Show'} {plural(folded, 'unusable device')}
          </Button>
        )
      }
    >
      {usable.length === 0 && <p className="mute">{noDevices(folded)}</p>}
      {shown.length > 0 && <DeviceRows rows={shown} />}
    </Card>
  );
}

const noDevices = (folded: number) =>
  folded > 0
    ? 'No device can be tested. Show the unusable devices to see why.'
    : 'This host has no block devices. Files can be tested without one.';

function DeviceRows({ rows }: { rows: readonly TreeRow[] }) {
  const [open, setOpen] = useState<string | null>(null);
  return (
    <ScrollRegion label="Block devices">
      <table className="host-table device-table">
        <thead>
          <tr>
            {COLUMNS.map(([title, width]) => (
              <th key={title} scope="col" style={width ? { width } : undefined}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ device, depth }) => {
            const isOpen = open === device.name;
            return (
              <Fragment key={device.name}>
                <DeviceRow
                  device={device}
                  depth={depth}
                  open={isOpen}
                  onToggle={() => setOpen(isOpen ? null : device.name)}
                />
                {isOpen && (
                  <tr>
                    <td colSpan={COLUMNS.length}>
                      <DeviceDetails device={device} />
                    </td>
                  </tr>
                )}
              </Fragment>
            );
          })}
        </tbody>
      </table>
    </ScrollRegion>
  );
}

interface DeviceRowProps {
  device: Device;
  depth: number;
  open: boolean;
  onToggle: () => void;
}

function DeviceRow({ device, depth, open, onToggle }: DeviceRowProps) {
  const { kind, rotational, removable, scheduler } = device;
  const properties = [
    kind,
    rotational && 'rotational',
    removable && 'removable',
    scheduler && `scheduler ${scheduler}`,
  ];
  return (
    <tr>
      <th scope="row" style={{ paddingLeft: 8 + depth * 20 }}>
        <button type="button" className="plain" aria-expanded={open} onClick={onToggle}>
          <span aria-hidden>
            {depth > 0 && '└ '}
            {open ? '▾' : '▸'}
          </span>{' '}
          <span className="mono">{device.name}</span>
        </button>
        <p className="mute small">{properties.filter(Boolean).join(', ')}</p>
      </th>
      <td>{text(bytes(device.size_bytes))}</td>
      <td>
        <p>{device.model ?? device.backing_file ?? UNKNOWN}</p>
        {!isBackingFile(device) && <p className="mono mute">{device.identity ?? 'No stable ID'}</p>}
      </td>
      <td>
        <p>{device.filesystem ?? 'No filesystem'}</p>
        <p className="mute" title={device.mounts.map(({ point }) => point).join(', ')}>
          {device.used_by.join(', ') || 'Not in use'}
        </p>
      </td>
      <AccessCell label="Read" access={device.read_access} />
      <AccessCell label="Write" access={device.write_access} />
      <td>{device.read_access.allowed && <TestButton device={device} />}</td>
    </tr>
  );
}

/** Returns true if the identity would only repeat the backing file. */
const isBackingFile = ({ identity, backing_file }: Device) =>
  backing_file != null && identity === `loop:${backing_file}`;

/** Opens the run form with a job that reads from the device. */
function TestButton({ device }: { device: Device }) {
  const [, setDraft] = useSessionStorage<object>({ key: RUN_DRAFT_KEY });
  const navigate = useNavigate();
  return (
    <Button
      aria-label={`Test ${device.name}`}
      onClick={() => {
        setDraft(deviceDraft(device));
        void navigate({ to: '/new' });
      }}
    >
      Test
    </Button>
  );
}

/** The label is shown only on phones, where the header row is hidden. */
function AccessCell({ label, access: { allowed, reason } }: { label: string; access: Access }) {
  return (
    <td className="access" data-label={label} title={reason ?? undefined}>
      <p>
        <Dot tone={allowed ? 'device' : 'bad'} hollow={!allowed} />{' '}
        {allowed ? 'Allowed' : ['Not allowed', reason].filter(Boolean).join(': ')}
      </p>
    </td>
  );
}
