import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import type {
  ApiKeySchema,
  CreateApiKeyRequest,
} from '../../../gen/gleaner/account/v1/account_pb.ts';
import type { KeyRequest } from '../../access/keys.ts';
import { modeOf, testAccountId } from '../../access/principal.ts';
import type { KeyScope } from '../../contract/permission.ts';
import type { User } from '../../store/documents.ts';
import type { Store } from '../../store/store.ts';
import { toApiKeyMessage } from './account-messages.ts';

/** Returns the keys of an account and, for a live account, of its test account, newest first. */
export async function listKeys(
  store: Pick<Store, 'apiKeys'>,
  user: Pick<User, 'id' | 'role' | 'testOf'>,
): Promise<MessageInitShape<typeof ApiKeySchema>[]> {
  const mode = modeOf(user);
  const hasTestAccount = user.role === 'user' && mode === 'live';
  const [own, test] = await Promise.all([
    store.apiKeys.find({ userId: user.id }, { newestFirst: true }),
    hasTestAccount
      ? store.apiKeys.find({ userId: testAccountId(user.id) }, { newestFirst: true })
      : [],
  ]);
  return [
    ...own.map((key) => ({ key, mode })),
    ...test.map((key) => ({ key, mode: 'test' as const })),
  ]
    .sort((one, other) => other.key.createdAt - one.key.createdAt)
    .map(({ key, mode }) => toApiKeyMessage(key, mode));
}

/** Returns the properties of a key that users and operators can request. */
export function keyFields({
  name,
  expiresAt,
  scopes,
  creditCeiling,
}: Pick<CreateApiKeyRequest, 'name' | 'expiresAt' | 'scopes' | 'creditCeiling'>): Pick<
  KeyRequest,
  'name' | 'expiresAt' | 'scopes' | 'creditCeiling'
> {
  return {
    name,
    expiresAt: expiresAt ? timestampMs(expiresAt) : null,
    scopes: scopes as KeyScope[],
    ...(creditCeiling === undefined ? {} : { creditCeiling: Number(creditCeiling) }),
  };
}
