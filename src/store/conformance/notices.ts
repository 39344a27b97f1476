import { expect, test } from 'vitest';
import { newId } from '../../base/id.ts';
import type { Delivery, Job, Webhook } from '../documents.ts';
import type { AttemptResult } from '../notices.ts';
import type { Store } from '../store.ts';
import { aTime, storeJob } from './samples.ts';
import { allPages, type OpenStores, runConcurrently, setUpStores } from './stores.ts';

const aDelivery = (fields: Partial<Delivery> = {}): Delivery => ({
  id: newId(),
  key: newId(),
  userId: newId(),
  channel: 'webhook',
  type: 'job.ended',
  jobId: newId(),
  target: 'https://receiver.test/hook',
  body: '{"type":"job.ended","a.$b":"☃"}',
  destinationId: null,
  state: 'pending',
  attempts: 0,
  attemptsBefore: 0,
  take: 0,
  createdAt: aTime,
  nextAttemptAt: aTime,
  endedAt: null,
  responseStatus: null,
  error: '',
  ...fields,
});

const aWebhook = (fields: Partial<Webhook> = {}): Webhook => ({
  userId: newId(),
  url: 'https://receiver.test/hook',
  enabled: true,
  secret: 'whsec_AAAA',
  previousSecret: null,
  previousUntil: null,
  updatedAt: aTime,
  revision: 1,
  ...fields,
});

/** Finds a delivery in the list of all deliveries. */
async function readDelivery(store: Store, id: string): Promise<Delivery | null> {
  const all = await allPages(100, (page) => store.listDeliveries(undefined, page));
  return all.find((delivery) => delivery.id === id) ?? null;
}

const delivered = (endedAt: number): AttemptResult => ({
  target: 'https://receiver.test/hook',
  responseStatus: 204,
  error: '',
  state: 'delivered',
  nextAttemptAt: null,
  endedAt,
});

/** Notifications: due notices, webhooks, and deliveries. */
export function noticeConformance(open: OpenStores): void {
  dueConformance(open);
  holdConformance(open);
  webhookConformance(open);
  takeConformance(open);
  endConformance(open);
  listConformance(open);
}

function dueConformance(open: OpenStores): void {
  const stores = setUpStores(open);
  const keep = async (fields: Partial<Job>) => (await storeJob(stores.store, 1, fields)).job;

  test('a notice is scheduled in the same write as the state it reports, and is found when due', async () => {
    const job = await keep({ state: 'submitted' });
    expect(await stores.store.findJobsWithDueNotice(aTime + 1_000_000, 10)).toEqual([]);
    const move = { noticeDue: 'awaiting_approval', noticeAt: aTime + 50 } as const;
    const moved = await stores.store.moveJob(job.id, ['submitted'], 'awaiting_approval', aTime + 50, move);
    expect(moved).toMatchObject(move);
    expect(await stores.other.findJobsWithDueNotice(aTime + 49, 10)).toEqual([]);
    expect(await stores.other.findJobsWithDueNotice(aTime + 50, 10)).toEqual([moved]);
    const earlier = await keep({ state: 'failed', noticeDue: 'failed', noticeAt: aTime + 20 });
    expect(await stores.other.findJobsWithDueNotice(aTime + 50, 10)).toEqual([earlier, moved]);
    expect(await stores.other.findJobsWithDueNotice(aTime + 50, 1)).toEqual([earlier]);
    expect(await stores.other.findJobsWithDueNotice(aTime + 50, 0)).toEqual([]);
    for (const { id, noticeDue } of [earlier, moved!]) await stores.store.advanceNotice(id, noticeDue!, null);
    expect(await stores.other.findJobsWithDueNotice(aTime + 50, 10)).toEqual([]);
  });

  test('a sent notice is replaced by the next, unless the job changed its state meanwhile', async () => {
    const fields = { state: 'awaiting_approval', noticeDue: 'awaiting_approval', noticeAt: aTime } as const;
    const job = await keep(fields);
    const next = { reason: 'approval_expiring', at: aTime + 900 } as const;
    expect(await stores.store.advanceNotice(job.id, 'awaiting_approval', next)).toBe(true);
    expect(await stores.other.getJob(job.id)).toMatchObject({
      noticeDue: 'approval_expiring',
      noticeAt: aTime + 900,
    });
    expect(await stores.other.advanceNotice(job.id, 'awaiting_approval', null)).toBe(false);
    await stores.store.moveJob(job.id, ['awaiting_approval'], 'rejected', aTime + 5, {
      noticeDue: 'rejected',
      noticeAt: aTime + 5,
    });
    expect(await stores.other.advanceNotice(job.id, 'approval_expiring', null)).toBe(false);
    expect(await stores.store.findJobsWithDueNotice(aTime + 5, 10)).toMatchObject([{ id: job.id }]);
    expect(await stores.store.advanceNotice(job.id, 'rejected', null)).toBe(true);
    expect(await stores.store.getJob(job.id)).toMatchObject({ noticeDue: null, noticeAt: null });
    expect(await stores.store.advanceNotice(newId(), 'rejected', null)).toBe(false);
  });
}

