import { type CallOptions, createClient, type Transport } from '@connectrpc/connect';
import { type Account, AccountService } from '../../gen/gleaner/account/v1/account_pb.ts';

/**
 * Metadata of the GetAccount call by which a gateway checks a caller's key. The call checks the key's rate limit
 * without counting; the call that follows is counted.
 */
export const admissionMetadata = 'gleaner-admission';

/**
 * Returns a function that checks the key in the `authorization` header with a remote core and returns the user's
 * account, without counting a request. Throws a ConnectError.
 */
export function createAccountCheck(
  transport: Transport,
): (options: CallOptions & { headers: Readonly<Record<string, string>> }) => Promise<Account> {
  const accounts = createClient(AccountService, transport);
  return async (options) => {
    const headers = { ...options.headers, [admissionMetadata]: '1' };
    const { account } = await accounts.getAccount({}, { ...options, headers });
    return account!;
  };
}
