import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  grant,
  type JobFixture,
  noon,
  openJobFixture,
  variantSoldRequest,
} from '../../test/support/jobs/jobs.ts';
import { newId } from '../base/id.ts';
import { Fault } from '../contract/fault.ts';
import type { JobContext } from '../jobs/context.ts';
import { approve } from '../jobs/steps/decide.ts';
import { openLocalQueue } from '../queue/local/open.ts';
import type { Queue } from '../queue/queue.ts';
import { countsOf, inFlightOf } from '../store/batch-store.ts';
import type { BatchReference } from '../store/batches.ts';
import { aBatch, aFailure, aJob, units } from '../store/conformance/samples.ts';
import type { Job } from '../store/documents.ts';
import { interruptedMs } from '../store/job-states.ts';
import { replaceMethods, wrapMethods } from '../store/wrap.ts';
import { sweepMs } from './continue-jobs.ts';
import { wholeShare } from './share.ts';
import { refill, sweep, sweepForever } from './sweep.ts';

const hour = 3_600_000;
const operatorId = newId();

let fixture: JobFixture;
beforeEach(async () => {
  fixture = await openJobFixture({ jobWindow: 2 });
});
afterEach(() => fixture.close());

/** Returns the context with a queue that can be made unavailable. */
function withQueueOutage({ context }: JobFixture): {
  context: JobContext;
  published: BatchReference[];
  isAvailable: boolean;
} {
  const wire = { isAvailable: true, published: [] as BatchReference[], context };
  const check = () => {
    if (!wire.isAvailable) throw new Fault('unavailable', 'The queue is unavailable.');
  };
  const queue: Queue = {
    ...context.queue,
    publish: async (message) => {
      check();
      const isAdded = await context.queue.publish(message);
      if (isAdded) wire.published.push(message);
      return isAdded;
    },
    ping: async () => check(),
  };
  wire.context = { ...context, queue };
  return wire;
}

async function submitted(
  items: number,
  credits = 10_000,
): Promise<{ userId: string; jobId: string }> {
  const userId = await fixture.createUser(credits);
  const { jobId } = await fixture.submit(userId, 'SubmitVariantSold', variantSoldRequest(items));
  return { userId, jobId };
}

const stateOf = async (jobId: string) => (await fixture.context.store.jobs.get(jobId))?.state;
const inFlight = async (jobId: string) =>
  (await inFlightOf(fixture.context.store, jobId, fixture.clock.now())).batches;

describe('jobs awaiting approval', () => {
  test('are rejected after 24 hours, at no cost', async () => {
    const { userId, jobId } = await submitted(3);
    await fixture.clock.advance(24 * hour - 1);
    await sweep(fixture.context);
    expect(await stateOf(jobId)).toBe('awaiting_approval');
    await fixture.clock.advance(1);
    await sweep(fixture.context);
    const job = (await fixture.context.store.jobs.get(jobId))!;
    expect(job).toMatchObject({ state: 'rejected', decidedBy: null, refunded: 0 });
    expect(job.reason).toContain('24 hours');
    expect(await fixture.balance(userId)).toBe(10_000);
    const shown = await fixture.read(userId, 'RetrieveVariantSold', { jobId });
    expect(shown).toMatchObject({
      status: 'rejected',
      jobStatus: 'failed',
      progress: '1/1 batches complete',
    });
    expect(await fixture.problems()).toEqual([]);
  });

  test('are refunded in full if they were charged at submit', async () => {
    const userId = await fixture.createUser(20);
    const urls = ['https://mkta.sg/search?keyword=kite', 'https://mkta.sg/search?keyword=boat'];
    const { jobId, cost } = await fixture.submit(userId, 'SubmitSearchItems', { urls });
    expect([cost, await fixture.balance(userId)]).toEqual([12, 8]);
    await fixture.clock.advance(24 * hour);
    await sweep(fixture.context);
    expect(await fixture.context.store.jobs.get(jobId)).toMatchObject({
      state: 'rejected',
      refunded: 12,
    });
    expect(await fixture.balance(userId)).toBe(20);
    expect(await fixture.problems()).toEqual([]);
  });

  test('keep waiting if an interrupted approval finds too few credits', async () => {
    const { userId, jobId } = await submitted(3, 30);
    const { store, clock } = fixture.context;
    await store.jobs.move(jobId, ['awaiting_approval'], 'approving', clock.now(), {
      decidedBy: operatorId,
    });
    await grant(fixture.context, userId, -5);
    await fixture.clock.advance(30_001);
    await sweep(fixture.context);
    expect(await store.jobs.get(jobId)).toMatchObject({
      state: 'awaiting_approval',
      decidedBy: null,
    });
    await grant(fixture.context, userId, 5);
    await approve(fixture.context, jobId, operatorId);
    expect(await fixture.balance(userId)).toBe(0);
  });
});

