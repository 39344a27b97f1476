import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { AccountService } from '../../../gen/gleaner/account/v1/account_pb.ts';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import type { Session } from './session.ts';
import { transport } from './transport.ts';

/** Resolves the role and name of a key. Throws a ConnectError if the key is not valid. */
export async function resolveSession(key: string): Promise<Session> {
  const headers = { authorization: `Bearer ${key}` };
  try {
    const { account } = await createClient(AccountService, transport).getAccount({}, { headers });
    return { key, role: 'user', name: account?.name ?? '' };
  } catch (error) {
    if (ConnectError.from(error).code !== Code.PermissionDenied) throw error;
    await createClient(OperatorService, transport).listUsers({ pageSize: 1 }, { headers });
    return { key, role: 'operator', name: '' };
  }
}
