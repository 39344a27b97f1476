import { type AdmissionTokens, createAdmissionTokens } from '../api/transport/admission-token.ts';
import {
  type Clock,
  type ClockOrigin,
  createSharedClock,
  type SharedClock,
  systemClock,
} from '../base/clock.ts';
import { type Config, ConfigError } from '../base/config.ts';
import { createDiskSpace, type DiskSpace, readFreeBytes, unusedDisk } from '../base/disk-space.ts';
import { newId } from '../base/id.ts';
import { createLog, type Log, type LogOutput } from '../base/log.ts';
import { packageVersion } from '../base/package-folder.ts';
import { services } from '../contract/services.ts';
import { createDestinations } from '../destinations/destinations.ts';
import type { JobContext } from '../jobs/context.ts';
import { findUnknownPrice } from '../jobs/credits.ts';
import type { JobChanges } from '../jobs/job-events.ts';
import { resolveJobTypes } from '../jobs/job-types.ts';
import { kinds } from '../kinds/list.ts';
import { createImageLinks, type ImageLinks } from '../links/image-links.ts';
import {
  createFileLinks,
  createLinks,
  type Links,
  readItemToken,
  writeItemToken,
} from '../links/links.ts';
import { createSecretBox } from '../links/secret-box.ts';
import { deriveLinkSecrets, type LinkSecrets, openSecrets } from '../links/secrets.ts';
import { declaredSites } from '../markets/declared-sites/declared-sites.ts';
import { findUnknownRegions, withHosts } from '../markets/hosts.ts';
import { markets } from '../markets/list.ts';
import { createRequestCounter, type RequestCounter } from '../operations/request-counter.ts';
import { watchFirstPublish } from '../queue/queue.ts';
import { openStack, type Stack, type StackOptions } from '../stack/stack.ts';
import { createClockRecord } from '../store/clock-record.ts';
import { rejectInvalidTransitions } from '../store/jobs.ts';
import { withOriginLimits } from '../store/stored-times.ts';
import { type Metrics, noMetrics } from '../telemetry/metrics.ts';
import { createContext } from './context.ts';
import { openPages, pageObservers } from './open-pages.ts';
import { assertRemoteBrowsers } from './remote-browsers.ts';
import { traceQueue, traceStore } from './telemetry.ts';

/** Interval between synchronizations of the clock, in milliseconds: a third of a claim. */
const followMs = 5_000;
/**
 * Maximum wait for the store's time at startup, in milliseconds. After that the process starts with
 * the host clock.
 */
const maxFirstReadingMs = 3_000;

/** Components shared by every role. */
export interface Program {
  config: Config;
  clock: SharedClock;
  log: Log;
  metrics: Metrics;
  stack: Stack;
  links: Links;
  /** Tokens of gateways that check callers. */
  admissions: AdmissionTokens;
  /** Signed paths of pictures. Null if the service shows none. */
  images: ImageLinks | null;
  /** Counts of this process's requests to origins. */
  requestCounter: RequestCounter;
  context: JobContext;
  /** Resolves when this process publishes its first batch. */
  published: Promise<void>;
  /** Closes every connection. */
  close(): Promise<void>;
}

/** Returns the monitor of the data folder's disk, if the store or the result files are on it. */
function diskOf({ dataDir, mongoUri, s3Url, limits }: Config, clock: Clock, log: Log): DiskSpace {
  if (mongoUri !== null && s3Url !== null) return unusedDisk;
  const readFree = () => readFreeBytes(dataDir);
  return createDiskSpace({
    readFree,
    minFreeBytes: limits.minFreeDiskBytes,
    clock,
    log,
  });
}

/** Options of a program, and components that a worker process gets from its parent. */
interface ProgramOptions {
  changes?: JobChanges;
  /** True if units are processed in this process. */
  readsPages?: boolean;
  /** Default: nothing is measured. */
  metrics?: Metrics;
  /** Receives the log; standard error by default. */
  logOutput?: LogOutput | undefined;
  /** Id of this process as a holder of permits; random by default. */
  holder?: string;
  /** Origin of the parent's clock; null if the parent did not know it. */
  clockOrigin?: ClockOrigin | null;
}

/**
 * Creates the components from the configuration. `publicUrl` returns the base URL of signed links;
 * it is called late because a port of 0 is resolved late.
 */
