import {
  create,
  type DescMethod,
  type Message,
  type MessageInitShape,
  type MessageShape,
} from '@bufbuild/protobuf';
import {
  JobService,
  type RecordEntry,
  type SubmitOutcome,
  SubmitOutcomeSchema,
} from '../../../gen/gleaner/job/v1/job_pb.ts';
import { hasUnitRecords } from '../../contract/job-types.ts';
import {
  creditsHeader,
  type ResponseHeaders,
  timingHeader,
} from '../../contract/response-headers.ts';
import type { Call } from './handlers.ts';

/** Members of the response of a submit, of any kind. */
interface SubmitResponse {
  jobId?: string;
  taskId?: number;
  quote?: Message;
  outcome?: SubmitOutcome;
}

/**
 * Waits for the end of a submitted job, up to the wait that the call requested. Then adds the
 * outcome to the response, and the credits and the time spent waiting to its headers. `read` makes
 * a call for the same caller. The response stays unchanged if the job has not ended when the wait
 * expires, or if a read fails: the job was accepted, so the call must not fail.
 */
export async function addOutcome<C>(
  method: DescMethod,
  response: Message,
  { principal, requestId, signal, early, source, waitMs, responseHeaders }: Call<C>,
  read: (method: DescMethod, request: Message, call: Call<C>) => Promise<Message>,
): Promise<void> {
  const submitted = response as SubmitResponse;
  if (submitted.quote !== undefined) return;
  const readAs = async <M extends DescMethod>(
    target: M,
    request: MessageInitShape<M['input']>,
    ms: number,
  ) => {
    const headers: ResponseHeaders = {};
    const readRequest = {
      principal,
      requestId,
      signal,
      early,
      source,
      idempotencyKey: undefined,
      ifNoneMatch: undefined,
    };
    const call = { ...readRequest, waitMs: ms, responseHeaders: headers };
    const message = await read(target, create(target.input, request), call);
    for (const name of [creditsHeader, timingHeader])
      if (headers[name] !== undefined) responseHeaders[name] = headers[name];
    return message as MessageShape<M['output']>;
  };
  const { getJob, listRecords, listUnits } = JobService.method;
  try {
    const job = await readAs(
      getJob,
      { jobId: submitted.jobId ?? String(submitted.taskId) },
      waitMs,
    );
    if (!job.ended) return;
    const { jobId, status, success, failed, refunded } = job;
    const readUnit = async () => {
      if (job.total !== 1) return undefined;
      if (hasUnitRecords(method))
        return (await readAs(listRecords, { jobId, pageSize: 1 }, 0)).records.map(unitOutcome)[0];
      const { units } = await readAs(listUnits, { jobId, status: 'FAILED', pageSize: 1 }, 0);
      return units.map(({ code, message }) => ({ code, message }))[0];
    };
    const unit = await readUnit();
    submitted.outcome = create(SubmitOutcomeSchema, {
      status,
      success,
      failed,
      refunded,
      ...unit,
    });
  } catch {}
}

/** Returns the record of a unit, or why it failed. */
function unitOutcome({ status, item, record, code, message }: RecordEntry) {
  if (status === 'FAILED') return { code, message };
  return { ...(item && { item }), ...(record && { record }) };
}
