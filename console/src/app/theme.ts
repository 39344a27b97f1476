import { type CSSVariablesResolver, createTheme } from '@mantine/core';

const closeLabel = { closeButtonProps: { 'aria-label': 'Close' } };

/** Theme with system fonts and shades that meet the WCAG AA contrast ratios. */
export const theme = createTheme({
  primaryColor: 'blue',
  primaryShade: { light: 8, dark: 8 },
  autoContrast: true,
  respectReducedMotion: true,
  cursorType: 'pointer',
  // By name: a component loads with the pages that use it.
  components: {
    // A truncated status is unreadable.
    Badge: { defaultProps: { miw: 'max-content' } },
    // A close button has an icon only.
    Drawer: { defaultProps: closeLabel },
    Modal: { defaultProps: closeLabel },
    // Menus contain only items, so the first item takes the focus.
    Menu: { defaultProps: { withInitialFocusPlaceholder: false } },
  },
  headings: { fontWeight: '600' },
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, monospace',
});

/** Darker text colours, because Mantine's defaults have too little contrast for small text. */
export const cssVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': 'var(--mantine-color-gray-7)',
    '--mantine-color-placeholder': 'var(--mantine-color-gray-7)',
    '--mantine-color-error': 'var(--mantine-color-red-9)',
    '--mantine-color-yellow-light-color': '#6b3a00',
    '--mantine-color-orange-light-color': '#8a2c05',
    '--mantine-color-teal-light-color': '#05573e',
    '--mantine-color-red-light-color': '#a01e1e',
  },
  dark: {
    '--mantine-color-dimmed': 'var(--mantine-color-dark-1)',
    '--mantine-color-placeholder': 'var(--mantine-color-dark-1)',
    '--mantine-color-error': 'var(--mantine-color-red-4)',
  },
});
