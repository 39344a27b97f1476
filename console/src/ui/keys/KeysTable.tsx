import { Code, Group } from '@mantine/core';
import type { AccountService, ApiKey } from '../../../../gen/gleaner/account/v1/account_pb.ts';
import type { OperatorService } from '../../../../gen/gleaner/operator/v1/operator_pb.ts';
import { capitalize, formatCount } from '../../../../src/present/text.ts';
import { ConfirmButton } from '../actions/ActionButton.tsx';
import { StatusBadge } from '../jobs/StatusBadge.tsx';
import { TestBadge } from '../layout/Page.tsx';
import { type ListQuery, ListTable } from '../list/ListTable.tsx';
import type { ListColumn } from '../list/list-content.ts';
import { RowActions } from '../list/RowActions.tsx';
import { CallButton } from '../permission/CallButton.tsx';
import { Moment } from '../time/Moment.tsx';

/** Returns whether a key can be used. */
function keyStatus(
  { revokedAt, expiresAt }: ApiKey,
  nowMs: number,
): 'active' | 'expired' | 'revoked' {
  if (revokedAt) return 'revoked';
  if (expiresAt && Number(expiresAt.seconds) * 1000 <= nowMs) return 'expired';
  return 'active';
}

const columns: ListColumn<ApiKey>[] = [
  {
    title: 'Name',
    cell: ({ name, mode }) => (
      <Group gap={6} wrap="nowrap">
        {name}
        {mode === 'test' && <TestBadge />}
      </Group>
    ),
  },
  { title: 'Prefix', cell: ({ prefix }) => (prefix === '' ? null : <Code>{prefix}…</Code>) },
  { title: 'Status', cell: (key) => <StatusBadge status={keyStatus(key, Date.now())} /> },
  {
    title: 'Allows',
    cell: ({ scopes, operatorRole }) => capitalize(operatorRole || scopes.join(', ')),
  },
  {
    title: 'Spent',
    cell: ({ creditsSpent, creditCeiling }) =>
      creditCeiling === undefined
        ? null
        : `${formatCount(creditsSpent)} of ${formatCount(creditCeiling)} credits`,
  },
  { title: 'Created', cell: ({ createdAt }) => <Moment at={createdAt} relative /> },
  {
    title: 'Last used',
    cell: ({ lastUsedAt }) => <Moment at={lastUsedAt} relative none="Never" />,
  },
  { title: 'Expires', cell: ({ expiresAt }) => <Moment at={expiresAt} relative none="Never" /> },
];

type MethodsOf<Service extends { method: object }> = Pick<
  Service['method'],
  keyof Service['method'] & ('createApiKey' | 'revokeApiKey')
>;

/** Methods that create and revoke keys: of the caller, or of any account. */
export type KeyMethods = MethodsOf<typeof AccountService> | MethodsOf<typeof OperatorService>;

interface KeysTableProps {
  keys: readonly ApiKey[];
  query: ListQuery;
  /** Methods that the buttons call. */
  methods: KeyMethods;
  /** Opens the dialog that creates a replacement. */
  rotate: (key: ApiKey) => void;
}

/** API keys, including revoked ones, with buttons to rotate and revoke them. */
export function KeysTable({ keys, query, methods, rotate }: KeysTableProps) {
  const action: ListColumn<ApiKey> = {
    title: 'Actions',
    align: 'right',
    cell: (key) =>
      key.revokedAt ? null : (
        <RowActions>
          <CallButton
            inRow
            call={methods.createApiKey}
            onClick={() => rotate(key)}
            aria-label={`Rotate ${key.name}`}
          >
            Rotate
          </CallButton>
          <ConfirmButton
            inRow
            // The request of both methods is the id of the key.
            call={methods.revokeApiKey as typeof AccountService.method.revokeApiKey}
            request={{ keyId: key.keyId }}
            question={{
              title: `Revoke key “${key.name}”?`,
              text: 'Programs that use this key stop working immediately. This cannot be undone.',
              confirm: 'Revoke',
            }}
            done={`Key “${key.name}” revoked.`}
            aria-label={`Revoke ${key.name}`}
          >
            Revoke
          </ConfirmButton>
        </RowActions>
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
