import {
  type Db,
  MongoBulkWriteError,
  MongoClient,
  MongoError,
  MongoNetworkError,
  MongoOperationTimeoutError,
  MongoServerError,
  MongoServerSelectionError,
  MongoSystemError,
} from 'mongodb';
import { Fault } from '../../base/fault.ts';
import { parseMongoUri } from '../../base/mongo-uri.ts';
import { type Collections, collectionsOf, makeIndexes } from './schema.ts';

/** One MongoDB database. Errors of the driver come out as Faults. */
export interface Engine {
  /** Runs steps on the collections, after their indexes were made. Fault `unavailable` when MongoDB does not answer. */
  run<T>(steps: (collections: Collections) => Promise<T>): Promise<T>;
  /** Resolves when MongoDB answers. */
  ping(): Promise<void>;
  /** Returns the server's time in milliseconds since the epoch. */
  time(): Promise<number>;
  close(): Promise<void>;
}

/** How long a call waits for a server that can be reached, in milliseconds. */
const selectionTimeoutMs = 3_000;
/** How long a call waits for a server that has stopped to speak, in milliseconds. */
const silenceTimeoutMs = 30_000;

/**
 * Server codes with which a call may succeed a little later: hosts and networks gone, shutting down,
 * stepping down, not primary, interrupted, out of time, no primary known.
 */
const passing = new Set([
  6, 7, 89, 91, 133, 134, 189, 262, 9001, 10058, 10107, 11600, 11602, 13388, 13435, 13436,
]);

/**
 * Codes of sockets on which the other side hung up: a command that meets one in that very moment is thrown
 * Node's own error, not the driver's.
 */
const hungUp = new Set([
  'EPIPE',
  'ECONNRESET',
  'ERR_STREAM_DESTROYED',
  'ERR_STREAM_WRITE_AFTER_END',
  'ERR_SOCKET_CLOSED',
]);

/**
 * Prepares the connection; nothing is sent before the first call. The driver connects again by itself
 * after a loss. Indexes are made before the first step and tried again when MongoDB was away then.
 */
export function openEngine(uri: string): Engine {
  const client = named(
    'MongoDB address',
    () =>
      new MongoClient(parseMongoUri(uri), {
        appName: 'gleaner',
        serverSelectionTimeoutMS: selectionTimeoutMs,
        connectTimeoutMS: selectionTimeoutMs,
        socketTimeoutMS: silenceTimeoutMs,
        // Steps resume from what earlier ones wrote: reads see every acknowledged write and none that a failover
        // can undo. parseMongoUri() refuses options to the contrary.
        readPreference: 'primary',
        readConcern: { level: 'majority' },
        writeConcern: { w: 'majority', journal: true },
        ignoreUndefined: true,
      }),
  );
  const place = `MongoDB at ${client.options.hosts.join(', ') || client.options.srvHost}`;
  const database: Db = client.db(/^mongodb(\+srv)?:\/\/[^/]+\/[^?]/.test(uri) ? undefined : 'gleaner');
  const collections = collectionsOf(database);
  let prepared: Promise<void> | undefined;
  let closed = false;
  const prepare = async () => {
    // Asked for by name: a client that connects by itself and fails stays closed for ever. What goes
    // wrong here (a name not known yet, a login not made yet) may be right a little later.
    await client.connect().catch((thrown: Error) => {
      throw new Fault('unavailable', `${place} does not answer: ${thrown.message}`, {
        component: 'store',
        cause: thrown,
      });
    });
    await makeIndexes(database);
  };
  const ready = async () => {
    if (closed) throw new Fault('unavailable', `${place}: the connection was closed`, { component: 'store' });
    prepared ??= prepare().catch((thrown) => {
      prepared = undefined;
      throw thrown;
    });
    await prepared;
  };
  return {
    run: async (steps) => {
      try {
        await ready();
        return await steps(collections);
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

/** Servers that do not know `hello` know it by its former name. */
const commandMissing = 59;

async function readTime(database: Db): Promise<number> {
  const { localTime } = await database.command({ hello: 1 }).catch((thrown: MongoError) => {
    if (thrown.code !== commandMissing) throw thrown;
    return database.command({ isMaster: 1 });
  });
  return (localTime as Date).getTime();
}

/** Runs an insert or upsert that may find its document there already: null then. */
export async function unlessDuplicate<T>(write: Promise<T>): Promise<T | null> {
  try {
    return await write;
  } catch (thrown) {
    if (isDuplicate(thrown)) return null;
    throw thrown;
  }
}

/** Whether an error says only that documents with the same unique value exist. */
function isDuplicate(thrown: unknown): boolean {
  if (thrown instanceof MongoBulkWriteError) {
    return (
      [thrown.writeErrors].flat().every(({ code }) => code === 11_000) &&
      !thrown.result.getWriteConcernError()
    );
  }
  return thrown instanceof MongoServerError && thrown.code === 11_000;
}

function toFault(place: string, thrown: unknown): Fault {
  if (thrown instanceof Fault) return thrown;
  const isHungUp = thrown instanceof Error && hungUp.has(String((thrown as NodeJS.ErrnoException).code));
  if (!(thrown instanceof MongoError) && !isHungUp) return Fault.from(thrown);
  const away = isHungUp || isAway(thrown as MongoError);
  const words = away ? `${place} does not answer: ${thrown.message}` : `${place}: ${thrown.message}`;
  return new Fault(away ? 'unavailable' : 'internal', words, { component: 'store', cause: thrown });
}

/** Whether an error of the driver says that the server cannot be had now. */
function isAway(thrown: MongoError): boolean {
  return (
    thrown instanceof MongoNetworkError ||
    thrown instanceof MongoSystemError ||
    thrown instanceof MongoServerSelectionError ||
    thrown instanceof MongoOperationTimeoutError ||
    // The pool was emptied or the client closed under the call.
    /PoolCleared|PoolClosed|NotConnected|TopologyClosed|ClientClosed|WaitQueue|ExpiredSession/.test(
      thrown.name,
    ) ||
    passing.has(Number(thrown.code)) ||
    thrown.hasErrorLabel('RetryableWriteError')
  );
}

function named<T>(name: string, call: () => T): T {
  try {
    return call();
  } catch (thrown) {
    throw new Fault('internal', `${name}: ${(thrown as Error).message}`, { cause: thrown });
  }
}
