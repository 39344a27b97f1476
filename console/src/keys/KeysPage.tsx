import { useMutation, useQuery } from '@connectrpc/connect-query';
import { AccountService } from '../../../gen/gleaner/account/v1/account_pb.ts';
import { useKeys } from '../ui/keys/useKeys.tsx';
import { Page } from '../ui/layout/Page.tsx';
import { pollMs } from '../ui/queries.ts';
import { useSession } from '../ui/session/session.ts';

const { method } = AccountService;

/** API keys of the caller. */
export function KeysPage() {
  const { hasCeiling } = useSession();
  const [list, createButton] = useKeys({
    query: useQuery(method.listApiKeys, {}, { refetchInterval: pollMs.idle }),
    methods: method,
    owner: 'user',
    create: useMutation(method.createApiKey).mutateAsync,
    button: { refusal: hasCeiling ? 'A key with a credit ceiling cannot create keys.' : null },
  });
  return (
    <Page
      title="API keys"
      description="Programs authenticate with API keys. Create one key per program so that you can revoke each separately."
      actions={createButton}
    >
      {list}
    </Page>
  );
}
