import type { DescMethod } from '@bufbuild/protobuf';
import { type CallOptions, createClient, type Transport } from '@connectrpc/connect';
import { type Account, AccountService } from '../../gen/gleaner/account/v1/account_pb.ts';
import { fullName } from '../jobs/offers.ts';
import { type AdmissionTokens, admissionMetadata } from './admission-token.ts';

/**
 * Returns a function that checks the key in the `authorization` header with a remote core and returns the user's
 * account, without counting a request. With a method, checks that the key allows it. Throws a ConnectError.
 */
export function createAccountCheck({
  transport,
  admissions,
}: {
  transport: Transport;
  admissions: AdmissionTokens;
}): (
  options: CallOptions & { headers: Readonly<Record<string, string>> },
  method?: DescMethod,
) => Promise<Account> {
  const accounts = createClient(AccountService, transport);
  return async (options, method) => {
    const headers = {
      ...options.headers,
      [admissionMetadata]: admissions.sign(options.headers.authorization, method ? fullName(method) : ''),
    };
    const { account } = await accounts.getAccount({}, { ...options, headers });
    return account!;
  };
}
