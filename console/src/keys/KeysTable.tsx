import type { DescMethod } from '@bufbuild/protobuf';
import { Badge, Code, Group } from '@mantine/core';
import { modals } from '@mantine/modals';
import type { ApiKey } from '../../../gen/gleaner/account/v1/account_pb.ts';
import { TestBadge } from '../layout/TestBadge.tsx';
import { type ListQuery, ListTable } from '../list/ListTable.tsx';
import type { Column } from '../list/list-content.ts';
import { formatCount } from '../number/format.ts';
import { CallButton } from '../permission/CallButton.tsx';
import { capitalize } from '../text/capitalize.ts';
import { Moment } from '../time/Moment.tsx';

/** Returns whether a key can be used. */
function keyStatus({ revokedAt, expiresAt }: ApiKey, nowMs: number): 'active' | 'expired' | 'revoked' {
  if (revokedAt) return 'revoked';
  return expiresAt && Number(expiresAt.seconds) * 1000 <= nowMs ? 'expired' : 'active';
}

const columns: Column<ApiKey>[] = [
  {
    title: 'Name',
    cell: ({ name, mode }) => (
      <Group gap={6} wrap="nowrap">
        {name}
        {mode === 'test' && <TestBadge />}
      </Group>
    ),
  },
  { title: 'Prefix', cell: ({ prefix }) => <Code>{prefix}…</Code> },
  {
    title: 'Status',
    cell: (key) => {
      const status = keyStatus(key, Date.now());
      return (
        <Badge variant="light" tt="none" color={status === 'active' ? 'teal' : 'gray'}>
          {capitalize(status)}
        </Badge>
      );
    },
  },
  { title: 'Allows', cell: ({ scopes, operatorRole }) => capitalize(operatorRole || scopes.join(', ')) },
  {
    title: 'Spent',
    cell: ({ creditsSpent, creditCeiling }) =>
      creditCeiling === undefined
        ? null
        : `${formatCount(creditsSpent)} of ${formatCount(creditCeiling)} credits`,
  },
  { title: 'Created', cell: ({ createdAt }) => <Moment at={createdAt} relative /> },
  { title: 'Last used', cell: ({ lastUsedAt }) => <Moment at={lastUsedAt} relative none="Never" /> },
  { title: 'Expires', cell: ({ expiresAt }) => <Moment at={expiresAt} relative none="Never" /> },
];

interface KeysTableProps {
  keys: readonly ApiKey[];
  query: ListQuery;
  /** Methods that the buttons call. */
  methods: { createApiKey: DescMethod; revokeApiKey: DescMethod };
  /** Opens the dialog that creates a replacement. */
  rotate: (key: ApiKey) => void;
  revoke: (key: ApiKey) => void;
}

/** API keys, including revoked ones, with buttons to rotate and revoke them. */
export function KeysTable({ keys, query, methods, rotate, revoke }: KeysTableProps) {
  const confirm = (key: ApiKey) =>
    modals.openConfirmModal({
      title: `Revoke key “${key.name}”?`,
      children: 'Programs that use this key stop working immediately. This cannot be undone.',
      labels: { confirm: 'Revoke', cancel: 'Back' },
      confirmProps: { color: 'red' },
      onConfirm: () => revoke(key),
    });
  const action: Column<ApiKey> = {
    title: 'Actions',
    align: 'right',
    cell: (key) =>
      key.revokedAt ? null : (
        <Group gap={6} wrap="nowrap" justify="flex-end">
          <CallButton
            call={methods.createApiKey}
            size="compact-sm"
            variant="default"
            onClick={() => rotate(key)}
            aria-label={`Rotate ${key.name}`}
          >
            Rotate
          </CallButton>
          <CallButton
            call={methods.revokeApiKey}
            size="compact-sm"
            variant="default"
            onClick={() => confirm(key)}
            aria-label={`Revoke ${key.name}`}
          >
            Revoke
          </CallButton>
        </Group>
      ),
  };
  return (
    <ListTable
      label="API keys"
      rows={keys}
      keyOf={({ keyId }) => keyId}
      query={query}
      columns={[...columns, action]}
      minWidth={860}
      empty={{ title: 'No API keys', description: 'Create a key to call the API.' }}
    />
  );
}
