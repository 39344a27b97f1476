import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findEngine, type MissingEngine } from '../engines/missing.ts';
import { findMongo, startMongo } from '../engines/mongo.ts';
import { freePort, startNats } from '../engines/nats.ts';

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
const embedded: Stack = {
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
  const nats = await openNats();
  if ('missing' in nats) {
    await mongo.stop();
    return nats;
  }
  return {
    settings: { MONGODB_URI: mongo.uri, NATS_URL: nats.url },
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
  const directory = await mkdtemp(join(tmpdir(), 'gleaner-mongo-'));
  const options = { dataFile: join(directory, 'data'), port: await freePort() };
  const opened = await restartable(() => startMongo(options));
  if ('missing' in opened) return opened;
  const { first, engine } = opened;
  const stop = async () => {
    await engine.stop();
    await rm(directory, { recursive: true, force: true });
  };
  return { uri: first.uri, engine, stop };
}

async function openNats(): Promise<{ url: string; engine: Engine; stop(): Promise<void> } | MissingEngine> {
  const directory = await mkdtemp(join(tmpdir(), 'gleaner-nats-'));
  const options = { directory, port: await freePort() };
  const opened = await restartable(() => startNats(options));
  if ('missing' in opened) return opened;
  const { first, engine } = opened;
  const stop = async () => {
    await engine.stop();
    await rm(directory, { recursive: true, force: true });
  };
  return { url: first.url, engine, stop };
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
