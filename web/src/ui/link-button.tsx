// Buttons and menu items that lead to another page: real links, so that they open in new tabs and can be copied.
import { Button, Menu } from '@mantine/core';
import { createLink } from '@tanstack/react-router';

/** A button that is a link. */
export const LinkButton = createLink(Button<'a'>);
/** A menu item that is a link. */
export const LinkItem = createLink(Menu.Item<'a'>);
