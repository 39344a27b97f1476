import {
  create,
  type DescMethod,
  fromJsonString,
  type Message,
  type MessageInitShape,
  type MessageShape,
  toBinary,
  toJsonString,
} from '@bufbuild/protobuf';
import { sha256 } from '../base/id.ts';
import { Fault } from '../contract/fault.ts';
import { idempotencyMs, type JobContext, type StoreUse } from './context.ts';

/** Dependencies of this module. */
export type IdempotencyContext = Pick<JobContext, 'clock'> &
  StoreUse<
    'claimSubmission' | 'completeSubmission' | 'deleteSubmission' | 'getJob' | 'markSubmissionInterrupted'
  >;

/** The caller of a submit, and its idempotency key if it sent one. */
export interface Submitter {
  userId: string;
  idempotencyKey: string | undefined;
}

/** The job to be created by a call, and callbacks about its progress. */
export interface JobCreation {
  jobId: string;
  /** Called before the first write of the job. */
  writing(): void;
  /** Called after the job was discarded. */
  discarded(): void;
}

/** Time after which an unfinished submit under the same key counts as dead, in milliseconds. */
const inProgressMs = 60_000;

/**
 * Maximum `Retry-After` of a repeated submit while the first request is in progress. The first one usually ends within
 * milliseconds; a dead one is taken over after `inProgressMs`, within the five attempts of the client library.
 */
const maxRetryAfterMs = 15_000;

/**
 * Runs a call that creates a job at most once per idempotency key and returns its response. The job has the id
 * `jobId`, unless an earlier call under the key started with another. A repeated call with the same body gets the first
 * response; with another body it gets the fault `conflict` (docs/jobs.md). Other faults: those of `run`.
 */
export async function runIdempotently<M extends DescMethod>(
  context: IdempotencyContext,
  method: M,
  request: Message,
  { userId, idempotencyKey }: Submitter,
  jobId: string,
  run: (creation: JobCreation) => Promise<MessageInitShape<M['output']>>,
): Promise<MessageShape<M['output']>> {
  let written = false;
  const writing = () => {
    written = true;
  };
  const discarded = () => {
    written = false;
  };
  const answer = async (id: string) =>
    create(method.output, await run({ jobId: id, writing, discarded })) as MessageShape<M['output']>;
  if (idempotencyKey === undefined) return answer(jobId);

  const now = context.clock.now();
  const bodyHash = sha256(
    Buffer.concat([
      Buffer.from(`${method.parent.typeName}.${method.name}\n`),
      toBinary(method.input, request),
    ]),
  );
  const own = { userId, idempotencyKey, bodyHash, jobId, createdAt: now, interrupted: false, response: null };
  const first = await context.store.claimSubmission(own, now - idempotencyMs);
  if (first !== null) {
    if (first.bodyHash !== bodyHash) {
      throw new Fault(
        'conflict',
        `The Idempotency-Key '${idempotencyKey}' was already used for a different request.`,
      );
    }
    if (first.response !== null)
      return fromJsonString(method.output, first.response) as MessageShape<M['output']>;
    const leftMs = first.createdAt + inProgressMs - now;
    if (!first.interrupted && leftMs > 0) {
      throw new Fault('conflict', `A request with the Idempotency-Key '${idempotencyKey}' is in progress.`, {
        retryAfterMs: Math.min(leftMs, maxRetryAfterMs),
      });
    }
  }
  // The first call's job id resumes an interrupted submit instead of repeating it.
  const claimedId = (first ?? own).jobId;
  // The earlier call may have written the job, even if this call fails before it finds out.
  if (first !== null) writing();
  try {
    const message = await answer(claimedId);
    await context.store.completeSubmission(userId, idempotencyKey, toJsonString(method.output, message));
    return message;
  } catch (error) {
    // Without a job the key is released, so a corrected request can use it at once. If a job may exist, the key
    // stays bound to it, so that a retry does not create a second one.
    const nothing = !written || (await hasNoEffect(context, claimedId));
    const { store } = context;
    const free = nothing ? store.deleteSubmission : store.markSubmissionInterrupted;
    await free(userId, idempotencyKey).catch(() => {});
    throw error;
  }
}

/** Returns true if the job of a failed submit has failed too, so that nothing runs or stays charged. */
async function hasNoEffect({ store }: IdempotencyContext, jobId: string): Promise<boolean> {
  const job = await store.getJob(jobId).catch(() => null);
  return job?.state === 'failed';
}
