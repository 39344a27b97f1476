import { keyScopes } from '../../src/contract/permission.ts';
import { setWebhook } from '../../src/notify/webhook.ts';
import type { User } from '../../src/store/documents.ts';
import { openStates } from '../../src/store/job-states.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import type { Store } from '../../src/store/store.ts';
import { newTrackingRun } from '../../src/store/tracking-run.ts';
import { type Actors, type Shared, startActors } from './actors.ts';
import { createBroker } from './broker.ts';
import { createCaller } from './calls.ts';
import { type History, runClients } from './clients.ts';
import { brokenInvariants } from './invariants.ts';
import { createReceiver, createSharedFiles } from './outside.ts';
import { createWitness } from './witness.ts';
import { createWorld, type RarePath } from './world.ts';

/** Options for simulate(). */
export interface RunOptions {
  seed: number;
  /** Jobs that clients submit. */
  jobs?: number;
  /** An empty store. The default is SQLite in memory. */
  store?: Store;
  /** Called with every line of the trace. */
  print?: (line: string) => void;
}

/** Result of simulate(). */
export interface RunReport {
  /** Broken invariants, one sentence each. */
  problems: string[];
  seen: ReadonlySet<RarePath>;
  /** SHA-256 of the trace. */
  traceHash: string;
  /** Number of tasks run. */
  steps: number;
  /** Simulated milliseconds from the end of the faults until every job had ended. */
  settledMs: number;
}

/**
 * Duration of the faults, and timeout for all jobs to end afterwards, in simulated milliseconds.
 */
const faultsMs = 120_000;
const settleWithinMs = 30 * 60_000;
const checkMs = 2_000;
const startCredits = 400;

/**
 * Runs the core with the faults of a seed, waits until all jobs have ended, and checks the
 * invariants.
 */
export async function simulate(options: RunOptions): Promise<RunReport> {
  const { seed, jobs = 6, store = openSqliteStore({ path: ':memory:' }), print } = options;
  const world = createWorld(seed, print);
  const { scheduler } = world;
  const shared: Shared = {
    world,
    store,
    broker: createBroker(world),
    files: createSharedFiles(),
    receiver: createReceiver(world),
    witness: createWitness(world, store),
    served: new Map(),
  };
  try {
    const userIds = [world.newId(), world.newId()];
    for (const id of userIds) await addUser(shared, id);
    const actors = startActors(shared);
    const caller = (name: string, userId: string, role: 'user' | 'operator') =>
      createCaller(world, actors, name, {
        userId,
        holderId: userId,
        role,
        mode: 'live',
        keyId: '',
        balance: 0,
        scopes: keyScopes,
        operatorRole: role === 'operator' ? 'admin' : null,
        creditCeiling: null,
        account: userOf(userId, role, scheduler.now()),
      });
    const users = userIds.map((id, index) => caller(`user-${index + 1}`, id, 'user'));
    const operator = caller('operator', world.newId(), 'operator');
    const history: History = { intended: [], retries: new Map(), grants: [] };

    let answered = false;
    let settled = false;
    const clients = runClients(world, users, operator, jobs, history).then(() => {
      answered = true;
    });
    void stopWorkers(shared, actors);
    const calm = scheduler.now() + faultsMs;
    await scheduler.run(calm, () => false);
    world.trace('faults end');
    world.calm();
    const check = async () => {
      settled = answered && (await isSettled(store));
      if (!settled) scheduler.after(checkMs, { owner: null, run: check });
    };
    scheduler.after(0, { owner: null, run: check });
    await scheduler.run(calm + settleWithinMs, () => settled);
    const settledMs = scheduler.now() - calm;
    if (answered) await clients;
    else world.problems.push('a client never got its response');
    await shared.witness.checkOutcomes();
    if (settled && (await store.jobs.count({ dueAt: { not: null } }, 1)) > 0)
      world.problems.push('a job that has ended is due');
    const { files, receiver, served, witness } = shared;
    const { comparisons, feeds } = witness;
    const state = { store, files, receiver, served, comparisons, feeds, history, userIds };
    const problems = [...world.problems, ...(await brokenInvariants(state))];
    const { seen } = world;
    return { problems, seen, traceHash: world.traceHash(), steps: scheduler.steps, settledMs };
  } finally {
    await store.close();
  }
}

/** Returns an account that holds no credits. */
const userOf = (id: string, role: User['role'], createdAt: number): User => ({
  id,
  name: 'User',
  email: '',
  role,
  balance: 0,
  createdAt,
  suspendedAt: null,
  deletedAt: null,
  erased: false,
  testOf: null,
});

async function addUser({ world, store }: Shared, id: string): Promise<void> {
  const { scheduler } = world;
  const createdAt = scheduler.now();
  await store.users.insert(userOf(id, 'user', createdAt));
  await store.ledger.post({
    key: `grant:${id}`,
    userId: id,
    amount: startCredits,
    type: 'grant',
    jobId: null,
    keyId: null,
    note: '',
    createdAt,
  });
  const clock = { now: scheduler.now, steady: scheduler.now, sleep: scheduler.sleep };
  await setWebhook({ store, clock }, id, { url: 'https://receiver.test/', enabled: true });
}

/** Stops workers now and then, as the deployment of a new version does. */
async function stopWorkers({ world }: Shared, actors: Actors): Promise<void> {
  for (;;) {
    await world.scheduler.sleep(5_000);
    if (world.happens(world.rates.stopped * 20)) actors.stopWorker();
  }
}

/** Returns true once every job has ended and was compared, and every notification was delivered. */
async function isSettled(store: Store): Promise<boolean> {
  const { items } = await store.jobs.list({ state: { in: openStates } }, { limit: 1 });
  if (items.length > 0) return false;
  if ((await store.jobs.count({ noticeAt: { not: null } }, 1)) > 0) return false;
  const { items: jobs } = await store.jobs.list({}, { limit: 10_000 });
  for (const job of jobs) {
    if (newTrackingRun(job) !== null && (await store.trackingRuns.get(job.id))?.stage !== 'done')
      return false;
  }
  const { items: deliveries } = await store.deliveries.list({}, { limit: 1_000 });
  return deliveries.every(({ state }) => state !== 'pending');
}
