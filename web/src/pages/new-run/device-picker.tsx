// Block devices to choose from. Unusable devices are in a collapsed section. They are disabled, and
// the reason is shown.
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { Access, Device } from '../../api';
import { devicesQuery } from '../../api/queries';
import { bytes, plural, text, UNKNOWN } from '../../model/format/numbers';
import { accessOf, devicesByAccess } from '../../model/host/device-tree';
import { withLoopDevice } from '../../model/job/io-mode';
import { ProblemNotice } from '../../ui/problem';
import { optionProps } from './option-field';
import type { JobEdits, JobForm } from './use-job-form';

/** Returns a device's stable path, or its kernel path if it has none. */
const pathOf = ({ links, path }: Device) => links.find((link) => link.includes('/by-id/')) ?? path;

interface DevicePickerProps {
  form: JobForm;
  isWriting: boolean;
}

export function DevicePicker({ form, isWriting }: DevicePickerProps) {
  const { data, error, refetch } = useQuery(devicesQuery('local'));
  const { value, error: fieldError } = optionProps(form, 'filename');
  const chosen = data?.devices.find(({ path, links }) => [path, ...links].includes(value));
  if (error) return <ProblemNotice error={error} retry={refetch} />;
  const { usable, unusable } = devicesByAccess(data?.devices ?? [], isWriting);
  const isUnusable = chosen !== undefined && unusable.includes(chosen);
  const optionOf = (device: Device) => (
    <DeviceOption
      key={device.name}
      device={device}
      checked={device === chosen}
      access={accessOf(device, isWriting)}
      onChoose={() => form.edits.set('filename', pathOf(device))}
    />
  );
  return (
    <fieldset className="devices">
      <legend className="mute small">Device (filename)</legend>
      {usable.map(optionOf)}
      {data && usable.length === 0 && (
        <p className="mute">
          {isWriting
            ? 'No usable device: writes require a device that is not in use and that the server permits.'
            : 'No usable device: the server cannot open any device for reading.'}
        </p>
      )}
      {data && <LoopDevice edits={form.edits} />}
      {unusable.length > 0 && (
        <details open={isUnusable}>
          <summary className="mute">{plural(unusable.length, 'unusable device')}</summary>
          {unusable.map(optionOf)}
        </details>
      )}
      {fieldError && <p className="error">{fieldError}</p>}
    </fieldset>
  );
}

function LoopDevice({ edits }: { edits: JobEdits }) {
  return (
    <p className="loop-device">
      <Button size="compact-xs" onClick={() => edits.edit(withLoopDevice)}>
        Use a loop device
      </Button>
      <span className="mute">
        A block device in a new file (loop_device=1): no existing data is overwritten. Requires
        root.
      </span>
    </p>
  );
}

interface DeviceOptionProps {
  device: Device;
  checked: boolean;
  access: Access;
  onChoose: () => void;
}

function DeviceOption({ device, checked, access, onChoose }: DeviceOptionProps) {
  const model = device.model ?? device.backing_file;
  return (
    <label className={`${checked ? 'on' : ''} ${access.allowed ? '' : 'off'}`}>
      <input
        type="radio"
        name="device"
        checked={checked}
        disabled={!access.allowed}
        onChange={onChoose}
      />
      <b className="mono">{device.name}</b>
      <span className="clip" title={model ?? undefined}>
        {model ?? device.kind}
      </span>
      <span>{text(bytes(device.size_bytes))}</span>
      <span className="mute mono clip" title={device.identity ?? undefined}>
        {device.identity ?? 'No stable ID'}
      </span>
      <span className="mute">
        {access.allowed
          ? device.used_by.join(', ') || 'Not in use'
          : `Not usable: ${access.reason ?? UNKNOWN}`}
      </span>
    </label>
  );
}
