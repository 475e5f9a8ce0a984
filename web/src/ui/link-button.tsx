// A button that navigates. It is an anchor, so that it opens in a new tab and can be copied.
import { Button, type ButtonProps } from '@mantine/core';
import { createLink } from '@tanstack/react-router';
import type { ComponentPropsWithRef } from 'react';

type Props = ButtonProps & Omit<ComponentPropsWithRef<'a'>, keyof ButtonProps>;

export const LinkButton = createLink((props: Props) => <Button component="a" {...props} />);
