import { createClient } from '@connectrpc/connect';
import { JobService } from '../../../gen/gleaner/job/v1/job_pb.ts';
import type { Offer } from '../offers/offers.ts';
import { fetchRest } from '../session/rest.ts';
import { transport } from '../session/transport.ts';
import { withQuery } from './options.ts';

/** Job created by a submit. */
export interface SubmittedJob {
  /** Id of the job; '' if it could not be resolved from the task id. */
  jobId: string;
  cost: number;
}

/** Creates an idempotency key of 32 hexadecimal digits. */
export function createIdempotencyKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');
}

/** Returns the headers of a body; the browser sets those of a form. */
export const bodyHeaders = (body: string | FormData): Record<string, string> =>
  typeof body === 'string' ? { 'content-type': 'application/json' } : {};

/**
 * Submits a body over REST: JSON, or a multipart form for offers that take a file. `query`: options of the submit.
 * Repeating a submit with the same idempotency key creates no second job. Throws a RestError for an error response.
 */
export async function send(
  offer: Offer,
  query: string,
  body: string | FormData,
  idempotencyKey: string,
): Promise<SubmittedJob> {
  const headers = { 'idempotency-key': idempotencyKey, ...bodyHeaders(body) };
  const response = await fetchRest(withQuery(offer.endpoint.path, query), { method: 'POST', headers, body });
  const submitted = (await response.json()) as { job_id?: string; task_id?: number; cost: number };
  return {
    jobId: submitted.job_id ?? (await findJobId(offer, submitted.task_id)),
    cost: submitted.cost,
  };
}

/** Finds the job of a task id, which some offers return instead of a job id. */
async function findJobId({ market, kind }: Offer, taskId: number | undefined): Promise<string> {
  if (taskId === undefined) return '';
  const { jobs } = await createClient(JobService, transport).listJobs({ market, kind, pageSize: 100 });
  return jobs.find((job) => job.taskId === BigInt(taskId))?.jobId ?? '';
}
