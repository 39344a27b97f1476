import { timestampMs } from '@bufbuild/protobuf/wkt';
import { Stack, Text } from '@mantine/core';
import type { Delivery } from '../../../gen/gleaner/account/v1/account_pb.ts';
import { capitalize, shortId } from '../../../src/present/text.ts';
import { Id } from './Id.tsx';
import { StatusBadge } from './jobs/StatusBadge.tsx';
import { type ListQuery, ListTable } from './list/ListTable.tsx';
import type { ListColumn } from './list/list-content.ts';
import { Moment } from './time/Moment.tsx';

/** Time of the next attempt; "Due" if it has passed. */
function NextAttempt({ delivery: { nextAttemptAt } }: { delivery: Delivery }) {
  if (nextAttemptAt && timestampMs(nextAttemptAt) <= Date.now()) return 'Due';
  return <Moment at={nextAttemptAt} relative />;
}

const columns: ListColumn<Delivery>[] = [
  {
    title: 'Message',
    cell: ({ type, jobId }) => (
      <Stack gap={0}>
        <Text size="sm">{messageTypeText(type)}</Text>
        {jobId !== '' && <Id of="jobs" value={jobId} name={`Job ${shortId(jobId)}`} size="xs" />}
      </Stack>
    ),
  },
  {
    title: 'To',
    cell: ({ channel, target }) => (
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        {capitalize(channel)}: {target}
      </Text>
    ),
  },
  { title: 'Status', cell: ({ state }) => <StatusBadge status={state} /> },
  { title: 'Attempts', align: 'right', cell: ({ attempts }) => attempts },
  {
    title: 'Last response',
    cell: ({ responseStatus, error }) => (
      <Text size="xs" style={{ overflowWrap: 'anywhere' }}>
        {[responseStatus || '', error].filter(Boolean).join(' ') || '–'}
      </Text>
    ),
  },
  { title: 'Created', cell: ({ createdAt }) => <Moment at={createdAt} relative /> },
  { title: 'Next attempt', cell: (delivery) => <NextAttempt delivery={delivery} /> },
];

interface DeliveriesTableProps {
  deliveries: readonly Delivery[];
  query: ListQuery;
  /** Last column, with actions. */
  action?: ListColumn<Delivery>;
}

/** Messages with their delivery status, newest first. */
export function DeliveriesTable({ deliveries, query, action }: DeliveriesTableProps) {
  return (
    <ListTable
      label="Messages"
      rows={deliveries}
      keyOf={({ deliveryId }) => deliveryId}
      query={query}
      columns={action ? [...columns, action] : columns}
      minWidth={820}
      empty={{ title: 'No messages yet', description: 'Send a test message to check the address.' }}
    />
  );
}

/** Labels of the types of messages. */
const labels: Readonly<Record<string, string>> = {
  'job.ended': 'Job ended',
  'job.rejected': 'Job rejected',
  'job.held': 'Deliveries held',
  'job.results': 'Result file',
  'job.awaiting_approval': 'Job awaits approval',
  'job.approval_expiring': 'Approval expires soon',
  'drift.started': 'Fields missing',
  'job.fields_missing': 'Job lacks fields',
  'schedule.rejected': 'Schedule rejected',
  'schedule.paused': 'Schedule paused',
  'item.changed': 'Item changed',
  'comparison.failed': 'Comparison fails',
  test: 'Test message',
};

/** Formats the type of a message: "Job ended". Unknown types are returned unchanged. */
const messageTypeText = (type: string): string => labels[type] ?? type;
