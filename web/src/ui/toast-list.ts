// Mantine's toasts with their styles. Loaded on demand by `toasts`.
import './toast-list.css';

export { Notifications } from '@mantine/notifications';
