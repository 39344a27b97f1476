import { type Clock, systemClock } from '../base/clock.ts';
import type { Config } from '../base/config.ts';
import { createDiskSpace, type DiskSpace, readFreeBytes, unusedDisk } from '../base/disk-space.ts';
import { newId } from '../base/id.ts';
import { createLog, type Log } from '../base/log.ts';
import { createSharedClock, type SharedClock } from '../base/shared-clock.ts';
import { services } from '../contract/services.ts';
import { createDriftWatch } from '../drift/watch.ts';
import { createPagesElsewhere } from '../fetch/elsewhere.ts';
import { createJobChanges, type JobChanges, notifyOnMove } from '../jobs/changes.ts';
import type { JobContext } from '../jobs/context.ts';
import { resolveOffers } from '../jobs/offers.ts';
import { kinds } from '../kinds/list.ts';
import { readItemToken, writeItemToken } from '../links/item-token.ts';
import { createLinks, type Links, linkSeconds } from '../links/links.ts';
import { fixedLinkSecrets, openLinkSecrets } from '../links/secrets.ts';
import { listedFields, policyOfMarket } from '../markets/defaults.ts';
import { withHosts } from '../markets/hosts.ts';
import { markets } from '../markets/list.ts';
import { watchFirstPublish } from '../queue/first-publish.ts';
import { createOriginTally, type OriginTally } from '../sweep/origin-tally.ts';
import type { Fetching, FetchingOptions } from './fetching.ts';
import { openStack, type Stack, type StackOptions } from './stack.ts';

/** How often a process compares its clock with the store's. */
const followMs = 30_000;
/** Longest wait for the store's time before the process starts on its host's clock, in milliseconds. */
const maxFirstReadingMs = 3_000;

/** What every role of the program is made of. */
export interface Program {
  config: Config;
  clock: Clock;
  /** Host clock minus the store's clock, in milliseconds. */
  skewMs(): number;
  log: Log;
  stack: Stack;
  links: Links;
  /** What this process asked of origins. */
  tally: OriginTally;
  context: JobContext;
  /** Resolves when this process publishes its first batch. */
  published: Promise<void>;
  /** Ends every connection. */
  close(): Promise<void>;
}

/** The disk of the data folder, where the store or the result files are in it. */
function diskOf({ dataDir, mongoUri, s3Url, minFreeDiskBytes }: Config, clock: Clock, log: Log): DiskSpace {
  if (mongoUri !== null && s3Url !== null) return unusedDisk;
  const readFree = () => readFreeBytes(dataDir);
  return createDiskSpace({ readFree, minFreeBytes: minFreeDiskBytes, clock, log });
}

/**
 * Puts the program together from its configuration. `publicUrl`: what signed links start with; it is
 * asked late, because a port of 0 is known late.
 * `options`: what a worker process has of its parent; `readsPages`, whether units are read in this process.
 */
export async function compose(
  config: Config,
  role: string,
  publicUrl: () => string,
  options: StackOptions & { changes?: JobChanges; readsPages?: boolean } = {},
): Promise<Program> {
  const log = createLog(config.logLevel, role);
  const clock: SharedClock = createSharedClock({
    host: systemClock,
    monotonic: () => performance.now(),
    readTime: () => stack.store.time(),
    log,
  });
  const stack: Stack = await openStack(config, clock, log, options);
  const closing = new AbortController();
  const following = await followStore(clock, stack, closing.signal);
  const secrets = config.linkSecrets
    ? fixedLinkSecrets(config.linkSecrets)
    : openLinkSecrets(config.dataDir, clock);
  const links = createLinks({ secrets, publicUrl, clock });
  const { queue, published } = watchFirstPublish(stack.queue);
  const { blobs } = stack;
  const changes = options.changes ?? createJobChanges(clock);
  const store = notifyOnMove(stack.store, changes);
  const tally = createOriginTally(clock);
  const fetching = await openPages(options.readsPages ?? false, { config, store, clock, log, watch: tally });
  const context: JobContext = {
    store,
    queue,
    blobs,
    disk: diskOf(config, clock, log),
    clock,
    log,
    newId,
    random: Math.random,
    pages: fetching.pages,
    drift: createDriftWatch({ store, clock, log, shapes: listedFields }),
    changes,
    offers: resolveOffers(
      services,
      kinds,
      markets.map((market) => withHosts(market, config.origins.get(market.name)?.hosts)),
    ),
    settings: config,
    links: {
      async file(job, { path }, bearer) {
        if (bearer) return links.link(path, { bearerOf: job.userId });
        return (
          (await blobs.presign(path, path.slice(path.lastIndexOf('/') + 1), linkSeconds)) ?? links.link(path)
        );
      },
      itemToken: (jobId, batchId, index) => writeItemToken(secrets, jobId, { batchId, index }),
      readItemToken: (jobId, token) => readItemToken(secrets, jobId, token),
    },
  };
  return {
    config,
    clock,
    skewMs: clock.skewMs,
    log,
    stack,
    links,
    tally,
    context,
    published,
    async close() {
      closing.abort(new Error('the program ends'));
      await fetching.close();
      await stack.close();
      await following();
    },
  };
}

/** Opens the pages that units are read from; what fetches them is loaded only where it is used. */
async function openPages(readsPages: boolean, options: FetchingOptions): Promise<Fetching> {
  if (readsPages) return (await import('./fetching.ts')).openFetching(options);
  return {
    pages: createPagesElsewhere({ origins: options.config.origins, policyOf: policyOfMarket }),
    async close() {},
  };
}

/**
 * Follows the store's clock where other hosts share the store. Resolves after the first reading, so that no
 * lease is taken before; a store that is away is waited for only briefly. Gives what waits for the end.
 */
async function followStore(
  clock: SharedClock,
  { name }: Stack,
  signal: AbortSignal,
): Promise<() => Promise<void>> {
  if (name === 'embedded') return async () => {};
  const first = new AbortController();
  const waited = clock.sleep(maxFirstReadingMs, first.signal).catch(() => {});
  await Promise.race([clock.synchronize().catch(() => {}), waited]);
  first.abort(new Error('the time was read'));
  const following = clock.follow(followMs, signal);
  return () => following;
}
