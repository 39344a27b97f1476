import { createRateLimit, type RateLimit } from '../access/rate-limit.ts';
import { createServingCount } from '../access/serving-count.ts';
import { type Core, checkEngines, createCore } from '../api/services/core.ts';
import { withTimeout } from '../base/abort.ts';
import type { Config } from '../base/config.ts';
import { createLog, type LogOutput } from '../base/log.ts';
import { Fault } from '../contract/fault.ts';
import { services } from '../contract/services.ts';
import { logMissingOrigins } from '../jobs/origins.ts';
import { lockData } from '../stack/data-folder.ts';
import { markInstallation, requireInstallation } from '../stack/installation.ts';
import type { Stack } from '../stack/stack.ts';
import { excuseInterrupted } from '../store/claims.ts';
import { refill } from '../sweep/sweep.ts';
import { noMetrics } from '../telemetry/metrics.ts';
import type { WorkerPool, WorkerPoolStats } from '../worker/pool.ts';
import { compose, type Program } from './compose.ts';
import { isEveryAddress, openPorts, reachableHost, serviceAddress } from './ports.ts';
import { type ProcessRole, partsOfRole } from './roles.ts';
import { startBackups } from './scheduled-backups.ts';
import { notify } from './start-notifier.ts';
import { startOperations } from './start-operations.ts';
import { type FirstOperator, startOperator } from './start-operator.ts';
import { maintainForever, startReporting } from './start-reporting.ts';
import { startPageWork } from './start-workers.ts';
import { addLoop, type StartingService } from './starting-service.ts';
import { startStoreCheck } from './store-check.ts';
import { startTelemetry, startTracing } from './telemetry.ts';

/**
 * Duration of a stop after which the store must respond, and the time that it has, in milliseconds.
 */
const silence = { afterMs: 3_000, responseMs: 2_000 };

export interface Service {
  httpPort: number | null;
  grpcPort: number | null;
  /**
   * Resolves with an error if the service cannot continue: the data was written by a newer program.
   */
  refused: Promise<Error>;
  opsPort: number | null;
  /** Resolves when all work in progress has been released and every connection is closed. */
  stop(): Promise<void>;
}

export interface ServiceOutputs {
  /** Shows a line to the operator. */
  say(line: string): void;
  /** Receives the log; standard error by default. */
  logOutput?: LogOutput | undefined;
}

/**
 * Starts a role. Any number of services can run in one process, on their own data folders and
 * ports. The engines may be unavailable: work starts once they respond. Throws `unavailable` if a
 * port is in use, a ConfigError if another service uses the data folder, and a DataRefusedError if
 * it must not use the data.
 */
export async function serve(
  config: Config,
  role: ProcessRole,
  { say, logOutput }: ServiceOutputs,
): Promise<Service> {
  // Requests and links ask for the address, so that its host is parsed once.
  const host = reachableHost(config.host);
  const publicUrl = () =>
    config.publicUrl ?? `http://${host}:${service.httpPort ?? config.httpPort}`;
  const { program, telemetry, resources } = await openProgram(config, role, publicUrl, logOutput);
  const { context, stack, log } = program;
  const stopping = new AbortController();
  const service: Service = {
    httpPort: null,
    grpcPort: null,
    refused: new Promise(() => {}),
    opsPort: null,
    async stop() {
      log.info('stopping');
      await end();
    },
  };
  const end = async () => {
    stopping.abort(new Error('the service is stopping'));
    context.changes.stop();
    const stopped = new AbortController();
    const watching = closeIfSilent(program, stopped.signal);
    await resources.disposeAsync();
    stopped.abort(new Error('the service has stopped'));
    await watching;
  };
  const starting: StartingService = {
    id: context.newId(),
    role,
    program,
    telemetry,
    publicUrl,
    say,
    stopping: stopping.signal,
    resources,
  };
  try {
    await startParts(starting, service);
    log.info(
      { stack: stack.name, httpPort: service.httpPort, grpcPort: service.grpcPort },
      'started',
    );
    return service;
  } catch (error) {
    await end();
    throw error;
  }
}

/** Opens the engines and files of a role, and locks the data folder for `serve`. */
async function openProgram(
  config: Config,
  role: ProcessRole,
  publicUrl: () => string,
  logOutput: LogOutput | undefined,
): Promise<Pick<StartingService, 'program' | 'telemetry' | 'resources'>> {
  await using resources = new AsyncDisposableStack();
  if (role === 'serve') resources.defer(await lockData(config));
  const log = createLog(config.logLevel, role, logOutput);
  const telemetry = await startTelemetry(config, role, log);
  const tracing = await startTracing(config, role, log);
  resources.defer(async () => {
    await Promise.all([telemetry?.close(), tracing?.close()]);
  });
  await requireInstallation(config);
  const program = await compose(config, role, publicUrl, {
    readsPages: partsOfRole[role].worker && config.workers === 0,
    metrics: telemetry?.metrics ?? noMetrics,
    logOutput,
  });
  resources.defer(program.close);
  const { stack } = program;
  if (stack.name === 'embedded' && role === 'serve')
    markInstallation(config, await stack.store.installationId());
  if (stack.name === 'embedded' && role !== 'serve' && role !== 'gateway')
    throw new Fault(
      'unavailable',
      `The role '${role}' shares engines with other processes: ` +
        `set MONGODB_URI and NATS_URL, or run 'serve'.`,
    );
  return { program, telemetry, resources: resources.move() };
}

