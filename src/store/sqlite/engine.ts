import { dirname } from 'node:path';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { openPrivateFile, openPrivateFolder, restrictFile } from '../../base/data-dir.ts';
import { Fault } from '../../base/fault.ts';
import { createRecall, type Recall } from './recall.ts';
import { migrate } from './schema.ts';
import type { Shape } from './shapes.ts';

/** A value that goes into a statement or comes out of a row. */
export type Value = SQLInputValue;

/** When a commit returns, with WAL: after the log is on the disk (FULL), or before (NORMAL). */
type Durability = 'FULL' | 'NORMAL';

/** How a row becomes a document. */
export type Readable<T> = Pick<Shape<T>, 'read'>;

/**
 * One open data file. Every call throws a Fault: `unavailable` when the file cannot be used now. A commit is on the
 * disk when the call returns: it survives a power cut, and so does every commit before it.
 */
export interface Engine extends Connection {
  /**
   * The same file for writes that may be lost in a power cut: their commits do not wait for the disk. They are
   * lost from the last one backwards and never in part, so a later durable commit makes them durable.
   */
  readonly relaxed: Connection;
  /** Reads that every call makes. */
  readonly recall: Recall;
  close(): void;
}

/** Statements and transactions. */
export interface Connection {
  /** All rows of a statement, also of one that writes and returns. */
  all<T>(sql: string, ...values: Value[]): T[];
  /** The first row, or null. */
  get<T>(sql: string, ...values: Value[]): T | null;
  /** All documents of a statement that gives the columns of a shape's `select`, and nothing before them. */
  documents<T>(shape: Readable<T>, sql: string, ...values: Value[]): T[];
  /** The first of them, or null. */
  document<T>(shape: Readable<T>, sql: string, ...values: Value[]): T | null;
  /** Runs a statement; gives the number of rows it changed. */
  run(sql: string, ...values: Value[]): number;
  /** Runs a step as one transaction: all of it happens, or, when it throws, nothing. */
  write<T>(step: () => T): T;
}

/** How long a statement waits for another process's transaction, in milliseconds. */
const busyTimeoutMs = 5_000;

/** Primary result codes with which SQLite says "not now": busy, locked, read-only, I/O, full, cannot open. */
const passing = new Set([5, 6, 8, 10, 13, 14]);

/** Keeps the data file, its log and its index from other users: SQLite gives the latter two the mode of the first. */
function makePrivate(path: string): void {
  openPrivateFolder(dirname(path));
  openPrivateFile(path);
  for (const suffix of ['-wal', '-shm']) restrictFile(`${path}${suffix}`);
}

/** Default memory for pages of the data file; the operating system caches the rest. */
const defaultCacheBytes = 8 * 1024 ** 2;

/** Opens the data file at `path`, making it and its folder where they are missing, and its tables current. */
export function openEngine(path: string, cacheBytes = defaultCacheBytes): Engine {
  const database = guarded(path, () => {
    if (path !== ':memory:') makePrivate(path);
    return new DatabaseSync(path, { timeout: busyTimeoutMs, enableForeignKeyConstraints: true });
  });
  try {
    guarded(path, () => {
      // The log goes back to 64 MB after a burst of writes.
      database.exec(
        // Records of some kilobytes fill pages of 8 KiB better than the usual 4. A file that exists keeps its own.
        // fullfsync: on macOS, fsync alone leaves data in the drive's cache.
        'PRAGMA page_size = 8192; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA journal_size_limit = 67108864',
      );
      database.exec(`PRAGMA cache_size = ${-Math.ceil(cacheBytes / 1024)}`);
      migrate(database);
      // SQLite's own `lower` knows ASCII only.
      database.function('fold', { deterministic: true }, (text) => String(text).toLowerCase());
    });
  } catch (thrown) {
    database.close();
    throw thrown;
  }

  const prepareObjects = preparer(database, false);
  // Rows as arrays: the driver's objects of many columns take longer to make than to read from the file.
  const prepareArrays = preparer(database, true);
  let current: Durability = 'FULL';
  const use = (durability: Durability) => {
    // Within a transaction the level is that of its beginning.
    if (durability === current || database.isTransaction) return;
    database.exec(`PRAGMA synchronous = ${durability}`);
    current = durability;
  };
  const connect = (durability: Durability): Connection => {
    const run = <T>(prepare: Prepare, sql: string, call: (statement: StatementSync) => T): T =>
      guarded(path, () => {
        const { statement, reads } = prepare(sql);
        if (!reads) {
          writes += 1;
          use(durability);
        }
        return call(statement);
      });
    return {
      all: <T>(sql: string, ...values: Value[]) =>
        run(prepareObjects, sql, (statement) => statement.all(...values) as T[]),
      get: <T>(sql: string, ...values: Value[]) =>
        run(prepareObjects, sql, (statement) => (statement.get(...values) as T | undefined) ?? null),
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
          // A full disk ends the transaction by itself; there is nothing to roll back then.
          if (database.isTransaction) prepareObjects('ROLLBACK').statement.run();
          throw thrown;
        }
      },
    };
  };
  const connection = connect('FULL');
  const version = versionOf(database);
  return {
    ...connection,
    relaxed: connect('NORMAL'),
    recall: createRecall({
      documents: connection.documents,
      version: () => guarded(path, version),
    }),
    close: () => {
      if (database.isOpen) database.close();
    },
  };
}

