import {
  type Db,
  MongoBulkWriteError,
  MongoClient,
  type MongoClientOptions,
  MongoError,
  MongoNetworkError,
  MongoOperationTimeoutError,
  MongoServerError,
  MongoServerSelectionError,
  MongoSystemError,
} from 'mongodb';
import { systemClock } from '../../base/clock.ts';
import { ConfigError } from '../../base/config-error.ts';
import { newId } from '../../base/id.ts';
import { parseMongoUri } from '../../base/mongo-uri.ts';
import { Fault } from '../../contract/fault.ts';
import { duplicateCode, isDeadlock, isUnanswered, writeErrorCodes } from './duplicates.ts';
import { compatibleFrom, type Migration, migrate, migrations } from './migrate.ts';
import {
  type CallLimits,
  createPendingCalls,
  LostCallError,
  type PendingCalls,
} from './pending-calls.ts';
import { collectionsOf, type MongoCollections } from './schema.ts';

/** A MongoDB database. Errors of the driver are converted to faults. */
export interface MongoEngine {
  /** Name of the database in messages, such as `MongoDB at localhost:27017`. */
  readonly address: string;
  /**
   * Calls a function with the collections of the migrated database. Throws `unavailable` if MongoDB
   * does not respond.
   */
  run<T>(call: (collections: MongoCollections) => Promise<T>): Promise<T>;
  /** Returns the version of the database's schema. */
  schemaVersion(): Promise<number>;
  /** Resolves if MongoDB responds, with its time in milliseconds since the epoch. */
  ping(): Promise<number>;
  close(): Promise<void>;
}

/** Options for openEngine(). */
export interface EngineOptions {
  /** True to accept a database with an incomplete move. */
  isImport?: boolean;
  limits?: CallLimits;
}

/** Time to find a reachable server, in milliseconds. */
const selectionTimeoutMs = 3_000;
/** Time without data from the server after which a call fails, in milliseconds. */
const silenceTimeoutMs = 30_000;

/**
 * Server error codes of a command that fails each time it is repeated: a duplicate unique value,
 * and a document above the maximum size. Any other code is a matter of the server, so its failures
 * are temporary.
 */
const commandCodes = new Set([duplicateCode, 10_334, 17_280, 17_419, 17_420]);

/**
 * Codes of sockets that the server closed. A command that meets one at that moment fails with
 * Node's error instead of the driver's.
 */
const resetCodes = new Set([
  'EPIPE',
  'ECONNRESET',
  'ERR_STREAM_DESTROYED',
  'ERR_STREAM_WRITE_AFTER_END',
  'ERR_SOCKET_CLOSED',
]);

/**
 * Creates an engine, which connects with the first call and reconnects after a loss. The database
 * is migrated before the first step, and again after a failure.
 */
export function openEngine(
  uri: string,
  steps: readonly Migration[] = migrations,
  { isImport = false, limits }: EngineOptions = {},
): MongoEngine {
  let current = connect(uri, limits);
  const { address } = current;
  let closed = false;
  const prepare = async ({ client, database }: Connection) => {
    // An explicit connect(), because a client whose implicit connect fails stays closed. Every
    // error counts as temporary, such as a host name or a login that does not exist yet.
    await client.connect().catch((thrown: Error) => {
      throw new Fault('unavailable', `${address} does not answer: ${thrown.message}`, {
        component: 'store',
        cause: thrown,
      });
    });
    const time = () => readTime(database);
    return migrate(database, {
      address,
      steps,
      compatibleFrom,
      holder: newId(),
      time,
      clock: systemClock,
      isImport,
    });
  };
  const attempt = async <T>(
    call: (connection: Connection, version: number) => Promise<T>,
  ): Promise<T> => {
    const used = current;
    try {
      if (closed)
        throw new Fault('unavailable', `${address}: the connection was closed`, {
          component: 'store',
        });
      used.version ??= prepare(used).catch((thrown) => {
        used.version = undefined;
        throw thrown;
      });
      const version = used.version;
      return await used.calls.track(version.then((schemaVersion) => call(used, schemaVersion)));
    } catch (thrown) {
      if (isUnreachable(thrown) && used === current && !closed) {
        current = connect(uri, limits);
        used.client.close().catch(() => {});
      }
      throw toFault(address, thrown);
    }
  };
  return {
    address,
    run: (call) => attempt(({ collections }) => call(collections)),
    schemaVersion: () => attempt(async (_, version) => version),
    ping: () => attempt(({ database }) => readTime(database)),
    close: async () => {
      closed = true;
      await current.client.close();
    },
  };
}

