import { Button, Group, Stack, Text, ThemeIcon, VisuallyHidden } from '@mantine/core';
import { IconAlertTriangle, IconCheck } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { Section } from './Section.tsx';

/** Something to do. */
export interface CardAction {
  title: string;
  text: ReactNode;
  /** Button or link with which it is done. */
  action?: ReactNode;
  /** Whether it is done; undefined for a problem. */
  isDone?: boolean;
}

interface ActionCardProps {
  title: string;
  description: string;
  actions: readonly CardAction[];
  dismiss: () => void;
}

/** Card with things to do, in their order, that can be dismissed. */
export function ActionCard({ title, description, actions, dismiss }: ActionCardProps) {
  return (
    <Section
      title={title}
      description={description}
      actions={
        <Button size="compact-sm" variant="default" onClick={dismiss}>
          Dismiss
        </Button>
      }
    >
      <Stack component="ol" gap="md" m={0} p={0} style={{ listStyle: 'none' }}>
        {actions.map((each, index) => (
          <Group component="li" key={each.title} align="flex-start" gap="sm" wrap="nowrap">
            <Mark number={index + 1} isDone={each.isDone} />
            <Group justify="space-between" gap="xs" flex={1}>
              <div style={{ flex: '1 1 16rem' }}>
                <Text fw={600} size="sm">
                  {each.title}
                </Text>
                <Text component="div" size="sm" c="dimmed">
                  {each.text}
                </Text>
              </div>
              {each.action}
            </Group>
          </Group>
        ))}
      </Stack>
    </Section>
  );
}

/** Number of a step, its tick, or the mark of a problem. */
function Mark({ number, isDone }: { number: number; isDone: boolean | undefined }) {
  if (isDone === undefined)
    return (
      <ThemeIcon size={26} radius="xl" variant="light" color="yellow" aria-hidden>
        <IconAlertTriangle size={16} />
      </ThemeIcon>
    );
  return (
    <ThemeIcon size={26} radius="xl" variant={isDone ? 'filled' : 'light'}>
      {isDone ? <IconCheck size={16} aria-hidden /> : number}
      {isDone && <VisuallyHidden>Done</VisuallyHidden>}
    </ThemeIcon>
  );
}
