import { describe, expect, test } from 'vitest';
import { newId } from '../base/id.ts';
import { aProcess } from '../store/conformance/samples.ts';
import { queueUnavailable, silentMs } from '../store/operations.ts';
import { openSqliteStore } from '../store/sqlite/open.ts';
import { type IdRange, readShare, shareOf, wholeShare } from './share.ts';

const includes = ({ atLeast = '', below }: IdRange, id: string) =>
  id >= atLeast && (below === undefined || id < below);

describe('shareOf()', () => {
  test.each([1, 2, 3, 7, 200])('%i processes share all ids, about equally', (count) => {
    const shares = Array.from({ length: count }, (_, rank) => shareOf(rank, count));
    const ids = Array.from({ length: 200 * count }, newId);
    const ranksOf = (id: string) =>
      shares.flatMap(({ ids: range = {} }, rank) => (includes(range, id) ? [rank] : []));
    const ranks = [...ids, '', 'ffffffff', 'zz', '00000000'].map(ranksOf);
    expect(ranks.filter(({ length }) => length !== 1)).toEqual([]);
    const counts = Object.values(Object.groupBy(ranks.flat(), String)).map((own) => own!.length);
    expect(Math.max(...counts)).toBeLessThan(2 * 200);
    expect(shares.filter(({ isLeader }) => isLeader)).toHaveLength(1);
  });
});

describe('readShare()', () => {
  const now = 1_000_000;
  const shareIn = async (...processes: Parameters<typeof aProcess>[0][]) => {
    const store = openSqliteStore({ path: ':memory:' });
    const ids = processes.map(() => newId());
    await store.processes.upsert(
      processes.map((each, index) => ({ ...aProcess(each), id: ids[index]! })),
    );
    const shares = await Promise.all(ids.map((id) => readShare(store, id, now)));
    await store.close();
    return shares;
  };
  const seenAt = now - 1_000;

  test('ranks processes by their start', async () => {
    const shares = await shareIn(
      { startedAt: 3, seenAt },
      { startedAt: 1, seenAt },
      { startedAt: 2, seenAt },
    );
    expect(shares).toEqual([shareOf(2, 3), shareOf(0, 3), shareOf(1, 3)]);
  });

  test('leaves out processes that are silent, or do not reach the queue', async () => {
    const shares = await shareIn(
      { startedAt: 1, seenAt: now - silentMs - 1 },
      { startedAt: 2, seenAt, paused: queueUnavailable },
      { startedAt: 3, seenAt },
    );
    expect(shares).toEqual([null, null, wholeShare]);
  });

  test('divides the ids between all processes while none reaches the queue', async () => {
    const paused = queueUnavailable;
    const shares = await shareIn(
      { startedAt: 1, seenAt, paused },
      { startedAt: 2, seenAt, paused },
    );
    expect(shares).toEqual([shareOf(0, 2), shareOf(1, 2)]);
  });

  test('gives everything to a process that sees no reports', async () => {
    const store = openSqliteStore({ path: ':memory:' });
    expect(await readShare(store, newId(), now)).toEqual(wholeShare);
    await store.close();
  });
});
