import { join } from 'node:path';
import { findEngine, type MissingEngine } from '../engines/missing.ts';
import { findMongo, startMongo } from '../engines/mongo.ts';
import { startNats } from '../engines/nats.ts';
import { startS3 } from '../engines/s3.ts';
import { type FaultyProcess, type RestartableEngine, startOwn } from './restartable.ts';

/** The engines of one deployment. */
export interface Engines {
  /** Settings of the service that point to the engines. */
  settings: Record<string, string>;
  /** Null on the embedded stack, and for an engine that the test did not start. */
  mongo: RestartableEngine | null;
  nats: RestartableEngine | null;
  /** S3 storage; absent if results are files in a folder. */
  files?: RestartableEngine;
  /** Servers of the engines that a run kills and freezes one by one. */
  servers?: readonly FaultyProcess[];
  /** Stops the engines and removes their data. */
  stop(): Promise<void>;
}

/** A stack on which suites run. */
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

/** MongoDB (at MONGODB_TEST_URI if that is set) and nats-server. */
const distributed: Stack = {
  name: 'distributed',
  distributed: true,
  open: () => openEngines(openMongo),
};

/** Both stacks, for `describe.each`. */
export const stacks: readonly Stack[] = [embedded, distributed];

/** The distributed stack on engines started for the test, so that each can be stopped. */
export const restartableStack: Stack = {
  name: 'distributed, on its own engines',
  distributed: true,
  open: () => openEngines(startOwnMongo),
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

/** Distributed stacks for fault tests: on its own engines and, if MONGODB_TEST_URI is set, on that MongoDB. */
export const distributedStacks: readonly Stack[] = process.env.MONGODB_TEST_URI
  ? [restartableStack, { ...distributed, name: 'distributed, on MONGODB_TEST_URI' }]
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
      if ('missing' in found) return { title: `${name} (${found.missing})`, distributed, engines: null };
      return { title: name, distributed, engines: found };
    }),
  );
}

interface OpenMongo {
  uri: string;
  engine: RestartableEngine | null;
  stop(): Promise<void>;
}

async function openEngines(
  mongoOf: () => Promise<OpenMongo | MissingEngine>,
): Promise<Engines | MissingEngine> {
  const mongo = await mongoOf();
  if ('missing' in mongo) return mongo;
  const nats = await startOwn('nats', startNats);
  if ('missing' in nats) {
    await mongo.stop();
    return nats;
  }
  return {
    settings: { MONGODB_URI: mongo.uri, NATS_URL: nats.first.url },
    mongo: mongo.engine,
    nats: nats.engine,
    stop: async () => {
      await nats.stop();
      await mongo.stop();
    },
  };
}

async function openMongo(): Promise<OpenMongo | MissingEngine> {
  const found = await findMongo();
  return 'missing' in found ? found : { uri: found.uri, engine: null, stop: () => found.stop() };
}

async function startOwnMongo(): Promise<OpenMongo | MissingEngine> {
  const opened = await startOwn('mongo', ({ directory, port }) =>
    startMongo({ dataFile: join(directory, 'data'), port }),
  );
  if ('missing' in opened) return opened;
  return { uri: opened.first.uri, engine: opened.engine, stop: opened.stop };
}