export async function compose(
  config: Config,
  role: string,
  publicUrl: () => string,
  options: StackOptions & ProgramOptions = {},
): Promise<Program> {
  await using resources = new AsyncDisposableStack();
  const log = createLog(config.logLevel, role, options.logOutput);
  declaredSites.use(config.siteFiles, log);
  assertRemoteBrowsers(config, declaredSites);
  const { stack, clock } = await openEngines(config, log, options, resources);
  const signed = openLinks(config, clock, publicUrl);
  resources.defer(signed.destinations.close);
  const traced = config.exportsTraces ? traceStack(stack) : stack;
  const { queue, published } = watchFirstPublish(traced.queue);
  const metrics = options.metrics ?? noMetrics;
  const store = rejectInvalidTransitions(withOriginLimits(traced.store, log));
  const requestCounter = createRequestCounter(clock);
  const fetching = await openPages(options.readsPages ?? false, {
    config,
    store,
    clock,
    log,
    holder: options.holder ?? newId(),
    ...pageObservers(requestCounter, metrics),
  });
  resources.defer(fetching.close);
  const context = createContext({
    store,
    queue,
    blobs: stack.blobs,
    disk: diskOf(config, clock, log),
    clock,
    log,
    metrics,
    jobTypes: configuredJobTypes(config),
    settings: { ...config, ...config.limits, version: packageVersion },
    links: jobLinks(signed, stack.blobs),
    pages: fetching.pages,
    destinations: signed.destinations,
    ...(options.changes ? { changes: options.changes } : {}),
  });
  const opened = resources.move();
  return {
    config,
    clock,
    log,
    metrics,
    stack,
    ...signed,
    requestCounter,
    context,
    published,
    close: () => opened.disposeAsync(),
  };
}

/** Opens the engines, and the clock that follows their store. */
async function openEngines(
  config: Config,
  log: Log,
  options: StackOptions & ProgramOptions,
  resources: AsyncDisposableStack,
): Promise<{ stack: Stack; clock: SharedClock }> {
  const clock = createSharedClock({
    host: systemClock,
    readTime: () => stack.store.ping(),
    record: createClockRecord(() => stack.store),
    isOneHost: config.mongoUri === null,
    origin: options.clockOrigin,
    log,
  });
  const stack: Stack = await openStack(config, clock, log, options);
  const closing = new AbortController();
  const following = await followTime(clock, closing.signal);
  // The store closes first: a reading of a store that does not respond ends then.
  resources.defer(following);
  resources.defer(stack.close);
  resources.defer(() => closing.abort(new Error('the program is ending')));
  return { stack, clock };
}

/** Values signed or encrypted with the secrets of the service. */
interface SignedLinks {
  secrets: LinkSecrets;
  admissions: AdmissionTokens;
  links: Links;
  /** Null if the service shows no pictures. */
  images: ImageLinks | null;
  destinations: JobContext['destinations'];
}

function openLinks(config: Config, clock: Clock, publicUrl: () => string): SignedLinks {
  const rootSecrets = openSecrets(config.linkSecrets, config.dataDir);
  const secrets = deriveLinkSecrets(rootSecrets, clock);
  return {
    secrets,
    admissions: createAdmissionTokens({ secrets, clock }),
    links: createLinks({ secrets, publicUrl, clock }),
    images: config.showsImages ? createImageLinks({ secrets, clock }) : null,
    destinations: createDestinations({
      box: createSecretBox(rootSecrets),
      allowPrivate: config.allowsPrivate,
      now: () => clock.now(),
    }),
  };
}

/** Wraps the store and the queue of a stack to record spans. */
const traceStack = ({ store, queue }: Stack) => ({
  store: traceStore(store),
  queue: traceQueue(queue),
});

/**
 * Returns the job types of all markets, with the hosts of the origins file. Throws a ConfigError if
 * the file names regions that their marketplaces do not have, or if prices are of kinds that do not
 * exist.
 */
function configuredJobTypes({ origins, prices, environment }: Config): JobContext['jobTypes'] {
  const unknown = findUnknownRegions(origins, markets);
  if (unknown.length > 0)
    throw new ConfigError(`GLEANER_ORIGINS=${environment.GLEANER_ORIGINS}: ${unknown.join('\n')}`);
  const configured = markets.map((market) => withHosts(market, origins.get(market.name)?.hosts));
  const jobTypes = resolveJobTypes(services, kinds, configured);
  const unknownPrice = findUnknownPrice(prices, jobTypes);
  if (unknownPrice !== null)
    throw new ConfigError(`GLEANER_PRICES=${environment.GLEANER_PRICES}: ${unknownPrice}`);
  return jobTypes;
}

/** Creates the links and tokens of results. */
function jobLinks(
  { links, secrets, images }: SignedLinks,
  { presign }: Pick<Stack['blobs'], 'presign'>,
): JobContext['links'] {
  return {
    ...createFileLinks(links, presign),
    image: (url) => images?.path(url) ?? null,
    itemToken: (jobId, batchId, index) => writeItemToken(secrets, jobId, { batchId, index }),
    readItemToken: (jobId, token) => readItemToken(secrets, jobId, token),
  };
}

/**
 * Follows the store's time, which is this host's time on the embedded stack. Resolves after the
 * first reading, so that no lease is taken before it, or after a short timeout if the store is
 * unavailable. Returns a function that waits for the end.
 */
async function followTime(clock: SharedClock, signal: AbortSignal): Promise<() => Promise<void>> {
  const first = new AbortController();
  const timeout = clock.sleep(maxFirstReadingMs, first.signal).catch(() => {});
  await Promise.race([clock.synchronize().catch(() => {}), timeout]);
  first.abort(new Error('time read'));
  const following = clock.follow(followMs, signal);
  return () => following;
}
