import { describe, expect, test } from 'vitest';
import { flushTasks } from '../../test/support/time/clock.ts';
import {
  type Admission,
  type AdmissionOptions,
  createAdmission,
  createBatchLimit,
  minBatchLimit,
} from './admission.ts';

const never = new AbortController().signal;

/**
 * Batches of one admission controller: the admitted ones by name, and the functions that release
 * them.
 */
function open(
  concurrency: number,
  maxWaitingPerUser = 1_000,
  allows: AdmissionOptions['allows'] = () => true,
) {
  const admission: Admission = createAdmission({ maxWaitingPerUser, allows });
  const admitted: string[] = [];
  const releases = new Map<string, () => void>();
  /** Adds `count` batches of a job, named by user and number: "a1" is job 1 of user a. */
  const add = async (jobId: string, count: number, { region = 'sg', requests = 8 } = {}) => {
    const userId = jobId[0]!;
    for (let number = 0; number < count; number += 1) {
      const name = `${jobId}.${number}`;
      const applicant = { userId, jobId, market: 'mkta', region, concurrency, requests };
      void admission.wait(applicant, never).then((release) => {
        if (release === null) return;
        admitted.push(name);
        releases.set(name, release);
      });
    }
    await flushTasks();
  };
  const countOf = (prefix: string) =>
    [...releases.keys()].filter((name) => name.startsWith(prefix)).length;
  /** Releases the oldest of these batches. */
  const end = async (prefix: string) => {
    const name = [...releases.keys()].find((each) => each.startsWith(prefix))!;
    releases.get(name)!();
    releases.delete(name);
    await flushTasks();
  };
  return { admission, admitted, add, countOf, end };
}

describe('createAdmission()', () => {
  test('gives one user half of the room and always leaves some for others', async () => {
    const { admission, add, countOf } = open(8);
    for (let job = 0; job < 100; job += 1) await add(`a${job}`, 1);
    expect(countOf('a')).toBe(8);
    await add('b1', 9);
    expect(countOf('b')).toBe(4);
    await add('c1', 9);
    expect(countOf('c')).toBe(2);
    expect(admission.waiting).toBe(92 + 5 + 7);
  });

  test('gives users equal shares as batches end', async () => {
    const { add, countOf, end } = open(8);
    await add('a1', 200);
    await add('b1', 200);
    const done = { a: 0, b: 0 };
    // Batches take the same time: the user with more batches ends more.
    for (let turn = 0; turn < 100; turn += 1) {
      const user = turn % 12 < (12 * countOf('a')) / (countOf('a') + countOf('b')) ? 'a' : 'b';
      await end(user);
      done[user] += 1;
    }
    expect(Math.abs(countOf('a') - countOf('b'))).toBeLessThanOrEqual(1);
    expect(done.b).toBeGreaterThan(40);
  });

  test('admits the jobs of a user round-robin', async () => {
    const { admitted, add, end } = open(8);
    await add('a1', 20);
    await add('a2', 20);
    expect(admitted).toEqual(Array.from({ length: 8 }, (_, number) => `a1.${number}`));
    for (let turn = 0; turn < 4; turn += 1) await end('a1');
    expect(admitted.slice(8)).toEqual(['a1.8', 'a2.0', 'a1.9', 'a2.1']);
  });

  test('isolates a full region from the others', async () => {
    const { add, countOf } = open(8);
    await add('a1', 50, { region: 'sg' });
    await add('a2', 3, { region: 'id' });
    expect(countOf('a1')).toBe(8);
    expect(countOf('a2')).toBe(3);
  });

  test.each([
    ['full batches', 2_000, 50, 60],
    ['batches of one unit', 2_000, 1, 3_000],
    ['batches of one unit at a small origin', 2, 1, 8],
    ['no more batches than keep the origin busy', 32, 32, 3],
  ])(
    'admits %s up to the permits of the origin',
    async (_name, concurrency, requests, expected) => {
      const { add, countOf } = open(concurrency, 10_000);
      await add('a1', 3_200, { requests });
      expect(countOf('a')).toBe(expected);
    },
  );

  test('rejects waiting batches of a user above the limit, and of no one else', async () => {
    const { admission, add, countOf } = open(8, 5);
    await add('a1', 8);
    await add('a2', 9);
    expect(admission.waiting).toBe(5);
    await add('b1', 5);
    expect(countOf('b')).toBe(4);
    expect(admission.waiting).toBe(6);
  });

  test('forgets batches whose signal aborted', async () => {
    const { admission, add, countOf, end } = open(8);
    await add('a1', 8);
    const stop = new AbortController();
    const gone = admission.wait(
      { userId: 'a', jobId: 'a2', market: 'mkta', region: 'sg', concurrency: 8, requests: 8 },
      stop.signal,
    );
    stop.abort('stopped');
    await expect(gone).rejects.toBe('stopped');
    expect(admission.waiting).toBe(0);
    await end('a1');
    await add('a3', 1);
    expect(countOf('a3')).toBe(1);
  });

  test.each(['aborted', 'refused'])(
    'forgets a region whose only batch was %s, with its concurrency',
    async (end) => {
      let isFull = true;
      const { admission, add, countOf } = open(8, 1_000, () => !isFull);
      const applicant = {
        userId: 'a',
        jobId: 'a1',
        market: 'mkta',
        region: 'sg',
        concurrency: 2_000,
        requests: 50,
      };
      if (end === 'refused') expect(admission.tryAcquire(applicant)).toBeNull();
      else {
        const stop = new AbortController();
        const waiting = admission.wait(applicant, stop.signal);
        stop.abort('stopped');
        await expect(waiting).rejects.toBe('stopped');
      }
      isFull = false;
      await add('a2', 20, { requests: 50 });
      expect(countOf('a2')).toBe(2);
    },
  );

  describe('with a limit of all batches', () => {
    /** Admits one user alone to half of `limit.batches`, as a worker does. */
    const limited = (batches: number) => {
      const limit = { batches };
      const allows = (own: number, total: number) => own < limit.batches - total;
      return { limit, ...open(8, 1_000, allows) };
    };

    test('gives one user half of it over all regions, and another a share of the rest', async () => {
      const { add, countOf } = limited(12);
      for (let region = 0; region < 20; region += 1)
        await add(`a${region}`, 2, { region: `shop-${region}` });
      expect(countOf('a')).toBe(6);
      await add('b1', 5, { region: 'shop-0' });
      expect(countOf('b')).toBe(3);
    });

    test('admits one batch of each region in turn as others end', async () => {
      const { admitted, add, end } = limited(4);
      for (const region of ['sg', 'id', 'th']) await add(`a-${region}`, 3, { region });
      expect(admitted).toEqual(['a-sg.0', 'a-sg.1']);
      for (let turn = 0; turn < 5; turn += 1) await end('a');
      expect(admitted.slice(2)).toEqual(['a-sg.2', 'a-id.0', 'a-th.0', 'a-id.1', 'a-th.1']);
    });

    test('admits waiting batches when the limit has grown', async () => {
      const { limit, admission, add, countOf } = limited(4);
      await add('a1', 6);
      expect(countOf('a1')).toBe(2);
      limit.batches = 8;
      admission.resume();
      await flushTasks();
      expect(countOf('a1')).toBe(4);
    });
  });
});

