import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { create, fromJson, type JsonValue } from '@bufbuild/protobuf';
import { SubmitOptionsSchema } from '../../../gen/gleaner/job/v1/submit_options_pb.ts';
import { MktaService } from '../../../gen/gleaner/mkta/v1/mkta_pb.ts';
import { direct } from '../../../sandbox/in-process-origin.ts';
import { plainIds } from '../../../sandbox/mkta/ids.ts';
import { mkta as mktaOrigin } from '../../../sandbox/mkta/index.ts';
import { random } from '../../../sandbox/random.ts';
import { modeOf } from '../../../src/access/principal.ts';
import { createContext } from '../../../src/app/context.ts';
import { createDiskSpace } from '../../../src/base/disk-space.ts';
import { createLog } from '../../../src/base/log.ts';
import { openFiles } from '../../../src/blobs/files/open.ts';
import type { SubmitOptionValues } from '../../../src/contract/submit-options.ts';
import { createDestinations } from '../../../src/destinations/destinations.ts';
import type { FetchPage } from '../../../src/fetch/page.ts';
import { createPageMemory } from '../../../src/fetch/page-memory.ts';
import type { JobContext, JobSettings } from '../../../src/jobs/context.ts';
import { resolveJobTypes } from '../../../src/jobs/job-types.ts';
import { audit } from '../../../src/jobs/queries/audit.ts';
import { createReadView, type JobReadOptions } from '../../../src/jobs/queries/read.ts';
import { submit } from '../../../src/jobs/steps/submit.ts';
import type { Kind } from '../../../src/kinds/kind.ts';
import { kinds } from '../../../src/kinds/list.ts';
import { readItemToken, writeItemToken } from '../../../src/links/links.ts';
import { createSecretBox } from '../../../src/links/secret-box.ts';
import { deriveLinkSecrets } from '../../../src/links/secrets.ts';
import { mkta } from '../../../src/markets/mkta/index.ts';
import { openLocalQueue } from '../../../src/queue/local/open.ts';
import { anEntry, aUser } from '../../../src/store/conformance/samples.ts';
import type { Job, JobState } from '../../../src/store/documents.ts';
import { openSqliteStore } from '../../../src/store/sqlite/open.ts';
import type { Store } from '../../../src/store/store.ts';
import type { DistributionName } from '../../../src/telemetry/catalog.ts';
import type { MetricsReport } from '../../../src/telemetry/metrics.ts';
import { createMetricsRecorder, type MetricsRecorder } from '../../../src/telemetry/recorder.ts';
import { startWorker } from '../../../src/worker/worker.ts';
import { requireIndexes } from '../engines/index-check.ts';
import { createManualClock, flushTasks, type ManualClock } from '../time/clock.ts';
import { jobSettings } from './job-settings.ts';

/**
 * The steps of a job within the test process, on SQLite in memory, the local queue, files, and a
 * fake marketplace.
 */
