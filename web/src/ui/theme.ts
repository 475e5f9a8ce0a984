// Mantine theme: sizes, default props, and Mantine's CSS variables mapped to the tokens in
// `tokens.css`.
import { type CSSVariablesResolver, createTheme } from '@mantine/core';

export const theme = createTheme({
  fontFamily: 'var(--font)',
  fontFamilyMonospace: 'var(--mono)',
  fontSizes: { xs: '13px', sm: '13px', md: '13px' },
  lineHeights: { xs: '1.45', sm: '1.45', md: '1.45' },
  defaultRadius: 7,
  cursorType: 'pointer',
  autoContrast: false,
  // Dark theme grays, from text to background.
  colors: {
    dark: [
      '#e6edf3',
      '#c5d0da',
      '#93a4b4',
      '#6c7f90',
      '#3c4c5c',
      '#283542',
      '#1c2732',
      '#151d26',
      '#0e141b',
      '#0a0f14',
    ],
  },
  components: {
    Button: { defaultProps: { size: 'compact-sm', variant: 'default', fw: 500, px: 11, h: 30 } },
    TextInput: { defaultProps: { size: 'xs' } },
    Textarea: { defaultProps: { size: 'xs' } },
    NativeSelect: { defaultProps: { size: 'xs' } },
    NumberInput: { defaultProps: { size: 'xs' } },
    MultiSelect: { defaultProps: { size: 'xs' } },
    Autocomplete: { defaultProps: { size: 'xs' } },
    TagsInput: { defaultProps: { size: 'xs' } },
    Checkbox: { defaultProps: { size: 'xs' } },
    Menu: {
      defaultProps: {
        shadow: 'none',
        position: 'bottom-end',
        // Keeps the menu inside the main landmark, with menu items as its only children.
        withinPortal: false,
        withInitialFocusPlaceholder: false,
      },
    },
    Notification: { defaultProps: { closeButtonProps: { 'aria-label': 'Close' } } },
    Modal: {
      defaultProps: {
        shadow: 'none',
        centered: true,
        closeButtonProps: { 'aria-label': 'Close' },
        attributes: { header: { role: 'none' } },
        overlayProps: { backgroundOpacity: 0.45 },
      },
    },
  },
});

const tokens = {
  '--mantine-color-body': 'var(--surface)',
  '--mantine-color-text': 'var(--text)',
  '--mantine-color-dimmed': 'var(--mute)',
  '--mantine-color-default': 'var(--surface)',
  '--mantine-color-default-hover': 'var(--raise)',
  '--mantine-color-default-color': 'var(--text)',
  '--mantine-color-default-border': 'var(--control)',
  '--mantine-color-placeholder': 'var(--mute)',
  '--mantine-color-error': 'var(--bad-text)',
  '--mantine-primary-color-filled': 'var(--focus)',
  '--mantine-primary-color-filled-hover': 'color-mix(in srgb, var(--focus) 88%, var(--text))',
  '--mantine-primary-color-contrast': 'var(--on-focus)',
  '--mantine-color-blue-filled': 'var(--focus)',
  '--mantine-color-blue-filled-hover': 'color-mix(in srgb, var(--focus) 88%, var(--text))',
  '--mantine-color-white': 'var(--on-focus)',
  '--mantine-color-disabled': 'var(--raise)',
  '--mantine-color-disabled-color': 'var(--mute)',
  '--mantine-color-disabled-border': 'var(--line)',
};

export const variables: CSSVariablesResolver = () => ({
  variables: tokens,
  light: tokens,
  dark: tokens,
});
