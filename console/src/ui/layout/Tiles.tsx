import { Paper, Text, UnstyledButton } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'react-router';
import classes from './tiles.module.css';

interface TileProps {
  title: string;
  /** The figure; undefined until it is known. */
  value: ReactNode;
  /** What the figure means. */
  note?: ReactNode;
  /** Path of the page behind the figure. */
  to: string;
  /** Whether the figure asks for a decision or a repair. */
  isUrgent?: boolean;
}

/** Two lines of a note, which are reserved until it is known: what is below must not move. */
const noteHeight = '2lh';

/** A figure that links to the page behind it. */
export function Tile({ title, value, note, to, isUrgent = false }: TileProps) {
  return (
    <Paper component="li" withBorder radius="md">
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
  );
}

/**
 * Shows figures side by side. Each loads its own, so that a response renders one figure.
 */
export function Tiles({ children }: { children: ReactNode }) {
  return (
    <ul aria-label="Figures" className={classes.tiles}>
      {children}
    </ul>
  );
}
