import { Group } from '@mantine/core';
import type { ReactNode } from 'react';

/** Actions of a row, side by side: at the end of a table's row, and at the start of a card. */
export function RowActions({ children }: { children: ReactNode }) {
  return (
    <Group gap={6} wrap="nowrap" display="inline-flex">
      {children}
    </Group>
  );
}
