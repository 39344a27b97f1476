import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { MongoClient } from 'mongodb';
import type { TrackedValues } from '../src/base/tracked-values.ts';
import {
  addObservations,
  type ItemKey,
  listObservations,
  listTrackedItems,
  type Observation,
  type TrackedItem,
} from '../src/store/history.ts';
import { trackedItemId } from '../src/store/history-ids.ts';
import { openMongoStore } from '../src/store/mongo/open.ts';
import { openSqliteStore } from '../src/store/sqlite/open.ts';
import type { Store } from '../src/store/store.ts';

/**
 * Times per operation in microseconds: of the store, and of bare statements that write and read the
 * same.
 */
export interface HistoryResult {
  observations: number;
  /** Filling the store, per observation. */
  fillUs: number;
  /**
   * Writing a changed item in a full store: its observation, the end of the one before, and its
   * state.
   */
  write: { storeUs: number; bareUs: number };
  /** Reading the last 100 observations of an item. */
  read: { storeUs: number; bareUs: number };
  /** Reading 50 items of the list of tracked items. */
  listUs: number;
}

/**
 * A database with observations and the state of each item, written and read without the service's
 * code.
 */
interface Bare {
  insert(rows: readonly BareRow[]): Promise<void>;
  /** Inserts rows, ends the one before each, and writes the states of their items. */
  change(rows: readonly (BareRow & { previousAt: number; state: TrackedItem })[]): Promise<void>;
  read(item: string): Promise<number>;
  close(): Promise<void>;
}

interface BareRow {
  item: string;
  at: number;
  values: Observation;
}

const userId = randomUUID();
const perItem = 100;
const chunkSize = 200;
/**
 * Enough to average the checkpoints of SQLite, each of which takes as long as hundreds of writes.
 */
const maxWrites = 10_000;
const maxReads = 400;
const firstAt = Date.UTC(2026, 0, 1);
const hourMs = 3_600_000;
const far = Number.MAX_SAFE_INTEGER;

const keyOf = (at: number): ItemKey => ({
  userId,
  market: 'mkta',
  region: 'id',
  key: String(30_000_000_000 + at),
});
const valuesOf = (item: number, turn: number): TrackedValues => ({
  title: `A lamp of bamboo and paper, number ${item}`,
  price: 100 + ((item * 7 + turn * 13) % 400) / 4,
  currency: 'IDR',
  stock: (item + turn * 3) % 90,
  available: true,
  sold: turn * 5,
  rating: 4.5,
  variants: Array.from({ length: 3 }, (_, at) => ({
    id: `${item}${at}`,
    name: `S${at}`,
    price: 100,
    stock: turn % 30,
  })),
});
const jobOf = (turn: number) => `00000000-0000-4000-8000-${String(turn).padStart(12, '0')}`;
const atOf = (turn: number) => firstAt + turn * hourMs;

function observationOf(item: number, turn: number, endedAt: number | null): Observation {
  return {
    ...keyOf(item),
    at: atOf(turn),
    jobId: jobOf(turn),
    values: valuesOf(item, turn),
    changed: ['price', 'stock', 'sold'],
    endedAt,
  };
}

function stateOf(item: number, turn: number): TrackedItem {
  const key = keyOf(item);
  const [at, job] = [atOf(turn), jobOf(turn)];
  return {
    ...key,
    id: trackedItemId(key, ''),
    series: '',
    values: valuesOf(item, turn),
    readAt: at,
    isPresent: true,
    units: {},
    unreadUnits: [],
    firstAt,
    changedAt: at,
    changedJob: job,
    seenAt: at,
    seenJob: job,
    foundJob: job,
    foundBatch: 0,
    rules: {},
    revision: turn,
  };
}

/** Measures a store with a number of observations, and a bare database with as many rows. */
async function measure(store: Store, bare: Bare, observations: number): Promise<HistoryResult> {
  const items = observations / perItem;
  const bareRow = (item: number, turn: number): BareRow => ({
    item: keyOf(item).key,
    at: atOf(turn),
    values: observationOf(item, turn, null),
  });
  const filled = await timed(async () => {
    for (let item = 0; item < items; item++) {
      const turns = Array.from({ length: perItem }, (_, turn) => turn);
      await addObservations(
        store,
        turns.map((turn) => ({
          observation: observationOf(item, turn, turn === perItem - 1 ? null : atOf(turn + 1)),
          previous: null,
        })),
      );
    }
    for (let item = 0; item < items; item += chunkSize)
      await store.trackedItems.upsert(
        rangeOf(item, items).map((each) => stateOf(each, perItem - 1)),
      );
  });
  for (let item = 0; item < items; item++)
    await bare.insert(Array.from({ length: perItem }, (_, turn) => bareRow(item, turn)));

  const sample = (most: number) => {
    const count = Math.min(most, items);
    return Array.from({ length: count }, (_, at) => Math.floor((at * items) / count));
  };
  const [written, readItems] = [sample(maxWrites), sample(maxReads)];
  const write = { storeUs: 0, bareUs: 0 };
  const read = { storeUs: 0, bareUs: 0 };
  const last = { at: atOf(perItem - 1), jobId: jobOf(perItem - 1) };
  for (let item = 0; item < written.length; item += chunkSize) {
    const chunk = written.slice(item, item + chunkSize);
    write.storeUs += await timed(async () => {
      await addObservations(
        store,
        chunk.map((each) => ({ observation: observationOf(each, perItem, null), previous: last })),
      );
      await store.trackedItems.upsert(chunk.map((each) => stateOf(each, perItem)));
    });
    write.bareUs += await timed(() =>
      bare.change(
        chunk.map((each) => ({
          ...bareRow(each, perItem),
          previousAt: last.at,
          state: stateOf(each, perItem),
        })),
      ),
    );
  }
  for (const item of readItems) {
    read.storeUs += await timed(() => listObservations(store, keyOf(item), 0, far, { limit: 100 }));
    read.bareUs += await timed(() => bare.read(keyOf(item).key));
  }
  const list = await timed(() => listTrackedItems(store, userId, '', {}, { limit: 50 }));
  const each = ({ storeUs, bareUs }: typeof read, count: number) => ({
    storeUs: storeUs / count,
    bareUs: bareUs / count,
  });
  return {
    observations,
    fillUs: filled / observations,
    write: each(write, written.length),
    read: each(read, readItems.length),
    listUs: list,
  };
}

