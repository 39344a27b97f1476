import { createGleanerClient, type GleanerClient } from '../../clients/typescript/index.ts';
import { OperatorService } from '../../gen/gleaner/operator/v1/operator_pb.ts';
import { type Random, random } from '../../sandbox/random.ts';
import { type RunningOrigins, startOrigins } from '../../sandbox/server.ts';
import type { Engines } from '../support/engines/engines.ts';
import type { FaultyProcess } from '../support/engines/restartable.ts';
import { startReceiver, type WebhookReceiver } from '../support/servers/receiver.ts';
import { createDeployment, type Deployment, type Layout } from '../support/service/deployment.ts';
import { listChildren } from '../support/service/process-tree.ts';
import { until } from '../support/time/until.ts';
import { type ChaosSubmit, type ChaosUser, createProblems, type Problems } from './account.ts';
import { check } from './check.ts';
import { type ClientContext, runCustomer } from './customer.ts';
import { applyFaults } from './faults.ts';
import type { ChaosOptions, StackName } from './options.ts';
import { type InjectedFault, planFaults } from './plan.ts';
import { type PoisonedSite, poisonedWork, startPoisonedSite } from './poison.ts';
import { createProgressWatch } from './progress.ts';
import { createSeries, runSeries, seriesRequests } from './series.ts';
import { createServedLog, type ServedLog } from './served.ts';
import { settle } from './settle.ts';
import { countCalls, submitAlong } from './submits.ts';
import { type FaultTarget, launchTargets } from './targets.ts';
import { recordedOrigins, works } from './works.ts';

/** Result of runChaos(). */
export interface ChaosReport {
  stack: StackName;
  jobs: number;
  items: number;
  faults: readonly InjectedFault[];
  /** Number of submits and retries by outcome. */
  calls: Record<'accepted' | 'refused' | 'unanswered', number>;
  requestsPerPage: number;
  /** Number of units that failed because of faults, by code. They are refunded. */
  failures: ReadonlyMap<string, number>;
  /** Number of processes that the poisonous page killed. */
  poisonKills: number;
  problems: Problems;
  longestGapMs: number;
  /** Time from the end of the last fault to the end of the last job. */
  recoveredMs: number;
}

/**
 * Timeouts for all jobs to end after the faults, and for the service to start. They do not measure
 * speed.
 */
const settleMs = 600_000;
const startMs = 120_000;
const userCount = 3;
/** Processes of the service by stack. The only process of the embedded stack counts as an api. */
const layouts: Record<StackName, Layout> = {
  embedded: { apis: 1, workers: 0, gateways: 0 },
  distributed: { apis: 1, workers: 2, gateways: 0 },
  cluster: { apis: 2, workers: 4, gateways: 1 },
};
/**
 * Worker processes of each service process. On the cluster, page work runs in the process itself,
 * so that a kill or a freeze affects all of it.
 */
const workersOf: Record<StackName, string> = { embedded: '2', distributed: '1', cluster: '0' };
const granted = 10_000_000;
const settings = {
  GLEANER_RETRIEVE_CACHE: 'off',
  GLEANER_PRIVATE: 'on',
  // A job of some batches also depends on the dispatch of the next ones.
  GLEANER_TEST_LIMITS: '{"jobWindow": 2}',
};

