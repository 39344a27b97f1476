import { closeSync, fsync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { type BackOff, backOffMs } from '../../base/back-off.ts';
import { openPrivateFile, openPrivateFolder, restrictFile } from '../../base/data-dir.ts';
import { DamagedDataError } from '../../base/data-refused-error.ts';
import { Fault } from '../../contract/fault.ts';
import type { SqliteConnection, Value } from './connection.ts';
import { createReadCache, type ReadCache } from './read-cache.ts';
import { migrate, readVersion } from './schema.ts';

/** Durability of a commit in WAL mode: FULL waits until the log is on disk, NORMAL does not. */
type Durability = 'FULL' | 'NORMAL';

/**
 * An open data file. Calls throw faults: `unavailable` if the file cannot be used at the moment. A
 * commit is on disk when the call returns and survives a power failure, as do all commits before
 * it.
 */
export interface SqliteEngine extends SqliteConnection {
  /**
   * The same file for writes that a power failure may undo: commits do not wait for the disk. Lost
   * commits are always the latest ones, each as a whole, so a later durable commit makes them
   * durable.
   */
  readonly relaxed: SqliteConnection;
  /**
   * Resolves when every earlier commit of the file is on disk. Waits in a thread, and other
   * processes can write meanwhile. Rejects with `unavailable`.
   */
  sync(): Promise<void>;
  /** Cache for frequent reads. */
  readonly cache: ReadCache;
  /** Returns the version of the file's schema. */
  schemaVersion(): number;
  close(): void;
}

/** Time that a statement waits for another process's transaction, in milliseconds. */
export const busyTimeoutMs = 5_000;

/**
 * Intervals at which a statement is tried again while another process writes. SQLite itself would
 * sleep for 1, 2, 5, 10, and more milliseconds, but most transactions take less than one.
 */
const busyRetry: BackOff = { firstMs: 0.25, maxMs: 1 };

/** Never notified: waiting for it is a sleep of the thread. */
const sleeper = new Int32Array(new SharedArrayBuffer(4));

/** Primary result codes of temporary failures: busy, locked, read-only, I/O, full, cannot open. */
const transientCodes = new Set([5, 6, 8, 10, 13, 14]);

/**
 * Primary result codes of a file whose content is wrong, or cannot be read: corrupt, no database.
 */
const damageCodes = new Set([11, 26]);

/**
 * Denies other users access to the data file, its log, and its index. SQLite creates the latter two
 * with the mode of the first.
 */
function restrictAccess(path: string): void {
  openPrivateFolder(dirname(path));
  openPrivateFile(path);
  for (const suffix of ['-wal', '-shm']) restrictFile(`${path}${suffix}`);
}

/** Default memory for pages of the data file; the operating system caches the rest. */
const defaultCacheBytes = 8 * 1024 ** 2;

/** Opens the data file at `path`, creates it and its folder if missing, and migrates its tables. */
export function openEngine(path: string, cacheBytes = defaultCacheBytes): SqliteEngine {
  const database = guarded(path, () => {
    if (path !== ':memory:') restrictAccess(path);
    return new DatabaseSync(path, { timeout: busyTimeoutMs, enableForeignKeyConstraints: true });
  });
  try {
    guarded(path, () => {
      // The log shrinks to 64 MB after a burst of writes.
      database.exec(
        // Pages of 8 KiB waste less space on records of some kilobytes than the default 4. Existing
        // files keep theirs. fullfsync: on macOS, fsync() leaves data in the drive's cache.
        `PRAGMA page_size = 8192;
         PRAGMA journal_mode = WAL;
         PRAGMA synchronous = FULL;
         PRAGMA fullfsync = ON;
         PRAGMA journal_size_limit = 67108864`,
      );
      database.exec(`PRAGMA cache_size = ${-Math.ceil(cacheBytes / 1024)}`);
      migrate(database, path);
      database.exec('PRAGMA busy_timeout = 0');
      // SQLite's lower() converts ASCII only.
      database.function('fold', { deterministic: true }, (text) => String(text).toLowerCase());
    });
  } catch (thrown) {
    database.close();
    throw thrown;
  }

  const prepareObjects = preparer(database, 'objects');
  // Arrays: for many columns the driver takes longer to create objects than to read the file.
  const prepareArrays = preparer(database, 'arrays');
  let current: Durability = 'FULL';
  const use = (durability: Durability) => {
    // A transaction keeps the level at which it began.
    if (durability === current || database.isTransaction) return;
    database.exec(`PRAGMA synchronous = ${durability}`);
    current = durability;
  };
  /** Repeats a call while another process writes. Within a transaction, no other process does. */
  const whenFree = <T>(call: () => T): T => {
    for (let waitedMs = 0, failures = 1; ; failures += 1) {
      try {
        return call();
      } catch (thrown) {
        if (!isBusy(thrown) || database.isTransaction || waitedMs > busyTimeoutMs) throw thrown;
      }
      const ms = backOffMs(busyRetry, failures, 0);
      Atomics.wait(sleeper, 0, 0, ms);
      waitedMs += ms;
    }
  };
  const connect = (durability: Durability): SqliteConnection => {
    const run = <T>(prepare: Prepare, sql: string, call: (statement: StatementSync) => T): T =>
      guarded(path, () => {
        const { statement, reads } = prepare(sql);
        if (!reads) {
          writes += 1;
          use(durability);
        }
        return whenFree(() => call(statement));
      });
    return {
      all: <T>(sql: string, ...values: Value[]) =>
        run(prepareObjects, sql, (statement) => statement.all(...values) as T[]),
      get: <T>(sql: string, ...values: Value[]) =>
        run(
          prepareObjects,
          sql,
          (statement) => (statement.get(...values) as T | undefined) ?? null,
        ),
      documents: (shape, sql, ...values) =>
        run(prepareArrays, sql, (statement) =>
          (statement.all(...values) as unknown as Value[][]).map((row) => shape.read(row)),
        ),
      document: (shape, sql, ...values) =>
        run(prepareArrays, sql, (statement) => {
          const row = statement.get(...values) as unknown as Value[] | undefined;
          return row === undefined ? null : shape.read(row);
        }),
      run: (sql, ...values) =>
        run(prepareObjects, sql, (statement) => Number(statement.run(...values).changes)),
      write: (step) => {
        run(prepareObjects, 'BEGIN IMMEDIATE', (statement) => statement.run());
        try {
          const result = step();
          guarded(path, () => prepareObjects('COMMIT').statement.run());
          writes += 1;
          return result;
        } catch (thrown) {
          // SQLite has rolled back the transaction already if the disk is full.
          if (database.isTransaction) prepareObjects('ROLLBACK').statement.run();
          throw thrown;
        }
      },
    };
  };
  const connection = connect('FULL');
  const version = versionOf(database);
  const log = openLog(path);
  return {
    ...connection,
    relaxed: connect('NORMAL'),
    sync: log.sync,
    cache: createReadCache({
      documents: connection.documents,
      version: () => guarded(path, () => whenFree(version)),
    }),
    schemaVersion: () => guarded(path, () => readVersion(database)),
    close: () => {
      log.close();
      if (database.isOpen) database.close();
    },
  };
}

const flush = promisify(fsync);

/**
 * Opens the log of a data file to flush it. A commit is on disk with its part of the log, or a
 * checkpoint has moved it to the data file, which waits for the disk. Locks are on other files, so
 * that closing it is safe.
 */
function openLog(path: string): Pick<SqliteEngine, 'sync' | 'close'> {
  if (path === ':memory:') return { sync: async () => {}, close: () => {} };
  let file: number | undefined;
  let flushing: Promise<void> = Promise.resolve();
  let waiting: Promise<void> | undefined;
  const start = () => {
    waiting = undefined;
    file ??= guarded(path, () => openSync(`${path}-wal`, 'r'));
    return flush(file).catch((error) =>
      guarded(path, () => {
        throw error;
      }),
    );
  };
  const end = () => {
    if (file !== undefined) closeSync(file);
    file = undefined;
  };
  return {
    // A flush that has begun may miss the last commit. The next one serves all calls that wait for
    // it.
    sync: () => {
      waiting ??= flushing = flushing.then(start, start);
      return waiting;
    },
    close: () => void flushing.then(end, end),
  };
}

interface Prepared {
  statement: StatementSync;
  /** True for a statement that cannot change the file. */
  reads: boolean;
}

type Prepare = (sql: string) => Prepared;

/** Returns a function that prepares each statement once, for rows as arrays or as objects. */
function preparer(database: DatabaseSync, rows: 'objects' | 'arrays'): Prepare {
  const statements = new Map<string, Prepared>();
  return (sql) => {
    let prepared = statements.get(sql);
    if (prepared === undefined) {
      const statement = database.prepare(sql);
      if (rows === 'arrays') statement.setReturnArrays(true);
      prepared = { statement, reads: /^\s*SELECT\b/.test(sql) };
      statements.set(sql, prepared);
    }
    return prepared;
  };
}

/** Number of statements and commits of this process that may have changed a data file. */
let writes = 0;

/**
 * Returns a function that numbers the versions of the file seen by reads outside of a transaction.
 * `writes` detects commits of this process, and SQLite's data_version commits of other processes.
 * The latter is read once per turn of the event loop, hence before any read for a request that
 * arrived in that turn.
 */
function versionOf(database: DatabaseSync): () => number | undefined {
  const dataVersion = database.prepare('PRAGMA data_version');
  dataVersion.setReturnArrays(true);
  let seen: unknown;
  let seenWrites = -1;
  let version = 0;
  let isCurrent = false;
  const endTurn = () => {
    isCurrent = false;
  };
  // Microtasks run before the ticks that they schedule, and both before the next callback of the
  // event loop.
  const expire = () => process.nextTick(endTurn);
  return () => {
    if (database.isTransaction) return undefined;
    if (isCurrent && seenWrites === writes) return version;
    const [current] = dataVersion.get() as unknown as [number];
    if (current !== seen || seenWrites !== writes) version += 1;
    seen = current;
    seenWrites = writes;
    if (!isCurrent) queueMicrotask(expire);
    isCurrent = true;
    return version;
  };
}

/** Calls the driver and converts its errors to faults. */
export function guarded<T>(path: string, call: () => T): T {
  try {
    return call();
  } catch (thrown) {
    if (thrown instanceof Fault) throw thrown;
    const { code, errcode, message } = thrown as Error & { code?: string; errcode?: number };
    if (damageCodes.has((errcode ?? 0) & 0xff))
      throw new DamagedDataError(`SQLite file ${path}`, thrown as Error);
    // ERR_INVALID_STATE means that the file was closed. Errors of the folder have a system error
    // code and no errcode.
    const notNow =
      errcode === undefined
        ? code !== undefined && !code.startsWith('ERR_INVALID_ARG')
        : transientCodes.has(errcode & 0xff);
    const words = `SQLite file ${path}: ${message}`;
    throw new Fault(notNow ? 'unavailable' : 'internal', words, {
      component: 'store',
      cause: thrown,
    });
  }
}

/** Returns true if the error says that another process has locked the file. */
export function isBusy(thrown: unknown): boolean {
  return ((thrown as { errcode?: number }).errcode ?? 0) % 256 === 5;
}

/** Returns true if the error is a violation of a unique constraint. */
export function isDuplicate(thrown: unknown): boolean {
  const cause = thrown instanceof Fault ? thrown.cause : thrown;
  const errcode = (cause as { errcode?: number } | undefined)?.errcode;
  return errcode === 2067 || errcode === 1555;
}
