import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fromJson, type JsonValue } from '@bufbuild/protobuf';
import { MktaService } from '../../gen/gleaner/mkta/v1/mkta_pb.ts';
import { direct } from '../../sandbox/direct.ts';
import { plainIds } from '../../sandbox/mkta/ids.ts';
import { mkta as mktaOrigin } from '../../sandbox/mkta/index.ts';
import { createDiskSpace } from '../../src/base/disk-space.ts';
import { newId } from '../../src/base/id.ts';
import { createLog } from '../../src/base/log.ts';
import { openFiles } from '../../src/blobs/files/open.ts';
import { createDriftWatch } from '../../src/drift/watch.ts';
import type { FetchPage } from '../../src/fetch/page.ts';
import { audit } from '../../src/jobs/audit.ts';
import { createJobChanges, tellMoves } from '../../src/jobs/changes.ts';
import type { JobContext, JobSettings } from '../../src/jobs/context.ts';
import { resolveOffers } from '../../src/jobs/offers.ts';
import { type Looker, read } from '../../src/jobs/read.ts';
import { submit } from '../../src/jobs/submit.ts';
import { kinds } from '../../src/kinds/list.ts';
import { readItemToken, writeItemToken } from '../../src/links/item-token.ts';
import { fixedLinkSecrets } from '../../src/links/secrets.ts';
import { listedFields } from '../../src/markets/defaults.ts';
import { mkta } from '../../src/markets/mkta/index.ts';
import { openLocalQueue } from '../../src/queue/local/open.ts';
import type { Job, JobState } from '../../src/store/documents.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import type { Store } from '../../src/store/store.ts';
import { startWorker } from '../../src/worker/worker.ts';
import { type StandingClock, settled, standingClock } from './clock.ts';

/** The steps of jobs in this process: SQLite in memory, the local queue, files, and a fake marketplace asked directly. */
export interface JobsBench {
  context: JobContext;
  clock: StandingClock;
  /** Refusals that workers told of. */
  noted: string[];
  /** Puts something between readers and the fake marketplace. */
  between(wrap: (fetch: FetchPage, itemId: string) => FetchPage): void;
  /** Item ids asked for, in order. */
  asked(): string[];
  /** Sets the free bytes on the disk. */
  free(bytes: number): void;
  createUser(credits: number): Promise<string>;
  /** Submits by a method's name and its request as JSON; gives the answer as the plain message. */
  // biome-ignore lint/suspicious/noExplicitAny: answers of every kind.
  submit(userId: string, method: string, request: JsonValue, idempotencyKey?: string): Promise<any>;
  // biome-ignore lint/suspicious/noExplicitAny: answers of every kind.
  read(userId: string, method: string, request: JsonValue, looker?: Partial<Looker>): Promise<any>;
  /** Starts a worker; it stops with the bench. */
  startWorker(): Promise<{ stop(): Promise<void> }>;
  /** Resolves with the job once it is in one of the states, letting everything run that needs no time. */
  reaches(jobId: string, ...states: JobState[]): Promise<Job>;
  /** Resolves once `holds` does, likewise. */
  comesTrue(what: string, holds: () => Promise<boolean> | boolean): Promise<void>;
  balance(userId: string): Promise<number>;
  /** What does not agree: balances, ledger, jobs. */
  problems(): Promise<string[]>;
  close(): Promise<void>;
}

/** Free bytes below which the bench's disk counts as almost full. */
export const minFreeBytes = 1_000;

/** Noon of a working day in GMT+8. */
export const noon = Date.UTC(2030, 0, 7, 4);

const settings: JobSettings = {
  approval: true,
  workingHours: null,
  jobWindow: 16,
  prices: new Map(),
  recentCrawlMs: 86_400_000,
  origins: new Map(),
  inForce: [],
  notices: { operatorWebhook: null, email: null, privateWebhooks: false },
};

