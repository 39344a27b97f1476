import { ensureOperator } from '../access/operator.ts';
import { createRateLimit, type RateLimit } from '../access/rate-limit.ts';
import { createServingCount } from '../access/serving-count.ts';
import { type Core, checkEngines, createCore } from '../api/services/core.ts';
import { withTimeout } from '../base/abort.ts';
import type { Config } from '../base/config.ts';
import { defaultConnectionLimits } from '../base/connections.ts';
import { DataRefusedError } from '../base/data-refused-error.ts';
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
import type { Telemetry } from '../telemetry/telemetry.ts';
import type { WorkerPool, WorkerSlots } from '../worker/pool.ts';
import { startAudits } from './audit-check.ts';
import { compose, type Program } from './compose.ts';
import { storeGauges, workerGauges } from './gauges.ts';
import { listening, openOpsPort } from './ops-port.ts';
import { graceMs, isEveryAddress, openPorts, reachableHost, serviceAddress } from './ports.ts';
import { startBackups } from './scheduled-backups.ts';
import { notify } from './start-notifier.ts';
import { maintainForever, startReporting } from './start-reporting.ts';
import { startPageWork } from './start-workers.ts';
import { type StoreCheck, startStoreCheck } from './store-check.ts';
import { startTelemetry, startTracing } from './telemetry.ts';

/**
 * Role of a process. `serve` does everything; any number of `api` and `worker` processes share the
 * engines.
 */
export type ProcessRole = 'serve' | 'api' | 'core' | 'gateway' | 'worker';

/** Components of each role. */
const parts: Record<ProcessRole, { gateway: boolean; core: boolean; worker: boolean }> = {
  serve: { gateway: true, core: true, worker: true },
  api: { gateway: true, core: true, worker: false },
  core: { gateway: false, core: true, worker: false },
  gateway: { gateway: true, core: false, worker: false },
  worker: { gateway: false, core: false, worker: true },
};

const operatorRetryMs = 2_000;

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
  logOutput?: LogOutput;
}

/** A service whose parts start. `closers` are called in reverse order when it stops. */
interface StartingService {
  config: Config;
  role: ProcessRole;
  outputs: ServiceOutputs;
  publicUrl: () => string;
  program: Program;
  telemetry: Telemetry | null;
  stopping: AbortController;
  closers: (() => Promise<unknown>)[];
}