export interface JobFixture {
  context: JobContext;
  clock: ManualClock;
  /** Measurements of the steps. */
  metrics: MetricsRecorder;
  /** Codes of the retryable faults that workers reported to their fetch sessions. */
  reportedFaults: string[];
  /** Wraps the fetch function that readers get. */
  wrapFetch(wrap: (fetch: FetchPage, itemId: string) => FetchPage): void;
  /** Returns the ids of the items requested from the marketplace, in order. */
  requestedItems(): string[];
  /** Sets the number of free bytes on the disk. */
  setFreeBytes(bytes: number): void;
  /** Creates a user, or with `testOf` the test account of one. */
  createUser(credits: number, account?: { testOf?: string }): Promise<string>;
  /** Calls a submit method by name with a JSON request and returns the response message. */
  submit(
    userId: string,
    method: string,
    request: JsonValue,
    idempotencyKey?: string,
    options?: SubmitOptionValues,
    // biome-ignore lint/suspicious/noExplicitAny: responses of every kind.
  ): Promise<any>;
  /** Calls a read method by name with a JSON request and returns the response message. */
  read(
    userId: string,
    method: string,
    request: JsonValue,
    options?: Partial<JobReadOptions>,
    // biome-ignore lint/suspicious/noExplicitAny: responses of every kind.
  ): Promise<any>;
  /** Starts a worker, which stops when the fixture is closed. */
  startWorker(): Promise<{ stop(): Promise<void> }>;
  /**
   * Runs pending tasks until the job is in one of the states, and returns it. Time does not
   * advance.
   */
  waitForState(jobId: string, ...states: JobState[]): Promise<Job>;
  /** Runs pending tasks until `condition` holds. Time does not advance. */
  eventually(what: string, condition: () => Promise<boolean> | boolean): Promise<void>;
  /**
   * Waits until a process ends. Time advances once a call of it has failed, so that it tries again.
   */
  outlast(process: Promise<unknown>, hasFailed: () => boolean): Promise<void>;
  balance(userId: string): Promise<number>;
  /** Returns the problems that the audit finds in balances, ledger, and jobs. */
  problems(): Promise<string[]>;
  close(): Promise<void>;
}

/** Free bytes below which the fixture's disk counts as almost full. */
export const minFreeBytes = 1_000;

/** Noon of a working day in GMT+8. */
export const noon = Date.UTC(2030, 0, 7, 4);

/**
 * Opens the fixture on the given store, or on SQLite in memory, with the given kinds of jobs.
 * Closing the fixture closes the store.
 */