/** Opens the bench; on a SQLite store in memory unless another one is given, which closes with it. */
export async function openJobs(changes: Partial<JobSettings> = {}, given?: Store): Promise<JobsBench> {
  const folder = await mkdtemp(join(tmpdir(), 'gleaner-jobs-'));
  const clock = standingClock(noon);
  const log = createLog('silent', 'test');
  const secrets = fixedLinkSecrets(['a secret of the tests']);
  const noted: string[] = [];
  const requests: string[] = [];
  let wrap = (fetch: FetchPage, _itemId: string): FetchPage => fetch;
  let freeBytes = 10 * minFreeBytes;
  const told = createJobChanges(clock);
  const store = tellMoves(given ?? openSqliteStore({ path: ':memory:' }), told);
  const context: JobContext = {
    store,
    queue: openLocalQueue({ clock, log }),
    // Tells abandoned files by the times that the disk gives them.
    blobs: openFiles({ directory: join(folder, 'results') }),
    disk: createDiskSpace({ readFree: async () => freeBytes, minFreeBytes: minFreeBytes, clock, log }),
    clock,
    log,
    newId,
    random: Math.random,
    offers: resolveOffers([MktaService], kinds, [mkta]),
    settings: { ...settings, ...changes },
    links: {
      file: async (_job, { path }) => path,
      itemToken: (jobId, batchId, index) => writeItemToken(secrets, jobId, { batchId, index }),
      readItemToken: (jobId, token) => readItemToken(secrets, jobId, token),
    },
    drift: createDriftWatch({ store, clock, log, shapes: listedFields }),
    changes: told,
    pages: {
      visit: (_market, region, signal) => ({
        fetch: (request) => {
          const itemId = new URL(request.path, 'http://origin.test').searchParams.get('item_id') ?? '';
          requests.push(itemId);
          signal.throwIfAborted();
          return wrap(direct(mktaOrigin, region, clock.now()).fetch, itemId)(request);
        },
        ended: async (fault) => {
          if (fault?.retry === 'later') noted.push(fault.code);
        },
      }),
      concurrency: () => 8,
    },
  };
  const workers: { stop(): Promise<void> }[] = [];
  const methodOf = (name: string) => context.offers.methods.get(`gleaner.mkta.v1.MktaService.${name}`)!;
  const comesTrue: JobsBench['comesTrue'] = async (what, holds) => {
    const end = Date.now() + 50_000;
    while (!(await holds())) {
      if (Date.now() > end) throw new Error(`${what}: it did not come true`);
      await settled();
    }
  };

  return {
    context,
    clock,
    noted,
    between: (change) => {
      wrap = change;
    },
    asked: () => requests,
    free: (bytes) => {
      freeBytes = bytes;
    },
    async createUser(credits) {
      const id = newId();
      const createdAt = clock.now();
      await store.createUser({
        id,
        name: 'Test',
        email: '',
        role: 'user',
        balance: 0,
        createdAt,
        suspendedAt: null,
      });
      if (credits > 0) await grant(context, id, credits);
      return id;
    },
    async submit(userId, name, request, idempotencyKey) {
      const method = methodOf(name);
      return submit(context, method, fromJson(method.method.input, request), { userId, idempotencyKey });
    },
    async read(userId, name, request, changed = {}) {
      const method = methodOf(name);
      const { signal } = new AbortController();
      const looker = { userId, waitMs: 0, ifNoneMatch: undefined, signal, responseHeaders: {}, ...changed };
      return read(context, method, fromJson(method.method.input, request), looker);
    },
    async startWorker() {
      const worker = await startWorker(context, [mkta]);
      workers.push(worker);
      return worker;
    },
    async reaches(jobId, ...states) {
      let job: Job | null = null;
      await comesTrue(`job ${jobId} is ${states.join(' or ')}`, async () => {
        job = await store.getJob(jobId);
        return job !== null && states.includes(job.state);
      }).catch((error) => {
        throw new Error(`${error.message}: it is ${job?.state}`);
      });
      return job!;
    },
    comesTrue,
    balance: async (userId) => (await store.getUser(userId))!.balance,
    problems: async () => (await audit(store)).problems,
    async close() {
      await Promise.all(workers.map((worker) => worker.stop()));
      await context.queue.close();
      await context.blobs.close();
      await store.close();
      // A late worker of a test may still write.
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** Gives a user credits. */
export async function grant({ store, clock }: JobContext, userId: string, amount: number): Promise<void> {
  const entry = { key: `grant:${newId()}`, userId, amount, jobId: null, note: '', createdAt: clock.now() };
  await store.postLedgerEntry({ ...entry, type: 'grant' });
}

/** A variant-sold request of so many items that are served as they are, then these. */
export function variantSoldRequest(plain: number, ...more: string[]) {
  const ids = [...plainIds(plain).map(String), ...more];
  return { country: 'sg', items: ids.map((itemId) => ({ itemId, shopId: '77' })) };
}
