import { Paper, SimpleGrid, Text, UnstyledButton } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'react-router';

/** A figure that links to the page behind it. */
export interface Tile {
  title: string;
  /** The figure; undefined until it is known. */
  value: ReactNode;
  /** What the figure means. */
  note?: ReactNode;
  to: string;
  /** Whether the figure asks for a decision or a repair. */
  isUrgent?: boolean;
}

/** Two lines of a note, which are reserved until it is known: what is below must not move. */
const noteHeight = '2lh';

/** Shows figures side by side, each a link. */
export function Tiles({ label, tiles }: { label: string; tiles: readonly Tile[] }) {
  return (
    <SimpleGrid
      component="ul"
      aria-label={label}
      cols={{ base: 2, sm: 3, lg: tiles.length }}
      spacing="sm"
      m={0}
      p={0}
      style={{ listStyle: 'none' }}
    >
      {tiles.map(({ title, value, note, to, isUrgent = false }) => (
        <Paper key={title} component="li" withBorder radius="md">
          <UnstyledButton component={Link} to={to} display="block" p="sm" h="100%">
            <Text size="xs" c="dimmed">
              {title}
            </Text>
            <Text
              component="div"
              size="xl"
              fw={600}
              lh={1.3}
              c={isUrgent ? 'var(--mantine-color-error)' : undefined}
            >
              {value ?? '…'}
            </Text>
            <Text component="div" size="xs" c="dimmed" lineClamp={2} mih={noteHeight}>
              {note}
            </Text>
          </UnstyledButton>
        </Paper>
      ))}
    </SimpleGrid>
  );
}
