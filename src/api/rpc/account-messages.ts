import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type {
  AccountSchema,
  ApiKeySchema,
  LedgerEntrySchema,
} from '../../../gen/gleaner/account/v1/account_pb.ts';
import type { OperatorSchema } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { permissionsOf } from '../../access/principal.ts';
import { modeOf } from '../../access/test-account.ts';
import type { ApiKey, LedgerEntry, Mode, User } from '../../store/documents.ts';

export function toAccountMessage(user: User): MessageInitShape<typeof AccountSchema> {
  const { id, name, email } = user;
  return {
    id,
    name,
    email,
    balance: BigInt(user.balance),
    createdAt: timestampFromMs(user.createdAt),
    suspended: user.suspendedAt !== null,
    ...(user.deletedAt === null ? {} : { deletedAt: timestampFromMs(user.deletedAt) }),
    mode: modeOf(user),
    liveAccountId: user.testOf ?? '',
  };
}

export function toOperatorMessage(
  user: User,
  keys: readonly ApiKey[],
): MessageInitShape<typeof OperatorSchema> {
  const { id, name, createdAt } = user;
  return {
    id,
    name,
    createdAt: timestampFromMs(createdAt),
    keys: keys.map((key) => toApiKeyMessage(key, 'live')),
  };
}

/** Returns the message ApiKey, without the secret. `mode` is the mode of the key's account. */
export function toApiKeyMessage(key: ApiKey, mode: Mode): MessageInitShape<typeof ApiKeySchema> {
  const { scopes, operatorRole } = permissionsOf(key);
  return {
    keyId: key.id,
    name: key.name,
    prefix: key.prefix,
    createdAt: timestampFromMs(key.createdAt),
    ...(key.expiresAt === null ? {} : { expiresAt: timestampFromMs(key.expiresAt) }),
    ...(key.revokedAt === null ? {} : { revokedAt: timestampFromMs(key.revokedAt) }),
    ...(key.lastUsedAt === null ? {} : { lastUsedAt: timestampFromMs(key.lastUsedAt) }),
    scopes: [...scopes],
    operatorRole: operatorRole ?? '',
    ...(key.creditCeiling === null ? {} : { creditCeiling: BigInt(key.creditCeiling) }),
    creditsSpent: BigInt(key.creditsSpent),
    mode,
  };
}

export function toLedgerEntryMessage(entry: LedgerEntry): MessageInitShape<typeof LedgerEntrySchema> {
  const { key, type, note } = entry;
  const createdAt = timestampFromMs(entry.createdAt);
  return { key, type, note, amount: BigInt(entry.amount), jobId: entry.jobId ?? '', createdAt };
}