describe('working hours', () => {
  beforeEach(async () => {
    await fixture.close();
    const workingHours = { startMinute: 8 * 60, endMinute: 18 * 60, offsetMinutes: 8 * 60 };
    fixture = await openJobFixture({ jobWindow: 2, workingHours });
    await fixture.startWorker();
  });

  test('delay a job approved outside of them', async () => {
    await fixture.clock.advance(6 * hour);
    const { userId, jobId } = await submitted(60);
    await approve(fixture.context, jobId, operatorId);
    await sweep(fixture.context);
    await fixture.clock.advance(14 * hour - sweepMs);
    await sweep(fixture.context);
    expect(await inFlight(jobId)).toBe(0);
    const shown = await fixture.read(userId, 'RetrieveVariantSold', { jobId });
    expect(shown).toMatchObject({ status: 'processing', jobStatus: 'pending' });
    await fixture.clock.advance(sweepMs);
    await sweep(fixture.context);
    await fixture.waitForState(jobId, 'completed');
  });

  test('let dispatched batches finish after they end, and no others', async () => {
    const held = Promise.withResolvers<void>();
    fixture.wrapFetch((fetch) => async (request) => {
      await held.promise;
      return fetch(request);
    });
    await fixture.clock.advance(6 * hour - 1_000);
    const { jobId } = await submitted(160);
    await approve(fixture.context, jobId, operatorId);
    expect(await inFlight(jobId)).toBe(2);
    await fixture.clock.advance(2_000);
    held.resolve();
    const ended = async () => (await countsOf(fixture.context.store, jobId)).batches.success === 2;
    await fixture.eventually('two batches are done', ended);
    await sweep(fixture.context);
    expect(await inFlight(jobId)).toBe(0);
    await fixture.clock.advance(14 * hour);
    await sweep(fixture.context);
    await fixture.waitForState(jobId, 'completed');
  });
});

describe('an unavailable queue', () => {
  test('delays a job by at most one round after it recovers', async () => {
    const wire = withQueueOutage(fixture);
    await fixture.startWorker();
    const { jobId } = await submitted(120);
    wire.isAvailable = false;
    await approve(wire.context, jobId, operatorId);
    for (let round = 0; round < 20; round++) {
      await fixture.clock.advance(sweepMs);
      await sweep(wire.context);
    }
    expect(wire.published).toEqual([]);
    wire.isAvailable = true;
    await fixture.clock.advance(sweepMs);
    await sweep(wire.context);
    expect(wire.published).toHaveLength(2);
    await fixture.waitForState(jobId, 'completed');
  });

  test('does not block the other steps', async () => {
    const wire = withQueueOutage(fixture);
    const { jobId } = await submitted(3);
    wire.isAvailable = false;
    await fixture.clock.advance(24 * hour);
    await sweep(wire.context);
    expect(await stateOf(jobId)).toBe('rejected');
  });
});

