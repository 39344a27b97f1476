import type { DescMethod } from '@bufbuild/protobuf';
import { useState } from 'react';
import type { ApiKey } from '../../../gen/gleaner/account/v1/account_pb.ts';
import { useAttempt } from '../errors/useAttempt.ts';
import type { ListQuery } from '../list/ListTable.tsx';
import { useRefresh } from '../list/useRefresh.ts';
import type { Role } from '../session/session.ts';
import { KeysTable } from './KeysTable.tsx';
import { type NewKey, NewKeyModal } from './NewKeyModal.tsx';

interface KeyListProps {
  /** Methods that the buttons call. */
  methods: { createApiKey: DescMethod; revokeApiKey: DescMethod };
  /** Role of the account that has the keys. */
  owner: Role;
  query: ListQuery & { data?: { keys: ApiKey[] } | undefined };
  create: (request: NewKey) => Promise<{ apiKey: string }>;
  revoke: (request: { keyId: string }) => Promise<unknown>;
  /** Opens the dialog that creates a key. */
  creating: boolean;
  /** Called when the dialog closes. */
  close: () => void;
}

/** API keys with a revoke action and the dialog that creates a key. */
export function KeyList({ query, methods, owner, create, revoke, creating, close }: KeyListProps) {
  const attempt = useAttempt();
  const refresh = useRefresh();
  const [rotating, setRotating] = useState<ApiKey | null>(null);
  return (
    <>
      <KeysTable
        keys={query.data?.keys ?? []}
        query={query}
        methods={methods}
        rotate={setRotating}
        revoke={({ keyId, name }) => attempt(revoke({ keyId }), `Key “${name}” revoked.`)}
      />
      <NewKeyModal
        key={rotating?.keyId ?? ''}
        opened={creating || rotating !== null}
        rotated={rotating}
        owner={owner}
        close={() => {
          close();
          setRotating(null);
        }}
        create={async (request) => {
          const { apiKey } = await create(request);
          await refresh();
          return apiKey;
        }}
      />
    </>
  );
}
