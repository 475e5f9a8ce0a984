// A menu's entries as data: the code that renders the menu is loaded later.
import type { LinkProps } from '@tanstack/react-router';
import type { ReactElement, ReactNode } from 'react';

export type MenuEntry =
  | { type: 'action'; label: ReactNode; onSelect: () => void; isDestructive?: boolean }
  /** Opens a file in a new tab, or downloads it under the file name in `download`. */
  | { type: 'file'; label: string; href: string; download?: string; disabled?: boolean }
  | { type: 'page'; label: string; link: Pick<LinkProps, 'to' | 'search' | 'params'> }
  /** Choosing this entry does not close the menu. */
  | { type: 'checkbox'; label: string; checked: boolean; onChange: () => void }
  | {
      type: 'radio';
      value: string;
      options: readonly { name: string; label: string }[];
      onChange: (name: string) => void;
    }
  | { type: 'divider' };

export interface MenuButtonProps {
  /** The button. */
  target: ReactElement<Record<string, unknown>>;
  entries: readonly MenuEntry[];
  /** In pixels; by default, the width of the entries. */
  width?: number;
}
