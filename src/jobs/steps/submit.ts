import { create, type Message } from '@bufbuild/protobuf';
import { jobOptionsOf } from '../../contract/submit-options.ts';
import type { Plan } from '../../kinds/kind.ts';
import type { JobContext } from '../context.ts';
import type { JobMethod } from '../job-types.ts';
import { snapshotOf } from '../queries/read.ts';
import { missingOriginWarning } from '../quote/origins.ts';
import { quoteJob } from '../quote/quote.ts';
import { undoSubmit } from './accept.ts';
import { placeJob } from './create-job.ts';
import { abandonSubmission, beginSubmission, completeSubmission, type Submitter } from './idempotency.ts';

/**
 * Creates a job from a validated request, once per idempotency key (docs/jobs.md). Throws `invalid`,
 * `insufficient_credits`, `max_credits_exceeded`, `conflict`, `unavailable`. After a fault without an
 * idempotency key, no job and no charge remain; with one, an interrupted submission may be resumed, and the
 * same key returns its job. `warn` is called if the job is accepted but units of it cannot be read. With the
 * option `validate_only`, returns the quote of the job, and writes nothing.
 */
export async function submit(
  context: JobContext,
  { method, jobType: offered }: JobMethod,
  request: Message,
  submitter: Submitter,
  warn: (text: string) => void = () => {},
): Promise<Message> {
  const jobType = offered!;
  const { kind, market } = jobType;
  let planned: Plan | undefined;
  const plan = async () => {
    planned ??= await kind.plan(request, method.input, market);
    return planned;
  };
  const { userId, mode, keyId, options, approvedBy = null, schedule = null } = submitter;
  // A repeated submit returns the first response without planning, but warns like the first.
  const addWarning = async () => {
    const warning = missingOriginWarning(context, market, await plan());
    // Test jobs need no origin.
    if (warning !== null && mode === 'live') warn(warning);
  };
  if (options?.validateOnly) {
    const caller = { userId, mode, keyId, options: jobOptionsOf(options) };
    const quote = await quoteJob(context, jobType, await plan(), caller);
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
      ...{
        jobId,
        userId,
        mode,
        keyId,
        plan,
        retryOf: null,
        rereadOf: null,
        schedule,
        approvedBy,
        resumable: key !== null,
      },
      options: jobOptionsOf(options),
    };
    const job = await placeJob(context, jobType, draft, submission);
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
