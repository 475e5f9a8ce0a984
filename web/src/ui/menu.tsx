// A menu that opens when it is mounted. Loaded on demand by `menu-button`.
import { Menu } from '@mantine/core';
import { cloneElement, useEffect, useRef, useState } from 'react';
import { LinkItem } from './link-item';
import type { MenuButtonProps, MenuEntry } from './menu-entry';
import './menu.css';

export function OpenMenu({ target, entries, width }: MenuButtonProps) {
  const [opened, setOpened] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    // This button replaced the one that was pressed, so it takes focus.
    button.current?.focus({ preventScroll: true });
    setOpened(true);
  }, []);
  return (
    <Menu opened={opened} onChange={setOpened} width={width}>
      <Menu.Target>{cloneElement(target, { ref: button })}</Menu.Target>
      <Menu.Dropdown>
        {entries.map((entry, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the order is fixed
          <Entry key={index} entry={entry} />
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

function Entry({ entry }: { entry: MenuEntry }) {
  switch (entry.type) {
    case 'action':
      return (
        <Menu.Item
          c={entry.isDestructive ? 'var(--bad-text)' : undefined}
          onClick={() => entry.onSelect()}
        >
          {entry.label}
        </Menu.Item>
      );
    case 'file': {
      const { label, href, download, disabled } = entry;
      const target = download ? undefined : '_blank';
      return (
        <Menu.Item component="a" {...{ href, download, disabled, target }}>
          {label}
        </Menu.Item>
      );
    }
    case 'page':
      return <LinkItem {...entry.link}>{entry.label}</LinkItem>;
    case 'checkbox':
      return (
        <Menu.CheckboxItem
          value={entry.label}
          checked={entry.checked}
          onChange={() => entry.onChange()}
          closeMenuOnClick={false}
        >
          {entry.label}
        </Menu.CheckboxItem>
      );
    case 'radio':
      return (
        <Menu.RadioGroup value={entry.value} onChange={entry.onChange}>
          {entry.options.map(({ name, label }) => (
            <Menu.RadioItem key={name} value={name} closeMenuOnClick>
              {label}
            </Menu.RadioItem>
          ))}
        </Menu.RadioGroup>
      );
    case 'divider':
      return <Menu.Divider />;
  }
}
