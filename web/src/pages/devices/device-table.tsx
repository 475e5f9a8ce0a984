// The devices of a host as a tree in a table; every line opens to all that is known of its device.
import { Fragment, useState } from 'react';
import type { Access, Device } from '../../api';
import { fieldRows } from '../../model/format/fields';
import { bytes, text, UNKNOWN } from '../../model/format/numbers';
import { deviceTree } from '../../model/host/device-tree';
import { Facts } from '../../ui/facts';
import { Card, Dot } from '../../ui/parts';

/** Heading and width in pixels; 0 shares what is left. */
const HEADS = [
  ['device', 128],
  ['kind', 84],
  ['size', 84],
  ['model', 0],
  ['identity', 0],
  ['filesystem', 84],
  ['used by', 0],
  ['scheduler', 106],
  ['reading', 200],
  ['writing', 200],
] as const;

/** The table. */
export function DeviceTable({ devices }: { devices: readonly Device[] }) {
  const [open, setOpen] = useState<string | null>(null);
  return (
    <Card title="Block devices">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <section className="scroll-x" tabIndex={0} aria-label="Block devices, scrollable">
        <table className="device-table">
          <thead>
            <tr>
              {HEADS.map(([head, width]) => (
                <th key={head} scope="col" style={width ? { width } : undefined}>
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {deviceTree(devices).map(({ device, depth }) => (
              <Fragment key={device.name}>
                <DeviceRow
                  device={device}
                  depth={depth}
                  open={open === device.name}
                  onToggle={() => setOpen(open === device.name ? null : device.name)}
                />
                {open === device.name && (
                  <tr>
                    <td colSpan={HEADS.length}>
                      <Facts mono facts={fieldRows(device)} />
                    </td>
                  </tr>
                )}
              </Fragment>
            ))}
          </tbody>
        </table>
      </section>
    </Card>
  );
}

function DeviceRow({
  device,
  depth,
  open,
  onToggle,
}: {
  device: Device;
  depth: number;
  open: boolean;
  onToggle: () => void;
}) {
  const mounts = device.mounts.map(({ point }) => point).join(', ');
  return (
    <tr>
      <th scope="row" style={{ paddingLeft: 8 + depth * 20 }}>
        <button type="button" aria-expanded={open} onClick={onToggle}>
          <span aria-hidden>
            {depth > 0 && '└ '}
            {open ? '▾' : '▸'}
          </span>{' '}
          <span className="mono">{device.name}</span>
        </button>
      </th>
      <td>
        {device.kind}
        {device.rotational ? ', rotating' : ''}
        {device.removable ? ', removable' : ''}
      </td>
      <td>{text(bytes(device.size_bytes))}</td>
      <td>{device.model ?? device.backing_file ?? UNKNOWN}</td>
      <td className="mono clip" title={device.identity ?? undefined}>
        {device.identity ?? 'none that is stable'}
      </td>
      <td>{device.filesystem ?? UNKNOWN}</td>
      <td title={mounts}>{device.used_by.join(', ') || 'nothing'}</td>
      <td className="mono">{device.scheduler ?? UNKNOWN}</td>
      <AccessCell access={device.read_access} />
      <AccessCell access={device.write_access} />
    </tr>
  );
}

function AccessCell({ access: { allowed, reason } }: { access: Access }) {
  return (
    <td className="access" title={reason ?? undefined}>
      <p>
        <Dot tone={allowed ? 'device' : 'bad'} hollow={!allowed} />{' '}
        {allowed ? 'may' : `refused${reason ? `: ${reason}` : ''}`}
      </p>
    </td>
  );
}
