import { type CSSVariablesResolver, createTheme, type MantineColorsTuple } from '@mantine/core';

const closeLabel = { closeButtonProps: { 'aria-label': 'Close' } };

/** Moss green: the accent of links, buttons, and charts. Status colours differ from it. */
const moss: MantineColorsTuple = [
  '#f5f9ea',
  '#e8f0d3',
  '#d2e1aa',
  '#b9d07c',
  '#a2bf54',
  '#8faf38',
  '#7d9c2b',
  '#66811f',
  '#516916',
  '#3c4f0e',
];

/** Theme with shades that meet the WCAG AA contrast ratios. */
export const theme = createTheme({
  colors: { moss },
  primaryColor: 'moss',
  primaryShade: { light: 8, dark: 8 },
  autoContrast: true,
  respectReducedMotion: true,
  cursorType: 'pointer',
  // By name: a component loads with the pages that use it.
  components: {
    // A truncated status is unreadable.
    Badge: { defaultProps: { miw: 'max-content', variant: 'light', tt: 'none' } },
    // A close button has an icon only.
    Drawer: { defaultProps: closeLabel },
    Modal: { defaultProps: closeLabel },
    // Menus contain only items, so the first item takes the focus.
    Menu: { defaultProps: { withInitialFocusPlaceholder: false } },
  },
  headings: {
    fontWeight: '650',
    sizes: {
      h1: { fontSize: '1.75rem', lineHeight: '1.2' },
      h2: { fontSize: '1.5rem', lineHeight: '1.25' },
      h3: { fontSize: '1.25rem', lineHeight: '1.3' },
      h4: { fontSize: '1rem', lineHeight: '1.4' },
    },
  },
  fontFamily: 'var(--typeface)',
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
