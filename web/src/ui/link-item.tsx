// A menu item that navigates. It is an anchor, so that it opens in a new tab and can be copied.
import { Menu, type MenuItemProps } from '@mantine/core';
import { createLink } from '@tanstack/react-router';
import type { ComponentPropsWithRef } from 'react';

type Props = MenuItemProps & Omit<ComponentPropsWithRef<'a'>, keyof MenuItemProps>;

export const LinkItem = createLink((props: Props) => <Menu.Item component="a" {...props} />);