describe('many jobs', () => {
  const many = 1_203;
  /** Stores a job with no batches or with one waiting batch. */
  const insertJob = async (fields: Partial<Job>, batches = 0) => {
    const job = aJob({
      market: 'mkta',
      kind: 'variant_sold',
      totalBatches: batches,
      totalUnits: batches,
      ...fields,
    });
    await fixture.context.store.jobs.create(job, batches === 0 ? [] : [aBatch(job, 0, units(1))]);
    return job;
  };

  test('does not starve a later job with jobs that wait for working hours', async () => {
    await fixture.close();
    // The manual clock starts at noon.
    const workingHours = { startMinute: 13 * 60, endMinute: 14 * 60, offsetMinutes: 8 * 60 };
    fixture = await openJobFixture({ workingHours });
    const since = fixture.clock.now() - hour;
    for (let at = 0; at < many; at += 1)
      await insertJob({ state: 'processing', stateSince: since + at }, 1);
    const later = await insertJob(
      { state: 'approved', stateSince: since + many, kind: 'get_pc_bulk' },
      1,
    );
    await sweep(fixture.context);
    expect(await inFlight(later.id)).toBe(1);
  });

  test.each([
    ['submit', { state: 'submitted', kind: 'get_pc_bulk' }, 'processing'],
    ['approval', { state: 'approving' }, 'processing'],
    ['expiry', { state: 'awaiting_approval', decideBy: noon - 1 }, 'rejected'],
    ['ending', { state: 'settling' }, 'failed'],
  ] as const)(
    'does not delay the %s of a later job while earlier ones fail',
    async (_step, fields, end) => {
      const { store } = fixture.context;
      const userId = await fixture.createUser(1_000);
      const broken = new Set<string>();
      const since = noon - hour;
      for (let at = 0; at < many; at += 1) {
        const decideBy = 'decideBy' in fields ? fields.decideBy - many + at : null;
        const job = await insertJob({ ...fields, userId, decideBy, stateSince: since + at });
        broken.add(job.id);
      }
      const good = await insertJob({ ...fields, userId, cost: 0, stateSince: since + many }, 1);
      if (end === 'failed') await store.batches.fail(good.id, ['waiting'], aFailure, noon);
      const refuse = (jobId: string) => {
        if (broken.has(jobId)) throw new Error('broken');
      };
      const context = {
        ...fixture.context,
        store: replaceMethods(store, {
          jobs: {
            move: async (...parameters: Parameters<typeof store.jobs.move>) => {
              refuse(parameters[0]);
              return store.jobs.move(...parameters);
            },
          },
        }),
      };
      await sweep(context);
      expect(await stateOf(good.id)).toBe(end);
    },
  );
});

describe('stalled batches', () => {
  test('are republished a minute after their message was lost', async () => {
    const { jobId } = await submitted(3);
    await approve(fixture.context, jobId, operatorId);
    // A new queue simulates one that lost its messages.
    await fixture.context.queue.close();
    fixture.context.queue = openLocalQueue({ clock: fixture.clock, log: fixture.context.log });
    const wire = withQueueOutage(fixture);
    await fixture.clock.advance(60_000);
    await sweep(wire.context);
    expect(wire.published).toHaveLength(0);
    await fixture.clock.advance(1);
    await sweep(wire.context);
    expect(wire.published).toHaveLength(1);
    await fixture.startWorker();
    await fixture.waitForState(jobId, 'completed');
    expect(await fixture.problems()).toEqual([]);
  });

  test('are not republished while the queue holds them', async () => {
    const wire = withQueueOutage(fixture);
    const { jobId } = await submitted(120);
    await approve(wire.context, jobId, operatorId);
    expect(wire.published).toHaveLength(2);
    for (let minute = 0; minute < 60; minute += 1) {
      await fixture.clock.advance(60_001);
      await sweep(wire.context);
    }
    expect(wire.published).toHaveLength(2);
    await fixture.startWorker();
    await fixture.waitForState(jobId, 'completed');
  });

  test('are due since they were queued, however often they are republished', async () => {
    const { store } = fixture.context;
    const { jobId } = await submitted(3);
    await approve(fixture.context, jobId, operatorId);
    const since = fixture.clock.now();
    for (let minute = 0; minute < 15; minute += 1) {
      await fixture.clock.advance(60_001);
      await sweep(fixture.context);
    }
    // The alert about batches that wait, and the number of workers, depend on it.
    expect((await store.batches.countBacklog(fixture.clock.now()))[0]!.dueAt).toBe(since);
  });

  test('are requeued in one round after their worker died, regardless of their number', async () => {
    await fixture.close();
    fixture = await openJobFixture({ jobWindow: 10_000 });
    const { store, clock } = fixture.context;
    const userId = await fixture.createUser(400_000);
    const { jobId } = await fixture.submit(userId, 'SubmitVariantSold', variantSoldRequest(30_000));
    await approve(fixture.context, jobId, operatorId);
    const last = (await store.batches.find({ jobId })).at(-1)!;
    await fixture.clock.advance(50_000);
    await store.batches.claim(last, 0, clock.now(), clock.now() + 10_001);
    await fixture.clock.advance(10_002);
    await sweep(fixture.context);
    expect((await store.batches.find({ jobId })).at(-1)).toMatchObject({
      id: last.id,
      state: 'queued',
      attempt: 1,
    });
  });

  test('are republished when the lease of a dead worker expires', async () => {
    const { jobId } = await submitted(3);
    const { store, clock } = fixture.context;
    await approve(fixture.context, jobId, operatorId);
    const [batch] = await store.batches.find({ jobId });
    await store.batches.claim(batch!, 0, clock.now(), clock.now() + 10_000);
    await fixture.startWorker();
    await fixture.clock.advance(10_000);
    await sweep(fixture.context);
    expect(await stateOf(jobId)).toBe('processing');
    await fixture.clock.advance(1);
    await sweep(fixture.context);
    await fixture.waitForState(jobId, 'completed');
  });

  test('are all republished once at the start', async () => {
    await fixture.close();
    fixture = await openJobFixture({ jobWindow: 10_000 });
    const userId = await fixture.createUser(400_000);
    const { jobId } = await fixture.submit(userId, 'SubmitVariantSold', variantSoldRequest(30_000));
    await approve(fixture.context, jobId, operatorId);
    // The process restarts with an empty queue.
    await fixture.context.queue.close();
    fixture.context.queue = openLocalQueue({ clock: fixture.clock, log: fixture.context.log });
    const wire = withQueueOutage(fixture);
    // Time passes between queries.
    let now = fixture.clock.now();
    const clock = { ...fixture.clock, now: () => now++ };
    expect(await refill({ ...wire.context, clock })).toBe(600);
    expect(new Set(wire.published.map(({ batchId }) => batchId)).size).toBe(600);
  });
});

