import { createClient } from '@connectrpc/connect';
import { JobService } from '../../../../gen/gleaner/job/v1/job_pb.ts';
import type { JobType } from '../../../../src/contract/job-types.ts';
import { splitRequest } from '../../../../src/contract/rest-form.ts';
import { basePath } from '../session/base-path.ts';
import { fetchRest } from '../session/rest.ts';
import { transport } from '../session/transport.ts';
import { withQuery } from './options.ts';

/** Job created by a submit. */
export interface SubmittedJob {
  jobId: string;
  cost: number;
  /** End of the job, if the submit waited and it has ended. */
  outcome?: SubmitOutcome;
}

/** End of a job with one unit, as REST returns it: gleaner.job.v1.SubmitOutcome. */
export interface SubmitOutcome {
  status: string;
  refunded: number;
  item?: object;
  record?: unknown;
  code?: string;
  message?: string;
}

/** Response of a submit, of any kind. */
interface Submitted {
  job_id?: string;
  task_id?: number;
  cost: number;
  outcome?: SubmitOutcome;
}

/** Returns the headers of a body; the browser sets the headers of a form. */
export function bodyHeaders(body: string | FormData): Record<string, string> {
  if (typeof body === 'string') return { 'content-type': 'application/json' };
  return {};
}

/** Moves the fields of a body that are in the path there. */
export function toHttpRequest(
  { endpoint: { path } }: JobType,
  body: string | FormData,
): { path: string; body: string | FormData } {
  if (typeof body !== 'string' || !path.includes('{')) return { path, body };
  const request = splitRequest(path, JSON.parse(body));
  return { path: request.path, body: JSON.stringify(request.body) };
}

/**
 * Submits a body over REST: JSON, or a multipart form for job types that take a file. `query`:
 * options of the submit. Repeating a submit with the same idempotency key creates no second job.
 * Throws a RestError for an error response.
 */
export async function send(
  jobType: JobType,
  query: string,
  body: string | FormData,
  idempotencyKey: string,
): Promise<SubmittedJob> {
  const headers = { 'idempotency-key': idempotencyKey, ...bodyHeaders(body) };
  const request = toHttpRequest(jobType, body);
  const response = await fetchRest(basePath + withQuery(request.path, query), {
    method: 'POST',
    headers,
    body: request.body,
  });
  const submitted = (await response.json()) as Submitted;
  const { job_id: jobId, task_id: taskId, cost, outcome } = submitted;
  const ended = outcome && { outcome };
  if (jobId !== undefined) return { jobId, cost, ...ended };
  // Some job types return the number of a task instead of the id of its job.
  const job = await createClient(JobService, transport).getJob({ jobId: String(taskId) });
  return { jobId: job.jobId, cost, ...ended };
}
