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
import {
  type SubmitOptions,
  SubmitOptionsSchema,
} from '../../../gen/gleaner/job/v1/submit_options_pb.ts';
import type { Principal } from '../../access/principal.ts';
import { sha256 } from '../../base/id.ts';
import { Fault } from '../../contract/fault.ts';
import { jobOptionsOf } from '../../contract/submit-options.ts';
import type { Job } from '../../store/documents.ts';
import { claimSubmission, unanswered } from '../../store/submissions.ts';
import { idempotencyMs, type JobContext } from '../context.ts';

/** The caller of a submission, and the other inputs of the call. */
export interface Submitter extends Pick<Job, 'userId' | 'mode' | 'keyId'> {
  idempotencyKey: string | undefined;
  /**
   * Id of the job to create. Absent for a new one. Repeated submissions of one id create one job.
   */
  jobId?: string;
  /**
   * The operator who approved the job in advance. Absent if its kind decides whether it awaits
   * approval.
   */
  approvedBy?: string | null;
  /** Schedule whose run the job is. Absent for other jobs. */
  schedule?: Job['schedule'];
  /** Undefined for none. */
  options?: SubmitOptions | undefined;
}

/** Returns the submitter of a user's call. */
export const submitterOf = (
  { userId, mode, keyId }: Pick<Principal, 'userId' | 'mode' | 'keyId'>,
  {
    idempotencyKey,
    submitOptions,
  }: { idempotencyKey: string | undefined; submitOptions?: Submitter['options'] },
): Submitter => ({
  userId,
  mode,
  keyId,
  idempotencyKey,
  options: submitOptions,
});

/**
 * A call that creates a job, or resumes the job of an earlier call under the same idempotency key.
 */
export interface SubmitCall<M extends DescMethod> {
  readonly method: M;
  /** Owner and text of the idempotency key. Null if there is none. */
  readonly key: { userId: string; idempotencyKey: string } | null;
  /** Id of the job to create or to resume. */
  readonly jobId: string;
  /**
   * Response of the earlier call. Null if it has none, so that this call creates or resumes the
   * job.
   */
  readonly response: MessageShape<M['output']> | null;
  /**
   * True if the job may have been written and was not discarded. Updated while the job is created.
   */
  jobMayExist: boolean;
}

/** Time after which an unfinished submission under the same key counts as dead, in milliseconds. */
const inProgressMs = 60_000;

/**
 * Maximum `Retry-After` of a repeated submit while the first request is in progress. The first one
 * usually ends within milliseconds; a dead one is taken over after `inProgressMs`, within the five
 * attempts of the client library.
 */
const maxRetryAfterMs = 15_000;

/**
 * Begins a call that creates a job, at most one per idempotency key. The job has the id `jobId`,
 * unless an earlier call under the key began with another. Throws `conflict` if the key was used
 * for another request, or if that call is in progress (docs/jobs.md).
 */
export async function beginSubmission<M extends DescMethod>(
  { store, clock }: JobContext,
  method: M,
  request: Message,
  { userId, idempotencyKey, options }: Submitter,
  jobId: string,
): Promise<SubmitCall<M>> {
  if (idempotencyKey === undefined)
    return {
      method,
      key: null,
      jobId,
      response: null,
      jobMayExist: false,
    };
  const key = { userId, idempotencyKey };
  const now = clock.now();
  const bodyHash = hashOf(method, request, options);
  const own = {
    ...key,
    bodyHash,
    jobId,
    createdAt: now,
    interrupted: false,
    response: null,
  };
  const first = await claimSubmission(store, own, now - idempotencyMs);
  if (first === null)
    return {
      method,
      key,
      jobId,
      response: null,
      jobMayExist: false,
    };
  if (first.bodyHash !== bodyHash) {
    throw new Fault(
      'conflict',
      `The Idempotency-Key '${idempotencyKey}' was already used for a different request.`,
    );
  }
  const leftMs = first.createdAt + inProgressMs - now;
  if (first.response === null && !first.interrupted && leftMs > 0) {
    const message = `A request with the Idempotency-Key '${idempotencyKey}' is in progress.`;
    throw new Fault('conflict', message, { retryAfterMs: Math.min(leftMs, maxRetryAfterMs) });
  }
  const response =
    first.response === null
      ? null
      : (fromJsonString(method.output, first.response) as MessageShape<M['output']>);
  // The earlier call may have written the job, even if this call fails before reading it.
  return {
    method,
    key,
    jobId: first.jobId,
    response,
    jobMayExist: true,
  };
}

function hashOf(method: DescMethod, request: Message, options: SubmitOptions | undefined): string {
  const name = Buffer.from(`${method.parent.typeName}.${method.name}\n`);
  const body = Buffer.concat([name, toBinary(method.input, request)]);
  const bodyHash = sha256(body);
  if (options === undefined) return bodyHash;
  // `validate_only: false` is the default, and a quote has no key.
  const submitOptions = create(SubmitOptionsSchema, jobOptionsOf(options));
  const encodedOptions = toBinary(SubmitOptionsSchema, submitOptions);
  // A request without options has the hash of its body.
  if (encodedOptions.length === 0) return bodyHash;
  // The digest separates the two parts.
  return sha256(Buffer.concat([Buffer.from(`${bodyHash}\n`), encodedOptions]));
}

/** Stores the response of a submission for repeated calls, and returns it. */
export async function completeSubmission<M extends DescMethod>(
  { store }: JobContext,
  { method, key }: SubmitCall<M>,
  response: MessageInitShape<M['output']>,
): Promise<MessageShape<M['output']>> {
  const message = create(method.output, response) as MessageShape<M['output']>;
  if (key !== null) {
    const text = toJsonString(method.output, message);
    await store.submissions.update(unanswered(key), { response: text });
  }
  return message;
}

/**
 * Ends a submission that failed. Without a job the key is released, so that a corrected request can
 * use it immediately. If a job may exist, the key stays bound to it, so that a repeated call does
 * not create a second one.
 */
export async function abandonSubmission<M extends DescMethod>(
  context: JobContext,
  { key, jobId, jobMayExist }: SubmitCall<M>,
): Promise<void> {
  if (key === null) return;
  const { store } = context;
  const hasNothing = !jobMayExist || (await hasNoEffect(context, jobId));
  const freed: Promise<unknown> = hasNothing
    ? store.submissions.remove(unanswered(key))
    : store.submissions.update(unanswered(key), { interrupted: true });
  await freed.catch(() => {});
}

/**
 * Returns true if the job of a failed submission has failed too, so that nothing runs or stays
 * charged.
 */
async function hasNoEffect({ store }: JobContext, jobId: string): Promise<boolean> {
  const job = await store.jobs.get(jobId).catch(() => null);
  return job?.state === 'failed';
}