function holdConformance(open: OpenStores): void {
  const stores = setUpStores(open);
  const reasons = [{ field: 'price.amount', minimum: 95.5, percent: 12.25 }];
  const held = { state: 'held', reasons, heldAt: aTime, decidedAt: null } as const;

  test('stores one of concurrent decisions on a held job, and a release makes a notice due', async () => {
    const { job } = await storeJob(stores.store, 1, { state: 'settling' });
    expect(await stores.store.decideHold(job.id, 'released', aTime)).toBeNull();
    const end = { hold: held, noticeDue: 'completed', noticeAt: aTime } as const;
    const moved = await stores.store.moveJob(job.id, ['settling'], 'completed', aTime, end);
    expect(moved).toMatchObject(end);
    const decided = await runConcurrently(10, stores, (store) =>
      store.decideHold(job.id, 'released', aTime + 9),
    );
    expect(decided.filter((each) => each !== null)).toEqual([
      {
        ...moved,
        hold: { ...held, state: 'released', decidedAt: aTime + 9 },
        noticeDue: 'released',
        noticeAt: aTime + 9,
      },
    ]);
    expect(await stores.other.advanceNotice(job.id, 'completed', null)).toBe(false);
    expect(await stores.other.decideHold(job.id, 'discarded', aTime + 10)).toBeNull();
  });

  test('a discarded hold makes no notice due', async () => {
    const { job } = await storeJob(stores.store, 1, { state: 'completed', finishedAt: aTime, hold: held });
    const discarded = await stores.other.decideHold(job.id, 'discarded', aTime + 9);
    expect(discarded).toEqual({ ...job, hold: { ...held, state: 'discarded', decidedAt: aTime + 9 } });
    expect(await stores.store.getJob(job.id)).toEqual(discarded);
  });
}

function webhookConformance(open: OpenStores): void {
  const stores = setUpStores(open);

  test('a webhook is stored, changed only by its current revision, and removed', async () => {
    const webhook = aWebhook();
    expect(await stores.store.getWebhook(webhook.userId)).toBeNull();
    expect(await stores.store.putWebhook({ ...webhook, revision: 2 })).toBe(false);
    expect(await stores.store.putWebhook(webhook)).toBe(true);
    expect(await stores.store.putWebhook(webhook)).toBe(false);
    expect(await stores.other.getWebhook(webhook.userId)).toEqual(webhook);
    const changed: Webhook = {
      ...webhook,
      url: 'http://other.test/',
      enabled: false,
      secret: 'whsec_BBBB',
      previousSecret: webhook.secret,
      previousUntil: aTime + 5.5,
      updatedAt: aTime + 1,
      revision: 2,
    };
    expect(await stores.other.putWebhook(changed)).toBe(true);
    expect(await stores.other.putWebhook({ ...changed, url: 'late' })).toBe(false);
    expect(await stores.store.getWebhook(webhook.userId)).toEqual(changed);
    await stores.store.deleteWebhook(webhook.userId);
    await stores.store.deleteWebhook(webhook.userId);
    expect(await stores.other.getWebhook(webhook.userId)).toBeNull();
    expect(await stores.store.putWebhook(webhook)).toBe(true);
  });

  test('accepts one of concurrent changes of a webhook', async () => {
    const webhook = aWebhook();
    await stores.store.putWebhook(webhook);
    const change = (store: typeof stores.store, turn: number) =>
      store.putWebhook({ ...webhook, url: `https://receiver.test/${turn}`, revision: 2 });
    const done = await runConcurrently(20, stores, change);
    expect(done.filter(Boolean)).toHaveLength(1);
    expect((await stores.other.getWebhook(webhook.userId))?.url).toBe(
      `https://receiver.test/${done.indexOf(true)}`,
    );
  });
}

