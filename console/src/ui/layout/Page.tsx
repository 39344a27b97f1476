import { Group, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { useSession } from '../session/session.ts';

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
  const { isTest } = useSession();
  return (
    <Stack gap="lg">
      <title>{`${isTest ? 'Test data · ' : ''}${title} · Gleaner`}</title>
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
        {actions !== undefined && <Group gap={6}>{actions}</Group>}
      </Group>
      {children}
    </Stack>
  );
}
