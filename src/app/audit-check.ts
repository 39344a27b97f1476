import { listServing } from '../access/serving-count.ts';
import { untilAborted } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import { repeat } from '../base/due-work.ts';
import type { Log } from '../base/log.ts';
import type { Environment } from '../base/secret-files.ts';
import { Fault } from '../contract/fault.ts';
import type { Audit } from '../jobs/queries/audit.ts';
import type { Store } from '../store/store.ts';
import type { GaugeReaders } from '../telemetry/metrics.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import type { Program } from './compose.ts';
import { runProgram } from './programs.ts';

export interface AuditCheckOptions {
  store: Pick<Store, 'processes'>;
  clock: Clock;
  log: Log;
  /** Id of this process in its heartbeats. */
  processId: string;
  /** Time between two audits, in milliseconds. */
  intervalMs: number;
  /** Resolves when metrics are exported for the first time: nothing is audited before. */
  exported: Promise<void>;
  audit(signal: AbortSignal): Promise<Audit>;
}

/** Repeated audits of the store by one of the processes that serve callers. */
export interface AuditCheck {
  gauges: GaugeReaders;
  /** Audits until the signal aborts. Never rejects. */
  follow(signal: AbortSignal): Promise<void>;
}

/** Interval at which processes elect the one that audits. */
const pollMs = 10_000;
/** Time until a failed audit is repeated, unless audits are more frequent. */
const retryMs = 600_000;
/** Disagreements in a log line. */
const maxLogged = 10;

/**
 * Creates the check. The process that started first audits, and only it exports the gauge. While
 * processes do not see each other's heartbeats, two may audit, which costs time but is harmless.
 */
export function createAuditCheck(options: AuditCheckOptions): AuditCheck {
  const { store, clock, log, processId, intervalMs } = options;
  let disagreements: number | null = null;
  let nextAt = 0;
  const check = async (signal: AbortSignal) => {
    const [first] = await listServing(store, clock);
    if (first?.id !== processId) {
      disagreements = null;
      nextAt = 0;
      return;
    }
    if (clock.steady() < nextAt) return;
    nextAt = clock.steady() + Math.min(intervalMs, retryMs);
    const startedAt = clock.steady();
    const { problems, accounts, jobs } = await options.audit(signal);
    disagreements = problems.length;
    nextAt = clock.steady() + intervalMs;
    const entry = {
      accounts,
      jobs,
      disagreements,
      ms: clock.steady() - startedAt,
    };
    if (problems.length === 0) log.info(entry, 'audit ended');
    else
      log.error({ ...entry, problems: problems.slice(0, maxLogged) }, 'audit found disagreements');
  };
  return {
    gauges: {
      gleaner_audit_disagreements: async () =>
        disagreements === null ? [] : [{ labels: {}, value: disagreements }],
    },
    async follow(signal) {
      await Promise.race([options.exported, untilAborted(signal)]);
      const onError = (error: unknown) => {
        if (!signal.aborted) log.warn({ error: Fault.from(error).message }, 'audit failed');
      };
      await repeat(() => check(signal), { clock, intervalMs: pollMs, onError }, signal);
    },
  };
}

export interface AuditProcessOptions {
  /** Heap limit of the process, in bytes. */
  memoryBytes: number;
  /** Complete environment of the process. */
  environment: Environment;
  /** Ends the process. */
  signal: AbortSignal;
}

/** Lowest priority of the operating system: the audit has time. */
const priority = 19;

/**
 * Runs `gleaner audit` in its own process: it reads all ledger entries of an account. Rejects with
 * `unavailable` if the process fails.
 */
export async function auditInProcess(options: AuditProcessOptions): Promise<Audit> {
  const { stdout, stderr } = await runProgram(['audit', '--json'], { priority, ...options });
  // It exits with 1 both for problems and for some errors.
  if (stdout === '')
    throw new Fault('unavailable', `The audit failed: ${stderr.trim().slice(-1_000)}`);
  return JSON.parse(stdout) as Audit;
}

/** Audits the store repeatedly, and exports the results. Resolves after the signal aborts. */
export async function startAudits(
  { context, config }: Program,
  processId: string,
  { observe, exported }: Pick<Telemetry, 'observe' | 'exported'>,
  stopping: AbortSignal,
): Promise<void> {
  const { auditIntervalMs: intervalMs, workerMemoryBytes: memoryBytes } = config.limits;
  const { store, clock, log } = context;
  const { environment } = config;
  const audit = (signal: AbortSignal) => auditInProcess({ memoryBytes, environment, signal });
  const check = createAuditCheck({
    store,
    clock,
    log,
    processId,
    intervalMs,
    exported,
    audit,
  });
  observe(check.gauges);
  await check.follow(stopping);
}
