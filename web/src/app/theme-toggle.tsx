// Dark, light, or as the system has it.
import { type MantineColorScheme, useMantineColorScheme } from '@mantine/core';

const NEXT: Record<MantineColorScheme, MantineColorScheme> = {
  auto: 'light',
  light: 'dark',
  dark: 'auto',
};
const SIGN: Record<MantineColorScheme, string> = { auto: '◐', light: '☀', dark: '☾' };

/** One button that goes round. */
export function ThemeToggle() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <button
      type="button"
      className="chip"
      onClick={() => setColorScheme(NEXT[colorScheme])}
      aria-label={`Theme: ${colorScheme}. Change to ${NEXT[colorScheme]}`}
      title={`Theme: ${colorScheme}`}
    >
      {SIGN[colorScheme]}
    </button>
  );
}
