import { beforeEach, describe, expect, test } from 'vitest';
import { createManualClock, flushTasks, type ManualClock } from '../../test/support/time/clock.ts';
import { aJob } from '../store/conformance/samples.ts';
import { openSqliteStore } from '../store/sqlite/open.ts';
import { noMetrics } from '../telemetry/metrics.ts';
import { createJobChanges, type JobChanges, observeStore } from './job-events.ts';

let clock: ManualClock;
let changes: JobChanges;
beforeEach(() => {
  clock = createManualClock(0);
  changes = createJobChanges(clock);
});

/** Waits for a job, and reports whether the wait has ended. */
function wait(jobId: string, ms = 1_000, { signal } = new AbortController()) {
  let over = false;
  void changes.next(jobId, ms, signal).then(() => {
    over = true;
  });
  return async () => {
    await flushTasks();
    return over;
  };
}

describe('next()', () => {
  test('resolves when the job changes, for every waiting caller', async () => {
    const [one, two, other] = [wait('a'), wait('a'), wait('b')];
    changes.notify('nobody');
    expect([await one(), await two(), await other()]).toEqual([false, false, false]);
    changes.notify('a');
    expect([await one(), await two(), await other()]).toEqual([true, true, false]);
    expect(clock.sleepers()).toBe(1);
  });

  test('resolves after its timeout', async () => {
    const over = wait('a', 500);
    await clock.advance(499);
    expect(await over()).toBe(false);
    await clock.advance(1);
    expect(await over()).toBe(true);
  });

  test('resolves when its signal aborts, while others keep waiting', async () => {
    const leaving = new AbortController();
    const [one, two] = [wait('a', 1_000, leaving), wait('a')];
    leaving.abort();
    expect([await one(), await two()]).toEqual([true, false]);
    changes.notify('a');
    expect(await two()).toBe(true);
  });

  test('wakes a caller that started waiting after another one left', async () => {
    const first = wait('a', 10);
    await clock.advance(10);
    expect(await first()).toBe(true);
    const second = wait('a');
    changes.notify('a');
    expect(await second()).toBe(true);
  });

  test('resolves immediately without a timeout, with an aborted signal, and after stop()', async () => {
    expect(await wait('a', 0)()).toBe(true);
    expect(await wait('a', -1)()).toBe(true);
    const left = new AbortController();
    left.abort();
    expect(await wait('a', 1_000, left)()).toBe(true);
    expect(changes.stopped).toBe(false);
    changes.stop();
    expect(changes.stopped).toBe(true);
    expect(await wait('a')()).toBe(true);
    expect(clock.sleepers()).toBe(0);
  });

  test('removes its listener from the signal', async () => {
    const { signal } = new AbortController();
    const listeners: string[] = [];
    const counted = new Proxy(signal, {
      get: (target, name) => {
        if (name !== 'addEventListener' && name !== 'removeEventListener')
          return Reflect.get(target, name);
        return (type: string) => listeners.push(`${name} ${type}`);
      },
    });
    const over = changes.next('a', 1_000, counted);
    changes.notify('a');
    await over;
    expect(listeners).toEqual(['addEventListener abort', 'removeEventListener abort']);
  });
});

test('stop() ends every wait', async () => {
  const waits = [wait('a'), wait('a'), wait('b')];
  changes.stop();
  expect(await Promise.all(waits.map((over) => over()))).toEqual([true, true, true]);
});

test('observeStore() announces only transitions that took effect', async () => {
  const store = openSqliteStore({ path: ':memory:' });
  const told = observeStore(store, changes, noMetrics);
  const job = aJob();
  await told.jobs.create(job, []);
  const over = wait(job.id);
  expect(await told.jobs.move(job.id, ['approved'], 'processing', 5)).toBeNull();
  expect(await over()).toBe(false);
  const moved = await told.jobs.move(job.id, ['submitted'], 'approved', 7, { reason: 'Because.' });
  expect(moved).toMatchObject({ state: 'approved', stateSince: 7, reason: 'Because.' });
  expect(await over()).toBe(true);
  await store.close();
});
