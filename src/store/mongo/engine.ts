import {
  type Db,
  MongoClient,
  MongoError,
  MongoNetworkError,
  MongoOperationTimeoutError,
  MongoServerSelectionError,
  MongoSystemError,
} from 'mongodb';
import { systemClock } from '../../base/clock.ts';
import { ConfigError } from '../../base/config-error.ts';
import { newId } from '../../base/id.ts';
import { parseMongoUri } from '../../base/mongo-uri.ts';
import { Fault } from '../../contract/fault.ts';
import { deadlockCode } from './duplicates.ts';
import { compatibleFrom, type Migration, migrate, migrations } from './migrate.ts';
import { type Collections, collectionsOf } from './schema.ts';

/** A MongoDB database. Errors of the driver are converted to faults. */
export interface MongoEngine {
  /** Name of the database in messages, such as `MongoDB at localhost:27017`. */
  readonly place: string;
  /**
   * Calls a function with the collections of the migrated database. Fault `unavailable` if MongoDB does not
   * respond.
   */
  run<T>(call: (collections: Collections) => Promise<T>): Promise<T>;
  /** Resolves if MongoDB responds. */
  ping(): Promise<void>;
  /** Returns the version of the database's schema. */
  schemaVersion(): Promise<number>;
  /** Returns the server's time in milliseconds since the epoch. */
  time(): Promise<number>;
  close(): Promise<void>;
}

/** Time to find a reachable server, in milliseconds. */
const selectionTimeoutMs = 3_000;
/** Time without data from the server after which a call fails, in milliseconds. */
const silenceTimeoutMs = 30_000;

/**
 * Server error codes of temporary failures: host or network unavailable, shutting down, stepping down, not
 * primary, interrupted, timed out, no primary known, rolled back because of a deadlock.
 */
const transientCodes = new Set([
  6,
  7,
  89,
  91,
  133,
  134,
  189,
  262,
  9001,
  10058,
  10107,
  11600,
  11602,
  13388,
  13435,
  13436,
  deadlockCode,
]);

/**
 * Codes of sockets that the server closed. A command that meets one at that moment fails with Node's error instead
 * of the driver's.
 */
const resetCodes = new Set([
  'EPIPE',
  'ECONNRESET',
  'ERR_STREAM_DESTROYED',
  'ERR_STREAM_WRITE_AFTER_END',
  'ERR_SOCKET_CLOSED',
]);

/**
 * Creates a client, which connects with the first call and reconnects after a loss. The database is migrated before
 * the first step, and again after a failure. `isImport`: whether to accept a database with an incomplete move.
 */
export function openEngine(
  uri: string,
  steps: readonly Migration[] = migrations,
  { isImport = false } = {},
): MongoEngine {
  const client = describeErrors(
    'MongoDB address',
    () =>
      new MongoClient(parseMongoUri(uri), {
        appName: 'gleaner',
        serverSelectionTimeoutMS: selectionTimeoutMs,
        connectTimeoutMS: selectionTimeoutMs,
        socketTimeoutMS: silenceTimeoutMs,
        // Steps resume from the writes of earlier ones, so reads must see every acknowledged write and none that a
        // failover can undo. parseMongoUri() rejects conflicting options.
        readPreference: 'primary',
        readConcern: { level: 'majority' },
        writeConcern: { w: 'majority', journal: true },
        ignoreUndefined: true,
      }),
  );
  const place = `MongoDB at ${client.options.hosts.join(', ') || client.options.srvHost}`;
  const database: Db = client.db(/^mongodb(\+srv)?:\/\/[^/]+\/[^?]/.test(uri) ? undefined : 'gleaner');
  const collections = collectionsOf(database);
  let prepared: Promise<number> | undefined;
  let closed = false;
  const prepare = async () => {
    // An explicit connect(), because a client whose implicit connect fails stays closed. Every error counts as
    // temporary, such as a host name or a login that does not exist yet.
    await client.connect().catch((thrown: Error) => {
      throw new Fault('unavailable', `${place} does not answer: ${thrown.message}`, {
        component: 'store',
        cause: thrown,
      });
    });
    const time = () => readTime(database);
    return migrate(database, {
      place,
      steps,
      compatibleFrom,
      holder: newId(),
      time,
      clock: systemClock,
      isImport,
    });
  };
  const ready = async () => {
    if (closed) throw new Fault('unavailable', `${place}: the connection was closed`, { component: 'store' });
    prepared ??= prepare().catch((thrown) => {
      prepared = undefined;
      throw thrown;
    });
    return prepared;
  };
  return {
    place,
    run: async (call) => {
      try {
        await ready();
        return await call(collections);
      } catch (thrown) {
        throw toFault(place, thrown);
      }
    },
    ping: async () => {
      try {
        await ready();
        await database.command({ ping: 1 });
      } catch (thrown) {
        throw toFault(place, thrown);
      }
    },
    schemaVersion: async () => {
      try {
        return await ready();
      } catch (thrown) {
        throw toFault(place, thrown);
      }
    },
    time: async () => {
      try {
        await ready();
        return await readTime(database);
      } catch (thrown) {
        throw toFault(place, thrown);
      }
    },
    close: async () => {
      closed = true;
      await client.close();
    },
  };
}

/** Error code of servers that know `hello` by its former name only. */
const commandMissing = 59;

async function readTime(database: Db): Promise<number> {
  const { localTime } = await database.command({ hello: 1 }).catch((thrown: MongoError) => {
    if (thrown.code !== commandMissing) throw thrown;
    return database.command({ isMaster: 1 });
  });
  return (localTime as Date).getTime();
}

function toFault(place: string, thrown: unknown): Error {
  if (thrown instanceof Fault || thrown instanceof ConfigError) return thrown;
  const isHungUp = thrown instanceof Error && resetCodes.has(String((thrown as NodeJS.ErrnoException).code));
  if (!(thrown instanceof MongoError) && !isHungUp) return Fault.from(thrown);
  const away = isHungUp || isUnavailable(thrown as MongoError);
  const words = away ? `${place} does not answer: ${thrown.message}` : `${place}: ${thrown.message}`;
  return new Fault(away ? 'unavailable' : 'internal', words, { component: 'store', cause: thrown });
}

/** Returns whether the error means that the server is temporarily unavailable. */
function isUnavailable(thrown: MongoError): boolean {
  return (
    thrown instanceof MongoNetworkError ||
    thrown instanceof MongoSystemError ||
    thrown instanceof MongoServerSelectionError ||
    thrown instanceof MongoOperationTimeoutError ||
    // The pool was cleared or the client closed during the call.
    /PoolCleared|PoolClosed|NotConnected|TopologyClosed|ClientClosed|WaitQueue|ExpiredSession/.test(
      thrown.name,
    ) ||
    transientCodes.has(Number(thrown.code)) ||
    thrown.hasErrorLabel('RetryableWriteError')
  );
}

function describeErrors<T>(name: string, call: () => T): T {
  try {
    return call();
  } catch (thrown) {
    throw new Fault('internal', `${name}: ${(thrown as Error).message}`, { cause: thrown });
  }
}