/** A limit, and its size as one user alone reaches it. */
function openLimit() {
  let now = 0;
  let growths = 0;
  const clock = { steady: () => now };
  const onGrown = () => {
    growths += 1;
  };
  const limit = createBatchLimit({ clock, onGrown });
  /** Makes ten calls of `ms` in each of `seconds`, while as many batches as possible are begun. */
  const work = (seconds: number, ms: number, isReached = true) => {
    for (let call = 0; call < 10 * seconds; call += 1) {
      now += 100;
      if (isReached) limit.allows(Number.MAX_SAFE_INTEGER, 0);
      limit.observe(ms);
    }
  };
  const size = () => {
    let batches = 0;
    while (limit.allows(batches, 0)) batches += 1;
    return batches;
  };
  return { limit, work, size, growths: () => growths };
}

describe('createBatchLimit()', () => {
  test('one user alone gets half of the limit, two users a third each', () => {
    const { limit, size } = openLimit();
    const half = size() / 2;
    const third = Math.ceil(size() / 3);
    expect(limit.allows(half - 1, half - 1)).toBe(true);
    expect(limit.allows(half, half)).toBe(false);
    expect(limit.allows(0, half)).toBe(true);
    expect(limit.allows(third, 2 * third)).toBe(false);
  });

  test('the limit shrinks while the store responds slowly, down to its minimum', () => {
    const { work, size } = openLimit();
    const before = size();
    work(10, 1_000);
    expect(size()).toBeLessThan(before);
    work(100, 1_000);
    expect(size()).toBe(minBatchLimit);
  });

  test('the limit grows if it is reached and the store responds fast, and says so', () => {
    const { work, size, growths } = openLimit();
    const before = size();
    work(10, 5);
    expect(size()).toBeGreaterThan(2 * before);
    expect(growths()).toBeGreaterThanOrEqual(9);
    work(100, 5);
    expect(size()).toBe(8_192);
  });

  test('the limit stays while it is not reached', () => {
    const { work, growths } = openLimit();
    work(10, 5, false);
    expect(growths()).toBe(0);
  });

  test('the limit stays while the store responds neither fast nor slowly', () => {
    const { work, size, growths } = openLimit();
    const before = size();
    work(10, 70, false);
    work(10, 70);
    expect([size(), growths()]).toEqual([before, 0]);
  });
});
