import { afterEach, expect, test } from 'vitest';
import {
  type CallFault,
  createCrashingProcess,
  sweptFaults,
} from '../../test/support/faults/crash.ts';
import { type JobFixture, openJobFixture } from '../../test/support/jobs/jobs.ts';
import { openTracking } from '../../test/support/jobs/tracking.ts';
import { aRule, aWebhook } from '../store/conformance/history-samples.ts';
import { listChanges, listObservations } from '../store/history.ts';
import { newTrackingRun } from '../store/tracking-run.ts';
import { track } from './tracker.ts';

const items = ['30000000001', '30000000002', '30000000003', '30000000004'];
const [lamp, chair, table] = items as [string, string, string];
const all = { limit: 100 };

let fixture: JobFixture;
afterEach(() => fixture.close());

/**
 * Compares a second run of a series in a process that crashes at its `last`-th call; another
 * process ends it.
 */
async function compareWithCrash(last: number, when: CallFault) {
  fixture = await openJobFixture();
  await fixture.startWorker();
  const { context, clock } = fixture;
  const { store } = context;
  const tracking = openTracking(fixture);
  const userId = await fixture.createUser(10_000);
  await store.webhooks.put(aWebhook({ userId }));
  await store.rules.insert(aRule({ userId, condition: 'price_falls_by', threshold: 5 }));
  await tracking.run(userId, [lamp, chair, table], 'daily');
  tracking.changeItem(lamp, { priceFactor: 0.5 });
  tracking.changeItem(chair, { isRemoved: true });
  const job = await tracking.end(userId, items, 'daily');
  await store.trackingRuns.insert({ ...newTrackingRun(job)!, activeUser: null });

  const victim = createCrashingProcess(context, last, when);
  const { signal } = new AbortController();
  await track(victim.context, signal).catch(() => {});
  // Longer than every lease and delay of a retry.
  await clock.advance(120_000);
  await tracking.compare();

  const run = (await store.trackingRuns.get(job.id))!;
  const changes = (await listChanges(store, job.id, null, all)).items;
  const histories = await Promise.all(
    items.map((key) =>
      listObservations(
        store,
        { userId, market: 'mkta', region: 'id', key },
        0,
        Number.MAX_SAFE_INTEGER,
        all,
      ),
    ),
  );
  const { items: deliveries } = await store.deliveries.list({ userId }, all);
  return {
    isCrashed: victim.isCrashed(),
    result: {
      run: { stage: run.stage, counts: run.counts },
      changes: changes.map(({ key, type }) => [key, type]).sort(),
      observations: histories.map(({ items: its }) => its.length),
      ends: histories.map(({ items: its }) => its.map(({ endedAt }) => endedAt === null)),
      messages: deliveries.map(({ type, body }) => [type, JSON.parse(body).data.key]),
    },
  };
}

test.each(sweptFaults)(
  'a fault at any call neither loses nor repeats an observation, a change, or a message: %s',
  async (when) => {
    let last = 1;
    for (; ; last++) {
      const { isCrashed, result } = await compareWithCrash(last, when);
      expect([last, result]).toEqual([
        last,
        {
          run: { stage: 'done', counts: { new: 1, changed: 1, missing: 1, back: 0, unchanged: 1 } },
          changes: [
            [lamp, 'changed'],
            [chair, 'missing'],
            [items[3], 'new'],
          ],
          observations: [2, 1, 1, 1],
          ends: [[true, false], [true], [true], [true]],
          messages: [['item.changed', lamp]],
        },
      ]);
      if (!isCrashed) break;
      await fixture.close();
    }
    expect(last).toBeGreaterThan(15);
  },
);
