import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { newId } from '../../base/id.ts';
import { aKey, anEntry, aSuccess, aTime, aUser, storeJob } from '../conformance/samples.ts';
import { advanceJobNotice } from '../jobs.ts';
import { revokeApiKey } from '../keys.ts';
import type { Store } from '../store.ts';
import { suspendUser } from '../users.ts';
import type { SqliteConnection } from './connection.ts';
import { openEngine, type SqliteEngine } from './engine.ts';
import { storeOn } from './open.ts';

/** `PRAGMA synchronous`: FULL waits for the disk at every commit, NORMAL does not. */
const levels: Record<number, string> = { 1: 'NORMAL', 2: 'FULL' };

let folder: string;
let engine: SqliteEngine;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gleaner-durability-'));
  engine = openEngine(join(folder, 'gleaner.db'));
});
afterEach(async () => {
  engine.close();
  await rm(folder, { recursive: true, force: true });
});

/** The current level of the connection, read without another statement of the store. */
const levelOf = (connection: SqliteConnection) =>
  levels[connection.get<{ synchronous: number }>('PRAGMA synchronous')!.synchronous];

describe('openEngine()', () => {
  test('waits for the disk within a transaction, but not within a relaxed one', () => {
    const { relaxed } = engine;
    expect(engine.write(() => levelOf(engine))).toBe('FULL');
    expect(relaxed.write(() => levelOf(relaxed))).toBe('NORMAL');
    expect(engine.write(() => levelOf(engine))).toBe('FULL');
  });

  test('waits for the disk after a relaxed step that threw', () => {
    const { relaxed } = engine;
    const failing = () =>
      relaxed.write(() => {
        throw new Error('no');
      });
    expect(failing).toThrow('no');
    expect(engine.write(() => levelOf(engine))).toBe('FULL');
  });

  test('applies the level of a transaction to statements of the relaxed connection within it', () => {
    expect(engine.write(() => levelOf(engine.relaxed))).toBe('FULL');
  });
});

describe('sync()', () => {
  test('resolves while another process has locked the file', async () => {
    const other = openEngine(join(folder, 'gleaner.db'));
    engine.relaxed.run(`INSERT INTO sequences (name, value) VALUES ('a', 1)`);
    other.run('BEGIN IMMEDIATE');
    await Promise.all([engine.sync(), engine.sync()]);
    other.run('ROLLBACK');
    other.close();
  });

  test('rejects once the file is closed', async () => {
    engine.close();
    await rm(folder, { recursive: true });
    await expect(engine.sync()).rejects.toMatchObject({ code: 'unavailable', component: 'store' });
  });
});

/**
 * A store that records the level of every statement and transaction, and `sync` for waits without a
 * lock.
 */
function observed(): { store: Store; levels: () => Set<string> } {
  let seen = new Set<string>();
  const observe = (connection: SqliteConnection): SqliteConnection => {
    const noting =
      <P extends unknown[], R>(call: (...parameters: P) => R) =>
      (...parameters: P): R => {
        const result = call(...parameters);
        // Reads wait for nothing and do not change the level.
        if (parameters.every((given) => typeof given !== 'string' || !/^\s*SELECT\b/.test(given)))
          seen.add(levelOf(connection)!);
        return result;
      };
    return {
      all: noting(connection.all) as SqliteConnection['all'],
      get: noting(connection.get) as SqliteConnection['get'],
      documents: noting(connection.documents) as SqliteConnection['documents'],
      document: noting(connection.document) as SqliteConnection['document'],
      run: noting(connection.run),
      write: connection.write,
    };
  };
  const sync = async () => {
    await engine.sync();
    seen.add('sync');
  };
  const store = storeOn({ ...engine, ...observe(engine), relaxed: observe(engine.relaxed), sync });
  return {
    store,
    levels: () => {
      const last = seen;
      seen = new Set();
      return last;
    },
  };
}

describe('openSqliteStore()', () => {
  test('waits for the disk before it acknowledges what must survive a power failure', async () => {
    const { store, levels } = observed();
    const user = aUser();
    const key = aKey({ userId: user.id });
    const { job } = await storeJob(store, 1);
    const { job: discarded } = await storeJob(store, 1);
    const calls: [string, () => Promise<unknown>][] = [
      ['users.insert', () => store.users.insert(user)],
      ['suspendUser()', () => suspendUser(store, user.id, aTime)],
      ['apiKeys.insert', () => store.apiKeys.insert(key)],
      ['revokeApiKey()', () => revokeApiKey(store, key.id, aTime)],
      ['ledger.post', () => store.ledger.post(anEntry(user.id, 5))],
      ['ledger.voidKey', () => store.ledger.voidKey(newId(), user.id, aTime)],
      ['jobs.move', () => store.jobs.move(job.id, ['submitted'], 'awaiting_approval', aTime)],
      ['jobs.move', () => store.jobs.move(discarded.id, ['submitted'], 'discarding', aTime)],
    ];
    for (const [name, call] of calls) {
      levels();
      await call();
      expect([...levels()], name).toEqual(['FULL']);
    }
    // A hidden job is removed without waiting.
    await store.jobs.delete(discarded.id, null);
    expect([...levels()]).toEqual(['FULL', 'NORMAL']);
  });

  test('an audit entry waits for the disk without locking the data file', async () => {
    const { store, levels } = observed();
    levels();
    const { id: actorId } = aUser();
    const keyed = { id: newId(), actorId, keyId: newId(), createdAt: aTime, role: 'user' as const };
    await store.auditLog.insert({
      ...keyed,
      action: 'Submit',
      target: '',
      detail: '',
      source: '',
      outcome: 'ok',
    });
    expect([...levels()]).toEqual(['NORMAL', 'sync']);
  });

  test('does not wait for the disk for work that is repeated after a power failure', async () => {
    const { store, levels } = observed();
    const user = aUser();
    await store.users.insert(user);
    const { job, batches } = await storeJob(store, 2);
    const { job: accepted } = await storeJob(store, 1);
    await store.jobs.move(accepted.id, ['submitted'], 'approved', aTime);
    const batch = batches[0]!;
    const calls: [string, () => Promise<unknown>][] = [
      ['jobs.create', () => storeJob(store, 2)],
      ['ledger.post', () => store.ledger.post(anEntry(user.id, 5, { jobId: job.id }))],
      ['jobs.move', () => store.jobs.move(accepted.id, ['approved'], 'processing', aTime)],
      ['jobs.move', () => store.jobs.move(accepted.id, ['processing'], 'settling', aTime)],
      ['advanceJobNotice()', () => advanceJobNotice(store, accepted.id, 'completed', null)],
      ['jobs.claimDue', () => store.jobs.claimDue(aTime * 2, aTime * 3, 9)],
      ['batches.queue', () => store.batches.queue(job.id, 1, aTime)],
      ['batches.claim', () => store.batches.claim(batch, 0, aTime, aTime + 1)],
      [
        'batches.recordOutcomes',
        () =>
          store.batches.recordOutcomes(batch, 1, {
            outcomes: { 0: aSuccess(), 1: aSuccess() },
            end: { file: null, at: aTime },
          }),
      ],
      [
        'crawls.upsert',
        () => store.crawls.upsert([{ key: 'key', at: aTime, body: Buffer.from('x') }]),
      ],
    ];
    for (const [name, call] of calls) {
      levels();
      await call();
      expect([...levels()], name).toEqual(['NORMAL']);
    }
  });
});