test('removes the orphaned batches of a failed submit after an hour', async () => {
  const { store } = fixture.context;
  const { jobId } = await submitted(3);
  const job = (await store.jobs.get(jobId))!;
  const [batch] = await Array.fromAsync(store.batches.read(jobId));
  const leaveOrphan = async () => {
    const id = newId();
    const createdAt = fixture.clock.now();
    function* broken() {
      for (let seq = 0; seq < 60; seq++) yield { ...batch!, id: newId(), jobId: id, seq };
      throw new Error('the process is gone');
    }
    await expect(
      store.jobs.create({ ...job, id, number: null, createdAt }, broken()),
    ).rejects.toThrow('gone');
  };
  await leaveOrphan();
  await fixture.clock.advance(hour - 1_000);
  await sweep(fixture.context);
  expect(await store.jobs.deleteOrphanedBatches(fixture.clock.now())).toBeGreaterThan(0);
  await leaveOrphan();
  await fixture.clock.advance(hour + 1_000);
  await sweep(fixture.context);
  expect(await store.jobs.deleteOrphanedBatches(fixture.clock.now())).toBe(0);
});

describe('a lost notification', () => {
  test.each([0, 1, 2_500, 4_999])(
    '%i ms after a sweep is repaired by the next one',
    async (phaseMs) => {
      const { jobId } = await submitted(3);
      await approve(fixture.context, jobId, operatorId);
      const stopping = new AbortController();
      const sweeping = sweepForever(
        fixture.context,
        sweepMs,
        stopping.signal,
        async () => wholeShare,
      );
      await fixture.eventually('the first sweep has ended', () => fixture.clock.sleepers() > 0);
      for (let round = 0; round < 3; round += 1) {
        await fixture.clock.advance(sweepMs);
        await fixture.eventually('the sweep has ended', () => fixture.clock.sleepers() > 0);
      }
      await fixture.clock.advance(phaseMs);
      // A worker ends the last batch, and dies before it ends the job.
      await fixture.context.store.batches.fail(jobId, ['queued'], aFailure, fixture.clock.now());
      expect(await stateOf(jobId)).toBe('processing');
      await fixture.clock.advance(sweepMs - phaseMs);
      await fixture.waitForState(jobId, 'failed');
      stopping.abort();
      await sweeping;
    },
  );
});

