import { useMutation, useQuery } from '@connectrpc/connect-query';
import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconPlus } from '@tabler/icons-react';
import { AccountService } from '../../../gen/gleaner/account/v1/account_pb.ts';
import { pollMs } from '../app/queries.ts';
import { Page } from '../layout/Page.tsx';
import { KeyList } from './KeyList.tsx';

/** API keys of the caller. */
export function KeysPage() {
  const query = useQuery(AccountService.method.listApiKeys, {}, { refetchInterval: pollMs.idle });
  const creation = useMutation(AccountService.method.createApiKey);
  const revocation = useMutation(AccountService.method.revokeApiKey);
  const [opened, { open, close }] = useDisclosure();
  return (
    <Page
      title="API keys"
      description="Programs authenticate with API keys. Create one key per program so that you can revoke each separately."
      actions={
        <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={open}>
          Create key
        </Button>
      }
    >
      <KeyList
        query={query}
        create={creation.mutateAsync}
        revoke={revocation.mutateAsync}
        creating={opened}
        close={close}
      />
    </Page>
  );
}
