// Which device: with model, size, identity and what uses it. What may not be used is greyed, with the reason. A write
// asks for the serial, typed.
import { TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { Device } from '../../api';
import { devicesQuery } from '../../api/queries';
import { bytes, text, UNKNOWN } from '../../model/format/numbers';
import { errorText } from '../../model/format/problem-text';
import { ProblemNotice } from '../../ui/problem';
import { errorOf } from './option-field';
import type { JobDraft } from './use-job';

/** The stable path of a device where it has one. */
const pathOf = (device: Device) =>
  device.links.find((link) => link.includes('/by-id/')) ?? device.path;

/** The devices of the host as a choice. */
export function DevicePicker({ draft, writing }: { draft: JobDraft; writing: boolean }) {
  const { data, error, refetch } = useQuery(devicesQuery('local'));
  const chosen = draft.job.filename;
  const device = data?.devices.find(
    (one) => chosen !== undefined && [one.path, ...one.links].includes(chosen),
  );
  const fault = errorOf(draft, 'filename');
  const problem = draft.obstacles.find(({ option }) => option === 'confirm');
  if (error) return <ProblemNotice problem={errorText(error)} onRetry={() => void refetch()} />;
  return (
    <fieldset className="devices">
      <legend className="mute small">device · filename</legend>
      {data?.devices.map((one) => (
        <DeviceChoice
          key={one.name}
          device={one}
          checked={one === device}
          writing={writing}
          onChoose={() => draft.set('filename', pathOf(one))}
        />
      ))}
      {fault && <p style={{ color: 'var(--bad-text)' }}>{fault}</p>}
      {writing && (device || problem) && (
        <TextInput
          label={
            device
              ? `This writes to ${device.name} and destroys what is on it. Type its ${device.serial ? 'serial' : 'name'} to confirm: ${device.serial ?? device.name}`
              : 'This writes to devices and destroys what is on them. Type the serial or name of each to confirm, with commas between'
          }
          value={draft.confirm}
          onChange={({ currentTarget }) => draft.setConfirm(currentTarget.value)}
          error={draft.confirm && problem?.detail}
          autoComplete="off"
          spellCheck={false}
        />
      )}
    </fieldset>
  );
}

function DeviceChoice({
  device,
  checked,
  writing,
  onChoose,
}: {
  device: Device;
  checked: boolean;
  writing: boolean;
  onChoose: () => void;
}) {
  const access = writing ? device.write_access : device.read_access;
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
      <span className="clip" title={device.model ?? device.backing_file ?? undefined}>
        {device.model ?? device.backing_file ?? device.kind}
      </span>
      <span>{text(bytes(device.size_bytes))}</span>
      <span className="mute mono clip" title={device.identity ?? undefined}>
        {device.identity ?? 'no stable identity'}
      </span>
      <span className="mute">
        {access.allowed
          ? device.used_by.join(', ') || 'not in use'
          : `not usable: ${access.reason ?? UNKNOWN}`}
      </span>
    </label>
  );
}
