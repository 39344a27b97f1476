import type { Timestamp } from '@bufbuild/protobuf/wkt';
import type { ApiKey } from '../../../gen/gleaner/account/v1/account_pb.ts';
import { tellDone, tellFault } from '../fault/tell.ts';
import type { ListQuery } from '../list/ListTable.tsx';
import { useRefresh } from '../list/useRefresh.ts';
import { KeysTable } from './KeysTable.tsx';
import { NewKeyModal } from './NewKeyModal.tsx';

interface KeyListProps {
  query: ListQuery & { data?: { keys: ApiKey[] } | undefined };
  create: (request: { name: string; expiresAt: Timestamp | undefined }) => Promise<{ apiKey: string }>;
  revoke: (request: { keyId: string }) => Promise<unknown>;
  /** Whether a key is being made. */
  creating: boolean;
  /** Called when no key is to be made any more. */
  close: () => void;
}

/** API keys with what revokes them, and the dialog that makes one. */
export function KeyList({ query, create, revoke, creating, close }: KeyListProps) {
  const refresh = useRefresh();
  return (
    <>
      <KeysTable
        keys={query.data?.keys ?? []}
        query={query}
        revoke={({ keyId, name }) =>
          revoke({ keyId })
            .then(() => tellDone(`The key “${name}” is revoked.`))
            .then(refresh)
            .catch(tellFault)
        }
      />
      <NewKeyModal
        opened={creating}
        close={close}
        create={async (name, expiresAt) => {
          const { apiKey } = await create({ name, expiresAt });
          await refresh();
          return apiKey;
        }}
      />
    </>
  );
}
