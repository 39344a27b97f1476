import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import { lastRemovalMs, restartRemoval } from './file-removals.ts';
import { awaitsDecision, dueOnEntry, maxDueMs, openStates, steppingStates } from './job-states.ts';
import type { OriginPause } from './origin-state.ts';
import type { Store } from './store.ts';
import { replaceMethods } from './wrap.ts';

/**
 * Longest time that a stored time of a kind may lie ahead, in milliseconds: more than any that the
 * program writes. A later one was written by a wrong clock.
 */
const maxAheadMs = {
  /** Claim of a batch (src/jobs/context.ts). */
  claim: 60_000,
  /** Publication of a batch, which is over when it is stored. */
  publication: 60_000,
  /** Delay of a batch: at most what `Retry-After` may ask for, and a part more. */
  delay: 20 * 60_000,
  /** Pause of an origin. */
  pause: 20 * 60_000,
  /** Request slot of an origin, beside `slots`. */
  slot: 60_000,
  /** Comparison of a job. */
  comparison: 5 * 60_000,
  /** Message to create. Reminders are excepted: their time follows from a deadline. */
  notice: 60_000,
  /** Repeat of a message: the last delay of its schedule is 8 h, and a tenth more. */
  repeat: 9 * 3_600_000,
} as const;

/**
 * Intervals between requests by which a slot may lie ahead beside its time: one for each process.
 */
const maxSlotsAhead = 60;

/** Documents read at once. */
const pageSize = 200;

/** Documents that are made due, and how. */
interface DueChange<T> {
  find(limit: number): Promise<T[]>;
  /** Makes a document due, unless it has changed. It is then not found again. */
  makeDue(document: T): Promise<unknown>;
}

/** Makes all documents due, and returns their number. */
async function makeAllDue<T>({ find, makeDue }: DueChange<T>): Promise<number> {
  for (let count = 0; ; ) {
    const found = await find(pageSize);
    for (const document of found) await makeDue(document);
    count += found.length;
    if (found.length < pageSize) return count;
  }
}

async function discardAll<T>(log: Log, kind: string, change: DueChange<T>): Promise<void> {
  logDiscarded(log, kind, await makeAllDue(change));
}

/** Logs times that were discarded, if there are any. */
export function logDiscarded(log: Log, kind: string, count: number): void {
  if (count > 0) log.warn({ kind, count }, 'stored times discarded: written by a wrong clock');
}

/**
 * Makes everything due now whose stored time lies further ahead than its kind allows. Idempotent.
 * Times of schedules depend on their expressions (src/schedules/correct-times.ts), and those of
 * origins are checked when they are used.
 */
export async function discardWrongTimes(store: Store, clock: Clock, log: Log): Promise<void> {
  const now = clock.now();
  const steady = clock.steady();
  await discardBatchTimes(store, steady, log);
  await discardAll(log, 'message repeats', {
    find: (limit) =>
      store.deliveries.find(
        { nextAttemptAt: { above: steady + maxAheadMs.repeat } },
        { order: [], limit },
      ),
    makeDue: ({ id, revision }) =>
      store.deliveries.update({ id, revision }, { nextAttemptAt: steady }),
  });
  await discardAll(log, 'comparisons', {
    find: (limit) =>
      store.trackingRuns.find(
        { dueAt: { above: steady + maxAheadMs.comparison } },
        { order: [], limit },
      ),
    makeDue: ({ jobId, revision }) =>
      store.trackingRuns.update({ jobId, revision }, { dueAt: steady }),
  });
  await discardAll(log, 'removals of files', {
    find: (limit) =>
      store.fileRemovals.find({ dueAt: { above: steady + lastRemovalMs } }, { order: [], limit }),
    makeDue: (removal) => restartRemoval(store, removal, steady),
  });
  const noticeAt = { above: now + maxAheadMs.notice };
  await discardAll(log, 'messages about jobs', {
    find: (limit) =>
      store.jobs.find({ noticeAt, noticeDue: { not: 'approval_expiring' } }, { order: [], limit }),
    makeDue: ({ id, noticeDue }) => store.jobs.update({ id, noticeDue }, { noticeAt: now }),
  });
  await discardAll(log, 'messages about schedules', {
    find: (limit) => store.schedules.find({ noticeAt }, { order: [], limit }),
    makeDue: ({ id, revision }) => store.schedules.update({ id, revision }, { noticeAt: now }),
  });
  const timed = openStates.filter((state) => !awaitsDecision(state));
  await discardAll(log, 'steps of jobs', {
    find: (limit) =>
      store.jobs.find(
        { state: { in: timed }, dueAt: { above: now + maxDueMs } },
        { order: [], limit },
      ),
    makeDue: (job) => {
      const { id, state, dueAt } = job;
      const change = { dueAt: dueOnEntry(job, Math.min(job.stateSince, now)) };
      return store.jobs.update({ id, state, dueAt }, change, { relaxed: true });
    },
  });
}

