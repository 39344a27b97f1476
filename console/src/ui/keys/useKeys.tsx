import { useDisclosure } from '@mantine/hooks';
import { IconPlus } from '@tabler/icons-react';
import { type ReactNode, useState } from 'react';
import type { ApiKey } from '../../../../gen/gleaner/account/v1/account_pb.ts';
import type { ListQuery } from '../list/ListTable.tsx';
import { useRefresh } from '../list/useList.ts';
import { CallButton, type CallButtonProps } from '../permission/CallButton.tsx';
import type { AccountRole } from '../session/session.ts';
import { type KeyMethods, KeysTable } from './KeysTable.tsx';
import { type NewKey, NewKeyModal } from './NewKeyModal.tsx';

interface KeysOptions {
  /** Methods that the buttons call. */
  methods: KeyMethods;
  /** Role of the account that has the keys. */
  owner: AccountRole;
  query: ListQuery & { data?: { keys: ApiKey[] } | undefined };
  create: (request: NewKey) => Promise<{ apiKey: string }>;
  /** Properties of the button that creates a key. */
  button?: Partial<CallButtonProps>;
}

/** Returns a list of API keys with their actions, and the button that creates a key. */
export function useKeys({
  query,
  methods,
  owner,
  create,
  button,
}: KeysOptions): [ReactNode, ReactNode] {
  const refresh = useRefresh();
  const [creating, { open, close }] = useDisclosure();
  const [rotating, setRotating] = useState<ApiKey | null>(null);
  const list = (
    <>
      <KeysTable
        keys={query.data?.keys ?? []}
        query={query}
        methods={methods}
        rotate={setRotating}
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
  return [
    list,
    <CallButton call={methods.createApiKey} icon={IconPlus} onClick={open} {...button} key="create">
      Create key
    </CallButton>,
  ];
}
