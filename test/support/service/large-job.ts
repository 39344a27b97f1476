import { expect } from 'vitest';
import { plainIds } from '../../../sandbox/mkta/ids.ts';
import {
  sendJson,
  submitItems,
  type TestApi,
  type TestUser,
  type VariantSoldItem,
  type WatchedJob,
} from './api.ts';
import type { Deployment } from './deployment.ts';

/** A variant-sold job in which every twentieth item does not exist. */
export interface LargeJob {
  user: TestUser;
  jobId: string;
  items: readonly VariantSoldItem[];
  /** Credits charged after the refund of the missing items. */
  netCost: number;
}

const unitPrice = 10;
const missingEvery = 20;

/** Submits and approves a job with `count` items. */
export async function startLargeJob(api: TestApi, count: number): Promise<LargeJob> {
  const items = plainIds(count).map((id, index) => ({
    item_id: index % missingEvery === 0 ? String(30_000_000_801 + index * 1_000) : String(id),
    shop_id: '77',
  }));
  const user = await api.createUser(count * unitPrice);
  const jobId = await submitItems(api, user, 'id', items);
  await api.operator('ApproveJob', { job_id: jobId });
  return { user, jobId, items, netCost: (count - Math.ceil(count / missingEvery)) * unitPrice };
}

/** Returns the number of items that have ended, or null while the service is unreachable. */
export async function countEndedItems(
  api: TestApi,
  { user, jobId }: LargeJob,
): Promise<number | null> {
  const response = await api
    .get(user, `/v1/mkta/variant_sold_v1/download/${jobId}`)
    .catch(() => null);
  return response?.status === 200 ? response.body.success_count + response.body.failed_count : null;
}

/**
 * Checks what faults must not change in an ended job: the file has every item once, in order;
 * counts and credits match; no batch is outstanding; and the audit finds no problem.
 */
export async function checkLargeJob(
  { api, deployment }: { api: TestApi; deployment: Deployment },
  { user, jobId, items, netCost }: LargeJob,
  { retrieve, download }: WatchedJob,
): Promise<void> {
  const failed = items.length - netCost / unitPrice;
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
  const { status, body: merged } = await sendJson('GET', download.download_url, null);
  expect(status).toBe(200);
  expect(merged.map(({ itemId }: { itemId: string }) => itemId)).toEqual(
    items.map(({ item_id: id }) => id),
  );
  expect(merged.filter(({ error }: { error?: string }) => error !== undefined)).toHaveLength(
    failed,
  );

  const entries = await api.ledger(user);
  expect(entries.map(({ key, amount }) => [key.replace(/^grant:.*/, 'grant'), amount])).toEqual([
    [`refund:${jobId}`, failed * unitPrice],
    [`charge:${jobId}`, -items.length * unitPrice],
    ['grant', items.length * unitPrice],
  ]);
  expect(await api.balance(user)).toBe(items.length * unitPrice - netCost);
  expect(await deployment.audit()).toMatchObject({ code: 0, problems: [] });
}