interface Prepared {
  statement: StatementSync;
  /** True for a statement that cannot change the file. */
  reads: boolean;
}

type Prepare = (sql: string) => Prepared;

/** Prepares each statement once, for rows as arrays or as objects. */
function preparer(database: DatabaseSync, arrays: boolean): Prepare {
  const known = new Map<string, Prepared>();
  return (sql) => {
    let prepared = known.get(sql);
    if (prepared === undefined) {
      const statement = database.prepare(sql);
      if (arrays) statement.setReturnArrays(true);
      prepared = { statement, reads: /^\s*SELECT\b/.test(sql) };
      known.set(sql, prepared);
    }
    return prepared;
  };
}

/** Statements and commits of this process that may have changed a file, whichever connection made them. */
let writes = 0;

/**
 * Numbers the versions of the file that reads outside a transaction see. `writes` tells of commits of this process,
 * SQLite's data_version of others: it is read once in each turn of the event loop, so before anything is read for a
 * request that came in this turn.
 */
function versionOf(database: DatabaseSync): () => number | undefined {
  const foreign = database.prepare('PRAGMA data_version');
  foreign.setReturnArrays(true);
  let seen: unknown;
  let seenWrites = -1;
  let version = 0;
  let isCurrent = false;
  const endTurn = () => {
    isCurrent = false;
  };
  // Microtasks run before the ticks that they schedule, and both before the next callback of the event loop.
  const expire = () => process.nextTick(endTurn);
  return () => {
    if (database.isTransaction) return undefined;
    if (isCurrent && seenWrites === writes) return version;
    const [current] = foreign.get() as unknown as [number];
    if (current !== seen || seenWrites !== writes) version += 1;
    seen = current;
    seenWrites = writes;
    if (!isCurrent) queueMicrotask(expire);
    isCurrent = true;
    return version;
  };
}

/** Runs a call to the driver and renames its errors into ours. */
function guarded<T>(path: string, call: () => T): T {
  try {
    return call();
  } catch (thrown) {
    if (thrown instanceof Fault) throw thrown;
    const { code, errcode, message } = thrown as Error & { code?: string; errcode?: number };
    // ERR_INVALID_STATE: the file was closed. Errors of the folder have a code of the system's and no errcode.
    const notNow =
      errcode === undefined
        ? code !== undefined && !code.startsWith('ERR_INVALID_ARG')
        : passing.has(errcode & 0xff);
    const words = `SQLite file ${path}: ${message}`;
    throw new Fault(notNow ? 'unavailable' : 'internal', words, { component: 'store', cause: thrown });
  }
}

/** Whether an error is SQLite's refusal of a second row with the same unique value. */
export function isDuplicate(thrown: unknown): boolean {
  const cause = thrown instanceof Fault ? thrown.cause : thrown;
  const errcode = (cause as { errcode?: number } | undefined)?.errcode;
  return errcode === 2067 || errcode === 1555;
}
