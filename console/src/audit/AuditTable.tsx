import { Badge, Code, Text, Tooltip } from '@mantine/core';
import type { AuditEntry } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { type ListQuery, ListTable } from '../list/ListTable.tsx';
import type { Column } from '../list/list-content.ts';
import { capitalize } from '../text/capitalize.ts';
import { Moment } from '../time/Moment.tsx';

const columns: Column<AuditEntry>[] = [
  { title: 'Time', cell: ({ createdAt }) => <Moment at={createdAt} /> },
  {
    title: 'Who',
    cell: ({ actorName, actorId, role }) => (
      <Tooltip label={`${capitalize(role)} ${actorId}`}>
        <Text span size="sm">
          {actorName || `${actorId.slice(0, 8)}…`}
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
          <Code>{target.length > 12 ? `${target.slice(0, 8)}…` : target}</Code>
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
