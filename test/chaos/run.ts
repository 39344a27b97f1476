import { OperatorService } from '../../gen/gleaner/operator/v1/operator_pb.ts';
import { random } from '../../sandbox/random.ts';
import { startOrigins } from '../../sandbox/server.ts';
import { createGleanerClient, type GleanerClient } from '../../src/client/index.ts';
import { createDeployment, type Deployment, type Layout } from '../support/deployment.ts';
import type { Engines } from '../support/engines.ts';

import { until } from '../support/until.ts';
import { type ChaosUser, createProblems, type Problems } from './account.ts';
import { check } from './check.ts';
import type { ClientContext } from './customer.ts';
import { applyFaults } from './faults.ts';
import type { ChaosOptions, StackName } from './options.ts';
import { type InjectedFault, planFaults } from './plan.ts';
import { createProgressWatch } from './progress.ts';
import { createServedLog } from './served.ts';
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
  problems: Problems;
  longestGapMs: number;
  /** Time from the end of the last fault to the end of the last job. */
  recoveredMs: number;
}

/** Timeouts for all jobs to end after the faults, and for the service to start. They do not measure speed. */
const settleMs = 300_000;
const startMs = 120_000;
const userCount = 3;
/** Processes of the service by stack. The only process of the embedded stack counts as an api. */
const layouts: Record<StackName, Layout> = {
  embedded: { apis: 1, workers: 0, gateways: 0 },
  distributed: { apis: 1, workers: 2, gateways: 0 },
  cluster: { apis: 2, workers: 4, gateways: 1 },
};
/** Page work runs in the process itself, so that a kill or a freeze affects all of it at once. */
const clusterSettings = { GLEANER_WORKERS: '0' };
const granted = 10_000_000;

/** Runs jobs on one stack while faults are applied, and checks the invariants. */
export async function runChaos(
  options: ChaosOptions,
  stack: StackName,
  engines: Engines,
  print: (line: string) => void,
): Promise<ChaosReport> {
  const layout = layouts[stack];
  const servers = engines.servers ?? [];
  const distributed = stack !== 'embedded';
  const draw = random(`${stack}/${options.seed}`);
  const freezeMs = options.freezeSeconds * 1_000;
  const processes = layout.apis + layout.workers + layout.gateways + servers.length;
  const faults = planFaults(draw, {
    kills: options.kills,
    // On a cluster, only freezes stop the responses of a server that stays connected.
    ...(stack === 'cluster' ? { freezes: Math.ceil(options.kills / 2) } : {}),
    freezeMs,
    processes,
    links: stack === 'distributed',
  });
  const served = createServedLog();
  const origins = await startOrigins({
    origins: recordedOrigins(served),
    misbehaviour: 'none',
    latencyMs: 20,
  });
  const deployment = await createDeployment({
    stack: { distributed },
    engines,
    origins,
    originLimits: { concurrency: 16, requests_per_second: rateFor(options, faults) },
    settings: { GLEANER_RETRIEVE_CACHE: 'off', ...(stack === 'cluster' ? clusterSettings : {}) },
    layout,
  });
  const targets: FaultTarget[] = [];
  try {
    targets.push(...(await launchTargets(deployment, stack === 'distributed' ? engines : null)));
    targets.push(...servers.map((process) => ({ process, links: null })));
    for (const url of deployment.urls) {
      const isReady = async () => (await fetch(`${url}/ready`)).ok || undefined;
      await until('the service is ready', isReady, { withinMs: startMs });
    }
    const problems = createProblems(print);
    const users = await createUsers(deployment);
    let end = Number.POSITIVE_INFINITY;
    const context: ClientContext = {
      books: { users, submissions: [], jobs: new Map() },
      operator: createGleanerClient({ url: deployment.url, apiKey: deployment.operatorKey, maxAttempts: 1 }),
      problems,
      progress: createProgressWatch(),
      isOver: () => Date.now() > end,
    };
    const release = submitAlong(context, options, draw, faults.length);
    await applyFaults(
      {
        targets,
        engines,
        print,
        started: release.advance,
        crashed: ({ name, log }) =>
          problems.add('other', `the process ${name} ended by itself: ${log().slice(-600)}`),
      },
      faults,
    );
    const healedAt = Date.now();
    end = healedAt + settleMs;
    print('faults ended');
    await release.done();
    const retryingClient = createRetryingClients(deployment, users);
    await settle(context, retryingClient);
    const recoveredMs = Date.now() - healedAt;
    const checked = await check({ books: context.books, served, problems, deployment, retryingClient });
    if (problems.list().length > 0) print(`logs: ${await deployment.saveLogs()}`);
    return {
      stack,
      jobs: context.books.jobs.size,
      items: [...context.books.jobs.values()].reduce((sum, { job }) => sum + (job?.total ?? 0), 0),
      faults,
      calls: countCalls(context),
      ...checked,
      problems,
      longestGapMs: context.progress.longestMs(),
      recoveredMs,
    };
  } finally {
    // An error may have left them frozen.
    for (const { process } of targets) process.resume();
    await Promise.all(deployment.processes.map((process) => process.kill()));
    await deployment.stop();
    await Promise.all(targets.flatMap(({ links }) => (links ? [links.mongo.stop(), links.nats.stop()] : [])));
    await origins.stop();
  }
}

/** Returns the request rate at which the large half of the jobs takes about half the duration of the faults. */
function rateFor({ jobs, items }: ChaosOptions, faults: readonly InjectedFault[]): number {
  const requests = (jobs / works.length) * items * 2;
  const seconds = faults.reduce((sum, { pauseMs, lengthMs }) => sum + pauseMs + lengthMs, 0) / 1_000;
  return Math.min(300, Math.max(20, Math.round((2 * requests) / Math.max(1, seconds))));
}

/** Creates the users. Each calls one of the processes that serve requests. */
async function createUsers({ url, urls, operatorKey }: Deployment): Promise<(ChaosUser & { key: string })[]> {
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
    Array.from({ length: userCount }, (_, index) => create(`user ${index}`, urls[index % urls.length]!)),
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
