import { expect } from 'vitest';
import { plainIds } from '../../sandbox/mkta/ids.ts';
import { type Api, call, type Item, submitItems, type TestUser, type Watched } from './api.ts';
import type { Deployment } from './deployment.ts';

/** A variant-sold job of which every twentieth item is not to be found. */
export interface LargeJob {
  user: TestUser;
  jobId: string;
  items: readonly Item[];
  /** Credits that it costs once the missing items are paid back. */
  earned: number;
}

const unitPrice = 10;
const every = 20;

/** Submits and approves a job of so many items. */
export async function startLargeJob(api: Api, count: number): Promise<LargeJob> {
  const items = plainIds(count).map((id, index) => ({
    item_id: index % every === 0 ? String(30_000_000_801 + index * 1_000) : String(id),
    shop_id: '77',
  }));
  const user = await api.createUser(count * unitPrice);
  const jobId = await submitItems(api, user, 'id', items);
  await api.operator('ApproveJob', { job_id: jobId });
  return { user, jobId, items, earned: (count - Math.ceil(count / every)) * unitPrice };
}

/** Items that have ended, by what the job says of itself; null while nobody answers. */
export async function endedItems(api: Api, { user, jobId }: LargeJob): Promise<number | null> {
  const answer = await api.get(user, `/v1/mkta/variant_sold_v1/download/${jobId}`).catch(() => null);
  return answer?.status === 200 ? answer.body.success_count + answer.body.failed_count : null;
}

/**
 * Holds an ended job to what faults must not change: every item once in the file, in order, counts
 * and credits to match, no batch outstanding, and everything adding up.
 */
export async function checkLargeJob(
  { api, deployment }: { api: Api; deployment: Deployment },
  { user, jobId, items, earned }: LargeJob,
  { retrieve, download }: Watched,
): Promise<void> {
  const failed = items.length - earned / unitPrice;
  const batches = Math.ceil(items.length / 50);
  expect(retrieve).toMatchObject({
    status: 'completed',
    job_status: 'completed',
    progress: `${batches}/${batches} batches complete`,
  });
  expect(download).toMatchObject({
    status: 'completed',
    total_items: items.length,
    success_count: items.length - failed,
    failed_count: failed,
  });
  const { status, body: merged } = await call('GET', download.download_url, null);
  expect(status).toBe(200);
  expect(merged.map(({ itemId }: { itemId: string }) => itemId)).toEqual(items.map(({ item_id: id }) => id));
  expect(merged.filter(({ error }: { error?: string }) => error !== undefined)).toHaveLength(failed);

  const entries = await api.ledger(user);
  expect(entries.map(({ key, amount }) => [key.replace(/^grant:.*/, 'grant'), amount])).toEqual([
    [`refund:${jobId}`, failed * unitPrice],
    [`charge:${jobId}`, -items.length * unitPrice],
    ['grant', items.length * unitPrice],
  ]);
  expect(await api.balance(user)).toBe(items.length * unitPrice - earned);
  expect(await deployment.audit()).toMatchObject({ code: 0, problems: [] });
}
