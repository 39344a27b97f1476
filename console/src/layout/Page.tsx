import { Group, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';

interface PageProps {
  /** Heading, and name of the tab. */
  title: string;
  about?: ReactNode;
  /** Buttons beside the heading. */
  actions?: ReactNode;
  children: ReactNode;
}

/** A page: its heading, what can be done, and what is on it. */
export function Page({ title, about, actions, children }: PageProps) {
  return (
    <Stack gap="lg">
      <title>{`${title} · Gleaner`}</title>
      <Group justify="space-between" align="flex-start">
        <Stack gap={4}>
          <Title order={1} size="h2">
            {title}
          </Title>
          {about !== undefined && (
            <Text component="div" c="dimmed" size="sm">
              {about}
            </Text>
          )}
        </Stack>
        {actions !== undefined && <Group gap="xs">{actions}</Group>}
      </Group>
      {children}
    </Stack>
  );
}
