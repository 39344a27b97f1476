import type { Message } from '@bufbuild/protobuf';
import type { AccountService } from '../../../gen/gleaner/account/v1/account_pb.ts';
import type { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { createKey, type KeyRequest, makeKeyRoom } from '../../access/keys.ts';
import { Fault } from '../../contract/fault.ts';
import type { JobContext } from '../../jobs/context.ts';
import {
  abandonSubmission,
  beginSubmission,
  completeSubmission,
  submitterOf,
} from '../../jobs/steps/idempotency.ts';
import type { Call } from './handlers.ts';

type CreatedKey = Awaited<ReturnType<typeof createKey>>;

type CreateKeyMethod =
  | typeof AccountService.method.createApiKey
  | typeof OperatorService.method.createApiKey;

/** A call that creates a key. */
interface CreateKeyCall {
  method: CreateKeyMethod;
  request: Message;
  call: Pick<Call, 'principal' | 'idempotencyKey'>;
}

/**
 * Creates one key for all calls with the same idempotency key. A repeated call returns the same
 * secret, which is stored as long as the idempotency key, encrypted with the secrets of the
 * service. `requestOf` returns the key to create. Throws `conflict` like beginSubmission(), and if
 * the service has lost the key that encrypted the secret.
 */
export async function createKeyOnce(
  context: JobContext,
  { method, request, call: { principal, idempotencyKey } }: CreateKeyCall,
  requestOf: (now: number) => Promise<KeyRequest>,
): Promise<CreatedKey> {
  const { store, clock, destinations } = context;
  const submitter = submitterOf(principal, { idempotencyKey });
  const submission = await beginSubmission(context, method, request, submitter, context.newId());
  const { jobId: id, response, jobMayExist: isResumed } = submission;
  if (response !== null) return openKey(context, response);
  try {
    const now = clock.now();
    const key = await requestOf(now);
    // Nobody has seen the secret of a call that did not end.
    if (isResumed) await store.apiKeys.remove({ id });
    await makeKeyRoom(store, key.userId, now);
    submission.jobMayExist = true;
    const created = await createKey(store, { ...key, id });
    const { sealed } = destinations.box.seal(created.apiKey, id);
    await completeSubmission(context, submission, { keyId: id, apiKey: sealed });
    return created;
  } catch (error) {
    await abandonSubmission(context, submission);
    throw error;
  }
}

/** Returns the key of an earlier call. */
function openKey({ destinations }: JobContext, { keyId, apiKey: sealed }: CreatedKey): CreatedKey {
  const apiKey = destinations.box.open(sealed, keyId);
  if (apiKey !== null) return { keyId, apiKey };
  throw new Fault(
    'conflict',
    `The key '${keyId}' was created under this Idempotency-Key, ` +
      'but its secret cannot be read any more. Revoke it, and create another one.',
  );
}