/** Starts the parts of a role, and adds their ports to the service. */
async function startParts(starting: StartingService, service: Service): Promise<void> {
  const { role, program, telemetry, publicUrl, say, stopping, resources } = starting;
  const { config, context, stack } = program;
  const parts = partsOfRole[role];
  let ready = () => checkEngines(context);
  let operator: FirstOperator | null = null;
  let working: WorkerPool | null = null;
  const stats = () => working?.stats();
  const check = await startStoreCheck(program, stopping);
  addLoop(starting, check.done);
  service.refused = check.refused;
  sayEngines(role, stack, say);
  const state = { ready: () => ready(), slots: () => stats()?.slots };
  service.opsPort = await startOperations(starting, state);
  if (stack.name === 'embedded' && parts.worker) await resumeBatches(program);
  if (role === 'serve') resources.defer(await startBackups(program, telemetry, stopping));
  if (parts.core || parts.worker) startUpkeep(starting, stats);
  const core = parts.core ? openCore(starting, () => operator?.exists === true) : null;
  const ports = await openPorts(starting, core);
  service.httpPort = ports.http?.port ?? null;
  service.grpcPort = ports.rpc?.port ?? null;
  ready = ports.ready ?? ready;
  sayPorts(service, config.host, say);
  if (parts.core) {
    operator = startOperator(starting);
    service.refused = Promise.race([service.refused, operator.refused]);
    addLoop(starting, notify(program, publicUrl, stopping));
  }
  if (parts.worker) {
    working = await startPageWork(program, role, publicUrl);
    resources.defer(working.stop);
  }
}

/**
 * Closes the store if it does not respond while the service stops. Calls in progress then fail
 * instead of waiting for the timeouts of its driver, one after the other.
 */
async function closeIfSilent({ stack, clock, log }: Program, stopped: AbortSignal): Promise<void> {
  if (stack.name === 'embedded') return;
  try {
    await clock.sleep(silence.afterMs, stopped);
  } catch {
    return;
  }
  const responds = await withTimeout(
    silence.responseMs,
    'The check of the store',
    stack.store.ping(),
  ).then(
    () => true,
    () => false,
  );
  if (responds || stopped.aborted) return;
  log.warn('store closed: it does not respond, and the service is stopping');
  await stack.store.close();
}

/**
 * Starts the reports of a process, the sweep, and the comparison of jobs: not in workers, which
 * hostile pages can stall. `stats` returns the counts of its workers.
 */
function startUpkeep(starting: StartingService, stats: () => WorkerPoolStats | undefined): void {
  const { id, role, program, stopping, resources } = starting;
  const { context, stack } = program;
  logMissingOrigins(context);
  resources.defer(startReporting(program, id, role, stats));
  const processId = stack.name === 'embedded' ? null : id;
  addLoop(starting, maintainForever(context, processId, stopping));
}

/**
 * Republishes the batches of an earlier process. Must run before any batch is submitted or claimed.
 */
async function resumeBatches({ context, config, log }: Program): Promise<void> {
  // Without worker processes, a page of these batches may have ended the service.
  if (config.workers > 0) await excuseInterrupted(context.store);
  const batches = await refill(context);
  if (batches > 0) log.info({ batches }, 'interrupted work resumed');
}

/** Creates the core, which admits callers once `started` returns true. */
function openCore(starting: StartingService, started: () => boolean): Core {
  const { context } = starting.program;
  return createCore(context, services, { started, rateLimit: openRateLimit(starting) });
}

/**
 * Creates the rate limit, shared with the other serving processes, or returns null if there is
 * none.
 */
function openRateLimit(starting: StartingService): RateLimit | null {
  const { config, context, clock, log } = starting.program;
  const { requestsPerSecond } = config;
  if (requestsPerSecond === null) return null;
  const serving = createServingCount({ store: context.store, clock, log });
  addLoop(starting, serving.follow(starting.stopping));
  return createRateLimit({ requestsPerSecond, clock, processes: serving.current });
}

function sayEngines(
  role: ProcessRole,
  { name, store, queue, blobs }: Stack,
  say: (line: string) => void,
): void {
  say(
    `Gleaner, ${role}: ${name} stack (store: ${store.engine}, ` +
      `queue: ${queue.engine}, files: ${blobs.engine})`,
  );
}

/** Prints the addresses of the service. */
function sayPorts(
  { httpPort, grpcPort, opsPort }: Service,
  host: string,
  say: (line: string) => void,
): void {
  for (const [what, port] of [
    ['console (/console), REST, OpenAPI (/docs), files', httpPort],
    ['gRPC, Connect', grpcPort],
    ['metrics (/metrics), probes', opsPort],
  ] as const) {
    if (port !== null) say(`  ${what}: ${serviceAddress(host, port)}`);
  }
  if (isEveryAddress(host)) say(`  Listens on ${host}: other machines can connect (GLEANER_HOST)`);
}
