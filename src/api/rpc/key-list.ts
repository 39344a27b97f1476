import type { MessageInitShape } from '@bufbuild/protobuf';
import type { ApiKeySchema } from '../../../gen/gleaner/account/v1/account_pb.ts';
import { modeOf, testAccountId } from '../../access/test-account.ts';
import type { User } from '../../store/documents.ts';
import type { AccountStore } from '../../store/store.ts';
import { toApiKeyMessage } from './account-messages.ts';

/** Returns the keys of an account and, for a live account, of its test account, newest first. */
export async function listKeys(
  store: Pick<AccountStore, 'listApiKeys'>,
  user: Pick<User, 'id' | 'role' | 'testOf'>,
): Promise<MessageInitShape<typeof ApiKeySchema>[]> {
  const mode = modeOf(user);
  const hasTestAccount = user.role === 'user' && mode === 'live';
  const [own, test] = await Promise.all([
    store.listApiKeys(user.id),
    hasTestAccount ? store.listApiKeys(testAccountId(user.id)) : [],
  ]);
  return [...own.map((key) => ({ key, mode })), ...test.map((key) => ({ key, mode: 'test' as const }))]
    .sort((one, other) => other.key.createdAt - one.key.createdAt)
    .map(({ key, mode }) => toApiKeyMessage(key, mode));
}
