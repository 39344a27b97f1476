import { createClient } from '@connectrpc/connect';
import { JobService } from '../../../gen/gleaner/job/v1/job_pb.ts';
import type { Offer } from '../offers/offers.ts';
import { askRest } from '../session/rest.ts';
import { transport } from '../session/transport.ts';

/** What was accepted. */
export interface Accepted {
  /** The job; '' where it could not be found by its task id. */
  jobId: string;
  cost: number;
}

/** A key that makes a submit safe to repeat: 32 hexadecimal digits. */
export function newIdempotencyKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');
}

/**
 * Submits a body to an offer over REST: JSON, or a form for offers that take one. The same key never makes a
 * second job. Throws the RestFault of a refusal.
 */
export async function send(offer: Offer, body: string | FormData, idempotencyKey: string): Promise<Accepted> {
  const headers: Record<string, string> = { 'idempotency-key': idempotencyKey };
  if (typeof body === 'string') headers['content-type'] = 'application/json';
  const response = await askRest(offer.endpoint.path, { method: 'POST', headers, body });
  const answer = (await response.json()) as { job_id?: string; task_id?: number; cost: number };
  return { jobId: answer.job_id ?? (await jobOf(offer, answer.task_id)), cost: answer.cost };
}

/** The job of a task id, which some offers answer with instead. */
async function jobOf({ market, kind }: Offer, taskId: number | undefined): Promise<string> {
  if (taskId === undefined) return '';
  const { jobs } = await createClient(JobService, transport).listJobs({ market, kind, pageSize: 100 });
  return jobs.find((job) => job.taskId === BigInt(taskId))?.jobId ?? '';
}
