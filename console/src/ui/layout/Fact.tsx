import { Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';

/** A fact with its name above it. */
export function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <Stack gap={0}>
      <Text size="xs" c="dimmed">
        {name}
      </Text>
      <Text component="div" size="sm">
        {children}
      </Text>
    </Stack>
  );
}
