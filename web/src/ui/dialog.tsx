// A modal dialog. Its code is loaded on demand.
import type { ModalProps } from '@mantine/core';
import { onDemand, useOnDemand } from './on-demand';

const modalCode = onDemand(() => import('./modal'));

export function Dialog(props: ModalProps) {
  const code = useOnDemand(modalCode, props.opened);
  return code && <code.Modal {...props} />;
}
