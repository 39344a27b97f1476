import { useMounted } from '@mantine/hooks';

/**
 * Returns whether a dialog or a menu is open that may be mounted for that. It opens after it is
 * mounted, because only then does it return the focus to the element that had it.
 */
export const useMountedOpen = (opened: boolean): boolean => useMounted() && opened;
