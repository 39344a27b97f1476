import { Badge, Code, Text, Tooltip } from '@mantine/core';
import type { AuditEntry } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { capitalize, shortId } from '../../../src/present/text.ts';
import { type ListQuery, ListTable } from '../ui/list/ListTable.tsx';
import type { ListColumn } from '../ui/list/list-content.ts';
import { Moment } from '../ui/time/Moment.tsx';

const columns: ListColumn<AuditEntry>[] = [
  { title: 'Time', cell: ({ createdAt }) => <Moment at={createdAt} /> },
  {
    title: 'Who',
    cell: ({ actorName, actorId, role }) => (
      <Tooltip label={`${capitalize(role)} ${actorId}`}>
        <Text span size="sm">
          {actorName || `${shortId(actorId)}…`}
        </Text>
      </Tooltip>
    ),
  },
  {
    title: 'Action',
    cell: ({ action, detail }) =>
      detail === '' ? (
        action
      ) : (
        <Tooltip label={detail} multiline maw={480} style={{ overflowWrap: 'anywhere' }}>
          <Text span size="sm" td="underline dotted">
            {action}
          </Text>
        </Tooltip>
      ),
  },
  {
    title: 'On what',
    cell: ({ target }) =>
      target === '' ? null : (
        <Tooltip label={target}>
          <Code>{target.length > 12 ? `${shortId(target)}…` : target}</Code>
        </Tooltip>
      ),
  },
  {
    title: 'Outcome',
    cell: ({ outcome }) => (
      <Badge variant="light" tt="none" color={outcome === 'ok' ? 'teal' : 'red'}>
        {outcome === 'ok' ? 'OK' : capitalize(outcome.replaceAll('_', ' '))}
      </Badge>
    ),
  },
  { title: 'From', cell: ({ source }) => <Code>{source}</Code> },
];

interface AuditTableProps {
  entries: readonly AuditEntry[];
  query: ListQuery;
}

/** Entries of the audit log, newest first. */
export function AuditTable({ entries, query }: AuditTableProps) {
  return (
    <ListTable
      label="Audit log"
      rows={entries}
      keyOf={({ entryId }) => entryId}
      query={query}
      columns={columns}
      minWidth={860}
      empty={{ title: 'No matching actions', description: 'Change the filters to see other actions.' }}
    />
  );
}
