import { newId } from '../../src/base/id.ts';
import { setWebhook } from '../../src/notify/webhook.ts';
import type { JobState } from '../../src/store/documents.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import type { Store } from '../../src/store/store.ts';
import { type Actors, notices, type Shared, startActors } from './actors.ts';
import { createBroker } from './broker.ts';
import { createCaller } from './calls.ts';
import { type History, runClients } from './clients.ts';
import { brokenPromises } from './invariants.ts';
import { createReceiver, createSharedFiles } from './outside.ts';
import { createWitness } from './witness.ts';
import { createWorld, type RarePath } from './world.ts';

/** What one run is made of. */
export interface RunOptions {
  seed: number;
  /** Jobs that clients submit. */
  jobs?: number;
  /** Empty; SQLite in memory when absent. */
  store?: Store;
  /** Gets every line of the trace. */
  print?: (line: string) => void;
}

/** What one run came to. */
export interface RunReport {
  /** Broken invariants, one sentence each. */
  problems: string[];
  seen: ReadonlySet<RarePath>;
  /** SHA-256 of everything that happened, in order. */
  traceHash: string;
  /** Pieces of work that were run. */
  steps: number;
  /** Simulated milliseconds from the end of the faults until everything had ended. */
  settledMs: number;
}

/** How long faults happen, and how long everything may take from then on, in simulated milliseconds. */
const faultsMs = 120_000;
const settleWithinMs = 30 * 60_000;
const checkMs = 2_000;
const startCredits = 400;

const open: readonly JobState[] = [
  'submitted',
  'discarding',
  'awaiting_approval',
  'approving',
  'approved',
  'processing',
  'settling',
  'rejecting',
  'terminating',
];

/** Runs the whole core with the faults of a seed, lets them end, and holds the result to the invariants. */
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
  };
  try {
    const userIds = [world.newId(), world.newId()];
    for (const id of userIds) await addUser(shared, id);
    const actors = startActors(shared);
    const caller = (name: string, userId: string, role: 'user' | 'operator') =>
      createCaller(world, actors, name, { userId, role, keyId: '', balance: 0 });
    const users = userIds.map((id, index) => caller(`user-${index + 1}`, id, 'user'));
    const operator = caller('operator', world.newId(), 'operator');
    const history: History = { wishes: [], retries: new Map(), grants: [] };

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
    const look = async () => {
      settled = answered && (await isSettled(store));
      if (!settled) scheduler.after(checkMs, { owner: null, run: look });
    };
    scheduler.after(0, { owner: null, run: look });
    await scheduler.run(calm + settleWithinMs, () => settled);
    const settledMs = scheduler.now() - calm;
    if (answered) await clients;
    else world.problems.push('a client waits for its response for ever');
    await shared.witness.checkOutcomes();
    const evidence = { store, files: shared.files, receiver: shared.receiver, history, userIds };
    const problems = [...world.problems, ...(await brokenPromises(evidence))];
    const { seen } = world;
    return { problems, seen, traceHash: world.traceHash(), steps: scheduler.steps, settledMs };
  } finally {
    await store.close();
  }
}

async function addUser({ world, store }: Shared, id: string): Promise<void> {
  const { scheduler } = world;
  const createdAt = scheduler.now();
  const user = {
    id,
    name: 'User',
    email: '',
    role: 'user' as const,
    balance: 0,
    createdAt,
    suspendedAt: null,
  };
  await store.createUser(user);
  await store.postLedgerEntry({
    key: `grant:${id}`,
    userId: id,
    amount: startCredits,
    type: 'grant',
    jobId: null,
    note: '',
    createdAt,
  });
  const clock = { now: scheduler.now, sleep: scheduler.sleep };
  const context = { store, clock, newId, settings: notices };
  await setWebhook(context, id, { url: 'https://receiver.test/', enabled: true });
}

/** Tells workers to stop, as a deployment of a new version does. */
async function stopWorkers({ world }: Shared, actors: Actors): Promise<void> {
  for (;;) {
    await world.scheduler.sleep(5_000);
    if (world.happens(world.rates.stopped * 20)) actors.stopWorker();
  }
}

/** Whether no job is on its way, and everybody was told. */
async function isSettled(store: Store): Promise<boolean> {
  const { items } = await store.listJobs({ states: open }, { limit: 1 });
  if (items.length > 0) return false;
  if ((await store.findJobsWithDueNotice(Number.MAX_SAFE_INTEGER, 1)).length > 0) return false;
  const { items: deliveries } = await store.listDeliveries(undefined, { limit: 1_000 });
  return deliveries.every(({ state }) => state !== 'pending');
}