const rangeOf = (first: number, end: number) =>
  Array.from({ length: Math.min(chunkSize, end - first) }, (_, at) => first + at);

/** Returns the duration of a call in microseconds. */
async function timed(call: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await call();
  return (performance.now() - began) * 1_000;
}

/** Measures histories in SQLite. */
export async function measureSqliteHistory(observations: number): Promise<HistoryResult> {
  const folder = mkdtempSync(join(tmpdir(), 'gleaner-bench-'));
  const store = openSqliteStore({ path: join(folder, 'gleaner.db') });
  const bare = openBareSqlite(join(folder, 'bare.db'));
  try {
    return await measure(store, bare, observations);
  } finally {
    await store.close();
    await bare.close();
    rmSync(folder, { recursive: true });
  }
}

function openBareSqlite(path: string): Bare {
  const database = new DatabaseSync(path);
  // The page size, the cache, and the durability of the store.
  database.exec(`PRAGMA page_size = 8192; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
    PRAGMA cache_size = -8192;
    CREATE TABLE rows (item TEXT, at REAL, ended_at REAL, body TEXT, PRIMARY KEY (item, at)) WITHOUT ROWID;
    CREATE TABLE states (item TEXT PRIMARY KEY, body TEXT) WITHOUT ROWID`);
  const insert = database.prepare('INSERT INTO rows VALUES (?, ?, NULL, ?)');
  const end = database.prepare('UPDATE rows SET ended_at = ? WHERE item = ? AND at = ?');
  const put = database.prepare('INSERT OR REPLACE INTO states VALUES (?, ?)');
  const bodyOf = ({ jobId, values, changed }: Observation) =>
    JSON.stringify({ jobId, values, changed });
  const select = database.prepare(
    'SELECT body FROM rows WHERE item = ? ORDER BY at DESC LIMIT 100',
  );
  return {
    async insert(rows) {
      database.exec('BEGIN');
      for (const { item, at, values } of rows) insert.run(item, at, bodyOf(values));
      database.exec('COMMIT');
    },
    async change(rows) {
      database.exec('BEGIN');
      for (const { item, at, values, previousAt, state } of rows) {
        insert.run(item, at, bodyOf(values));
        end.run(at, item, previousAt);
        put.run(item, JSON.stringify(state));
      }
      database.exec('COMMIT');
    },
    read: async (item) => select.all(item).map(({ body }) => JSON.parse(String(body))).length,
    close: async () => database.close(),
  };
}

/** Measures histories in the MongoDB at an address. */
export async function measureMongoHistory(
  uri: string,
  observations: number,
): Promise<HistoryResult> {
  const store = openMongoStore({ uri });
  const client = await MongoClient.connect(uri);
  const rows = client.db().collection<Observation & { _id: string }>('bareRows');
  const states = client.db().collection<TrackedItem & { _id: string }>('bareStates');
  const idOf = (item: string, at: number) => `${item}/${at}`;
  const bare: Bare = {
    async insert(added) {
      await rows.insertMany(
        added.map(({ item, at, values }) => ({ _id: idOf(item, at), ...values })),
      );
    },
    async change(changed) {
      await bare.insert(changed);
      const ends = changed.map(({ item, at, previousAt }) => ({
        updateOne: { filter: { _id: idOf(item, previousAt) }, update: { $set: { endedAt: at } } },
      }));
      await rows.bulkWrite(ends, { ordered: false });
      const puts = changed.map(({ item, state }) => ({
        updateOne: { filter: { _id: item }, update: { $set: state }, upsert: true },
      }));
      await states.bulkWrite(puts, { ordered: false });
    },
    async read(item) {
      const found = rows
        .find({ _id: { $gte: `${item}/`, $lt: `${item}0` } })
        .sort({ _id: -1 })
        .limit(100);
      return (await found.toArray()).length;
    },
    close: () => client.close(),
  };
  try {
    return await measure(store, bare, observations);
  } finally {
    await store.close();
    await bare.close();
  }
}
