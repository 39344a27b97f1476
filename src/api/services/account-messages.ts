import type { MessageInitShape } from '@bufbuild/protobuf';
import {
  AccountSchema,
  ApiKeySchema,
  LedgerEntrySchema,
} from '../../../gen/gleaner/account/v1/account_pb.ts';
import { OperatorSchema } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { modeOf, permissionsOf } from '../../access/principal.ts';
import type { ApiKey, Mode, User } from '../../store/documents.ts';
import { toMessage } from './to-message.ts';

const [accountOf, operatorOf, keyOf] = [
  toMessage(AccountSchema),
  toMessage(OperatorSchema),
  toMessage(ApiKeySchema),
];

export function toAccountMessage(user: User): MessageInitShape<typeof AccountSchema> {
  const suspended = user.suspendedAt !== null;
  return accountOf({
    ...user,
    suspended,
    mode: modeOf(user),
    liveAccountId: user.testOf,
  });
}

export function toOperatorMessage(
  user: User,
  keys: readonly ApiKey[],
): MessageInitShape<typeof OperatorSchema> {
  return { ...operatorOf(user), keys: keys.map((key) => toApiKeyMessage(key, 'live')) };
}

/** Returns the message ApiKey, without the secret. `mode` is the mode of the key's account. */
export function toApiKeyMessage(key: ApiKey, mode: Mode): MessageInitShape<typeof ApiKeySchema> {
  return keyOf({
    ...key,
    ...permissionsOf(key),
    keyId: key.id,
    mode,
  });
}

/** Returns the message LedgerEntry for the user of the entry. */
export const toLedgerEntryMessage = toMessage(LedgerEntrySchema, 'userId');
