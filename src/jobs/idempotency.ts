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
import { Fault } from '../base/fault.ts';
import { sha256 } from '../base/id.ts';
import { idempotencyMs, type JobContext } from './context.ts';

/** Who submits, and under which idempotency key. */
export interface Submitter {
  userId: string;
  idempotencyKey: string | undefined;
}

/** The job that a call is to make. */
export interface JobCreation {
  jobId: string;
  /** To be called as soon as something of the job may be in the store. */
  writing(): void;
  /** To be called once nothing of the job is left. */
  discarded(): void;
}

/** How long another submit under the same key may be under way before it counts as dead. */
const underWayMs = 60_000;

/**
 * Longest `Retry-After` of a repeated submit whose first request is under way. The first one mostly ends within
 * milliseconds; one that died is taken over after `underWayMs`, within the five tries of our own client.
 */
const maxRetryAfterMs = 15_000;

/**
 * Answers a call that makes a job, `jobId` unless an earlier call under the idempotency key began with
 * another. The same key with the same body gives the first answer and charges once; with another body it is
 * a `conflict` (decisions, "idempotency"). Faults: those of `make`.
 */
export async function runIdempotently<M extends DescMethod>(
  context: JobContext,
  method: M,
  request: Message,
  { userId, idempotencyKey }: Submitter,
  jobId: string,
  make: (creation: JobCreation) => Promise<MessageInitShape<M['output']>>,
): Promise<MessageShape<M['output']>> {
  let written = false;
  const writing = () => {
    written = true;
  };
  const discarded = () => {
    written = false;
  };
  const answer = async (id: string) =>
    create(method.output, await make({ jobId: id, writing, discarded })) as MessageShape<M['output']>;
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
      throw new Fault('conflict', `The Idempotency-Key '${idempotencyKey}' was used with another request.`);
    }
    if (first.response !== null)
      return fromJsonString(method.output, first.response) as MessageShape<M['output']>;
    const leftMs = first.createdAt + underWayMs - now;
    if (!first.interrupted && leftMs > 0) {
      throw new Fault('conflict', `A request with the Idempotency-Key '${idempotencyKey}' is under way.`, {
        retryAfterMs: Math.min(leftMs, maxRetryAfterMs),
      });
    }
  }
  // The job id is the first taker's: what a crash left of that submit is gone on with, not done again.
  const taken = (first ?? own).jobId;
  // The earlier call may have written the job, even if this call fails before it finds out.
  if (first !== null) writing();
  try {
    const message = await answer(taken);
    await context.store.completeSubmission(userId, idempotencyKey, toJsonString(method.output, message));
    return message;
  } catch (error) {
    // The same key may try again at once, with credits, a mended body or a queue that is back. Where a job
    // may have come of it the key stays that job's: trying again must not make a second one.
    const nothing = !written || (await cameToNothing(context, taken));
    const { store } = context;
    const free = nothing ? store.deleteSubmission : store.markSubmissionInterrupted;
    await free(userId, idempotencyKey).catch(() => {});
    throw error;
  }
}

/** Whether a submit that failed after its job was begun left nothing that goes on or costs anything. */
async function cameToNothing({ store }: JobContext, jobId: string): Promise<boolean> {
  const job = await store.getJob(jobId).catch(() => null);
  return job?.state === 'failed';
}
