// Preset job menu.
import { Button } from '@mantine/core';
import { PRESETS } from '../../model/job/presets';
import { MenuButton } from '../../ui/menu-button';

export function PresetMenu({ onChoose }: { onChoose: (text: string) => void }) {
  return (
    <MenuButton
      width={440}
      target={<Button>Presets ▾</Button>}
      entries={PRESETS.map(({ name, description, text }) => ({
        type: 'action',
        label: (
          <>
            <b>{name}</b>
            <div className="mute small">{description}</div>
          </>
        ),
        onSelect: () => onChoose(text),
      }))}
    />
  );
}
