import { IconDeviceDesktop, IconMoon, IconSun } from '@tabler/icons-react';

/** Colour schemes of the console; the browser stores the choice. */
export const colorSchemes = [
  { value: 'auto', label: 'System', Icon: IconDeviceDesktop },
  { value: 'light', label: 'Light', Icon: IconSun },
  { value: 'dark', label: 'Dark', Icon: IconMoon },
] as const;
