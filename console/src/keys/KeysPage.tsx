import { useMutation, useQuery } from '@connectrpc/connect-query';
import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconPlus } from '@tabler/icons-react';
import { AccountService } from '../../../gen/gleaner/account/v1/account_pb.ts';
import { every } from '../app/queries.ts';
import { Page } from '../layout/Page.tsx';
import { KeyList } from './KeyList.tsx';

/** The caller's API keys. */
export function KeysPage() {
  const query = useQuery(AccountService.method.listApiKeys, {}, { refetchInterval: every.resting });
  const creation = useMutation(AccountService.method.createApiKey);
  const revocation = useMutation(AccountService.method.revokeApiKey);
  const [opened, { open, close }] = useDisclosure();
  return (
    <Page
      title="API keys"
      about="A key lets a program act in your name. Give each program its own, so that you can revoke it alone."
      actions={
        <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={open}>
          New key
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