describe('a job that is due', () => {
  /** Stores an approval that a crash interrupted, and a context in which it cannot be resumed. */
  const interrupted = async () => {
    const { jobId } = await submitted(3);
    const { store, clock } = fixture.context;
    await store.jobs.move(jobId, ['awaiting_approval'], 'approving', clock.now(), {
      decidedBy: operatorId,
    });
    await fixture.clock.advance(interruptedMs);
    const move = async () => {
      throw new Error('broken');
    };
    return {
      jobId,
      broken: { ...fixture.context, store: replaceMethods(store, { jobs: { move } }) },
    };
  };

  test('comes back later if a step fails', async () => {
    const { jobId, broken } = await interrupted();
    await sweep(broken);
    await fixture.clock.advance(interruptedMs - 1);
    await sweep(fixture.context);
    expect(await stateOf(jobId)).toBe('approving');
    await fixture.clock.advance(1);
    await sweep(fixture.context);
    expect(await stateOf(jobId)).toBe('processing');
  });

  test('comes back later if the process that claimed it dies', async () => {
    const { jobId } = await interrupted();
    const { store, clock } = fixture.context;
    expect(await store.jobs.claimDue(clock.now(), clock.now() + interruptedMs, 10)).toHaveLength(1);
    await sweep(fixture.context);
    expect(await stateOf(jobId)).toBe('approving');
    await fixture.clock.advance(interruptedMs);
    await sweep(fixture.context);
    expect(await stateOf(jobId)).toBe('processing');
  });

  test('is continued by one of two sweeps', async () => {
    const { jobId } = await interrupted();
    const moved: string[] = [];
    const { store } = fixture.context;
    const context = {
      ...fixture.context,
      store: replaceMethods(store, {
        jobs: {
          move: async (...parameters) => {
            moved.push(`${parameters[1]} ${parameters[2]}`);
            return store.jobs.move(...parameters);
          },
        },
      }),
    };
    await Promise.all([sweep(context), sweep(context)]);
    expect(await stateOf(jobId)).toBe('processing');
    expect(moved).toEqual(['approving approved', 'approved processing']);
  });

  test('costs one count with others while batches of all are in flight', async () => {
    for (let index = 0; index < 3; index++) {
      const { jobId } = await submitted(3);
      await approve(fixture.context, jobId, operatorId);
    }
    const calls: string[] = [];
    const store = wrapMethods(fixture.context.store, (name, method) => (...parameters) => {
      if (/^(?:batches|jobs)\./.test(name)) calls.push(name);
      return method(...parameters);
    });
    await fixture.clock.advance(sweepMs);
    await sweep({ ...fixture.context, store }, undefined, { expires: false });
    expect(calls.filter((name) => !/requeueStalled|jobs\.(?:claimDue|find)/.test(name))).toEqual([
      'batches.countInFlight',
      'batches.countBy',
    ]);
  });
});

test('a failing step does not block the others', async () => {
  const { jobId } = await submitted(3);
  await fixture.clock.advance(24 * hour);
  const store = replaceMethods(fixture.context.store, {
    batches: {
      requeueStalled: async () => {
        throw new Error('broken');
      },
    },
  });
  await sweep({ ...fixture.context, store });
  expect(await stateOf(jobId)).toBe('rejected');
});

test('stops after the current step when the store is unavailable or the signal is aborted', async () => {
  const taken: string[] = [];
  const { store } = fixture.context;
  const step = (name: string) => async () => {
    taken.push(name);
    return [];
  };
  const ping = async () => {
    throw new Fault('unavailable', 'The store is unavailable.');
  };
  const schedules = { claimDue: step('schedules') };
  const without = { jobs: { claimDue: step('jobs') }, schedules, ping };
  await sweep({ ...fixture.context, store: replaceMethods(store, without) });
  const stopping = new AbortController();
  const stop = async () => {
    stopping.abort(new Error('stop'));
    return step('jobs')();
  };
  expect(taken).toEqual([]);
  const stopped = replaceMethods(store, { jobs: { claimDue: stop }, schedules });
  await sweep({ ...fixture.context, store: stopped }, stopping.signal);
  expect(taken).toEqual(['jobs']);
});

test('deletes dead processes after an hour and origin statistics after a day', async () => {
  const { store, clock } = fixture.context;
  const startedAt = clock.now();
  const about = {
    role: 'worker',
    host: 'one.example',
    pid: 7,
    version: '1',
    memoryBytes: 1,
    workers: 0,
    batches: 0,
  };
  await store.processes.upsert([
    {
      ...about,
      id: newId(),
      startedAt,
      seenAt: startedAt,
      unitsDone: 0,
      paused: '',
      clockSkewMs: 0,
    },
  ]);
  const counts = { requests: 1, refused: 0, failed: 0, milliseconds: 1 };
  const place = { origin: 'https://sg.example', market: 'mkta', region: 'sg' };
  await store.originMinutes.accumulate([{ ...place, ...counts, minute: startedAt }]);
  const known = async () => [
    (await store.processes.find({ seenAt: { atLeast: 0 } })).length,
    (await store.originMinutes.find({ minute: { atLeast: 0 } })).length,
  ];
  await fixture.clock.advance(hour);
  await sweep(fixture.context);
  expect(await known()).toEqual([1, 1]);
  await fixture.clock.advance(1);
  await sweep(fixture.context);
  expect(await known()).toEqual([0, 1]);
  await fixture.clock.advance(23 * hour);
  await sweep(fixture.context);
  expect(await known()).toEqual([0, 0]);
});
