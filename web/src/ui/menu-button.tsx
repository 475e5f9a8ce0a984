// A button with a menu. The menu's code is loaded on demand. Until the menu is first opened,
// only the button exists.
import { cloneElement, useState } from 'react';
import type { MenuButtonProps } from './menu-entry';
import { notifyError } from './notify';
import { onDemand, useOnDemand } from './on-demand';

const menuCode = onDemand(() => import('./menu'));

export function MenuButton(props: MenuButtonProps) {
  const [isUsed, setIsUsed] = useState(false);
  const code = useOnDemand(menuCode, false);
  if (code && isUsed) return <code.OpenMenu {...props} />;
  const open = () => {
    setIsUsed(true);
    menuCode.load().catch(notifyError);
  };
  return cloneElement(props.target, {
    'aria-haspopup': 'menu',
    'aria-expanded': false,
    onClick: open,
  });
}
