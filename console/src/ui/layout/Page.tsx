import { Badge, Button, EmptyState, Group, Stack, Text, Title } from '@mantine/core';
import { IconMapOff } from '@tabler/icons-react';
import { Link } from 'react-router';
import { useSession } from '../session/session.ts';
import type { SectionProps } from './Section.tsx';

/** Page layout: heading, which is the title of the document too, actions, and content. */
export function Page({ title, description, actions, children }: SectionProps) {
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

/** Shown for unknown addresses. */
export function NotFound() {
  return (
    <Page title="Page not found">
      <EmptyState
        icon={<IconMapOff />}
        title="This page does not exist"
        description="Operators and users have different pages. Check which key you signed in with."
      >
        <EmptyState.Actions>
          <Button component={Link} to="/">
            Go to the start page
          </Button>
        </EmptyState.Actions>
      </EmptyState>
    </Page>
  );
}

/** Mark of test accounts, and of their keys and jobs. */
export function TestBadge({ label = 'Test' }: { label?: string }) {
  return <Badge color="orange">{label}</Badge>;
}
