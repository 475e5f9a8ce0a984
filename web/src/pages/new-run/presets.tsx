// Menu of preset jobs.
import { Button, Menu } from '@mantine/core';
import { PRESETS } from '../../model/job/presets';

export function PresetMenu({ onChoose }: { onChoose: (text: string) => void }) {
  return (
    <Menu width={440}>
      <Menu.Target>
        <Button>Presets ▾</Button>
      </Menu.Target>
      <Menu.Dropdown>
        {PRESETS.map(({ name, description, text }) => (
          <Menu.Item key={name} onClick={() => onChoose(text)}>
            <b>{name}</b>
            <div className="mute small">{description}</div>
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
