import {
  create,
  type DescMessage,
  type DescMethod,
  type DescMethodUnary,
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

/** Calls a method that reads, for the caller of a submit. The wait is in milliseconds. */
export type OutcomeRead = <I extends DescMessage, O extends DescMessage>(
  method: DescMethodUnary<I, O>,
  request: MessageInitShape<I>,
  waitMs: number,
) => Promise<MessageShape<O>>;

/** Members of the response of a submit, of any kind. */
interface SubmitResponse {
  jobId?: string;
  taskId?: number;
  quote?: Message;
  outcome?: SubmitOutcome;
}

/**
 * Waits up to `waitMs` milliseconds for the end of a submitted job, and adds its outcome to the response of
 * the submit. The response stays unchanged if the job has not ended by then. It also does if a read fails:
 * the job was accepted, and an error would say that it was not.
 */
export async function addOutcome(
  method: DescMethod,
  response: Message,
  waitMs: number,
  read: OutcomeRead,
): Promise<void> {
  const submitted = response as SubmitResponse;
  if (submitted.quote !== undefined) return;
  const { getJob, listRecords } = JobService.method;
  try {
    const job = await read(getJob, { jobId: submitted.jobId ?? String(submitted.taskId) }, waitMs);
    if (!job.ended) return;
    const { jobId, status, success, failed, refunded } = job;
    const hasRecord = job.total === 1 && hasUnitRecords(method);
    const { records } = hasRecord ? await read(listRecords, { jobId, pageSize: 1 }, 0) : { records: [] };
    const unit = records.map(unitOutcome)[0];
    submitted.outcome = create(SubmitOutcomeSchema, { status, success, failed, refunded, ...unit });
  } catch {}
}

/** Returns the record of a unit, or why it failed. */
const unitOutcome = ({ status, item, record, code, message }: RecordEntry) =>
  status === 'FAILED' ? { code, message } : { ...(item && { item }), ...(record && { record }) };
