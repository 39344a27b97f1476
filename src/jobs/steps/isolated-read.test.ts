import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createCrashingProcess } from '../../../test/support/faults/crash.ts';
import {
  type JobFixture,
  openJobFixture,
  variantSoldRequest,
} from '../../../test/support/jobs/jobs.ts';
import { newId } from '../../base/id.ts';
import { Fault } from '../../contract/fault.ts';
import { type Batch, type BatchReference, batchKey } from '../../store/batches.ts';
import { excuseInterrupted, releaseBatch, releaseStalled } from '../../store/claims.ts';
import { replaceMethods } from '../../store/wrap.ts';
import { refill, sweep } from '../../sweep/sweep.ts';
import { leaseMs } from '../context.ts';
import { countsAsStalled } from './batch-writer.ts';
import { approve } from './decide.ts';
import { isSuspect } from './read-batch.ts';
import { work } from './work.ts';

let fixture: JobFixture;
let messages: BatchReference[];
beforeEach(async () => {
  fixture = await openJobFixture({ jobWindow: 1 });
  messages = [];
  const { queue } = fixture.context;
  fixture.context.queue = { ...queue, publish: async (message) => messages.push(message) > 0 };
});
afterEach(() => fixture.close());

const never = new AbortController().signal;
const poison = '30000000007';

/** An approved job of one batch, and the keys of its failed units with their codes. */
async function approved(items: number) {
  const userId = await fixture.createUser(10_000);
  const { jobId } = await fixture.submit(userId, 'SubmitVariantSold', variantSoldRequest(items));
  await approve(fixture.context, jobId, newId());
  const batch = async (): Promise<Batch> =>
    (await Array.fromAsync(fixture.context.store.batches.read(jobId)))[0]!;
  const failures = async () => {
    const { units, outcomes } = await batch();
    return units.flatMap(({ key }, index) => {
      const outcome = outcomes[index];
      return outcome?.status === 'FAILED' ? [[key, outcome.code]] : [];
    });
  };
  return { jobId: jobId as string, batch, failures };
}

/**
 * Processes the batch in a new process until `dies` reports its death, or to its end; returns true
 * for a death. If the death is `seen`, its parent releases the batch.
 */
async function live(dies: Promise<void>, seen: boolean): Promise<boolean> {
  const process = createCrashingProcess(fixture.context, Number.POSITIVE_INFINITY, 'before');
  const message = messages.shift();
  expect(message).toBeDefined();
  let ended: 'died' | 'ended' | null = null;
  const died = dies.then(() => {
    process.kill();
    ended ??= 'died';
  });
  const worked = work(process.context, message!, () => {}, never).then(() => {
    ended ??= 'ended';
  });
  void Promise.race([died, worked]);
  await fixture.eventually('the process ends', async () => {
    if (ended === null) await fixture.clock.advance(100);
    return ended !== null;
  });
  if (ended === 'died' && seen) {
    const { attempt } = message!;
    const { store, clock, queue } = fixture.context;
    await releaseBatch(store, { ...batchKey(message!), attempt: attempt + 1 }, clock.now(), {
      failed: true,
    });
    await queue.publish({ ...message!, attempt: attempt + 1 });
  }
  return ended === 'died';
}

/** Units whose pages kill the process that requests them. */
function killing(...items: string[]) {
  let toll = () => {};
  fixture.wrapFetch((fetch, itemId) => async (request) => {
    if (!items.includes(itemId)) return fetch(request);
    // Its neighbours' pages have arrived by then, but are not recorded.
    toll();
    return new Promise(() => {});
  });
  return () => new Promise<void>((resolve) => (toll = resolve));
}

/** Restarts until the batch is done; returns the number of deaths. */
async function liveOn(
  batch: () => Promise<Batch>,
  nextDeath: () => Promise<void>,
  { seen = true } = {},
): Promise<number> {
  for (let deaths = 0; ; deaths += 1) {
    if (deaths > 60) throw new Error('it dies for ever');
    if (!(await live(nextDeath(), seen))) {
      expect((await batch()).state).toBe('done');
      return deaths;
    }
    if (seen) continue;
    await fixture.clock.advance(leaseMs + 1);
    await sweep(fixture.context);
  }
}

