import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createGleanerClient } from '../../clients/typescript/index.ts';
import { OperatorService } from '../../gen/gleaner/operator/v1/operator_pb.ts';
import { startGleaner } from './program.ts';
import { type RestClient, restClient } from './rest.ts';

/** A service for one benchmark, with a user who has enough credits. */
export interface BenchService {
  /** The process that serves REST. */
  readonly pid: number;
  /** Every process of the service. */
  readonly pids: readonly number[];
  /** Data folder. */
  readonly dataDir: string;
  /** Address of REST. */
  readonly url: string;
  /** Address of gRPC and Connect. */
  readonly rpcUrl: string;
  readonly apiKey: string;
  readonly rest: RestClient;
  /** Creates another user with enough credits. */
  addUser(): Promise<RestClient>;
  approve(jobId: string): Promise<void>;
  /** Stops the service and removes its data. */
  stop(): Promise<void>;
}

/** Options for the service of a benchmark. */
export interface BenchServiceOptions {
  /** Contents of the GLEANER_ORIGINS file. */
  origins?: unknown;
  /** Contents of a GLEANER_SITES file. */
  sites?: unknown;
  /** Addresses of the engines of the distributed stack. The default is the embedded stack. */
  engines?: { mongo: string; nats: string };
  /** Worker processes on the distributed stack. Default: 1, with a page process per core. */
  workers?: number;
  /** Page processes of each worker process. Default: as in `GLEANER_WORKERS`. */
  pageProcesses?: number;
  /** Folder for its files, which stop() keeps. The default is a new one. */
  folder?: string;
  /** Options of Node for its processes, such as `--cpu-prof`. */
  nodeOptions?: readonly string[];
}

const operatorKey = 'gleaner-bench-operator';

/**
 * Starts a service: one process on the embedded stack, an api and workers on the distributed one.
 */
export async function startService(options: BenchServiceOptions = {}): Promise<BenchService> {
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'gleaner-bench-'));
  const originsFile = join(folder, 'origins.json');
  writeFileSync(originsFile, JSON.stringify(options.origins ?? {}));
  const sitesFile = join(folder, 'sites.json');
  if (options.sites !== undefined) writeFileSync(sitesFile, JSON.stringify(options.sites));
  const { engines } = options;
  const environment: Record<string, string> = {
    GLEANER_HTTP_PORT: '0',
    GLEANER_GRPC_PORT: '0',
    GLEANER_OPS_PORT: '0',
    GLEANER_HOST: '127.0.0.1',
    GLEANER_DATA_DIR: join(folder, 'data'),
    GLEANER_OPERATOR_KEY: operatorKey,
    GLEANER_ORIGINS: originsFile,
    GLEANER_WORKING_HOURS: 'off',
    ...(options.sites === undefined ? {} : { GLEANER_SITES: sitesFile }),
    ...(options.pageProcesses === undefined
      ? {}
      : { GLEANER_WORKERS: String(options.pageProcesses) }),
    ...(engines && { MONGODB_URI: engines.mongo, NATS_URL: engines.nats }),
    ...(options.workers && { GLEANER_WORKERS: '0' }),
  };
  const start = <T>(role: string, ready: (output: string) => T | undefined) =>
    startGleaner(role, environment, join(folder, `${role}.log`), options.nodeOptions ?? [], ready);
  const api = await start(engines ? 'api' : 'serve', (output) =>
    /REST.*(http:\S+)\n.*gRPC.*(http:\S+)\n/.exec(output)?.slice(1),
  );
  const [url, rpcUrl] = api.firstMessage as [string, string];
  const workers = await Promise.all(
    Array.from({ length: engines ? (options.workers ?? 1) : 0 }, () =>
      start('worker', (output) => output.includes('Gleaner, worker') || undefined),
    ),
  );
  const apiKey = await makeUser(url);
  return {
    pid: api.pid,
    pids: [api.pid, ...workers.map(({ pid }) => pid)],
    dataDir: join(folder, 'data'),
    url,
    rpcUrl,
    apiKey,
    rest: restClient(url, apiKey),
    addUser: async () => restClient(url, await makeUser(url)),
    approve: async (jobId) => {
      await operatorOf(url).call(OperatorService.method.approveJob, { jobId });
    },
    async stop() {
      await Promise.all(workers.map((worker) => worker.stop()));
      await api.stop();
      if (options.folder === undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}

const moreThanEnough = 1_000_000_000n;

const operatorOf = (url: string) => createGleanerClient({ url, apiKey: operatorKey });

async function makeUser(url: string): Promise<string> {
  const operator = operatorOf(url);
  const { createUser, grantCredits, createApiKey } = OperatorService.method;
  const { user } = await operator.call(createUser, { name: 'bench' });
  await operator.call(grantCredits, { userId: user!.id, amount: moreThanEnough, note: 'bench' });
  return (await operator.call(createApiKey, { userId: user!.id, name: 'bench' })).apiKey;
}
