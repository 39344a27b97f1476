import { useState } from 'react';
import type { ApiKey } from '../../../../gen/gleaner/account/v1/account_pb.ts';
import type { ListQuery } from '../list/ListTable.tsx';
import { useRefresh } from '../list/useRefresh.ts';
import type { AccountRole } from '../session/session.ts';
import { type KeyMethods, KeysTable } from './KeysTable.tsx';
import { type NewKey, NewKeyModal } from './NewKeyModal.tsx';

interface KeyListProps {
  /** Methods that the buttons call. */
  methods: KeyMethods;
  /** Role of the account that has the keys. */
  owner: AccountRole;
  query: ListQuery & { data?: { keys: ApiKey[] } | undefined };
  create: (request: NewKey) => Promise<{ apiKey: string }>;
  /** Opens the dialog that creates a key. */
  creating: boolean;
  /** Called when the dialog closes. */
  close: () => void;
}

/** API keys with a revoke action and the dialog that creates a key. */
export function KeyList({ query, methods, owner, create, creating, close }: KeyListProps) {
  const refresh = useRefresh();
  const [rotating, setRotating] = useState<ApiKey | null>(null);
  return (
    <>
      <KeysTable keys={query.data?.keys ?? []} query={query} methods={methods} rotate={setRotating} />
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