describe('a unit that kills its worker', () => {
  test('fails alone after four deaths, and its neighbours succeed', async () => {
    const job = await approved(20);
    expect(await liveOn(job.batch, killing(poison))).toBe(4);
    expect(await job.failures()).toEqual([[poison, 'work_abandoned']]);
    const ended = await fixture.waitForState(job.jobId, 'completed');
    expect(ended).toMatchObject({ refunded: ended.unitPrice });
    expect(await fixture.problems()).toEqual([]);
  });

  test('fails alone after the service ended eight times for an unknown cause', async () => {
    const job = await approved(20);
    expect(await liveOn(job.batch, killing(poison), { seen: false })).toBe(8);
    expect(await job.failures()).toEqual([[poison, 'work_abandoned']]);
    expect(await fixture.problems()).toEqual([]);
  });

  test('succeeds if the service was killed seven times from outside', async () => {
    const job = await approved(20);
    const nextDeath = killing(poison);
    for (let kills = 0; kills < 7; kills += 1) {
      expect(await live(nextDeath(), false)).toBe(true);
      await fixture.clock.advance(leaseMs + 1);
      await sweep(fixture.context);
    }
    fixture.wrapFetch((fetch) => fetch);
    expect(await live(new Promise(() => {}), false)).toBe(false);
    expect(await job.failures()).toEqual([]);
    await fixture.waitForState(job.jobId, 'completed');
    expect(await fixture.problems()).toEqual([]);
  });

  test('fails after four deaths although other units have outcomes each time', async () => {
    const job = await approved(40);
    let toll = () => {};
    let read = 0;
    fixture.wrapFetch((fetch, itemId) => async (request) => {
      if (itemId === poison) {
        // Other units are written by then.
        await fixture.clock.sleep(5_000);
        toll();
        return new Promise(() => {});
      }
      read += 1;
      await fixture.clock.sleep(read > 16 ? 2_500 : 0);
      return fetch(request);
    });
    const deaths = await liveOn(job.batch, () => new Promise<void>((resolve) => (toll = resolve)));
    expect(deaths).toBe(4);
    expect(await job.failures()).toEqual([[poison, 'work_abandoned']]);
  });

  test('is not suspected while workers that are killed again and again store records each time', async () => {
    const job = await approved(40);
    let read = 0;
    fixture.wrapFetch((fetch) => async (request) => {
      read += 1;
      await fixture.clock.sleep(read > 6 ? 2 * leaseMs : 1_500);
      return fetch(request);
    });
    const storesRecords = async () => {
      const { success } = await job.batch();
      while ((await job.batch()).success === success) await fixture.clock.sleep(100);
    };
    for (let kills = 0; kills < 4; kills += 1) {
      read = 0;
      expect(await live(storesRecords(), false)).toBe(true);
      await fixture.clock.advance(leaseMs + 1);
      await sweep(fixture.context);
    }
    const { attempt, stalledClaims } = await job.batch();
    expect([attempt, stalledClaims]).toEqual([4, 1]);
  });

  test('costs two more deaths per further unit, up to three units; then the rest is abandoned', async () => {
    const ids = Array.from({ length: 10 }, (_, at) => `3000000000${at}`);
    const job = await approved(10);
    expect(await liveOn(job.batch, killing(...ids))).toBe(8);
    expect(await job.failures()).toEqual(ids.map((id) => [id, 'work_abandoned']));
    const messages = Object.values((await job.batch()).outcomes).map((outcome) =>
      outcome.status === 'FAILED' ? outcome.message : '',
    );
    for (const message of messages.slice(0, 3))
      expect(message).toContain('started 2 times on its own');
    expect(messages[3]).toBe('3 other units of the batch crashed their workers');
    expect(await fixture.problems()).toEqual([]);
  });
});

describe('a unit that stalls its worker', () => {
  test('fails after the second stall, before its neighbours are read alone', async () => {
    const job = await approved(20);
    const { store, clock, queue } = fixture.context;
    const message = messages[0]!;
    const nextDeath = killing(poison);
    const stall = async (attempt: number) => {
      await releaseStalled(store, { ...batchKey(message), attempt }, 7, clock.now());
      await queue.publish({ ...message, attempt });
    };
    expect(await live(nextDeath(), false)).toBe(true);
    await stall(1);
    expect(await live(nextDeath(), false)).toBe(true);
    await stall(2);
    expect(await live(nextDeath(), false)).toBe(false);
    expect(fixture.requestedItems().filter((item) => item === poison)).toHaveLength(2);
    expect(await job.failures()).toEqual([[poison, 'work_abandoned']]);
    await fixture.waitForState(job.jobId, 'completed');
    expect(await fixture.problems()).toEqual([]);
  });

  test('is handed over to the process for isolated units without counting a claim', async () => {
    const job = await approved(20);
    const message = messages.shift()!;
    const claim = { ...batchKey(message), attempt: 1 };
    const { store, clock } = fixture.context;
    await store.batches.claim(batchKey(message), 0, clock.now(), clock.now() + leaseMs);
    await releaseStalled(store, claim, 7, clock.now());
    const handedOver: BatchReference[] = [];
    fixture.context.guard = { begin: async () => {}, handOver: (batch) => handedOver.push(batch) };
    await work(fixture.context, { ...message, attempt: 1 }, () => {}, never);
    expect(handedOver).toEqual([{ ...message, attempt: 2 }]);
    expect(fixture.requestedItems()).toEqual([]);
    expect(await job.batch()).toMatchObject({ state: 'queued', attempt: 2, stalledClaims: 1 });
  });
});

test('the guard receives the unit whose page is read', async () => {
  const job = await approved(3);
  const begun: number[] = [];
  fixture.context.guard = { begin: async ({ index }) => void begun.push(index) };
  const working = work(fixture.context, messages.shift()!, () => {}, never);
  await fixture.eventually('the batch is done', async () => {
    await fixture.clock.advance(100);
    return (await job.batch()).state === 'done';
  });
  await working;
  expect(begun.toSorted()).toEqual([0, 1, 2]);
});