function takeConformance(open: OpenStores): void {
  const stores = setUpStores(open);

  test('a delivery is stored once per key, however often it is added', async () => {
    const delivery = aDelivery({ nextAttemptAt: aTime + 1_000_000 });
    const added = await runConcurrently(20, stores, (store, turn) =>
      store.createDelivery({ ...delivery, id: `${turn}-${delivery.id}` }),
    );
    expect(added.filter(Boolean)).toHaveLength(1);
    const kept = `${added.indexOf(true)}-${delivery.id}`;
    expect(await readDelivery(stores.store, kept)).toEqual({ ...delivery, id: kept });
    expect(await readDelivery(stores.store, delivery.id)).toBeNull();
  });

  test('due deliveries are claimed once, and again after the claim expires', async () => {
    const all = Array.from({ length: 30 }, (_, turn) =>
      aDelivery({ id: newId(), createdAt: aTime + turn, nextAttemptAt: aTime + turn }),
    );
    for (const delivery of all) await stores.store.createDelivery(delivery);
    expect(await stores.store.claimDeliveries(aTime - 1, aTime + 100, 50)).toEqual([]);
    expect(await stores.store.claimDeliveries(aTime + 29, aTime + 100, 0)).toEqual([]);
    const first = await stores.store.claimDeliveries(aTime + 29, aTime + 100, 3);
    expect(first).toEqual(
      all.slice(0, 3).map((delivery) => ({ ...delivery, take: 1, nextAttemptAt: aTime + 100 })),
    );
    const rest = await runConcurrently(6, stores, (store) =>
      store.claimDeliveries(aTime + 29, aTime + 100, 50),
    );
    const ids = [...first, ...rest.flat()].map(({ id }) => id);
    expect(ids).toHaveLength(30);
    expect(new Set(ids)).toEqual(new Set(all.map(({ id }) => id)));
    expect(await stores.other.claimDeliveries(aTime + 99, aTime + 200, 50)).toEqual([]);
    const again = await stores.other.claimDeliveries(aTime + 100, aTime + 200, 50);
    expect(again).toHaveLength(30);
    expect(again.every(({ take }) => take === 2)).toBe(true);
  });
}

