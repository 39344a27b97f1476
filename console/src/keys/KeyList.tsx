import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { useState } from 'react';
import type { ApiKey } from '../../../gen/gleaner/account/v1/account_pb.ts';
import { showError, showSuccess } from '../errors/toast.ts';
import type { ListQuery } from '../list/ListTable.tsx';
import { useRefresh } from '../list/useRefresh.ts';
import { KeysTable } from './KeysTable.tsx';
import { NewKeyModal } from './NewKeyModal.tsx';

interface KeyListProps {
  query: ListQuery & { data?: { keys: ApiKey[] } | undefined };
  create: (request: { name: string; expiresAt: Timestamp | undefined }) => Promise<{ apiKey: string }>;
  revoke: (request: { keyId: string }) => Promise<unknown>;
  /** Opens the dialog that creates a key. */
  creating: boolean;
  /** Called when the dialog closes. */
  close: () => void;
}

/** API keys with a revoke action and the dialog that creates a key. */
export function KeyList({ query, create, revoke, creating, close }: KeyListProps) {
  const refresh = useRefresh();
  const [rotating, setRotating] = useState<ApiKey | null>(null);
  return (
    <>
      <KeysTable
        keys={query.data?.keys ?? []}
        query={query}
        rotate={setRotating}
        revoke={({ keyId, name }) =>
          revoke({ keyId })
            .then(() => showSuccess(`Key “${name}” revoked.`))
            .then(refresh)
            .catch(showError)
        }
      />
      <NewKeyModal
        key={rotating?.keyId ?? ''}
        opened={creating || rotating !== null}
        rotatedName={rotating?.name ?? ''}
        close={() => {
          close();
          setRotating(null);
        }}
        create={async (name, expiresAt) => {
          const { apiKey } = await create({ name, expiresAt });
          await refresh();
          return apiKey;
        }}
      />
    </>
  );
}
