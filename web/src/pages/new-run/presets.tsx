// The menu of jobs worth starting from, each with the reason for it.
import { Button, Menu } from '@mantine/core';
import { PRESETS } from '../../model/job/presets';

/** The menu; what is chosen takes the place of the text. */
export function PresetMenu({ onChoose }: { onChoose: (text: string) => void }) {
  return (
    <Menu width={440}>
      <Menu.Target>
        <Button>Presets ▾</Button>
      </Menu.Target>
      <Menu.Dropdown>
        {PRESETS.map(({ name, reason, text }) => (
          <Menu.Item key={name} onClick={() => onChoose(text)}>
            <b>{name}</b>
            <div className="mute small">{reason}</div>
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
