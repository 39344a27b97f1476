import { Group, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';

interface PageProps {
  /** Heading and document title. */
  title: string;
  description?: ReactNode;
  /** Buttons beside the heading. */
  actions?: ReactNode;
  children: ReactNode;
}

/** Page layout: heading, actions and content. */
export function Page({ title, description, actions, children }: PageProps) {
  return (
    <Stack gap="lg">
      <title>{`${title} · Gleaner`}</title>
      <Group justify="space-between" align="flex-start">
        <Stack gap={4} maw={720}>
          <Title order={1} size="h2">
            {title}
          </Title>
          {description !== undefined && (
            <Text component="div" c="dimmed" size="sm">
              {description}
            </Text>
          )}
        </Stack>
        {actions !== undefined && <Group gap="xs">{actions}</Group>}
      </Group>
      {children}
    </Stack>
  );
}
