import { Badge, Button, Code } from '@mantine/core';
import { modals } from '@mantine/modals';
import type { ApiKey } from '../../../gen/gleaner/account/v1/account_pb.ts';
import { type Column, type ListQuery, ListTable } from '../list/ListTable.tsx';
import { Moment } from '../time/Moment.tsx';

/** Whether a key works: "works", "expired" or "revoked". */
export function keyState({ revokedAt, expiresAt }: ApiKey, nowMs: number): 'works' | 'expired' | 'revoked' {
  if (revokedAt) return 'revoked';
  return expiresAt && Number(expiresAt.seconds) * 1000 <= nowMs ? 'expired' : 'works';
}

const columns: Column<ApiKey>[] = [
  { title: 'Name', cell: ({ name }) => name },
  { title: 'Begins with', cell: ({ prefix }) => <Code>{prefix}…</Code> },
  {
    title: 'State',
    cell: (key) => {
      const state = keyState(key, Date.now());
      return (
        <Badge variant="light" tt="none" color={state === 'works' ? 'teal' : 'gray'}>
          {state}
        </Badge>
      );
    },
  },
  { title: 'Made', cell: ({ createdAt }) => <Moment at={createdAt} relative /> },
  { title: 'Last used', cell: ({ lastUsedAt }) => <Moment at={lastUsedAt} relative none="never" /> },
  { title: 'Expires', cell: ({ expiresAt }) => <Moment at={expiresAt} relative none="never" /> },
];

interface KeysTableProps {
  keys: readonly ApiKey[];
  query: ListQuery;
  revoke: (key: ApiKey) => void;
}

/** API keys, revoked ones too, with a button that revokes those that work. */
export function KeysTable({ keys, query, revoke }: KeysTableProps) {
  const ask = (key: ApiKey) =>
    modals.openConfirmModal({
      title: `Revoke the key “${key.name}”?`,
      children: 'Programs that use it are refused from now on. A revoked key never works again.',
      labels: { confirm: 'Revoke', cancel: 'Keep it' },
      confirmProps: { color: 'red' },
      onConfirm: () => revoke(key),
    });
  const action: Column<ApiKey> = {
    title: 'Revoke',
    align: 'right',
    cell: (key) =>
      key.revokedAt ? null : (
        <Button
          size="compact-sm"
          variant="default"
          onClick={() => ask(key)}
          aria-label={`Revoke ${key.name}`}
        >
          Revoke
        </Button>
      ),
  };
  return (
    <ListTable
      label="API keys"
      rows={keys}
      keyOf={({ keyId }) => keyId}
      query={query}
      columns={[...columns, action]}
      minWidth={720}
      empty={{ title: 'No API keys', about: 'Without one nobody can call the service in this name.' }}
    />
  );
}
