import { create, type Message } from '@bufbuild/protobuf';
import { jobOptionsOf } from '../../contract/submit-options.ts';
import type { Plan } from '../../kinds/kind.ts';
import type { JobContext } from '../context.ts';
import type { JobMethod } from '../offers.ts';
import { type ReadContext, snapshotOf } from '../queries/read.ts';
import { type QuoteContext, quoteJob } from '../quote/quote.ts';
import { type DiscardContext, undoSubmit } from './discard.ts';
import {
  abandonSubmission,
  beginSubmission,
  completeSubmission,
  type IdempotencyContext,
  type Submitter,
} from './idempotency.ts';
import { missingOriginWarning } from './missing-origins.ts';
import { type PlaceContext, placeJob } from './place.ts';

/** Dependencies of this module. */
export type SubmitContext = Pick<JobContext, 'newId' | 'settings'> &
  DiscardContext &
  IdempotencyContext &
  PlaceContext &
  QuoteContext &
  ReadContext;

/**
 * Creates a job from a validated request, once per idempotency key (docs/jobs.md). Faults:
 * `invalid`, `insufficient_credits`, `max_credits_exceeded`, `conflict`, `unavailable`. After a fault without an idempotency key, no job and
 * no charge remain; with one, an interrupted submit may be resumed, and the same key returns its job.
 * `warn` is called if the job is accepted but units of it cannot be read. With the option `validate_only`, returns the
 * quote of the job, and writes nothing.
 */
export async function submit(
  context: SubmitContext,
  { method, offer: offered }: JobMethod,
  request: Message,
  submitter: Submitter,
  warn: (text: string) => void = () => {},
): Promise<Message> {
  const offer = offered!;
  const { kind, market } = offer;
  let planned: Plan | undefined;
  const plan = async () => {
    planned ??= await kind.plan(request, method.input, market);
    return planned;
  };
  const { userId, mode, keyId, options, approvedBy = null } = submitter;
  // A repeated submit returns the first response without planning, but warns like the first.
  const addWarning = async () => {
    const warning = missingOriginWarning(context, market, await plan());
    // Test jobs need no origin.
    if (warning !== null && mode === 'live') warn(warning);
  };
  if (options?.validateOnly) {
    const caller = { userId, mode, keyId, options: jobOptionsOf(options) };
    const quote = await quoteJob(context, offer, await plan(), caller);
    return create(method.output, { quote });
  }
  const id = submitter.jobId ?? context.newId();
  const submission = await beginSubmission(context, method, request, submitter, id);
  if (submission.response !== null) {
    await addWarning();
    return submission.response;
  }
  const { jobId, key } = submission;
  let response: Message;
  try {
    const draft = {
      ...{ jobId, userId, mode, keyId, plan, retryOf: null, approvedBy, resumable: key !== null },
      options: jobOptionsOf(options),
    };
    const job = await placeJob(context, offer, draft, submission);
    const snapshot = await snapshotOf(context, job, kind.submittedNeeds, undefined);
    response = await completeSubmission(context, submission, await kind.submitted(snapshot));
  } catch (error) {
    if (key !== null) await abandonSubmission(context, submission);
    else if (submission.jobMayExist) await undoSubmit(context, jobId);
    throw error;
  }
  await addWarning();
  return response;
}