/** Returns the timeouts that a connection string does not set. */
function timeoutsFor(uri: string): MongoClientOptions {
  const timeouts = {
    serverSelectionTimeoutMS: selectionTimeoutMs,
    connectTimeoutMS: selectionTimeoutMs,
    socketTimeoutMS: silenceTimeoutMs,
  };
  const own = uri.toLowerCase();
  return Object.fromEntries(
    Object.entries(timeouts).filter(([name]) => !own.includes(`${name.toLowerCase()}=`)),
  );
}

/** A client of the database. */
interface Connection {
  /** Name of the database in messages. */
  address: string;
  calls: PendingCalls;
  client: MongoClient;
  database: Db;
  collections: MongoCollections;
  /** Version of the schema, once the database is being migrated. */
  version: Promise<number> | undefined;
}

function connect(uri: string, limits: CallLimits | undefined): Connection {
  const client = describeErrors(
    'MongoDB address',
    () =>
      new MongoClient(parseMongoUri(uri), {
        appName: 'gleaner',
        ...timeoutsFor(uri),
        // Steps resume from the writes of earlier ones, so reads must see every acknowledged write
        // and none that a failover can undo. parseMongoUri() rejects conflicting options.
        readPreference: 'primary',
        readConcern: { level: 'majority' },
        writeConcern: { w: 'majority', journal: true },
        ignoreUndefined: true,
      }),
  );
  const address = `MongoDB at ${client.options.hosts.join(', ') || client.options.srvHost}`;
  const calls = createPendingCalls(address, limits);
  client.on('connectionPoolCleared', calls.hurry);
  const database = client.db(/^mongodb(\+srv)?:\/\/[^/]+\/[^?]/.test(uri) ? undefined : 'gleaner');
  return {
    address,
    calls,
    client,
    database,
    collections: collectionsOf(database),
    version: undefined,
  };
}

/**
 * Returns true if a client lost a call, or found no server, so that it is replaced: if a connection
 * closes at the moment of a heartbeat, the driver (7.9) waits for that heartbeat forever, and finds
 * no server any more.
 */
function isUnreachable(thrown: unknown): boolean {
  if (thrown instanceof LostCallError) return true;
  return [thrown, (thrown as Error | undefined)?.cause].some(
    // A bulk write has the reason of its error, but not its class.
    (error) =>
      error instanceof MongoServerSelectionError || (isUnanswered(error) && 'reason' in error),
  );
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

function toFault(address: string, thrown: unknown): Error {
  if (thrown instanceof Fault || thrown instanceof ConfigError) return thrown;
  const isHungUp =
    thrown instanceof Error && resetCodes.has(String((thrown as NodeJS.ErrnoException).code));
  if (!(thrown instanceof MongoError) && !isHungUp) return Fault.from(thrown);
  const away = isHungUp || isUnavailable(thrown as MongoError);
  const words = away
    ? `${address} does not answer: ${thrown.message}`
    : `${address}: ${thrown.message}`;
  return new Fault(away ? 'unavailable' : 'internal', words, { component: 'store', cause: thrown });
}

/** Returns true unless the error is the fault of the command, or of the program that sent it. */
function isUnavailable(thrown: MongoError): boolean {
  if (isUnanswered(thrown) || isDeadlock(thrown)) return true;
  if (thrown instanceof MongoServerError) return !isOfCommand(thrown);
  return (
    thrown instanceof MongoNetworkError ||
    thrown instanceof MongoSystemError ||
    thrown instanceof MongoOperationTimeoutError ||
    // The pool was cleared or the client closed during the call.
    /PoolCleared|PoolClosed|NotConnected|TopologyClosed|ClientClosed|WaitQueue|ExpiredSession/.test(
      thrown.name,
    )
  );
}

/** Returns true if the server rejects the command, or documents of it, each time. */
function isOfCommand(thrown: MongoServerError): boolean {
  if (thrown instanceof MongoBulkWriteError && thrown.result?.getWriteConcernError()) return false;
  const documents = writeErrorCodes(thrown);
  const failures = documents.filter((code) => code !== duplicateCode);
  if (failures.length > 0) return failures.some((code) => commandCodes.has(Number(code)));
  return documents.length > 0 || commandCodes.has(Number(thrown.code));
}

function describeErrors<T>(name: string, call: () => T): T {
  try {
    return call();
  } catch (thrown) {
    throw new Fault('internal', `${name}: ${(thrown as Error).message}`, { cause: thrown });
  }
}
