import { randomUUID } from 'node:crypto';
import { until } from '../time/until.ts';
import { type TestApi, type TestUser, variantSold } from './api.ts';

/** Longer than the lease of a comparison or of a batch, which a killed process leaves. */
const withinMs = 150_000;

/** Changes of a job, as `GET /v1/jobs/{job_id}/changes` returns them. */
export interface JobChanges {
  job_id: string;
  counts: Record<'new' | 'changed' | 'missing' | 'back' | 'unchanged', number>;
  messages: number;
  changes: { type: string; key: string; before: object; after: object }[];
}

/**
 * Submits and approves a variant-sold job of a series on items of the region `id`, and returns its
 * id. Repeats the calls while processes are killed.
 */
export async function submitTracked(
  api: TestApi,
  user: TestUser,
  series: string,
  items: readonly string[],
): Promise<string> {
  const request = { country: 'id', items: items.map((id) => ({ item_id: id, shop_id: '77' })) };
  const headers = { 'idempotency-key': randomUUID() };
  const submit = async (): Promise<string> => {
    const { status, body } = await api.post(
      user,
      `${variantSold.submit}?track=${series}`,
      request,
      headers,
    );
    if (status !== 202) throw new Error(`submit: ${status} ${JSON.stringify(body)}`);
    return body.job_id;
  };
  const jobId = await until('the submit is accepted', submit, { withinMs });
  const approve = async () => {
    const { status, body } = await api.tryOperator('ApproveJob', { job_id: jobId });
    // An approval whose response was lost has ended the wait.
    const isDone = status === 200 || body.code === 'failed_precondition' || body.code === 'aborted';
    if (!isDone) throw new Error(`approve: ${status} ${JSON.stringify(body)}`);
    return true;
  };
  await until('the job is approved', approve, { withinMs });
  return jobId;
}

/** Waits until a job was compared, and returns its changes. Tolerates killed processes. */
export function waitForChanges(api: TestApi, user: TestUser, jobId: string): Promise<JobChanges> {
  const path = `/v1/jobs/${jobId}/changes?page_size=1000`;
  const compared = async () => {
    const response = await api.get(user, path).catch(() => null);
    return response?.status === 200 && response.body.status === 'done' ? response.body : undefined;
  };
  return until(`job ${jobId} is compared`, compared, { withinMs });
}

/** Runs a tracked job, and returns its changes once it was compared. */
export async function runTracked(...run: Parameters<typeof submitTracked>): Promise<JobChanges> {
  const [api, user] = run;
  return waitForChanges(api, user, await submitTracked(...run));
}
