import type { DescMethod } from '@bufbuild/protobuf';
import { type CallOptions, createClient, type Transport } from '@connectrpc/connect';
import { type Account, AccountService } from '../../gen/gleaner/account/v1/account_pb.ts';
import { fullName } from '../jobs/offers.ts';

/**
 * Metadata of the GetAccount or GetSession call by which a gateway checks a caller's key. The call checks the key's rate
 * limit without counting; the call that follows is counted. Its value is the full name of the method that follows, which
 * the key must allow, or 1 to check the key only.
 */
export const admissionMetadata = 'gleaner-admission';

/**
 * Returns a function that checks the key in the `authorization` header with a remote core and returns the user's
 * account, without counting a request. With a method, checks that the key allows it. Throws a ConnectError.
 */
export function createAccountCheck(
  transport: Transport,
): (
  options: CallOptions & { headers: Readonly<Record<string, string>> },
  method?: DescMethod,
) => Promise<Account> {
  const accounts = createClient(AccountService, transport);
  return async (options, method) => {
    const headers = { ...options.headers, [admissionMetadata]: method ? fullName(method) : '1' };
    const { account } = await accounts.getAccount({}, { ...options, headers });
    return account!;
  };
}
