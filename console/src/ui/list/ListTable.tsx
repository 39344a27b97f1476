import {
  Button,
  Center,
  EmptyState,
  Paper,
  SimpleGrid,
  Skeleton,
  Stack,
  Text,
} from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { IconInbox } from '@tabler/icons-react';
import { type ReactNode, useState } from 'react';
import { ErrorAlert } from '../errors/ErrorAlert.tsx';
import { useLoading } from '../queries.ts';
import { Cards } from './Cards.tsx';
import { type ListContent, nextSort, type Sort, sortRows } from './list-content.ts';
import { Rows } from './Rows.tsx';

/** Media query of the screens on which a list shows cards instead of a table. */
export const phoneQuery = '(max-width: 48em)';

/** State of the query behind a list. */
export interface ListQuery {
  isPending: boolean;
  error: unknown;
  refetch: () => unknown;
  hasNextPage?: boolean;
  isFetchingNextPage?: boolean;
  fetchNextPage?: () => unknown;
}

/** Shown instead of a list without rows. */
export interface EmptyList {
  title: string;
  description?: string;
  action?: ReactNode;
}

export interface ListTableProps<T> extends ListContent<T> {
  query: ListQuery;
  empty: EmptyList;
  /** Renders the rows as cards in a grid instead. */
  grid?: ((row: T) => ReactNode) | undefined;
  /** Order of a list that the service sorts; absent for one whose loaded rows are sorted here. */
  order?: { sort: Sort | null; change: (sort: Sort | null) => void };
}

/**
 * List with loading, error and empty states and a button that loads more rows. On narrow screens
 * each row is a card.
 */
export function ListTable<T>({ query, empty, order, grid, ...content }: ListTableProps<T>) {
  const phone = useMediaQuery(phoneQuery, false, { getInitialValueInEffect: false });
  const { label, rows, columns } = content;
  const [ownSort, setOwnSort] = useState<Sort | null>(null);
  const { sort, change } = order ?? { sort: ownSort, change: setOwnSort };
  if (useLoading(query)) return <LoadingRows label={label} />;
  if (query.error && rows.length === 0)
    return <ErrorAlert error={query.error} retry={query.refetch} />;
  if (rows.length === 0) {
    return (
      <EmptyState icon={<IconInbox />} title={empty.title} description={empty.description} py="lg">
        {empty.action !== undefined && <EmptyState.Actions>{empty.action}</EmptyState.Actions>}
      </EmptyState>
    );
  }
  return (
    <Stack gap="sm">
      {query.error ? (
        <ErrorAlert
          error={query.error}
          retry={query.refetch}
          title="This data may be out of date"
        />
      ) : null}
      {grid && <Grid {...content} card={grid} />}
      {!grid && phone && <Cards {...content} />}
      {!grid && !phone && (
        <Rows
          {...content}
          rows={order ? rows : sortRows(rows, columns, sort)}
          sort={sort}
          toggleSort={(title) => change(nextSort(sort, title))}
        />
      )}
      {sort && !order && query.hasNextPage && (
        <Text size="xs" c="dimmed" ta="center">
          Only the {rows.length} loaded rows are sorted.
        </Text>
      )}
      {query.hasNextPage && (
        <Center>
          <Button
            variant="default"
            loading={query.isFetchingNextPage}
            onClick={() => query.fetchNextPage?.()}
          >
            Load more
          </Button>
        </Center>
      )}
    </Stack>
  );
}

/** Rows as cards side by side. */
function Grid<T>({ label, rows, keyOf, card }: ListContent<T> & { card: (row: T) => ReactNode }) {
  return (
    <SimpleGrid
      component="ul"
      aria-label={label}
      cols={{ base: 2, sm: 3, lg: 5 }}
      spacing="sm"
      m={0}
      p={0}
    >
      {rows.map((row) => (
        <Paper
          component="li"
          withBorder
          radius="md"
          p="sm"
          key={keyOf(row)}
          style={{ listStyle: 'none' }}
        >
          {card(row)}
        </Paper>
      ))}
    </SimpleGrid>
  );
}

function LoadingRows({ label }: { label: string }) {
  return (
    <Stack gap="xs" role="status" aria-label={`Loading ${label}`}>
      {['a', 'b', 'c', 'd'].map((row) => (
        <Skeleton key={row} height={32} />
      ))}
    </Stack>
  );
}
