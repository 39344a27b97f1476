import { afterEach, beforeEach, expect, test } from 'vitest';
import { type JobsBench, openJobs, variantSoldRequest } from '../../test/support/jobs.ts';
import { newId } from '../base/id.ts';
import { approve } from '../jobs/decide.ts';
import type { BatchReference } from '../store/documents.ts';
import { shareAmongUsers } from './user-share.ts';

let bench: JobsBench;
let messages: BatchReference[];
beforeEach(async () => {
  bench = await openJobs();
  messages = [];
  const { queue } = bench.context;
  bench.context.queue = { ...queue, publish: async (message) => messages.push(message) > 0 };
});
afterEach(() => bench.close());

/** Messages of an approved job of a user of its own, of so many batches. */
async function messagesOf(batches: number): Promise<BatchReference[]> {
  const userId = await bench.createUser(10_000);
  const { jobId } = await bench.submit(userId, 'SubmitVariantSold', variantSoldRequest(batches * 50));
  await approve(bench.context, jobId, newId());
  return messages.splice(0);
}

test('shareAmongUsers() defers what one user has beyond the share, and lets others through', async () => {
  const handled: BatchReference[] = [];
  const ends: (() => void)[] = [];
  const { signal } = new AbortController();
  const handle = shareAmongUsers(
    bench.context,
    2,
    (message) => {
      handled.push(message);
      return new Promise((resolve) => ends.push(resolve));
    },
    signal,
  );
  const slow = await messagesOf(4);
  const [other] = await messagesOf(1);
  const running = [...slow, other!].map((message) => handle(message, () => {}));
  await bench.comesTrue('three are handled', () => handled.length === 3);
  expect(handled).toEqual([slow[0], slow[1], other]);
  await Promise.all(running.slice(2, 4));
  const [, , third] = await bench.context.store.listBatches(slow[0]!.jobId);
  const [, , whole] = await Array.fromAsync(bench.context.store.readBatches(slow[0]!.jobId));
  expect(whole).toMatchObject({ stalledClaims: 0 });
  expect(third).toMatchObject({ state: 'queued', attempt: 1, notBefore: bench.clock.now() + 10_000 });

  // Messages of before are void; those that are published later take a slot that is free by then.
  await handle(slow[2]!, () => {});
  expect(handled).toHaveLength(3);
  ends[0]!();
  await running[0];
  await bench.clock.pass(10_000);
  expect(messages).toEqual([slow[2], slow[3]].map((message) => ({ ...message, attempt: 1 })));
  void handle(messages[0]!, () => {});
  await bench.comesTrue('the next is handled', () => handled.length === 4);
  expect(handled[3]).toEqual(messages[0]);
  for (const end of ends) end();
});
