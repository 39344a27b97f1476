import { useQuery } from '@connectrpc/connect-query';
import { Code, Text, Tooltip } from '@mantine/core';
import type { LedgerEntry } from '../../../../gen/gleaner/account/v1/account_pb.ts';
import { OperatorService } from '../../../../gen/gleaner/operator/v1/operator_pb.ts';
import { capitalize, formatSignedCount, shortId } from '../../../../src/present/text.ts';
import { Id } from '../Id.tsx';
import { type ListQuery, ListTable } from '../list/ListTable.tsx';
import type { ListColumn } from '../list/list-content.ts';
import { useList } from '../list/useList.ts';
import { pollMs } from '../queries.ts';
import { Moment } from '../time/Moment.tsx';

/** Shortens the key of an entry to its type and the start of its id: "charge:7ea99381…". */
const shortKey = (key: string) => key.replace(/([0-9a-f]{8})-[0-9a-f-]{27}/, '$1…');

const owner: ListColumn<LedgerEntry> = {
  title: 'User',
  cell: ({ userId }) => <UserName userId={userId} />,
};

const columns: ListColumn<LedgerEntry>[] = [
  { title: 'Date', cell: ({ createdAt }) => <Moment at={createdAt} /> },
  { title: 'Type', cell: ({ type }) => capitalize(type) },
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
      jobId === '' ? note : <Id of="jobs" value={jobId} name={`Job ${shortId(jobId)}`} size="sm" />,
  },
  {
    title: 'Entry',
    cell: ({ key }) => (
      <Tooltip label={key} multiline>
        <Code>{shortKey(key)}</Code>
      </Tooltip>
    ),
  },
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

/**
 * Link to a user with the user's name; with the start of the id for a user who is not among the
 * newest 1,000.
 */
function UserName({ userId }: { userId: string }) {
  const { data } = useQuery(
    OperatorService.method.listUsers,
    { pageSize: 1_000 },
    { staleTime: pollMs.idle },
  );
  const name = data?.users.find(({ id }) => id === userId)?.name;
  return <Id of="users" value={userId} name={name} />;
}

/** Ledger of one user, or of all users for ''. For operators. */
export function UserLedger({ userId }: { userId: string }) {
  const { query, rows } = useList(
    OperatorService.method.listLedgerEntries,
    { userId, pageSize: 100 },
    (page) => page.entries,
  );
  return <LedgerTable entries={rows} query={query} owners={userId === ''} />;
}