describe('a batch', () => {
  /** Processes it whenever a message arrives, while time advances. */
  const workAll = async (times: number) => {
    for (let time = 0; time < times && messages.length > 0; time += 1) {
      let ended = false;
      const working = work(fixture.context, messages.shift()!, () => {}, never).finally(() => {
        ended = true;
      });
      while (!ended) await fixture.clock.advance(500);
      await working;
      // The maximum back-off.
      await fixture.clock.advance(300_000);
      if (messages.length === 0) await sweep(fixture.context);
    }
  };
  /** Makes the store fail on writes of outcomes. */
  const failingWrites = (fault: () => Fault) => {
    const { store } = fixture.context;
    fixture.context.store = replaceMethods(store, {
      batches: {
        recordOutcomes: async (batch, attempt, write) =>
          Object.keys(write.outcomes).length > 0
            ? Promise.reject(fault())
            : store.batches.recordOutcomes(batch, attempt, write),
      },
    });
    return () => {
      fixture.context.store = store;
    };
  };

  test('is abandoned after four claims if its results cannot be written', async () => {
    const job = await approved(1);
    const mend = failingWrites(
      () =>
        new Fault('unavailable', 'full', { cause: Object.assign(new Error(), { code: 'ENOSPC' }) }),
    );
    await workAll(4);
    const isolated = { index: 0, starts: 0, failures: 2 };
    expect(await job.batch()).toMatchObject({ attempt: 4, isolated, outcomes: {} });
    mend();
    await workAll(1);
    expect(await job.failures()).toEqual([['30000000000', 'work_abandoned']]);
    expect(fixture.requestedItems()).toHaveLength(4);
    const ended = await fixture.waitForState(job.jobId, 'failed');
    expect(ended.refunded).toBe(ended.cost);
    expect(await fixture.problems()).toEqual([]);
  });

  test('is not abandoned while an engine is unavailable', async () => {
    const job = await approved(1);
    const mend = failingWrites(() => new Fault('unavailable', 'the store does not answer'));
    await workAll(12);
    expect(await job.batch()).toMatchObject({ attempt: 12, stalledClaims: 0, isolated: null });
    mend();
    await workAll(1);
    expect(await job.failures()).toEqual([]);
    await fixture.waitForState(job.jobId, 'completed');
  });

  test('is not abandoned, however often its worker stops in order', async () => {
    const job = await approved(3);
    for (let stops = 0; stops < 12; stops += 1) {
      const stopping = new AbortController();
      fixture.wrapFetch(() => () => {
        stopping.abort(new Error('stopping'));
        return Promise.reject(stopping.signal.reason);
      });
      await work(fixture.context, messages.shift()!, () => {}, stopping.signal);
    }
    fixture.wrapFetch((fetch) => fetch);
    await workAll(1);
    expect(await job.failures()).toEqual([]);
    await fixture.waitForState(job.jobId, 'completed');
  });
});

describe('a service with worker processes', () => {
  /** Claims the batch, kills the service, and starts the next one. */
  const killAndRestart = async () => {
    const { store, clock } = fixture.context;
    const message = messages.pop()!;
    const now = clock.now();
    await store.batches.claim(batchKey(message), message.attempt, now, now + leaseMs - 1);
    await excuseInterrupted(store);
    await refill(fixture.context);
  };

  test('that is killed again and again reads the interrupted batches as before', async () => {
    const { jobId, batch } = await approved(3);
    for (let deaths = 1; deaths <= 20; deaths += 1) await killAndRestart();
    expect(await batch()).toMatchObject({
      state: 'queued',
      attempt: 20,
      stalledClaims: 0,
      isolated: null,
    });
    await work(fixture.context, messages.pop()!, () => {}, never);
    expect(await fixture.context.store.jobs.get(jobId)).toMatchObject({
      state: 'completed',
      refunded: 0,
    });
  });

  test('that is killed too many times blames the pages', async () => {
    const { batch } = await approved(3);
    for (let deaths = 1; deaths <= 60; deaths += 1) await killAndRestart();
    expect(isSuspect(await batch())).toBe(true);
  });
});

test.each([
  ['a fault of the program', new Error('x'), true],
  ['a record that is too large', new Fault('too_large', 'x'), true],
  ['an engine that is away', new Fault('unavailable', 'x'), false],
  ['an engine that fails', new Fault('internal', 'x', { component: 'store' }), false],
  [
    'a document that is too large',
    new Fault('internal', 'x', { component: 'store', cause: { code: 10_334 } }),
    true,
  ],
  ['a full disk', new Fault('unavailable', 'x', { cause: { code: 'ENOSPC' } }), true],
  ['a full quota', new Fault('unavailable', 'x', { cause: { code: 'EDQUOT' } }), true],
  ['a file that is too large', new Fault('unavailable', 'x', { cause: { code: 'EFBIG' } }), true],
])('countsAsStalled() of %s', (_what, error, counts) => {
  expect(countsAsStalled(error)).toBe(counts);
});
