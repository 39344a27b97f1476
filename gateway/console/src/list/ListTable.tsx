import { Button, Center, Checkbox, EmptyState, Skeleton, Stack, Table } from '@mantine/core';
import { IconInbox } from '@tabler/icons-react';
import { Fragment, type ReactNode } from 'react';
import { FaultAlert } from '../fault/FaultAlert.tsx';

/** One column of a list. */
export interface Column<T> {
  title: string;
  cell: (row: T) => ReactNode;
  align?: 'right';
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

interface ListTableProps<T> {
  /** What the list is of, for those who do not see it. */
  label: string;
  columns: readonly Column<T>[];
  rows: readonly T[];
  keyOf: (row: T) => string;
  query: ListQuery;
  /** Width below which the list scrolls by itself, in pixels. */
  minWidth?: number;
  /** Stands for a list without rows. */
  empty: { title: string; about?: string; action?: ReactNode };
  /** Lets rows be chosen. */
  selection?: {
    chosen: ReadonlySet<string>;
    choose: (chosen: ReadonlySet<string>) => void;
    nameOf: (row: T) => string;
  };
  /** Shown under a row. */
  below?: (row: T) => ReactNode;
}

/** A list of anything: while it loads, when it cannot be had, when it is empty, and its rows with a button for more. */
export function ListTable<T>(props: ListTableProps<T>) {
  const { label, columns, rows, keyOf, query, minWidth = 640, empty, selection, below } = props;
  if (query.isPending) return <Waiting label={label} />;
  if (query.error && rows.length === 0) return <FaultAlert error={query.error} retry={query.refetch} />;
  if (rows.length === 0) {
    return (
      <EmptyState icon={<IconInbox />} title={empty.title} description={empty.about} py="lg">
        {empty.action !== undefined && <EmptyState.Actions>{empty.action}</EmptyState.Actions>}
      </EmptyState>
    );
  }
  const all = rows.map(keyOf);
  const chosen = selection?.chosen ?? new Set<string>();
  const pick = (key: string, on: boolean) => {
    const next = new Set(chosen);
    if (on) next.add(key);
    else next.delete(key);
    selection?.choose(next);
  };
  const count = all.filter((key) => chosen.has(key)).length;
  return (
    <Stack gap="sm">
      {query.error ? (
        <FaultAlert error={query.error} retry={query.refetch} title="What is shown is not fresh" />
      ) : null}
      <Table.ScrollContainer minWidth={minWidth} type="native" tabIndex={0} role="region" aria-label={label}>
        <Table verticalSpacing="xs" striped={below === undefined} aria-label={label}>
          <Table.Thead>
            <Table.Tr>
              {selection && (
                <Table.Th w={40}>
                  <Checkbox
                    aria-label="Choose all"
                    checked={count === all.length}
                    indeterminate={count > 0 && count < all.length}
                    onChange={(event) => selection.choose(new Set(event.currentTarget.checked ? all : []))}
                  />
                </Table.Th>
              )}
              {columns.map(({ title, align }) => (
                <Table.Th key={title} ta={align}>
                  {title}
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map((row) => {
              const key = keyOf(row);
              const under = below?.(row);
              return (
                <Fragment key={key}>
                  <Table.Tr>
                    {selection && (
                      <Table.Td>
                        <Checkbox
                          aria-label={`Choose ${selection.nameOf(row)}`}
                          checked={chosen.has(key)}
                          onChange={(event) => pick(key, event.currentTarget.checked)}
                        />
                      </Table.Td>
                    )}
                    {columns.map(({ title, cell, align }) => (
                      <Table.Td key={title} ta={align}>
                        {cell(row)}
                      </Table.Td>
                    ))}
                  </Table.Tr>
                  {under ? (
                    <Table.Tr>
                      <Table.Td colSpan={columns.length + (selection ? 1 : 0)}>{under}</Table.Td>
                    </Table.Tr>
                  ) : null}
                </Fragment>
              );
            })}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
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