function endConformance(open: OpenStores): void {
  const stores = setUpStores(open);
  const taken = async (fields: Partial<Delivery> = {}) => {
    const delivery = aDelivery({ nextAttemptAt: 1, ...fields });
    await stores.store.createDelivery(delivery);
    return (await stores.store.claimDeliveries(1, aTime + 100, 1))[0]!;
  };

  test('only the current claim ends an attempt, and an ended delivery is final', async () => {
    const delivery = await taken();
    const later: AttemptResult = {
      target: 'https://moved.test/',
      responseStatus: 503,
      error: 'HTTP 503',
      state: 'pending',
      nextAttemptAt: aTime + 40,
      endedAt: null,
    };
    expect(await stores.other.recordAttempt(delivery.id, 0, delivered(aTime))).toBe(false);
    expect(await stores.other.recordAttempt(delivery.id, 1, later)).toBe(true);
    expect(await readDelivery(stores.store, delivery.id)).toEqual({ ...delivery, ...later, attempts: 1 });
    const [again] = await stores.store.claimDeliveries(aTime + 40, aTime + 200, 5);
    expect(again).toMatchObject({ id: delivery.id, take: 2, attempts: 1 });
    expect(await stores.store.recordAttempt(delivery.id, 1, later)).toBe(false);
    expect(await stores.store.recordAttempt(delivery.id, 2, delivered(aTime + 50))).toBe(true);
    expect(await stores.store.recordAttempt(delivery.id, 2, later)).toBe(false);
    expect(await stores.store.postponeDelivery(delivery.id, 2, aTime)).toBe(false);
    expect(await readDelivery(stores.other, delivery.id)).toMatchObject({
      ...delivered(aTime + 50),
      attempts: 2,
    });
    expect(await stores.store.claimDeliveries(aTime + 1_000_000, aTime + 2_000_000, 5)).toEqual([]);
  });

  test('a postponed delivery is due later without counting an attempt', async () => {
    const delivery = await taken();
    expect(await stores.other.postponeDelivery(delivery.id, 0, aTime + 7)).toBe(false);
    expect(await stores.other.postponeDelivery(delivery.id, 1, aTime + 7)).toBe(true);
    expect(await stores.store.claimDeliveries(aTime + 6, aTime + 200, 5)).toEqual([]);
    expect(await stores.store.claimDeliveries(aTime + 7, aTime + 200, 5)).toEqual([
      { ...delivery, take: 2, nextAttemptAt: aTime + 200 },
    ]);
    await stores.store.recordAttempt(delivery.id, 2, delivered(aTime + 8));
  });

  test('a redelivery starts over, only for its own user, and supersedes earlier claims', async () => {
    const delivery = await taken();
    await stores.store.recordAttempt(delivery.id, 1, delivered(aTime + 8));
    expect(await stores.store.redeliver(newId(), aTime + 9)).toBeNull();
    expect(await stores.store.redeliver(delivery.id, aTime + 9, newId())).toBeNull();
    const again = await stores.other.redeliver(delivery.id, aTime + 9, delivery.userId!);
    expect(again).toMatchObject({
      state: 'pending',
      attempts: 1,
      attemptsBefore: 1,
      nextAttemptAt: aTime + 9,
      endedAt: null,
    });
    expect(await stores.store.recordAttempt(delivery.id, 1, delivered(aTime + 9))).toBe(false);
    const [taker] = await stores.store.claimDeliveries(aTime + 9, aTime + 200, 5);
    expect(taker).toMatchObject({ id: delivery.id });
    expect(await stores.other.redeliver(delivery.id, aTime + 10)).toMatchObject({ id: delivery.id });
    expect(await stores.store.recordAttempt(delivery.id, taker!.take, delivered(aTime + 11))).toBe(false);
  });
}

function listConformance(open: OpenStores): void {
  const stores = setUpStores(open);

  test('deliveries are listed newest first, by user, for operators, and for all, and expire by age', async () => {
    const userId = newId();
    const all: Delivery[] = [];
    for (let turn = 0; turn < 9; turn += 1) {
      const delivery = aDelivery({
        id: `${turn}-${newId()}`,
        userId: turn % 3 === 0 ? null : turn % 3 === 1 ? userId : newId(),
        createdAt: aTime + Math.floor(turn / 2),
      });
      all.push(delivery);
      await stores.store.createDelivery(delivery);
    }
    const newestFirst = all.toReversed();
    const list = (whose: string | null | undefined, limit: number) =>
      allPages(limit, (page) => stores.other.listDeliveries(whose, page));
    expect(await list(undefined, 2)).toEqual(newestFirst);
    expect(await list(null, 1)).toEqual(newestFirst.filter(({ userId: whose }) => whose === null));
    expect(await list(userId, 2)).toEqual(newestFirst.filter(({ userId: whose }) => whose === userId));
    expect(await list(newId(), 2)).toEqual([]);
    expect(await stores.store.expire({ deliveries: aTime + 2 })).toBe(4);
    expect(await list(undefined, 100)).toEqual(newestFirst.slice(0, 5));
  });
}
