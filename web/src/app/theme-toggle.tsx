// Color scheme: system, light or dark.
import { type MantineColorScheme, useMantineColorScheme } from '@mantine/core';

const NEXT: Record<MantineColorScheme, MantineColorScheme> = {
  auto: 'light',
  light: 'dark',
  dark: 'auto',
};
const ICON: Record<MantineColorScheme, string> = { auto: '◐', light: '☀', dark: '☾' };

export function ThemeToggle() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <button
      type="button"
      className="chip"
      onClick={() => setColorScheme(NEXT[colorScheme])}
      aria-label={`Theme: ${colorScheme}. Switch to ${NEXT[colorScheme]}`}
      title={`Theme: ${colorScheme}`}
    >
      {ICON[colorScheme]}
    </button>
  );
}
