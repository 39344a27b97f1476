import { timestampMs } from '@bufbuild/protobuf/wkt';
import type { CreateApiKeyRequest } from '../../../gen/gleaner/account/v1/account_pb.ts';
import type { KeyRequest } from '../../access/keys.ts';
import type { KeyScope } from '../../contract/permission.ts';

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
