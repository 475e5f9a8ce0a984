import { act, render, screen } from '@testing-library/react';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { openFeed } from '../api/feed';
import { TestSocket } from '../api/test-socket';
import { StoreNotice } from './store-notice';

let close: () => void;

beforeEach(() => {
  vi.useFakeTimers();
  TestSocket.install();
  close = openFeed();
});
afterEach(() => {
  close();
  vi.useRealTimers();
});

it('shows why results cannot be stored, until the problem is fixed', async () => {
  await act(() => vi.advanceTimersByTimeAsync(3000));
  act(() => TestSocket.last.accept());
  const receive = (code: string | null, detail: string | null) =>
    act(() => TestSocket.last.receive({ type: 'store', code, detail }));
  render(<StoreNotice />);
  receive(null, null);
  expect(screen.queryByRole('alert')).toBeNull();
  const detail =
    'The disk that holds the database is full. Free some space, and the server will resume.';
  receive('disk_full', detail);
  expect(screen.getByRole('alert')).toHaveTextContent('Results cannot be stored');
  expect(screen.getByText(detail)).toBeVisible();
  receive(null, null);
  expect(screen.queryByRole('alert')).toBeNull();
});