/** Runs jobs on one stack while faults are applied, and checks the invariants. */
export async function runChaos(
  options: ChaosOptions,
  stack: StackName,
  engines: Engines,
  print: (line: string) => void,
): Promise<ChaosReport> {
  const draw = random(`${stack}/${options.seed}`);
  const faults = drawFaults(draw, options, stack, engines.servers?.length ?? 0);
  const stage = await openStage(options, stack, engines, faults);
  const { deployment, targets, poisoned, served } = stage;
  try {
    targets.push(...(await launchTargets(deployment, stack === 'distributed' ? engines : null)));
    targets.push(...(engines.servers ?? []).map((process) => ({ process, links: null })));
    for (const url of deployment.urls) {
      const isReady = async () => (await fetch(`${url}/ready`)).ok || undefined;
      await until('the service is ready', isReady, { withinMs: startMs });
    }
    const problems = createProblems(print);
    const users = await createUsers(deployment);
    const retryingClient = createRetryingClients(deployment, users);
    const series = await createSeries(users[0]!, retryingClient(users[0]!.id), stage.receiver.url);
    let end = Number.POSITIVE_INFINITY;
    const context: ClientContext = {
      books: { users, submissions: [], jobs: new Map() },
      operator: createGleanerClient({
        url: deployment.url,
        apiKey: deployment.operatorKey,
        maxAttempts: 1,
      }),
      problems,
      progress: createProgressWatch(),
      isOver: () => Date.now() > end,
    };
    const release = submitAlong(context, options, draw, faults.length);
    const others = [guard(context, runSeries(context, stage.origins, series))];
    if (poisoned !== null) others.push(guard(context, submitPoison(context)));
    const crashed = ({ name, log }: FaultyProcess) =>
      problems.add('other', `the process ${name} ended by itself: ${log().slice(-600)}`);
    await applyFaults({ targets, engines, print, started: release.advance, crashed }, faults);
    const healedAt = Date.now();
    end = healedAt + settleMs;
    print('faults ended');
    await Promise.all([release.done(), ...others]);
    await settle(context, retryingClient);
    for (const { process } of targets) if (!process.running()) crashed(process);
    const recoveredMs = Date.now() - healedAt;
    const checked = await check({
      books: context.books,
      served,
      problems,
      deployment,
      retryingClient,
      series,
    });
    checkPoison(poisoned, faults.length, problems);
    if (problems.list().length > 0) print(`logs: ${await deployment.saveLogs()}`);
    return {
      stack,
      jobs: context.books.jobs.size,
      items: [...context.books.jobs.values()].reduce((sum, { job }) => sum + (job?.total ?? 0), 0),
      faults,
      calls: countCalls(context),
      ...checked,
      poisonKills: poisoned?.kills() ?? 0,
      problems,
      longestGapMs: context.progress.longestMs(),
      recoveredMs,
    };
  } finally {
    await stage.close();
  }
}

/** Options of a run besides its engines. */
interface ChaosStage {
  served: ServedLog;
  origins: RunningOrigins;
  /** Null if pages are read in the service processes, which the run kills itself. */
  poisoned: PoisonedSite | null;
  receiver: WebhookReceiver;
  deployment: Deployment;
  /** Filled once the processes were launched. */
  targets: FaultTarget[];
  /** Ends everything that was started. */
  close(): Promise<void>;
}

async function openStage(
  options: ChaosOptions,
  stack: StackName,
  engines: Engines,
  faults: readonly InjectedFault[],
): Promise<ChaosStage> {
  const served = createServedLog();
  const recorded = recordedOrigins(served);
  const origins = await startOrigins({ origins: recorded, misbehaviour: 'none', latencyMs: 20 });
  const workerPids = () => deployment.workers.flatMap((process) => listChildren(process.pid()));
  const poisoned = stack === 'cluster' ? null : await startPoisonedSite(recorded[0]!, workerPids);
  if (poisoned !== null) origins.config[poisoned.market]![poisoned.region] = poisoned.url;
  const receiver = await startReceiver();
  const deployment = await createDeployment({
    inProcess: false,
    stack: { distributed: stack !== 'embedded' },
    engines,
    origins,
    originLimits: { concurrency: 16, requests_per_second: rateFor(options, faults) },
    settings: { ...settings, GLEANER_WORKERS: workersOf[stack] },
    layout: layouts[stack],
  });
  const targets: FaultTarget[] = [];
  return {
    served,
    origins,
    poisoned,
    receiver,
    deployment,
    targets,
    async close() {
      // An error may have left them frozen.
      for (const { process } of targets) process.resume();
      await Promise.all(deployment.processes.map((process) => process.kill()));
      await deployment.stop();
      const links = targets.flatMap((target) => (target.links ? Object.values(target.links) : []));
      await Promise.all(links.map((link) => link.stop()));
      await Promise.all([poisoned?.stop(), receiver.close(), origins.stop()]);
    },
  };
}

