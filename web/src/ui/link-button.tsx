// Buttons and menu items that navigate. They are anchors, so that they open in new tabs and can be
// copied.
import { Button, type ButtonProps, Menu, type MenuItemProps } from '@mantine/core';
import { createLink } from '@tanstack/react-router';
import type { ComponentPropsWithRef } from 'react';

type Anchor<Own> = Own & Omit<ComponentPropsWithRef<'a'>, keyof Own>;

export const LinkButton = createLink((props: Anchor<ButtonProps>) => (
  <Button component="a" {...props} />
));
export const LinkItem = createLink((props: Anchor<MenuItemProps>) => (
  <Menu.Item component="a" {...props} />
));
