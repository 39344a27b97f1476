import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import type { Config } from '../base/config.ts';
import type { Log } from '../base/log.ts';
import type { Blobs } from '../blobs/blobs.ts';
import type { Queue } from '../queue/queue.ts';
import type { Store } from '../store/store.ts';
import { createPlaces } from './places.ts';

/** Name of the embedded store's file in the data folder. */
export const storeFile = 'gleaner.db';
/** Name of the folder with the result files in the data folder. */
export const resultsFolder = 'results';

/** The three engines that the configuration selects, behind their ports. */
export interface Stack {
  name: 'embedded' | 'distributed';
  store: Store;
  queue: Queue;
  blobs: Blobs;
  close(): Promise<void>;
}

/** Options for openStack() in worker processes. */
export interface StackOptions {
  /** Queue of the embedded stack in another process. */
  queue?: Queue;
  /** Page cache of the embedded store, in bytes. */
  storeCacheBytes?: number;
}

/**
 * Opens the engines and loads only their drivers. Engines of the distributed stack may be
 * unavailable: they are used once they respond.
 */
export async function openStack(
  config: Config,
  clock: Clock,
  log: Log,
  { queue: sharedQueue, storeCacheBytes }: StackOptions = {},
): Promise<Stack> {
  const store = await openStore(config, storeCacheBytes);
  const queue =
    config.natsUrl === null && sharedQueue
      ? sharedQueue
      : await openQueue(config, clock, log, store);
  const blobs = await openBlobs(config);
  return {
    name: config.mongoUri === null ? 'embedded' : 'distributed',
    store,
    queue,
    blobs,
    async close() {
      await queue.close();
      await blobs.close();
      await store.close();
    },
  };
}

/** Opens only the store, for commands that inspect it. */
export async function openStore(config: Config, cacheBytes?: number): Promise<Store> {
  if (config.mongoUri === null) {
    const { openSqliteStore } = await import('../store/sqlite/open.ts');
    return openSqliteStore({
      path: join(config.dataDir, storeFile),
      cacheBytes,
    });
  }
  const { openMongoStore } = await import('../store/mongo/open.ts');
  return openMongoStore({ uri: config.mongoUri });
}

async function openQueue(config: Config, clock: Clock, log: Log, store: Store): Promise<Queue> {
  const placeOf = createPlaces(config.origins);
  if (config.natsUrl === null) {
    const { openLocalQueue } = await import('../queue/local/open.ts');
    return openLocalQueue({ clock, log, placeOf });
  }
  const { openJetStreamQueue } = await import('../queue/jetstream/open.ts');
  const { natsUrl: url, limits } = config;
  const { natsReplicas: replicas } = limits;
  let installationId: string | undefined;
  const owner = async () => {
    installationId ??= await store.installationId();
    return installationId;
  };
  return openJetStreamQueue({
    url,
    ...(replicas === null ? {} : { replicas }),
    owner,
    placeOf,
    clock,
    log,
  });
}

/** Opens only the result storage. */
export async function openBlobs(config: Config): Promise<Blobs> {
  if (config.s3Url === null) {
    const { openFiles } = await import('../blobs/files/open.ts');
    return openFiles({ directory: join(config.dataDir, resultsFolder) });
  }
  const { openS3 } = await import('../blobs/s3/open.ts');
  return openS3({ url: config.s3Url });
}