/** Draws the faults for the processes of a stack. */
function drawFaults(
  draw: Random,
  { kills, freezeSeconds }: ChaosOptions,
  stack: StackName,
  servers: number,
): InjectedFault[] {
  const { apis, workers, gateways } = layouts[stack];
  return planFaults(draw, {
    kills,
    // On a cluster, only freezes stop the responses of a server that stays connected.
    ...(stack === 'cluster' ? { freezes: Math.ceil(kills / 2) } : {}),
    freezeMs: freezeSeconds * 1_000,
    processes: apis + workers + gateways + servers,
    links: stack === 'distributed',
  });
}

/** Submits the job with a poisonous page. */
async function submitPoison(context: ClientContext): Promise<void> {
  const subjects = poisonedWork.subjects(0, 0);
  const submission: ChaosSubmit = {
    work: poisonedWork,
    user: context.books.users[1]!,
    subjects,
    isKeyed: true,
    outcomes: [],
  };
  const plan = { repeats: true, resubmits: true, cancelsAt: null, retries: false };
  await runCustomer(context, submission, plan);
}

/** Reports the error of a client as a problem. */
const guard = (context: ClientContext, client: Promise<void>): Promise<void> =>
  client.catch((error: Error) => context.problems.add('other', `a client failed: ${error.stack}`));

/**
 * Checks that the poisonous page was read, and killed at most four workers besides those whose work
 * a fault repeated.
 */
function checkPoison(poisoned: PoisonedSite | null, faults: number, problems: Problems): void {
  if (poisoned === null) return;
  const kills = poisoned.kills();
  if (kills === 0) problems.add('other', 'the poisonous page was never read');
  if (kills > 4 + faults) problems.add('other', `the poisonous page killed ${kills} workers`);
}

/**
 * Returns the request rate at which the large half of the jobs takes about half the duration of the
 * faults.
 */
function rateFor({ jobs, items }: ChaosOptions, faults: readonly InjectedFault[]): number {
  const requests = (jobs / works.length) * items * 2 + seriesRequests;
  const seconds =
    faults.reduce((sum, { pauseMs, lengthMs }) => sum + pauseMs + lengthMs, 0) / 1_000;
  return Math.min(300, Math.max(20, Math.round((2 * requests) / Math.max(1, seconds))));
}

/** Creates the users. Each calls one of the processes that serve requests. */
async function createUsers({
  url,
  urls,
  operatorKey,
}: Deployment): Promise<(ChaosUser & { key: string })[]> {
  const operator = createGleanerClient({ url, apiKey: operatorKey });
  const { method } = OperatorService;
  const create = async (name: string, entry: string) => {
    const { user } = await operator.call(method.createUser, { name });
    const { apiKey } = await operator.call(method.createApiKey, { userId: user!.id, name });
    await operator.call(method.grantCredits, {
      userId: user!.id,
      amount: BigInt(granted),
      note: 'chaos',
    });
    const client = createGleanerClient({ url: entry, apiKey, maxAttempts: 1, timeoutMs: 15_000 });
    return { id: user!.id, granted, client, key: apiKey };
  };
  return Promise.all(
    Array.from({ length: userCount }, (_, index) =>
      create(`user ${index}`, urls[index % urls.length]!),
    ),
  );
}

function createRetryingClients(
  { url }: Deployment,
  users: readonly (ChaosUser & { key: string })[],
): (userId: string) => GleanerClient {
  const clients = new Map(
    users.map(({ id, key }) => [id, createGleanerClient({ url, apiKey: key, maxAttempts: 10 })]),
  );
  return (userId) => clients.get(userId)!;
}
