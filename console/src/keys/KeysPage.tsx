import { useMutation, useQuery } from '@connectrpc/connect-query';
import { useDisclosure } from '@mantine/hooks';
import { IconPlus } from '@tabler/icons-react';
import { AccountService } from '../../../gen/gleaner/account/v1/account_pb.ts';
import { pollMs } from '../app/queries.ts';
import { Page } from '../layout/Page.tsx';
import { CallButton } from '../permission/CallButton.tsx';
import { useSession } from '../session/session.ts';
import { KeyList } from './KeyList.tsx';

/** API keys of the caller. */
export function KeysPage() {
  const query = useQuery(AccountService.method.listApiKeys, {}, { refetchInterval: pollMs.idle });
  const creation = useMutation(AccountService.method.createApiKey);
  const revocation = useMutation(AccountService.method.revokeApiKey);
  const { hasCeiling } = useSession();
  const [opened, { open, close }] = useDisclosure();
  return (
    <Page
      title="API keys"
      description="Programs authenticate with API keys. Create one key per program so that you can revoke each separately."
      actions={
        <CallButton
          call={AccountService.method.createApiKey}
          refusal={hasCeiling ? 'A key with a credit ceiling cannot create keys.' : null}
          leftSection={<IconPlus size={16} aria-hidden />}
          onClick={open}
        >
          Create key
        </CallButton>
      }
    >
      <KeyList
        query={query}
        methods={AccountService.method}
        owner="user"
        create={creation.mutateAsync}
        revoke={revocation.mutateAsync}
        creating={opened}
        close={close}
      />
    </Page>
  );
}
