import { Button, Center, EmptyState, Skeleton, Stack } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { IconInbox } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { FaultAlert } from '../fault/FaultAlert.tsx';
import { Cards } from './Cards.tsx';
import { Rows } from './Rows.tsx';

/** One column of a list. */
export interface Column<T> {
  title: string;
  cell: (row: T) => ReactNode;
  align?: 'right';
}

/** Which rows are chosen, by key. */
export interface Selection<T> {
  chosen: ReadonlySet<string>;
  choose: (chosen: ReadonlySet<string>) => void;
  nameOf: (row: T) => string;
}

/** What a list shows. */
export interface ListContent<T> {
  /** What the list is of, for those who do not see it. */
  label: string;
  columns: readonly Column<T>[];
  rows: readonly T[];
  keyOf: (row: T) => string;
  /** Width below which the list scrolls by itself, in pixels. */
  minWidth?: number;
  /** Lets rows be chosen. */
  selection?: Selection<T>;
  /** Shown under a row. */
  below?: (row: T) => ReactNode;
}

/** What a list needs of the query behind it. */
export interface ListQuery {
  isPending: boolean;
  error: unknown;
  refetch: () => unknown;
  hasNextPage?: boolean;
  isFetchingNextPage?: boolean;
  fetchNextPage?: () => unknown;
}

interface ListTableProps<T> extends ListContent<T> {
  query: ListQuery;
  /** Stands for a list without rows. */
  empty: { title: string; about?: string; action?: ReactNode };
}

/**
 * A list of anything: while it loads, when it cannot be had, when it is empty, and its rows with a button for
 * more. On a phone every row is a card.
 */
export function ListTable<T>({ query, empty, ...content }: ListTableProps<T>) {
  const phone = useMediaQuery('(max-width: 48em)', false, { getInitialValueInEffect: false });
  const { label, rows } = content;
  if (query.isPending) return <Waiting label={label} />;
  if (query.error && rows.length === 0) return <FaultAlert error={query.error} retry={query.refetch} />;
  if (rows.length === 0) {
    return (
      <EmptyState icon={<IconInbox />} title={empty.title} description={empty.about} py="lg">
        {empty.action !== undefined && <EmptyState.Actions>{empty.action}</EmptyState.Actions>}
      </EmptyState>
    );
  }
  return (
    <Stack gap="sm">
      {query.error ? (
        <FaultAlert error={query.error} retry={query.refetch} title="What is shown is not fresh" />
      ) : null}
      {phone ? <Cards {...content} /> : <Rows {...content} />}
      {query.hasNextPage && (
        <Center>
          <Button
            variant="default"
            loading={query.isFetchingNextPage}
            onClick={() => query.fetchNextPage?.()}
          >
            Show more
          </Button>
        </Center>
      )}
    </Stack>
  );
}

function Waiting({ label }: { label: string }) {
  return (
    <Stack gap="xs" role="status" aria-label={`Loading ${label}`}>
      {['a', 'b', 'c', 'd'].map((row) => (
        <Skeleton key={row} height={32} />
      ))}
    </Stack>
  );
}
