import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { storeConformance } from '../conformance.ts';
import type { Store } from '../store.ts';
import type { SqliteConnection } from './connection.ts';
import { openEngine } from './engine.ts';
import { openSqliteStore, storeOn } from './open.ts';

/** Statements that the suite ran. */
const statements = new Set<string>();

function noting(connection: SqliteConnection): SqliteConnection {
  const note = <R>(call: (sql: string, ...rest: never[]) => R, at = 0) =>
    ((...parameters: [never, ...never[]]) => {
      statements.add(String(parameters[at]));
      return call(...(parameters as [never]));
    }) as never;
  const { all, get, run, documents, document, write } = connection;
  return {
    all: note(all as never),
    get: note(get as never),
    run: note(run as never),
    documents: note(documents as never, 1),
    document: note(document as never, 1),
    write,
  };
}

function openNoting(path: string): Store {
  const engine = openEngine(path);
  return storeOn({ ...engine, ...noting(engine), relaxed: noting(engine.relaxed) });
}

describe('SQLite store', () => {
  let folder: string;
  let files = 0;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gleaner-sqlite-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  storeConformance(async () => {
    files += 1;
    const path = join(folder, `${files}`, 'store.sqlite');
    const store = openNoting(path);
    const other = openSqliteStore({ path });
    return {
      store,
      other,
      remove: async () => {
        await other.close();
        await store.close();
      },
    };
  });

  test('no statement of the suite reads a whole table, except for those with a row, or one per origin or market', async () => {
    const path = join(folder, 'plans.sqlite');
    const store = openSqliteStore({ path });
    await store.installationId();
    await store.close();
    const file = new DatabaseSync(path);
    file.function('fold', { deterministic: true }, String);
    const small = ['origins', 'drift', 'installation'];
    const tables = file.prepare(`SELECT name FROM sqlite_master WHERE type = 'table'`).all();
    const large = new Set(
      tables.map(({ name }) => String(name)).filter((name) => !small.includes(name)),
    );
    const planned = [...statements].filter((sql) =>
      /^\s*(SELECT|UPDATE|DELETE|INSERT)\b/.test(sql),
    );
    expect(planned.length).toBeGreaterThan(100);
    const found = planned.flatMap((sql) => {
      const plan = file.prepare(`EXPLAIN QUERY PLAN ${sql}`).all();
      const scanned = plan.map(
        ({ detail }) => /^SCAN (\w+)(?!.* USING )/.exec(String(detail))?.[1],
      );
      return scanned
        .filter((name) => name !== undefined && large.has(name))
        .map((name) => `${name}: ${sql}`);
    });
    file.close();
    expect(found).toEqual([]);
  });
});
