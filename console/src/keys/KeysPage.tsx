import { useMutation, useQuery } from '@connectrpc/connect-query';
import { useDisclosure } from '@mantine/hooks';
import { IconPlus } from '@tabler/icons-react';
import { AccountService } from '../../../gen/gleaner/account/v1/account_pb.ts';
import { KeyList } from '../ui/keys/KeyList.tsx';
import { Page } from '../ui/layout/Page.tsx';
import { CallButton } from '../ui/permission/CallButton.tsx';
import { pollMs } from '../ui/queries.ts';
import { useSession } from '../ui/session/session.ts';

/** API keys of the caller. */
export function KeysPage() {
  const query = useQuery(AccountService.method.listApiKeys, {}, { refetchInterval: pollMs.idle });
  const creation = useMutation(AccountService.method.createApiKey);
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
        creating={opened}
        close={close}
      />
    </Page>
  );
}