async function discardBatchTimes({ batches }: Store, steady: number, log: Log): Promise<void> {
  await discardAll(log, 'claims', {
    find: (limit) =>
      batches.find(
        { state: 'claimed', leaseUntil: { above: steady + maxAheadMs.claim } },
        { order: [], limit },
      ),
    makeDue: ({ id, jobId, attempt }) =>
      batches.update(
        {
          id,
          jobId,
          attempt,
          state: 'claimed',
        },
        { leaseUntil: steady },
      ),
  });
  await discardAll(log, 'publications', {
    find: (limit) =>
      batches.find(
        { state: 'queued', publishedAt: { above: steady + maxAheadMs.publication } },
        { order: [], limit },
      ),
    makeDue: ({ id, jobId, attempt }) =>
      batches.update(
        {
          id,
          jobId,
          attempt,
          state: 'queued',
        },
        { publishedAt: steady },
      ),
  });
  for (const state of ['queued', 'waiting'] as const) {
    await discardAll(log, 'delays of batches', {
      find: (limit) =>
        batches.find(
          { state, notBefore: { above: steady + maxAheadMs.delay } },
          { order: [], limit },
        ),
      makeDue: ({ id, jobId, attempt }) =>
        batches.update(
          {
            id,
            jobId,
            attempt,
            state,
          },
          { notBefore: steady },
        ),
    });
  }
}

/**
 * Wraps a store so that no request waits for a slot or a pause of an origin that lies too far
 * ahead: it is discarded before it is returned.
 */
export function withOriginLimits(store: Store, log: Log): Store {
  const { origins } = store;
  const checked = async <R extends { first?: number; pause: OriginPause }>(
    origin: string,
    { now, spanMs }: { now: number; spanMs: number },
    read: () => Promise<R>,
  ): Promise<R> => {
    const latest = {
      slot: now + maxAheadMs.slot + maxSlotsAhead * spanMs,
      pause: now + maxAheadMs.pause,
    };
    for (;;) {
      const result = await read();
      const { first = 0, pause } = result;
      if (first <= latest.slot && pause.until <= latest.pause) return result;
      await origins.discardTimes(origin, latest, now);
      logDiscarded(log, `slots and pauses of ${origin}`, 1);
    }
  };
  return replaceMethods(store, {
    origins: {
      reserve: (origin, slots, intervalMs, now) =>
        checked(origin, { now, spanMs: slots * intervalMs }, () =>
          origins.reserve(origin, slots, intervalMs, now),
        ),
      lease: (origin, request) =>
        checked(origin, { now: request.now, spanMs: 0 }, () => origins.lease(origin, request)),
    },
  });
}

/** Time after its claim at which the work of a process that has ended is due at the latest. */
const maxClaimMs = 120_000;

/**
 * Makes everything due now that a process may have claimed. Only for the start of the embedded
 * stack, when no other process can hold a claim. Batches follow with their messages.
 */
export async function voidClaims(store: Store, clock: Clock): Promise<void> {
  const now = clock.now();
  const steady = clock.steady();
  const claimedAt = (time: number) => ({ above: time, atMost: time + maxClaimMs });
  const steps = steppingStates.filter((state) => !awaitsDecision(state));
  await makeAllDue({
    find: (limit) =>
      store.jobs.find({ state: { in: steps }, dueAt: claimedAt(now) }, { order: [], limit }),
    makeDue: ({ id, state }) => store.jobs.update({ id, state }, { dueAt: now }, { relaxed: true }),
  });
  await makeAllDue({
    find: (limit) =>
      store.deliveries.find({ nextAttemptAt: claimedAt(steady) }, { order: [], limit }),
    makeDue: ({ id, revision }) =>
      store.deliveries.update({ id, revision }, { nextAttemptAt: steady }),
  });
  await makeAllDue({
    find: (limit) => store.trackingRuns.find({ dueAt: claimedAt(steady) }, { order: [], limit }),
    makeDue: ({ jobId, revision }) =>
      store.trackingRuns.update({ jobId, revision }, { dueAt: steady }),
  });
  await makeAllDue({
    find: (limit) => store.schedules.find({ dueAt: claimedAt(now) }, { order: [], limit }),
    makeDue: ({ id, revision }) => store.schedules.update({ id, revision }, { dueAt: now }),
  });
}
