import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findEngine, type MissingEngine } from '../engines/missing.ts';
import { findMongo, startMongo } from '../engines/mongo.ts';
import { freePort, startNats } from '../engines/nats.ts';
import { startS3 } from '../engines/s3.ts';

/** An engine that a test can take away and bring back, with its data, at the same address. */
export interface Engine {
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** The engines of one deployment. */
export interface Engines {
  /** What the program is told of them. */
  settings: Record<string, string>;
  /** Null on the embedded stack, and for an engine that is not ours to stop. */
  mongo: Engine | null;
  nats: Engine | null;
  /** Absent where results are files in a folder. */
  files?: Engine;
  /** Ends them and removes their data. */
  stop(): Promise<void>;
}

/** A stack that the suites run on. */
export interface Stack {
  name: string;
  distributed: boolean;
  /** Prepares the engines of one deployment; says why when they cannot be had. */
  open(): Promise<Engines | MissingEngine>;
}

/** The embedded stack: it has no engines. */
export const embedded: Stack = {
  name: 'embedded',
  distributed: false,
  open: async () => ({ settings: {}, mongo: null, nats: null, stop: async () => {} }),
};

/** MongoDB (the one at MONGODB_TEST_URI where that is set) and a nats-server. */
const distributed: Stack = {
  name: 'distributed',
  distributed: true,
  open: () => together(openMongo),
};

/** Both stacks, for `describe.each`. */
export const stacks: readonly Stack[] = [embedded, distributed];

/** The distributed stack on engines that are all ours, so that each can be taken away. */
export const stoppable: Stack = {
  name: 'distributed, on engines of its own',
  distributed: true,
  open: () => together(openMongoOfOurOwn),
};

/** As `stoppable`, with result files in an S3 storage that can be taken away too. */
export const allStoppable: Stack = {
  name: 'distributed, on engines of its own, files in S3',
  distributed: true,
  open: async () => {
    const files = await ofOurOwn('s3', startS3);
    if ('missing' in files) return files;
    const engines = await stoppable.open();
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

/** Where the distributed stack meets faults: on engines of its own and, where MONGODB_TEST_URI names one, on that. */
export const distributedStacks: readonly Stack[] = process.env.MONGODB_TEST_URI
  ? [stoppable, { ...distributed, name: 'distributed, on MONGODB_TEST_URI' }]
  : [stoppable];

/** A stack whose engines were asked for. */
export interface OpenedStack {
  /** Says too why its tests are skipped. */
  title: string;
  distributed: boolean;
  engines: Engines | null;
}

/** Opens the engines of stacks, for `describe.each`; missing ones are an error under CI. */
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
  engine: Engine | null;
  stop(): Promise<void>;
}

async function together(mongoOf: () => Promise<OpenMongo | MissingEngine>): Promise<Engines | MissingEngine> {
  const mongo = await mongoOf();
  if ('missing' in mongo) return mongo;
  const nats = await ofOurOwn('nats', startNats);
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

async function openMongoOfOurOwn(): Promise<OpenMongo | MissingEngine> {
  const opened = await ofOurOwn('mongo', ({ directory, port }) =>
    startMongo({ dataFile: join(directory, 'data'), port }),
  );
  if ('missing' in opened) return opened;
  return { uri: opened.first.uri, engine: opened.engine, stop: opened.stop };
}

/** Starts an engine with a folder and a port of its own; `stop` ends it and removes the folder. */
async function ofOurOwn<T extends { stop(): Promise<void> }>(
  name: string,
  start: (place: { directory: string; port: number }) => Promise<T | MissingEngine>,
): Promise<{ first: T; engine: Engine; stop(): Promise<void> } | MissingEngine> {
  const directory = await mkdtemp(join(tmpdir(), `gleaner-${name}-`));
  const place = { directory, port: await freePort() };
  const remove = () => rm(directory, { recursive: true, force: true });
  const opened = await restartable(() => start(place));
  if ('missing' in opened) {
    await remove();
    return opened;
  }
  return { ...opened, stop: () => opened.engine.stop().then(remove) };
}

/** An engine that is started now, and can be stopped and started again. */
async function restartable<T extends { stop(): Promise<void> }>(
  open: () => Promise<T | MissingEngine>,
): Promise<{ first: T; engine: Engine } | MissingEngine> {
  const first = await open();
  if ('missing' in first) return first;
  let running: T | null = first;
  const engine: Engine = {
    async start() {
      if (running) return;
      const again = await open();
      if ('missing' in again) throw new Error(again.missing);
      running = again;
    },
    async stop() {
      await running?.stop();
      running = null;
    },
  };
  return { first, engine };
}
