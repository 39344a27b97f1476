import { Anchor, Code, Stack, Text } from '@mantine/core';
import { Link } from 'react-router';
import type { Delivery } from '../../../gen/gleaner/account/v1/account_pb.ts';
import { StatusBadge } from '../jobs/StatusBadge.tsx';
import { type Column, type ListQuery, ListTable } from '../list/ListTable.tsx';
import { Moment } from '../time/Moment.tsx';

const columns: Column<Delivery>[] = [
  {
    title: 'Message',
    cell: ({ type, jobId }) => (
      <Stack gap={0}>
        <Code>{type}</Code>
        {jobId !== '' && (
          <Anchor component={Link} to={`/jobs/${jobId}`} size="xs">
            Job {jobId.slice(0, 8)}
          </Anchor>
        )}
      </Stack>
    ),
  },
  {
    title: 'To',
    cell: ({ channel, target }) => (
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        {channel}: {target}
      </Text>
    ),
  },
  { title: 'State', cell: ({ state }) => <StatusBadge status={state} /> },
  { title: 'Tries', align: 'right', cell: ({ attempts }) => attempts },
  {
    title: 'Last answer',
    cell: ({ responseStatus, error }) => (
      <Text size="xs" style={{ overflowWrap: 'anywhere' }}>
        {[responseStatus || '', error].filter(Boolean).join(' ') || '–'}
      </Text>
    ),
  },
  { title: 'Made', cell: ({ createdAt }) => <Moment at={createdAt} relative /> },
  { title: 'Next try', cell: ({ nextAttemptAt }) => <Moment at={nextAttemptAt} relative /> },
];

interface DeliveriesTableProps {
  deliveries: readonly Delivery[];
  query: ListQuery;
  /** A last column: what can be done with a message. */
  action?: Column<Delivery>;
}

/** Messages and what became of them, newest first. */
export function DeliveriesTable({ deliveries, query, action }: DeliveriesTableProps) {
  return (
    <ListTable
      label="Messages"
      rows={deliveries}
      keyOf={({ deliveryId }) => deliveryId}
      query={query}
      columns={action ? [...columns, action] : columns}
      minWidth={820}
      empty={{ title: 'No messages yet', about: 'A test sends one.' }}
    />
  );
}
