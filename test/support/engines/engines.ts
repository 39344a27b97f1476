import { join } from 'node:path';
import { findEngine, type MissingEngine } from '../../engines/missing.ts';
import { findMongo, startMongo } from '../../engines/mongo.ts';
import { startNats } from '../../engines/nats.ts';
import { startS3 } from '../../engines/s3.ts';
import { shareEngine } from '../../engines/share.ts';
import { type FaultyProcess, type RestartableEngine, startOwn } from './restartable.ts';

/** The engines of one deployment. */
export interface Engines {
  /** Settings of the service that point to the engines. */
  settings: Record<string, string>;
  /** Null on the embedded stack, and for an engine that the test did not start. */
  mongo: RestartableEngine | null;
  nats: RestartableEngine | null;
  /** S3 storage. Absent if results are files in a folder. */
  files?: RestartableEngine;
  /** Servers of the engines that a run kills and freezes one by one. */
  servers?: readonly FaultyProcess[];
  /** Stops the engines and removes their data. */
  stop(): Promise<void>;
}

/** Stack for suites. */
export interface Stack {
  name: string;
  distributed: boolean;
  /** Starts the engines of one deployment, or returns why they are unavailable. */
  open(): Promise<Engines | MissingEngine>;
}

/** The embedded stack, which needs no engines. */
export const embedded: Stack = {
  name: 'embedded',
  distributed: false,
  open: async () => ({ settings: {}, mongo: null, nats: null, stop: async () => {} }),
};

/**
 * A database of the run's MongoDB (at MONGODB_TEST_URI if that is set), and an account of its
 * nats-server.
 */
const distributed: Stack = {
  name: 'distributed',
  distributed: true,
  open: () => openEngines(openMongo, openSharedNats),
};

/** Both stacks, for `describe.each`. */
export const stacks: readonly Stack[] = [embedded, distributed];

/** The distributed stack on engines started for the test, so that each can be stopped. */
export const restartableStack: Stack = {
  name: 'distributed, on its own engines',
  distributed: true,
  open: () => openEngines(startOwnMongo, startOwnNats),
};

/** Same as restartableStack, with result files in an S3 storage that can also be stopped. */
export const restartableStackWithS3: Stack = {
  name: 'distributed, on its own engines, files in S3',
  distributed: true,
  open: async () => {
    const files = await startOwn('s3', startS3);
    if ('missing' in files) return files;
    const engines = await restartableStack.open();
    if ('missing' in engines) {
      await files.stop();
      return engines;
    }
    return {
      ...engines,
      settings: { ...engines.settings, GLEANER_S3_URL: files.first.url },
      files: files.engine,
      stop: () => engines.stop().then(files.stop),
    };
  },
};

/**
 * Distributed stacks for fault tests: on its own engines and, if MONGODB_TEST_URI is set, on that
 * MongoDB.
 */
export const distributedStacks: readonly Stack[] = process.env.MONGODB_TEST_URI
  ? [
      restartableStack,
      {
        name: 'distributed, on MONGODB_TEST_URI',
        distributed: true,
        open: () => openEngines(openMongo, startOwnNats),
      },
    ]
  : [restartableStack];

/** Result of openStacks() for one stack. */
export interface OpenedStack {
  /** Name of the stack and, if its tests are skipped, the reason. */
  title: string;
  distributed: boolean;
  engines: Engines | null;
}

/** Starts the engines of stacks, for `describe.each`. Throws for a missing engine if CI is set. */
export function openStacks(wanted: readonly Stack[]): Promise<OpenedStack[]> {
  return Promise.all(
    wanted.map(async ({ name, distributed, open }) => {
      const found = await findEngine(open());
      if ('missing' in found)
        return { title: `${name} (${found.missing})`, distributed, engines: null };
      return { title: name, distributed, engines: found };
    }),
  );
}

/** An engine of a deployment. */
interface OpenEngine {
  uri: string;
  engine: RestartableEngine | null;
  stop(): Promise<void>;
}

async function openEngines(
  mongoOf: () => Promise<OpenEngine | MissingEngine>,
  natsOf: () => Promise<OpenEngine | MissingEngine>,
): Promise<Engines | MissingEngine> {
  const mongo = await mongoOf();
  if ('missing' in mongo) return mongo;
  const nats = await natsOf();
  if ('missing' in nats) {
    await mongo.stop();
    return nats;
  }
  return {
    settings: { MONGODB_URI: mongo.uri, NATS_URL: nats.uri },
    mongo: mongo.engine,
    nats: nats.engine,
    stop: async () => {
      await nats.stop();
      await mongo.stop();
    },
  };
}

async function openMongo(): Promise<OpenEngine | MissingEngine> {
  const found = await findMongo();
  return 'missing' in found ? found : { uri: found.uri, engine: null, stop: () => found.stop() };
}

async function openSharedNats(): Promise<OpenEngine | MissingEngine> {
  const shared = await shareEngine('nats');
  return 'missing' in shared ? shared : { uri: shared.address, engine: null, stop: async () => {} };
}

async function startOwnMongo(): Promise<OpenEngine | MissingEngine> {
  const opened = await startOwn('mongo', ({ directory, port }) =>
    startMongo({ dataFile: join(directory, 'data'), port }),
  );
  if ('missing' in opened) return opened;
  return { uri: opened.first.uri, engine: opened.engine, stop: opened.stop };
}

async function startOwnNats(): Promise<OpenEngine | MissingEngine> {
  const opened = await startOwn('nats', startNats);
  if ('missing' in opened) return opened;
  return { uri: opened.first.url, engine: opened.engine, stop: opened.stop };
}
