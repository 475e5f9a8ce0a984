// Block devices to choose from. Unusable ones are disabled, with the reason.
import { useQuery } from '@tanstack/react-query';
import type { Access, Device } from '../../api';
import { devicesQuery } from '../../api/queries';
import { bytes, text, UNKNOWN } from '../../model/format/numbers';
import { ProblemNotice } from '../../ui/problem';
import { optionProps } from './option-field';
import type { JobDraft } from './use-job-text';

/** The stable path of a device, if it has one. */
const pathOf = ({ links, path }: Device) => links.find((link) => link.includes('/by-id/')) ?? path;

interface DevicePickerProps {
  draft: JobDraft;
  isWriting: boolean;
}

export function DevicePicker({ draft, isWriting }: DevicePickerProps) {
  const { data, error, refetch } = useQuery(devicesQuery('local'));
  const { value, error: fieldError } = optionProps(draft, 'filename');
  const chosen = data?.devices.find(({ path, links }) => [path, ...links].includes(value));
  if (error) return <ProblemNotice error={error} retry={refetch} />;
  return (
    <fieldset className="devices">
      <legend className="mute small">Device (filename)</legend>
      {data?.devices.map((device) => (
        <DeviceOption
          key={device.name}
          device={device}
          checked={device === chosen}
          access={isWriting ? device.write_access : device.read_access}
          onChoose={() => draft.set('filename', pathOf(device))}
        />
      ))}
      {fieldError && <p className="error">{fieldError}</p>}
    </fieldset>
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