export async function openJobFixture(
  changes: Partial<JobSettings> = {},
  given?: Store,
  jobKinds: readonly Kind[] = kinds,
): Promise<JobFixture> {
  const folder = await mkdtemp(join(tmpdir(), 'gleaner-jobs-'));
  const clock = createManualClock(noon);
  const log = createLog('silent', 'test');
  const secrets = deriveLinkSecrets(['a secret of the tests'], clock);
  const reportedFaults: string[] = [];
  const requests: string[] = [];
  let wrap = (fetch: FetchPage, _itemId: string): FetchPage => fetch;
  let freeBytes = 10 * minFreeBytes;
  const metrics = createMetricsRecorder();
  const context = createContext({
    store: requireIndexes(given ?? openSqliteStore({ path: ':memory:' })),
    queue: openLocalQueue({ clock, log }),
    // Uses the system clock: the age of abandoned files comes from their modification times.
    blobs: openFiles({ directory: join(folder, 'results') }),
    disk: createDiskSpace({
      readFree: async () => freeBytes,
      minFreeBytes: minFreeBytes,
      clock,
      log,
    }),
    clock,
    log,
    metrics,
    random: random('retry delays').next,
    jobTypes: resolveJobTypes([MktaService], jobKinds, [mkta]),
    settings: { ...jobSettings, ...changes },
    links: {
      file: async (_job, { path }) => path,
      records: (_job, { path }) => path,
      image: () => null,
      itemToken: (jobId, batchId, index) => writeItemToken(secrets, jobId, { batchId, index }),
      readItemToken: (jobId, token) => readItemToken(secrets, jobId, token),
    },
    destinations: createDestinations({
      box: createSecretBox(['a secret of the tests']),
      allowPrivate: true,
      now: () => clock.now(),
    }),
    pages: {
      openSession: (_market, region, signal) => ({
        fetch: (request) => {
          const itemId =
            new URL(request.path, 'http://origin.test').searchParams.get('item_id') ?? '';
          requests.push(itemId);
          signal.throwIfAborted();
          return wrap(direct(mktaOrigin, region, clock.now()).fetch, itemId)(request);
        },
        end: async (fault) => {
          if (fault?.retry === 'later') reportedFaults.push(fault.code);
        },
      }),
      concurrency: () => 8,
      records: createPageMemory({ maxBytes: 64 * 1024 ** 2, clock }).records,
      beginUrgent: () => () => {},
    },
  });
  const { store } = context;
  const workers: { stop(): Promise<void> }[] = [];
  const methodOf = (name: string) =>
    context.jobTypes.methods.get(`gleaner.mkta.v1.MktaService.${name}`)!;
  const readView = createReadView(context);
  const eventually: JobFixture['eventually'] = async (what, condition) => {
    const end = Date.now() + 50_000;
    while (!(await condition())) {
      if (Date.now() > end) throw new Error(`${what}: did not happen within 50 s`);
      await flushTasks();
    }
  };

  return {
    context,
    clock,
    metrics,
    reportedFaults,
    wrapFetch: (change) => {
      wrap = change;
    },
    requestedItems: () => requests,
    setFreeBytes: (bytes) => {
      freeBytes = bytes;
    },
    async createUser(credits, { testOf = null } = {}) {
      const user = aUser({ name: 'Test', email: '', createdAt: clock.now(), testOf });
      await store.users.insert(user);
      if (credits > 0) await grant(context, user.id, credits);
      return user.id;
    },
    async submit(userId, name, request, idempotencyKey, options) {
      const method = methodOf(name);
      const user = await context.store.users.get(userId);
      return submit(context, method, fromJson(method.method.input, request), {
        userId,
        mode: user === null ? 'live' : modeOf(user),
        keyId: null,
        idempotencyKey,
        options: options && create(SubmitOptionsSchema, options),
      });
    },
    async read(userId, name, request, changed = {}) {
      const method = methodOf(name);
      const { signal } = new AbortController();
      const options = {
        userId,
        role: 'user' as const,
        waitMs: 0,
        ifNoneMatch: undefined,
        signal,
        responseHeaders: {},
        ...changed,
      };
      return readView(method, fromJson(method.method.input, request), options);
    },
    async startWorker() {
      const worker = await startWorker(context, [mkta]);
      workers.push(worker);
      return worker;
    },
    async waitForState(jobId, ...states) {
      let job: Job | null = null;
      await eventually(`job ${jobId} is ${states.join(' or ')}`, async () => {
        job = await store.jobs.get(jobId);
        return job !== null && states.includes(job.state);
      }).catch((error) => {
        throw new Error(`${error.message}: it is ${job?.state}`);
      });
      return job!;
    },
    eventually,
    async outlast(process, hasFailed) {
      let isSettled = false;
      const settle = () => {
        isSettled = true;
      };
      process.then(settle, settle);
      await eventually('the process ends', async () => {
        await flushTasks();
        if (!isSettled && hasFailed() && clock.sleepers() > 0) await clock.advance(1_000);
        return isSettled;
      });
    },
    balance: async (userId) => (await store.users.get(userId))!.balance,
    problems: async () => (await audit(store)).problems,
    async close() {
      await Promise.all(workers.map((worker) => worker.stop()));
      await context.destinations.close();
      await context.queue.close();
      await context.blobs.close();
      await store.close();
      // A worker that the test did not await may still write.
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** Grants credits to a user. */
export async function grant(
  { store, clock }: JobContext,
  userId: string,
  amount: number,
): Promise<void> {
  await store.ledger.post(anEntry(userId, amount, { createdAt: clock.now() }));
}

/** Creates a variant-sold request for `plain` items that exist, followed by the items in `more`. */
export function variantSoldRequest(plain: number, ...more: string[]) {
  const ids = [...plainIds(plain).map(String), ...more];
  return { country: 'sg', items: ids.map((itemId) => ({ itemId, shopId: '77' })) };
}

/** Returns the number and the sum of the durations of a distribution without labels. */
export function durationsIn({ distributions }: MetricsReport, name: DistributionName) {
  const found = distributions.find((series) => series.name === name);
  return { count: found?.counts.reduce((sum, count) => sum + count, 0), sumMs: found?.sumMs };
}
