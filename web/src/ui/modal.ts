// Mantine's dialog with its styles. Loaded on demand by `dialog`.
import './modal.css';

export { Modal } from '@mantine/core';
