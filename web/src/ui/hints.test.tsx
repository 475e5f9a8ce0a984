import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, expect, it } from 'vitest';
import { Hint } from './hint';
import { startHints } from './hints';

beforeEach(() => {
  const stop = startHints();
  render(
    <>
      <button type="button" title="Theme: dark">
        ☾
      </button>
      <Hint explanation="Too few runs.">Undecided</Hint>
      <button type="button">Plain</button>
    </>,
  );
  return stop;
});

const text = () => document.querySelector('.hint-text')?.textContent ?? null;

it('shows titles on keyboard focus, and hides them afterwards', async () => {
  await userEvent.tab();
  expect(text()).toBe('Theme: dark');
  await userEvent.tab();
  expect(text()).toBe('Too few runs.');
  await userEvent.tab();
  expect(text()).toBeNull();
  await userEvent.tab({ shift: true });
  await userEvent.keyboard('{Escape}');
  expect(text()).toBeNull();
});

it('shows hints on click, but not the titles of other buttons', async () => {
  const hint = screen.getByRole('button', { name: 'Undecided', description: 'Too few runs.' });
  await userEvent.click(hint);
  expect(text()).toBe('Too few runs.');
  await userEvent.click(screen.getByRole('button', { name: 'Plain' }));
  expect(text()).toBeNull();
});