/** Starts the parts of a role, and adds their ports to the service. */
async function startParts(starting: StartingService, service: Service): Promise<void> {
  const { config, role, outputs, publicUrl, program, telemetry, closers } = starting;
  const { context, stack } = program;
  const stopping = starting.stopping.signal;
  const run = parts[role];
  let ready = () => checkEngines(context);
  let isOperable = () => false;
  let working: WorkerPool | null = null;
  const stats = () => working?.stats();
  service.refused = (await checkStore(program, stopping, closers)).refused;
  sayEngines(role, stack, outputs.say);
  const state = { id: context.newId(), ready: () => ready(), slots: () => stats()?.slots };
  if (telemetry)
    service.opsPort = await openOperations(program, run, telemetry, state, stopping, closers);
  if (stack.name === 'embedded' && run.worker) await resumeBatches(program);
  if (role === 'serve') closers.push(await startBackups(program, telemetry, stopping));
  if (run.core || run.worker)
    startUpkeep(program, { id: state.id, role, stats }, stopping, closers);
  const core = run.core ? openCore(program, () => isOperable(), stopping, closers) : null;
  const options = { isGateway: run.gateway, telemetry, publicUrl, stopping };
  const ports = await openPorts(program, core, options, closers);
  service.httpPort = ports.http?.port ?? null;
  service.grpcPort = ports.rpc?.port ?? null;
  ready = ports.ready ?? ready;
  sayPorts(service, config.host, outputs.say);
  if (run.core) {
    const operator = startOperator(program, stopping, outputs.say, closers);
    isOperable = operator.exists;
    service.refused = Promise.race([service.refused, operator.refused]);
    closers.push(inBackground(notify(program, publicUrl, stopping)));
  }
  if (run.worker) {
    working = await startPageWork(program, role, publicUrl);
    closers.push(working.stop);
  }
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
  outputs: ServiceOutputs,
): Promise<Service> {
  // Requests and links ask for the address, so that its host is parsed once.
  const host = reachableHost(config.host);
  const publicUrl = () =>
    config.publicUrl ?? `http://${host}:${service.httpPort ?? config.httpPort}`;
  const { program, telemetry, close } = await openProgram(
    config,
    role,
    publicUrl,
    outputs.logOutput,
  );
  const { context, stack, log } = program;
  const stopping = new AbortController();
  const closers: (() => Promise<unknown>)[] = [close];
  const service: Service = {
    httpPort: null,
    grpcPort: null,
    refused: new Promise(() => {}),
    opsPort: null,
    async stop() {
      stopping.abort(new Error('the service is stopping'));
      context.changes.stop();
      const stopped = new AbortController();
      const watching = closeIfSilent(program, stopped.signal);
      for (const closeNext of closers.reverse()) await closeNext();
      stopped.abort(new Error('the service has stopped'));
      await watching;
    },
  };
  try {
    await startParts(
      { config, role, outputs, publicUrl, program, telemetry, stopping, closers },
      service,
    );
    log.info(
      { stack: stack.name, httpPort: service.httpPort, grpcPort: service.grpcPort },
      'started',
    );
    return service;
  } catch (error) {
    await service.stop();
    throw error;
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
 * hostile pages can stall.
 */
function startUpkeep(
  program: Program,
  {
    id,
    role,
    stats,
  }: { id: string; role: ProcessRole; stats: Parameters<typeof startReporting>[3] },
  stopping: AbortSignal,
  closers: (() => Promise<unknown>)[],
): void {
  logMissingOrigins(program.context);
  closers.push(startReporting(program, id, role, stats));
  const processId = program.stack.name === 'embedded' ? null : id;
  closers.push(inBackground(maintainForever(program.context, processId, stopping)));
}

/**
 * Puts the program of a role together. Locks the data folder for `serve`, until `close` is called.
 */
async function openProgram(
  config: Config,
  role: ProcessRole,
  publicUrl: () => string,
  logOutput: LogOutput | undefined,
) {
  const unlock = role === 'serve' ? await lockData(config) : () => {};
  const log = createLog(config.logLevel, role, logOutput);
  const telemetry = await startTelemetry(config, role, log);
  const tracing = await startTracing(config, role, log);
  const closeTelemetry = async () => {
    await Promise.all([telemetry?.close(), tracing?.close()]);
  };
  const metrics = telemetry?.metrics ?? noMetrics;
  const readsPages = parts[role].worker && config.workers === 0;
  const open = async () => {
    await requireInstallation(config);
    const opened = await compose(config, role, publicUrl, { readsPages, metrics, logOutput });
    if (opened.stack.name === 'embedded' && role === 'serve')
      markInstallation(config, await opened.stack.store.installationId());
    return opened;
  };
  const program = await open().catch(async (error) => {
    await closeTelemetry();
    unlock();
    throw error;
  });
  const close = async () => {
    await program.close();
    await closeTelemetry();
    unlock();
  };
  if (program.stack.name === 'embedded' && role !== 'serve' && role !== 'gateway') {
    await close();
    throw new Fault(
      'unavailable',
      `The role '${role}' shares engines with other processes: set MONGODB_URI and NATS_URL, or run 'serve'.`,
    );
  }
  return { program, telemetry, close };
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

/**
 * Adds the gauges of a role, starts audits, and opens the operations port. Returns null if there is
 * no port, or if the default one is in use. The port closes after all others.
 */
async function openOperations(
  program: Program,
  { core, worker }: (typeof parts)[ProcessRole],
  telemetry: Telemetry,
  { id, ready, slots }: { id: string; ready(): Promise<void>; slots(): WorkerSlots | undefined },
  stopping: AbortSignal,
  closers: (() => Promise<unknown>)[],
): Promise<number | null> {
  const { config, context, log } = program;
  const { observe, scrape } = telemetry;
  if (core) {
    observe(storeGauges({ ...context, origins: config.origins }));
    closers.push(inBackground(startAudits(program, id, telemetry, stopping)));
  }
  if (worker) observe(workerGauges(slots));
  const { host, opsPort: port } = config;
  if (port === null) return null;
  const limits = defaultConnectionLimits;
  const opened = openOpsPort({ host, port, limits, log, scrape, ready });
  try {
    const server = await listening(opened, { host, port, setting: 'GLEANER_OPS_PORT' });
    closers.push(() => server.close(graceMs));
    return server.port;
  } catch (error) {
    // Several roles may run on one host with the default.
    if (config.environment.GLEANER_OPS_PORT !== undefined) throw error;
    log.warn({ error: Fault.from(error).message }, 'no operations port');
    return null;
  }
}

/** Creates the core, which admits callers once `started` returns true. */
function openCore(
  program: Program,
  started: () => boolean,
  stopping: AbortSignal,
  closers: (() => Promise<unknown>)[],
): Core {
  return createCore(program.context, services, {
    started,
    rateLimit: openRateLimit(program, stopping, closers),
  });
}

function sayEngines(
  role: ProcessRole,
  { name, store, queue, blobs }: Stack,
  say: (line: string) => void,
): void {
  say(
    `Gleaner, ${role}: ${name} stack (store: ${store.engine}, queue: ${queue.engine}, files: ${blobs.engine})`,
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

/**
 * Creates the rate limit, shared with the other serving processes, or returns null if there is
 * none.
 */
function openRateLimit(
  { config, context, clock, log }: Program,
  stopping: AbortSignal,
  closers: (() => Promise<unknown>)[],
): RateLimit | null {
  const { requestsPerSecond } = config;
  if (requestsPerSecond === null) return null;
  const serving = createServingCount({ store: context.store, clock, log });
  closers.push(inBackground(serving.follow(stopping)));
  return createRateLimit({ requestsPerSecond, clock, processes: serving.current });
}

/** Runs a loop in the background and returns a function that waits for its end. */
const inBackground = (loop: Promise<unknown>) => () => loop;

/** Checks the data's schema version, in the background if the store does not respond yet. */
async function checkStore(
  program: Program,
  stopping: AbortSignal,
  closers: (() => Promise<unknown>)[],
): Promise<StoreCheck> {
  const check = await startStoreCheck(program, stopping);
  closers.push(inBackground(check.done));
  return check;
}

/**
 * Creates the first operator in the background. `exists` returns whether it exists; `refused`
 * resolves with an error if the data cannot be used, and is pending otherwise.
 */
function startOperator(
  program: Program,
  stopping: AbortSignal,
  say: (line: string) => void,
  closers: (() => Promise<unknown>)[],
): { exists: () => boolean; refused: Promise<Error> } {
  let exists = false;
  const { promise: refused, resolve: refuse } = Promise.withResolvers<Error>();
  const announced = announceOperator(program, stopping, say).then(
    (isReady) => {
      exists = isReady;
    },
    (error) => {
      if (!(error instanceof DataRefusedError)) throw error;
      refuse(error);
    },
  );
  closers.push(inBackground(announced));
  return { exists: () => exists, refused };
}

/**
 * Creates the first operator once the store responds, and shows the key once. Resolves with false
 * if the process stops before. Throws a DataRefusedError if the process must stop.
 */
async function announceOperator(
  { context, config, log, clock }: Program,
  signal: AbortSignal,
  say: (line: string) => void,
): Promise<boolean> {
  let isLogged = false;
  while (!signal.aborted) {
    try {
      const operator = await ensureOperator(context.store, config.operatorKey, clock.now());
      if (operator.generatedKey !== null)
        say(`  Key of the first operator, shown once: ${operator.generatedKey}`);
      if (operator.revokedKeys > 0)
        log.info({ keys: operator.revokedKeys }, 'replaced operator keys revoked');
      if (operator.isRevoked)
        log.warn('GLEANER_OPERATOR_KEY is a revoked key: set another value or remove the setting');
      return true;
    } catch (error) {
      const fault = Fault.from(error);
      if (fault.code !== 'unavailable') throw error;
      if (!isLogged) log.warn({ error: fault.message }, 'store not ready');
      isLogged = true;
      await clock.sleep(operatorRetryMs, signal).catch(() => {});
    }
  }
  return false;
}
