import { Anchor, Code, Text } from '@mantine/core';
import { Link } from 'react-router';
import type { LedgerEntry } from '../../../gen/gleaner/account/v1/account_pb.ts';
import { type ListQuery, ListTable } from '../list/ListTable.tsx';
import type { Column } from '../list/list-content.ts';
import { formatSignedCount } from '../number/format.ts';
import { Moment } from '../time/Moment.tsx';

const owner: Column<LedgerEntry> = {
  title: 'User',
  cell: ({ userId }) => (
    <Anchor component={Link} to={`/users/${userId}`} size="sm">
      {userId.slice(0, 8)}
    </Anchor>
  ),
};

const columns: Column<LedgerEntry>[] = [
  { title: 'Date', cell: ({ createdAt }) => <Moment at={createdAt} /> },
  { title: 'Type', cell: ({ type }) => type },
  {
    title: 'Credits',
    align: 'right',
    cell: ({ amount }) => (
      <Text span size="sm" ff="monospace">
        {formatSignedCount(amount)}
      </Text>
    ),
  },
  {
    title: 'Details',
    cell: ({ jobId, note }) =>
      jobId === '' ? (
        note
      ) : (
        <Anchor component={Link} to={`/jobs/${jobId}`} size="sm">
          Job {jobId.slice(0, 8)}
        </Anchor>
      ),
  },
  { title: 'Entry', cell: ({ key }) => <Code style={{ overflowWrap: 'anywhere' }}>{key}</Code> },
];

interface LedgerTableProps {
  entries: readonly LedgerEntry[];
  query: ListQuery;
  owners?: boolean;
}

/** Ledger entries, newest first, with their users if `owners` is set. */
export function LedgerTable({ entries, query, owners = false }: LedgerTableProps) {
  return (
    <ListTable
      label="Ledger entries"
      rows={entries}
      keyOf={({ key, userId }) => `${userId} ${key}`}
      query={query}
      columns={owners ? columns.toSpliced(1, 0, owner) : columns}
      minWidth={680}
      empty={{ title: 'No entries yet', description: 'Grants, charges and refunds appear here.' }}
    />
  );
}
