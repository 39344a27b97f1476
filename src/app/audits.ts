import type { Environment } from '../base/secret-files.ts';
import { Fault } from '../contract/fault.ts';
import type { Audit } from '../jobs/queries/audit.ts';
import type { Telemetry } from '../telemetry/sdk.ts';
import { createAuditCheck } from './audit-check.ts';
import type { Program } from './compose.ts';
import { runProgram } from './run-program.ts';

/** Options for auditInProcess(). */
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
  if (stdout === '') throw new Fault('unavailable', `The audit failed: ${stderr.trim().slice(-1_000)}`);
  return JSON.parse(stdout) as Audit;
}

/** Audits the store repeatedly, and exports the results. Resolves after the signal aborts. */
export async function startAudits(
  { context, config }: Program,
  processId: string,
  observe: Telemetry['observe'],
  stopping: AbortSignal,
): Promise<void> {
  const { auditIntervalMs: intervalMs, workerMemoryBytes: memoryBytes } = config.limits;
  const { store, clock, log } = context;
  const { environment } = config;
  const audit = (signal: AbortSignal) => auditInProcess({ memoryBytes, environment, signal });
  const check = createAuditCheck({ store, clock, log, processId, intervalMs, audit });
  observe(check.gauges);
  await check.follow(stopping);
}
