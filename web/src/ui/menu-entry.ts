// The entries of a menu as data, because the code of the menu is loaded later.
import type { LinkProps } from '@tanstack/react-router';
import type { ReactElement, ReactNode } from 'react';

export type MenuEntry =
  | { type: 'action'; label: ReactNode; onSelect: () => void; isDestructive?: boolean }
  /** Opens in a new tab, unless it is a download with this file name. */
  | { type: 'file'; label: string; href: string; download?: string; disabled?: boolean }
  | { type: 'page'; label: string; link: Pick<LinkProps, 'to' | 'search' | 'params'> }
  /** The menu stays open. */
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
  /** In pixels; by default, as wide as its entries. */
  width?: number;
}
